//! The loop: commit, apply, carry out, wait.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use deepgraph_engine::{Machine, Phase};
use deepgraph_graph::Bundle;
use deepgraph_protocol::{
    Effect, Entry, EntryBody, Millis, Output, RunStatus, ScopeEnd, ScopePath, StepId, Value,
};
use deepgraph_store::{Append, Appended, RunId, RunUpdate};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::Instant;

use crate::RunError;
use crate::again::with_first;
use crate::ask::Question;
use crate::asking::Prepared;
use crate::begun::Begun;
use crate::cancel::BETWEEN_LOOKS;
use crate::control::{Cancel, Control};
use crate::progress::{Observer, Tally, Told};
use crate::replay::{Replay, order};
use crate::resume::Live;
use crate::run::Runtime;
use crate::slots::Slots;
use crate::tasks::{CacheKey, Tasks};
use crate::trouble::Troubles;
use crate::writes::OpCall;

/// Drives one run: owns its Machines and all that is in flight.
pub(crate) struct Driver<'a> {
    pub(crate) runtime: &'a Runtime,
    pub(crate) run: RunId,
    pub(crate) epoch: u64,
    pub(crate) bundle: Arc<Bundle>,
    pub(crate) machines: BTreeMap<ScopePath, Live>,
    pub(crate) tasks: Tasks,
    pub(crate) slots: Slots,
    pub(crate) model_places: Option<Arc<Semaphore>>,
    pub(crate) tool_places: Option<Arc<Semaphore>>,
    pub(crate) prepared: BTreeMap<StepId, Prepared>,
    /// Attempts of model calls that were told to wait and were not sent yet.
    pub(crate) held: BTreeSet<(StepId, u32)>,
    /// Calls that wait for their accounts and that nobody was told of yet: the step, the model, and how long, in
    /// milliseconds.
    pub(crate) waits: Vec<(StepId, Arc<str>, u64)>,
    /// Models that lately could not serve.
    pub(crate) troubles: Troubles,
    /// Calls that write and are made once their claim is durable.
    pub(crate) claims: BTreeMap<StepId, OpCall>,
    /// What was sent out, or waits for a place to be.
    pub(crate) begun: BTreeMap<StepId, Begun>,
    pub(crate) questions: BTreeMap<StepId, (Question, Option<u64>)>,
    /// Answers that were brought along, by the question that is open.
    pub(crate) answers: BTreeMap<StepId, String>,
    pub(crate) cache: BTreeMap<CacheKey, (Millis, Value)>,
    /// Under which key each channel of the root is kept beyond the run.
    pub(crate) keys: BTreeMap<Arc<str>, Arc<str>>,
    pub(crate) previews: mpsc::UnboundedSender<(StepId, String)>,
    pub(crate) cancel: Cancel,
    /// Whether the store says that somebody asked for it to stop.
    pub(crate) asked_to_cancel: bool,
    /// Whether what follows from entries is not carried out now: it is put out again afterwards.
    pub(crate) held_back: bool,
    /// What else the first commit changes in the record: that of a further attempt.
    pub(crate) first_update: Option<RunUpdate>,
    pub(crate) tally: Tally,
    /// What answers in place of the outside.
    pub(crate) replay: Option<Replay>,
    last: Millis,
    inbox: VecDeque<(ScopePath, EntryBody)>,
}

/// How driving came to an end.
pub(crate) enum Stop {
    Over(Box<ScopeEnd>),
    Waiting(Vec<Question>),
}

impl<'a> Driver<'a> {
    pub(crate) fn new(
        runtime: &'a Runtime,
        run: RunId,
        epoch: u64,
        bundle: Arc<Bundle>,
        previews: mpsc::UnboundedSender<(StepId, String)>,
    ) -> Driver<'a> {
        let caps = bundle.concurrency;
        let places = |cap: Option<usize>| cap.map(|n| Arc::new(Semaphore::new(n.max(1))));
        Driver {
            runtime,
            run,
            epoch,
            machines: BTreeMap::new(),
            tasks: Tasks::default(),
            slots: Slots::new(caps.graphs),
            model_places: places(caps.model_calls),
            tool_places: places(caps.tool_calls),
            prepared: BTreeMap::new(),
            held: BTreeSet::new(),
            waits: Vec::new(),
            troubles: Troubles::default(),
            claims: BTreeMap::new(),
            begun: BTreeMap::new(),
            asked_to_cancel: false,
            held_back: false,
            first_update: None,
            questions: BTreeMap::new(),
            answers: BTreeMap::new(),
            cache: BTreeMap::new(),
            keys: BTreeMap::new(),
            previews,
            cancel: Cancel::No,
            tally: Tally::default(),
            replay: runtime.replay.as_ref().map(|recording| Replay::new(recording, &bundle.ops)),
            last: 0,
            inbox: VecDeque::new(),
            bundle,
        }
    }

    /// The time now; never before the last entry.
    pub(crate) fn now(&self) -> Millis {
        let now = self.replay.as_ref().map_or_else(|| self.runtime.clock.now(), Replay::now);
        now.max(self.last)
    }

    /// No entry is stamped before this.
    pub(crate) fn not_before(&mut self, at: Millis) {
        self.last = self.last.max(at);
    }

    pub(crate) fn commit_later(&mut self, scope: &ScopePath, body: EntryBody) {
        self.inbox.push_back((scope.clone(), body));
    }

    /// Puts the open effects of all Machines out again, as after a crash.
    pub(crate) fn reopen(&mut self) {
        let open: Vec<(ScopePath, bool, Vec<Effect>)> = self
            .machines
            .iter()
            .filter(|(_, live)| live.machine.phase() != Phase::Ended)
            .map(|(scope, live)| (scope.clone(), live.machine.is_working(), live.machine.open_effects()))
            .collect();
        for (scope, working, effects) in open {
            self.slots.set(&scope, working);
            for effect in effects {
                self.carry_out(&scope, effect);
            }
        }
    }

    /// Runs until the root has ended, or nothing but questions is open.
    pub(crate) async fn drive(
        &mut self,
        control: &mut Control,
        observer: &mut dyn Observer,
        previews: &mut mpsc::UnboundedReceiver<(StepId, String)>,
    ) -> Result<Stop, RunError> {
        if let Some(at) = self.replay.as_ref().and_then(Replay::cancelled) {
            self.tasks.cancel(at);
        }
        // Kept over the turns of the loop: what a model streams does not put it off.
        let mut look_at = Instant::now() + BETWEEN_LOOKS;
        loop {
            self.start_children();
            while !self.inbox.is_empty() {
                self.commit(observer).await?;
                self.start_children();
            }
            for (step, model, ms) in std::mem::take(&mut self.waits) {
                observer.waits(&step, &model, ms);
            }
            if let Some(what) = self.replay.as_mut().and_then(|replay| replay.broken.take()) {
                return Err(RunError::NotRecorded { run: self.run.to_string(), what });
            }
            if let Some(end) = self.machines.get(&ScopePath::root()).and_then(|root| root.machine.end()) {
                return Ok(Stop::Over(Box::new(end.clone())));
            }
            if self.tasks.is_idle() && !self.questions.is_empty() {
                let open = self.questions.values().map(|(q, _)| q.clone()).collect();
                return Ok(Stop::Waiting(open));
            }
            if std::mem::take(&mut self.asked_to_cancel) {
                self.cancel_now(self.cancel.next());
                continue;
            }
            let looks = self.looks_for_requests();
            tokio::select! {
                biased;
                level = control.raised(self.cancel) => self.cancel_now(level),
                () = tokio::time::sleep_until(look_at), if looks => {
                    self.look_for_request().await?;
                    look_at = Instant::now() + BETWEEN_LOOKS;
                }
                Some((step, piece)) = previews.recv() => observer.preview(&step, &piece),
                done = order::next(self.replay.as_mut().and_then(|r| r.order.as_mut()), &mut self.tasks) => match done {
                    Some(done) => {
                        // What is back as well is committed with it, in one transaction.
                        let order = self.replay.as_mut().and_then(|replay| replay.order.as_mut());
                        for done in order::with(order, &mut self.tasks, done).await {
                            self.take(done);
                        }
                    }
                    None => return Err(RunError::Stalled { run: self.run.to_string() }),
                },
            }
        }
    }

    fn start_children(&mut self) {
        while let Some((scope, started)) = self.slots.admit() {
            let EntryBody::Started(body) = &started else {
                self.inbox.push_back((scope, started));
                continue;
            };
            let Some(graph) = self.bundle.find(&body.graph) else { continue };
            let machine = Machine::new(self.bundle.clone(), graph, scope.clone());
            self.machines.entry(scope.clone()).or_insert(Live { machine, position: 0 });
            self.inbox.push_back((scope, started));
        }
    }

    /// Commits everything that is due in one transaction, then applies it.
    pub(crate) async fn commit(&mut self, observer: &mut dyn Observer) -> Result<(), RunError> {
        let due: Vec<(ScopePath, EntryBody)> = std::mem::take(&mut self.inbox).into();
        let now = self.now();
        let mut positions: BTreeMap<ScopePath, u64> = BTreeMap::new();
        let mut batch = Vec::with_capacity(due.len());
        for (scope, body) in due {
            let Some(live) = self.machines.get(&scope) else { continue };
            let next = positions.entry(scope.clone()).or_insert(live.position);
            // What is done here takes some time in a run and none in its replay.
            let recorded = self.replay.as_ref().and_then(|replay| replay.stamp(&scope, &body));
            if let Some(replay) = &mut self.replay {
                replay.note(&scope, &body);
            }
            let at = recorded.unwrap_or(now).max(self.last);
            self.last = at;
            batch.push(Append { scope, expected_position: *next, entry: Entry { at, body } });
            *next += 1;
        }
        if batch.is_empty() {
            return Ok(());
        }
        let update =
            RunUpdate { cancel_requested: self.takes_request(&batch), ..self.tally.update(self.status()) };
        let update = with_first(update, self.first_update.take());
        let appended = self.append(&batch, &update).await?;
        // What is taken now is asked no second time.
        self.asked_to_cancel |= appended.cancel_requested && update.cancel_requested.is_none();
        let first = appended.seq + 1 - batch.len() as u64;
        for (append, seq) in batch.into_iter().zip(first..) {
            self.apply(append, seq, observer);
        }
        Ok(())
    }

    fn apply(&mut self, append: Append, seq: u64, observer: &mut dyn Observer) {
        let Append { scope, entry, .. } = append;
        let Some(live) = self.machines.get_mut(&scope) else { return };
        live.position += 1;
        let outputs = live.machine.apply(&entry);
        let ended = live.machine.end().cloned();
        let working = live.machine.is_working();
        if let EntryBody::ChildEnded { step, .. } = &entry.body {
            self.slots.set(&step.scope(), false);
        }
        if ended.is_none() {
            self.slots.set(&scope, working);
        }
        for output in outputs {
            match output {
                Output::Event(event) => {
                    self.tally.note(&event);
                    observer.told(&Told { seq, at: entry.at, replayed: false, event });
                }
                Output::Effect(_) if self.held_back => {}
                Output::Effect(effect) => self.carry_out(&scope, effect),
            }
        }
        if let EntryBody::Dispatched { step, .. } = &entry.body {
            self.send_model(&scope, step);
            self.send_claimed(&scope, step);
        }
        if let (Some(end), Some(step)) = (ended, scope.step()) {
            self.end_child(&scope, step, end);
        }
    }

    /// A child is over: its parent learns of it once, and nothing of the child goes on.
    fn end_child(&mut self, scope: &ScopePath, step: StepId, end: ScopeEnd) {
        let parent = self
            .machines
            .iter()
            .find(|(_, live)| live.machine.is_open(&step))
            .map(|(parent, _)| parent.clone());
        if let Some(parent) = parent
            && self.machines.remove(scope).is_some()
        {
            self.commit_later(&parent, EntryBody::ChildEnded { step, end: Box::new(end) });
        }
    }

    pub(crate) fn status(&self) -> RunStatus {
        if self.cancel == Cancel::No { RunStatus::Running } else { RunStatus::Cancelling }
    }

    /// Writes the run's record.
    pub(crate) async fn record(&self, update: &RunUpdate) -> Result<(), RunError> {
        self.append(&[], update).await.map(drop)
    }

    /// Appends without holding up the thread, so that the commits of many runs share one write to the disk.
    pub(crate) async fn append(&self, batch: &[Append], update: &RunUpdate) -> Result<Appended, RunError> {
        if self.replay.is_some() {
            // The time of a replay is paused: while it waited for another thread, all timers would come due.
            return Ok(self.runtime.store.append(&self.run, self.epoch, batch, Some(update))?);
        }
        let (told, appended) = oneshot::channel();
        let done = Box::new(move |result| drop(told.send(result)));
        self.runtime.store.append_then(&self.run, self.epoch, batch, Some(update), done);
        let lost = || RunError::StoreSilent { run: self.run.to_string() };
        Ok(appended.await.map_err(|_| lost())??)
    }
}
