//! Cancelling a run: asked for through its store, or taken over from where nobody drives it.
//!
//! Anybody may ask: [`Store::request_cancel`](deepgraph_store::Store::request_cancel) sets `cancel_requested`. Whoever
//! drives the run is told with its next commit, and looks by itself while nothing comes back. It takes the request, so
//! that the flag is free for a second one, which gives up at once what is in flight. Where nobody drives the run,
//! [`Runtime::cancel`] takes it over: nothing is sent any more but compensations, so neither models nor documents are
//! needed.

use std::time::Duration;

use deepgraph_engine::Phase;
use deepgraph_protocol::{EntryBody, RunStatus, ScopeEnd, ScopePath};
use deepgraph_store::{Append, RunId, RunUpdate, StoreError};

use crate::RunError;
use crate::aside::aside;
use crate::control::{Cancel, Control};
use crate::driver::Driver;
use crate::host::Host;
use crate::progress::{Observer, Quiet};
use crate::resume::Live;
use crate::run::{Ended, Runtime};
use crate::work::Work;

/// How long nothing comes back before the store is asked whether the run is to stop.
pub(crate) const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

/// How long somebody who drives a run may take to notice that it is to stop. After that it is taken over.
const NOTICES_WITHIN: Duration = Duration::from_secs(5);

/// How often the record is looked at meanwhile.
const BETWEEN_READS: Duration = Duration::from_millis(50);

/// What came of asking for a run to stop.
#[derive(Clone, Debug, PartialEq)]
pub enum Cancelled {
    /// It was over before; it stays as it is.
    WasOver(RunStatus),
    /// It is over now: cancelled, or by an end that came first.
    Over(RunStatus),
    /// Whoever drives it has noticed, and steps in flight are still let come to their end.
    Still(RunStatus),
}

impl Runtime {
    /// Asks for a run to stop. Whoever drives it notices at the next commit, or within a second or two. Asked a second
    /// time, it gives up at once what is in flight, and begins no compensation. A run that is over stays as it is. This
    /// waits for the store, as [`Runtime::record`].
    ///
    /// # Errors
    ///
    /// There is no such run; the store fails.
    pub fn request_cancel(&self, run: &RunId) -> Result<RunStatus, RunError> {
        Ok(self.store.request_cancel(run)?)
    }

    /// Cancels a run that nobody drives, and drives it to its end: what was changed outside is undone where the graph
    /// says how. With [`Cancel::AtOnce`] no compensation begins. Whoever drives it nevertheless is fenced.
    ///
    /// # Errors
    ///
    /// As [`Runtime::drive`].
    pub async fn cancel(
        &self,
        run: &RunId,
        work: Work,
        how: Cancel,
        control: Control,
        observer: &mut dyn Observer,
    ) -> Result<Ended, RunError> {
        self.drive_under(run, work, how, control, observer).await
    }
}

impl Host {
    /// Cancels a run of the store and waits until it is over, `patience` at most. Whoever drives it, here or elsewhere,
    /// is asked to stop; where nobody notices within some seconds, or the run waits for a person, it is taken over.
    /// `at_once` gives up what is in flight and begins no compensation; so does a second cancel of a run that is being
    /// cancelled.
    ///
    /// # Errors
    ///
    /// There is no such run, its graph does not compile against the ops of this host, or the store fails.
    pub async fn cancel(
        &self,
        run: &RunId,
        at_once: bool,
        patience: Duration,
    ) -> Result<Cancelled, RunError> {
        let begun = tokio::time::Instant::now();
        let first = self.ask_to_cancel(run).await?;
        if first.is_terminal() {
            return Ok(Cancelled::WasOver(first));
        }
        let mut asked_again = !at_once;
        let mut was_seen = first == RunStatus::Cancelling;
        loop {
            let record = self.record_of(run).await?;
            was_seen |= record.status == RunStatus::Cancelling && !record.cancel_requested;
            if record.status.is_terminal() {
                return Ok(Cancelled::Over(record.status));
            }
            if was_seen && !std::mem::replace(&mut asked_again, true) {
                self.ask_to_cancel(run).await?;
            }
            let nobody = record.status == RunStatus::AwaitingInput
                || (record.cancel_requested && begun.elapsed() >= NOTICES_WITHIN);
            if nobody {
                let how = if at_once { Cancel::AtOnce } else { Cancel::Cooperative };
                return self.cancel_left(run, how).await;
            }
            if begun.elapsed() >= patience {
                return Ok(Cancelled::Still(record.status));
            }
            tokio::time::sleep(BETWEEN_READS).await;
        }
    }

    async fn ask_to_cancel(&self, run: &RunId) -> Result<RunStatus, RunError> {
        let (runtime, of) = (self.runtime().clone(), run.clone());
        self.aside(run, move || runtime.request_cancel(&of)).await
    }

    /// Cancels a run that nobody drives.
    async fn cancel_left(&self, run: &RunId, how: Cancel) -> Result<Cancelled, RunError> {
        let resumption = self.resume(run).await?;
        let work = Work::of(resumption.record(), resumption.bundle().clone(), Vec::new())?;
        let (_canceller, control) = Control::new();
        let ended = self.runtime().cancel(run, work, how, control, &mut Quiet).await?;
        Ok(match ended.outcome() {
            Some(outcome) => Cancelled::Over(outcome.status),
            None => Cancelled::Still(RunStatus::AwaitingInput),
        })
    }
}

impl Driver<'_> {
    /// Cancels the run before anything of it is carried out (again).
    pub(crate) async fn cancel_first(
        &mut self,
        how: Cancel,
        observer: &mut dyn Observer,
    ) -> Result<(), RunError> {
        self.held_back = true;
        // The request is taken with this; a second one is one that comes from now on.
        self.record(&RunUpdate { cancel_requested: Some(false), ..RunUpdate::default() }).await?;
        self.cancel_now(how.max(self.cancel));
        self.commit(observer).await?;
        self.held_back = false;
        self.reopen();
        Ok(())
    }

    /// What somebody asked for while nobody drove the run: it is done before anything is carried out.
    pub(crate) async fn asked_before(&self) -> Result<Cancel, RunError> {
        let is_over = |root: &Live| root.machine.phase() == Phase::Ended;
        if !self.looks_for_requests() || self.machines.get(&ScopePath::root()).is_some_and(is_over) {
            return Ok(Cancel::No);
        }
        let (store, run) = (self.runtime.store.clone(), self.run.clone());
        let record = aside(false, &self.run, move || Ok(store.run(&run)?)).await?;
        let is_asked = record.is_some_and(|record| record.cancel_requested);
        Ok(match (is_asked, self.cancel) {
            (false, _) => Cancel::No,
            (true, Cancel::No) => Cancel::Cooperative,
            (true, _) => Cancel::AtOnce,
        })
    }

    /// Goes on with a cancellation that was under way when the run was left.
    pub(crate) fn is_cancelled_already(&mut self) {
        let Some(root) = self.machines.get(&ScopePath::root()) else { return };
        self.cancel = match (root.machine.is_cancelled(), root.machine.is_cancelled_at_once()) {
            (false, _) => Cancel::No,
            (true, false) => Cancel::Cooperative,
            (true, true) => Cancel::AtOnce,
        };
    }

    pub(crate) fn cancel_now(&mut self, level: Cancel) {
        let (before, at_once) = (self.cancel, level == Cancel::AtOnce);
        self.cancel = level;
        let root = self.machines.get(&ScopePath::root());
        let is_over = root.is_some_and(|root| root.machine.phase() == Phase::Ended);
        if level > before && !is_over {
            let detail = Some("cancelled by the user".to_owned());
            self.commit_later(
                &ScopePath::root(),
                EntryBody::CancelRequested { detail, reason: None, at_once },
            );
        }
        // The first time, the Machine says what is given up.
        if at_once && before != Cancel::No {
            for (scope, step) in self.tasks.steps() {
                self.give_up(&scope, step);
            }
        }
    }

    /// What becomes of `cancel_requested` with a commit: what was asked for is taken, so that it can be asked once
    /// more. Of a run that is cancelled it says at the end that somebody asked.
    pub(crate) fn takes_request(&self, batch: &[Append]) -> Option<bool> {
        let is_request = |append: &Append| {
            append.scope.is_root() && matches!(append.entry.body, EntryBody::CancelRequested { .. })
        };
        batch.iter().any(is_request).then_some(false)
    }

    /// The record of a run that is over; of one that was cancelled it says that somebody asked for it.
    pub(crate) fn over(&self, status: RunStatus, end: &ScopeEnd) -> RunUpdate {
        let cancel_requested = (self.cancel != Cancel::No).then_some(true);
        RunUpdate { cancel_requested, ..self.tally.ended(status, end) }
    }

    /// Whether the store is asked for requests while nothing comes back. A replay is cancelled by its recording.
    pub(crate) fn looks_for_requests(&self) -> bool {
        self.replay.is_none() && self.cancel != Cancel::AtOnce
    }

    /// Asks the store whether the run is to stop, by an append of nothing. Where that fails, the next commit tells;
    /// only that somebody else drives the run ends this driver.
    pub(crate) async fn look_for_request(&mut self) -> Result<(), RunError> {
        match self.append(&[], &RunUpdate::default()).await {
            Ok(appended) => self.asked_to_cancel |= appended.cancel_requested,
            Err(error @ RunError::Store(StoreError::Fenced { .. })) => return Err(error),
            Err(_) => {}
        }
        Ok(())
    }
}
