//! Runs that are over and go on, as their next attempt; children that go on with them.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_engine::{Machine, NotResumable, check_resume};
use deepgraph_graph::Bundle;
use deepgraph_protocol::{
    EntryBody, ErrorKind, Grant, Map, Millis, ResumeFrom, ScopePath, StepError, StepId, Value,
};
use deepgraph_store::{RunId, RunRecord, RunUpdate, Store, Stored};
use tokio::sync::mpsc;

use crate::RunError;
use crate::driver::Driver;
use crate::progress::Observer;
use crate::resume::fold;
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
}

impl Again {
    /// A further attempt of a stored run, with these keys of the configuration set to something else.
    ///
    /// # Errors
    ///
    /// [`RunError::NotResumable`]: the run is not over. The configuration does not fit; the store fails.
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
        let rows = store.entries(run, 0)?;
        let mut wanted: BTreeMap<String, Value> =
            in_force(&rows).iter().map(|(key, value)| (key.to_string(), value.clone())).collect();
        wanted.extend(set.iter().map(|(key, value)| (key.clone(), value.clone())));
        let config = bundle.config_of(wanted).map_err(|wrong| {
            let wrong: Vec<String> = wrong.iter().map(ToString::to_string).collect();
            RunError::Config { graph: record.graph.clone(), problem: wrong.join("; ") }
        })?;
        let mut settings = record.settings.clone();
        if let Some(fields) = settings.as_object_mut() {
            fields.insert("config".to_owned(), serde_json::to_value(&config).unwrap_or_default());
        }
        Ok(Again { bundle, config, from, settings })
    }
}

impl Again {
    /// Finds out whether the run can go on so at a moment. Nothing is changed.
    ///
    /// # Errors
    ///
    /// [`RunError::NotResumable`], with what can be done instead; the journals do not fold; the store fails.
    pub fn check(&self, store: &dyn Store, run: &RunId, now: Millis) -> Result<(), RunError> {
        let rows = store.entries(run, 0)?;
        let machines = fold(&self.bundle, &rows, |_| {});
        let mut machines =
            machines.map_err(|graph| RunError::UnknownGraph { run: run.to_string(), graph })?;
        let now = now.max(rows.last().map_or(0, |row| row.entry.at));
        check_resume(&mut machines, now, &Arc::new(self.config.clone()), self.from)
            .map_err(|why| RunError::NotResumable { run: run.to_string(), why })
    }
}

/// The configuration of the last attempt.
fn in_force(rows: &[Stored]) -> Map {
    let of_root = rows.iter().rev().filter(|row| row.scope.is_root());
    let mut configs = of_root.filter_map(|row| match &row.entry.body {
        EntryBody::Started(started) => Some(&started.config),
        EntryBody::Resumed { config, .. } => Some(config),
        _ => None,
    });
    configs.next().map(|config| (**config).clone()).unwrap_or_default()
}

impl Runtime {
    /// Takes a run that is over up again. It is found out first whether it can go on: nothing is claimed and nothing
    /// changed where it can not.
    pub(crate) fn again(
        &self,
        run: &RunId,
        again: Again,
        previews: mpsc::UnboundedSender<(StepId, String)>,
        observer: &mut dyn Observer,
    ) -> Result<Driver<'_>, RunError> {
        let now = self.clock.now();
        again.check(&*self.store, run, now)?;
        let Again { bundle, config, from, settings } = again;
        let config = Arc::new(config);
        let mut driver = self.resume(run, bundle, Vec::new(), previews, observer)?;
        // Somebody else may have let it go on meanwhile.
        let root = driver.machines.get(&ScopePath::root()).map(|live| &live.machine);
        let attempt = root.map_or(1, Machine::attempt) + 1;
        let grant = Grant::default();
        root.map_or(Err(NotResumable::NotOver), |root| root.can_resume(now, &config, &grant, from))
            .map_err(|why| RunError::NotResumable { run: run.to_string(), why })?;
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
    /// Lets a child go on with its work, once there is a place for it. After a crash it may go on already, or be over
    /// again.
    pub(crate) fn reopen_child(
        &mut self,
        parent: &ScopePath,
        step: StepId,
        config: Arc<Map>,
        grant: Grant,
        attempt: u32,
    ) {
        let child = step.scope();
        let Some(live) = self.machines.get(&child) else {
            let message = format!("the journal of `{child}` is not there, so it can not go on");
            let error = StepError::new(ErrorKind::NotFound, message);
            return self.commit_later(parent, EntryBody::Failed { step, error });
        };
        if live.machine.attempt() < attempt {
            let resumed = EntryBody::Resumed { attempt, config, grant, from: ResumeFrom::Research };
            self.slots.enqueue(child, resumed);
        } else if let Some(end) = live.machine.end() {
            let end = end.clone();
            self.commit_later(parent, EntryBody::ChildEnded { step, end: Box::new(end) });
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
