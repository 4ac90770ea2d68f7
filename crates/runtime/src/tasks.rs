//! The work beside the loop, and what comes back from it.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use deepgraph_model::Price;
use deepgraph_protocol::{Effect, ErrorKind, Fee, ModelReply, ScopePath, StepError, StepId, Usage, Value};
use deepgraph_trace::recording::EntryName;
use tokio::sync::Semaphore;
use tokio::task::{AbortHandle, Id, JoinError, JoinSet};

use crate::asking::Asked;

/// What a task brings back.
#[derive(Debug)]
pub(crate) enum Done {
    /// A model answered, or failed.
    Model {
        scope: ScopePath,
        step: StepId,
        attempt: u32,
        /// Which model was asked; none in a replay.
        asked: Option<Asked>,
        /// What its tokens cost; none: that is not known.
        price: Option<Price>,
        result: Result<Box<ModelReply>, StepError>,
    },
    /// An op answered, or failed.
    Op {
        scope: ScopePath,
        step: StepId,
        attempt: u32,
        /// What it brought, to be used again.
        cache: Option<(CacheKey, Value)>,
        result: Result<Value, StepError>,
        /// What it cost.
        fee: Fee,
    },
    /// An attempt failed; none: the step can not be done, whatever the number of attempts left.
    Failed {
        scope: ScopePath,
        step: StepId,
        attempt: Option<u32>,
        error: StepError,
        used: Usage,
        /// Whether the next model of the route is asked.
        fail_over: bool,
        fee: Fee,
    },
    /// A model call may be sent, as its provider's account has it.
    Passed { scope: ScopePath, step: StepId },
    /// The wait before an attempt is over.
    Due { scope: ScopePath, effect: Effect },
    /// The time of a timer has come.
    Timer { scope: ScopePath, timer: Arc<str> },
    /// A person answered; none: would not.
    Answer { scope: ScopePath, step: StepId, answer: Option<Value> },
    /// Nobody answered in time.
    Unanswered { scope: ScopePath, step: StepId },
    /// The grace of a step that is not wanted any more is over.
    GraceOver { scope: ScopePath, step: StepId },
    /// The moment has come at which the run is cancelled.
    Cancel,
}

/// What makes two calls of an op equal: its name and canonical input, without what it finishes with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CacheKey {
    pub(crate) call: String,
}

/// Tasks in flight, by what they are for.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    set: JoinSet<Done>,
    by_step: BTreeMap<StepId, (AbortHandle, ScopePath)>,
    /// Of these, those that only wait for the time of an attempt.
    waiting: BTreeSet<StepId>,
    graces: BTreeMap<StepId, AbortHandle>,
    /// What is back and not taken yet, in a replay that keeps an order.
    held: Vec<(Option<Id>, Done)>,
}

impl Tasks {
    /// Starts work for a step. What was in flight for the step before is given up.
    pub(crate) fn spawn<F>(&mut self, scope: &ScopePath, step: &StepId, work: F)
    where
        F: Future<Output = Done> + Send + 'static,
    {
        let handle = self.set.spawn(work);
        self.waiting.remove(step);
        if let Some((old, _)) = self.by_step.insert(step.clone(), (handle, scope.clone())) {
            old.abort();
        }
    }

    /// Waits until an attempt of a step is due.
    pub(crate) fn wait<F>(&mut self, scope: &ScopePath, step: &StepId, due: F)
    where
        F: Future<Output = Done> + Send + 'static,
    {
        self.spawn(scope, step, due);
        self.waiting.insert(step.clone());
    }

    /// Whether nothing is out for a step: the time of its next attempt has not come.
    pub(crate) fn is_waiting(&self, step: &StepId) -> bool {
        self.waiting.contains(step)
    }

    /// Starts a timer, which belongs to no step.
    pub(crate) fn timer(&mut self, scope: ScopePath, timer: Arc<str>, wait: Duration) {
        self.set.spawn(async move {
            tokio::time::sleep(wait).await;
            Done::Timer { scope, timer }
        });
    }

    /// Cancels the run at a moment.
    pub(crate) fn cancel(&mut self, at: tokio::time::Instant) {
        self.set.spawn(async move {
            tokio::time::sleep_until(at).await;
            Done::Cancel
        });
    }

    /// Starts the grace of a step. A shorter one replaces a longer one.
    pub(crate) fn grace(&mut self, scope: ScopePath, step: StepId, wait: Duration) {
        let key = step.clone();
        let handle = self.set.spawn(async move {
            tokio::time::sleep(wait).await;
            Done::GraceOver { scope, step }
        });
        if let Some(old) = self.graces.insert(key, handle) {
            old.abort();
        }
    }

    /// Gives the work for a step up. True where there was some.
    pub(crate) fn abort(&mut self, step: &StepId) -> bool {
        if let Some(grace) = self.graces.remove(step) {
            grace.abort();
        }
        self.waiting.remove(step);
        match self.by_step.remove(step) {
            Some((handle, _)) => {
                handle.abort();
                true
            }
            None => false,
        }
    }

    /// The steps that work is in flight for.
    pub(crate) fn steps(&self) -> Vec<(ScopePath, StepId)> {
        self.by_step.iter().map(|(step, (_, scope))| (scope.clone(), step.clone())).collect()
    }

    /// Whether work for a step is in flight.
    pub(crate) fn is_out(&self, step: &StepId) -> bool {
        self.by_step.contains_key(step)
    }

    /// Whether nothing but timers is in flight.
    pub(crate) fn is_idle(&self) -> bool {
        self.by_step.is_empty()
    }

    /// The next thing that comes back; none where nothing is in flight at all. A task that panicked comes back
    /// as a failure of its step.
    pub(crate) async fn next(&mut self) -> Option<Done> {
        loop {
            let joined = self.set.join_next_with_id().await?;
            if let Some(done) = self.settle(joined) {
                return Some(done);
            }
        }
    }

    /// The next thing that is back already.
    pub(crate) fn ready(&mut self) -> Option<Done> {
        loop {
            let joined = self.set.try_join_next_with_id()?;
            if let Some(done) = self.settle(joined) {
                return Some(done);
            }
        }
    }

    /// Holds what is back already.
    pub(crate) fn hold_ready(&mut self) {
        while let Some(joined) = self.set.try_join_next_with_id() {
            self.hold(joined);
        }
    }

    /// Waits for the next thing and holds it; none where nothing is in flight.
    pub(crate) async fn hold_next(&mut self) -> Option<()> {
        let joined = self.set.join_next_with_id().await?;
        self.hold(joined);
        Some(())
    }

    fn hold(&mut self, joined: Result<(Id, Done), JoinError>) {
        match joined {
            Ok((id, done)) => self.held.push((Some(id), done)),
            failed => {
                let done = self.settle(failed);
                self.held.extend(done.map(|done| (None, done)));
            }
        }
    }

    /// Of what is held, the first by this place, with the place; what has none comes last.
    pub(crate) fn first_held(
        &self,
        place: impl Fn(&Done) -> Option<usize>,
    ) -> Option<(usize, Option<usize>)> {
        let places = self.held.iter().enumerate().map(|(at, (_, done))| (at, place(done)));
        places.min_by_key(|(_, place)| place.unwrap_or(usize::MAX))
    }

    /// Takes what is held at this index; none where its step was given up meanwhile.
    pub(crate) fn release(&mut self, held: usize) -> Option<Done> {
        let (id, done) = self.held.remove(held);
        let Some(id) = id else { return Some(done) };
        let is_wanted = |step: &StepId| self.by_step.get(step).is_some_and(|(handle, _)| handle.id() == id);
        if done.step().is_some_and(|step| !is_wanted(step)) {
            return None;
        }
        self.settle(Ok((id, done)))
    }

    /// The steps that work is in flight for.
    pub(crate) fn in_flight(&self) -> impl Iterator<Item = &StepId> {
        self.by_step.keys()
    }

    /// What a task that ended brought; none for one that was given up.
    fn settle(&mut self, joined: Result<(tokio::task::Id, Done), JoinError>) -> Option<Done> {
        match joined {
            Ok((_, done)) => {
                if let Some(step) = done.step() {
                    self.by_step.remove(step);
                    self.waiting.remove(step);
                    if let Some(grace) = self.graces.remove(step) {
                        grace.abort();
                    }
                }
                Some(done)
            }
            Err(failure) if failure.is_cancelled() => None,
            Err(failure) => {
                let id = failure.id();
                let found = self.by_step.iter().find(|(_, (handle, _))| handle.id() == id);
                let (step, scope) = found.map(|(s, (_, scope))| (s.clone(), scope.clone()))?;
                self.by_step.remove(&step);
                self.waiting.remove(&step);
                let error = StepError::new(ErrorKind::Tool, format!("the step's code panicked: {failure}"));
                // There is nothing to repeat.
                let used = Usage::default();
                Some(Done::Failed {
                    scope,
                    step,
                    attempt: None,
                    error,
                    used,
                    fail_over: false,
                    fee: Fee::NONE,
                })
            }
        }
    }
}

impl Done {
    /// The name of the entry that it leads to, as recordings have it; none where it leads to none of its own.
    pub(crate) fn entry_name(&self) -> Option<String> {
        let root = ScopePath::root();
        let name = match self {
            Done::Model { step, attempt, result: Ok(_), .. }
            | Done::Op { step, attempt, result: Ok(_), .. } => EntryName::Completed(step, *attempt),
            Done::Model { step, attempt, .. }
            | Done::Op { step, attempt, .. }
            | Done::Failed { step, attempt: Some(attempt), .. } => EntryName::AttemptFailed(step, *attempt),
            Done::Failed { step, .. } | Done::Unanswered { step, .. } | Done::GraceOver { step, .. } => {
                EntryName::Failed(step)
            }
            Done::Timer { scope, timer } => EntryName::TimerFired(scope, timer),
            Done::Answer { step, .. } => EntryName::Answered(step),
            Done::Cancel => EntryName::CancelRequested(&root),
            Done::Passed { .. } | Done::Due { .. } => return None,
        };
        Some(name.to_string())
    }

    /// The step whose work is over with this; none for timers and graces.
    fn step(&self) -> Option<&StepId> {
        match self {
            Done::Model { step, .. }
            | Done::Op { step, .. }
            | Done::Failed { step, .. }
            | Done::Passed { step, .. }
            | Done::Answer { step, .. }
            | Done::Unanswered { step, .. } => Some(step),
            Done::Due { effect, .. } => effect.step(),
            Done::Timer { .. } | Done::GraceOver { .. } | Done::Cancel => None,
        }
    }
}

/// Runs work under a run-wide cap and a time limit; waiting for a place takes nothing of the time.
pub(crate) async fn bounded<T>(
    place: Option<Arc<Semaphore>>,
    timeout_ms: Option<u64>,
    work: impl Future<Output = Result<T, StepError>>,
) -> Result<T, StepError> {
    let _permit = match &place {
        // The semaphore is never closed; were it, the cap would be gone, not the work.
        Some(place) => place.acquire().await.ok(),
        None => None,
    };
    let Some(ms) = timeout_ms else { return work.await };
    match tokio::time::timeout(Duration::from_millis(ms), work).await {
        Ok(result) => result,
        Err(_) => Err(StepError::new(
            ErrorKind::StepTimeout,
            format!("no answer within {} s", Duration::from_millis(ms).as_secs_f64()),
        )),
    }
}
