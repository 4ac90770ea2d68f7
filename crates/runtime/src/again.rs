//! Runs that are over and go on, as their next attempt; children that go on with them.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_engine::{Machine, NotResumable, Opening, opening};
use deepgraph_graph::Bundle;
use deepgraph_protocol::{Effect, EntryBody, Grant, Map, Millis, ResumeFrom, ScopePath, StepId, Value};
use deepgraph_store::{RunId, RunRecord, RunUpdate, Store};
use tokio::sync::mpsc;

use crate::RunError;
use crate::aside::aside;
use crate::driver::Driver;
use crate::progress::Observer;
use crate::resume::Folded;
use crate::run::Runtime;

/// A further attempt of a run that is over.
#[derive(Clone, Debug)]
pub struct Again {
    /// Its graph.
    pub bundle: Arc<Bundle>,
    /// The whole configuration from now on.
    pub config: Map,
    /// Where it goes on: with the research, or with the report alone.
    pub from: ResumeFrom,
    /// How the run is set up from now on, for its record.
    pub settings: serde_json::Value,
    /// The run as it was when this was made.
    folded: Arc<Folded>,
}

impl Again {
    /// A further attempt of a stored run, with these keys of the configuration set to something else. The run's journals
    /// are read and folded here, once: this waits for the store, so a task calls it under
    /// [`spawn_blocking`](tokio::task::spawn_blocking).
    ///
    /// # Errors
    ///
    /// [`RunError::NotResumable`]: the run is not over. The configuration does not fit; the journals do not fold; the
    /// store fails.
    pub fn of(
        store: &dyn Store,
        record: &RunRecord,
        bundle: Arc<Bundle>,
        set: &BTreeMap<String, Value>,
        from: ResumeFrom,
    ) -> Result<Again, RunError> {
        let run = &record.run_id;
        if !record.status.is_terminal() {
            return Err(RunError::NotResumable { run: run.to_string(), why: NotResumable::NotOver });
        }
        let folded = Folded::read(store, run, &bundle)?;
        let mut wanted: BTreeMap<String, Value> =
            folded.config.iter().map(|(key, value)| (key.to_string(), value.clone())).collect();
        wanted.extend(set.iter().map(|(key, value)| (key.clone(), value.clone())));
        let config = bundle.config_of(wanted).map_err(|wrong| {
            let wrong: Vec<String> = wrong.iter().map(ToString::to_string).collect();
            RunError::Config { graph: record.graph.clone(), problem: wrong.join("; ") }
        })?;
        let mut settings = record.settings.clone();
        if let Some(fields) = settings.as_object_mut() {
            fields.insert("config".to_owned(), serde_json::to_value(&config).unwrap_or_default());
        }
        Ok(Again { bundle, config, from, settings, folded: Arc::new(folded) })
    }
}

impl Again {
    /// Finds out whether the run can go on so at a moment. Nothing is changed.
    ///
    /// # Errors
    ///
    /// [`RunError::NotResumable`], with what can be done instead.
    pub fn check(&self, now: Millis) -> Result<(), RunError> {
        self.folded.can_go_on(now, &self.config, self.from)
    }
}

impl Runtime {
    /// Takes a run that is over up again. It is found out first whether it can go on: nothing is claimed and nothing
    /// changed where it can not.
    pub(crate) async fn again(
        &self,
        run: &RunId,
        again: Again,
        previews: mpsc::UnboundedSender<(StepId, String)>,
        observer: &mut dyn Observer,
    ) -> Result<Driver<'_>, RunError> {
        let (store, of, now) = (self.store.clone(), run.clone(), self.clock.now());
        let Again { config, from, settings, folded, .. } = again;
        let claimed = aside(self.replay.is_some(), run, move || {
            folded.can_go_on(now, &config, from)?;
            let mut folded = Arc::unwrap_or_clone(folded);
            let epoch = store.claim(&of)?;
            // Somebody else may have let it go on meanwhile.
            if folded.catch_up(&*store)? {
                folded.can_go_on(now, &config, from)?;
            }
            Ok((folded, epoch, config))
        });
        let (folded, epoch, config) = claimed.await?;
        let mut driver = self.take_up(folded, epoch, previews, observer);
        let root = driver.machines.get(&ScopePath::root()).map(|live| &live.machine);
        let attempt = root.map_or(1, Machine::attempt).saturating_add(1);
        let (config, grant) = (Arc::new(config), Grant::default());
        driver.first_update = Some(RunUpdate {
            attempt: Some(attempt),
            cancel_requested: Some(false),
            report: Some(None),
            output: Some(Map::new()),
            settings: Some(settings),
            ..RunUpdate::default()
        });
        driver.commit_later(&ScopePath::root(), EntryBody::Resumed { attempt, config, grant, from });
        Ok(driver)
    }
}

/// A change of the record with what the first one of an attempt changes beside.
pub(crate) fn with_first(update: RunUpdate, first: Option<RunUpdate>) -> RunUpdate {
    let Some(first) = first else { return update };
    RunUpdate {
        attempt: first.attempt,
        cancel_requested: first.cancel_requested,
        report: first.report,
        output: first.output,
        settings: first.settings,
        ..update
    }
}

impl Driver<'_> {
    /// Does for a child what its effect asks for, by what is there of it: after a crash it may be at work already, or
    /// over again.
    pub(crate) fn open_child(&mut self, parent: &ScopePath, effect: &Effect) {
        let Some(step) = effect.step().cloned() else { return };
        let child = step.scope();
        let machine = self.machines.get(&child).map(|live| &live.machine);
        match opening(effect, machine, &self.bundle) {
            Some(Opening::Start(entry) | Opening::GoOn(entry)) => self.slots.enqueue(child, entry),
            Some(Opening::Over(end)) => self.commit_later(parent, EntryBody::ChildEnded { step, end }),
            Some(Opening::Gone(error)) => self.commit_later(parent, EntryBody::Failed { step, error }),
            Some(Opening::AtWork) | None => {}
        }
    }

    /// A child that waited for a place is not wanted any more: it was never started, or stays as it had ended.
    pub(crate) fn withdrawn(&mut self, parent: &ScopePath, step: StepId) {
        let before = self.machines.get(&step.scope()).and_then(|live| live.machine.end());
        match before.cloned() {
            Some(end) => self.commit_later(parent, EntryBody::ChildEnded { step, end: Box::new(end) }),
            None => self.give_up(parent, step),
        }
    }
}
