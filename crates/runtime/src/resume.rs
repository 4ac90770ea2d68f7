//! Machines from journals.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_engine::{Machine, check_resume};
use deepgraph_graph::{Bundle, GraphIx};
use deepgraph_protocol::{EntryBody, Map, Millis, Output, ResumeFrom, ScopePath, StepId};
use deepgraph_store::{RunId, Store, Stored};

use crate::RunError;
use crate::answers::{self, open_questions};
use crate::progress::Told;

/// A Machine with the length of its journal.
#[derive(Clone, Debug)]
pub(crate) struct Live {
    pub(crate) machine: Machine,
    pub(crate) position: u64,
}

/// Folds the journals of a run: the Machines as they stood when it was left, and every event on the way.
///
/// # Errors
///
/// The name of a graph that the bundle does not have.
pub fn fold(
    bundle: &Arc<Bundle>,
    rows: &[Stored],
    mut tell: impl FnMut(Told),
) -> Result<BTreeMap<ScopePath, Machine>, String> {
    let mut machines = BTreeMap::new();
    fold_onto(&mut machines, bundle, rows, &mut tell)?;
    Ok(machines.into_iter().map(|(scope, live)| (scope, live.machine)).collect())
}

/// Folds further rows.
fn fold_onto(
    machines: &mut BTreeMap<ScopePath, Live>,
    bundle: &Arc<Bundle>,
    rows: &[Stored],
    tell: &mut dyn FnMut(Told),
) -> Result<(), String> {
    for row in rows {
        if let EntryBody::Started(started) = &row.entry.body {
            let graph: GraphIx = bundle.find(&started.graph).ok_or_else(|| started.graph.to_string())?;
            let machine = Machine::new(bundle.clone(), graph, row.scope.clone());
            machines.entry(row.scope.clone()).or_insert(Live { machine, position: 0 });
        }
        // Entries before `Started` belong to no instance: there are none in a journal that we wrote.
        let Some(live) = machines.get_mut(&row.scope) else { continue };
        live.position = row.position + 1;
        for output in live.machine.apply(&row.entry) {
            if let Output::Event(event) = output {
                tell(Told { seq: row.seq, at: row.entry.at, replayed: true, event });
            }
        }
    }
    Ok(())
}

/// A run as it was left: its journals, read and folded once.
#[derive(Clone, Debug)]
pub(crate) struct Folded {
    pub(crate) run: RunId,
    pub(crate) bundle: Arc<Bundle>,
    pub(crate) machines: BTreeMap<ScopePath, Live>,
    /// What happened until then.
    pub(crate) told: Vec<Told>,
    /// Under which key each channel of the root is kept beyond the run.
    pub(crate) keys: BTreeMap<Arc<str>, Arc<str>>,
    /// The configuration of its last attempt.
    pub(crate) config: Arc<Map>,
    /// When its last entry was committed; no moment before the first.
    pub(crate) at: Millis,
    /// The seq of its last row.
    seq: u64,
}

impl Folded {
    /// Reads a run and folds it. Waits for the store.
    ///
    /// # Errors
    ///
    /// The journals do not fold; the store fails.
    pub(crate) fn read(store: &dyn Store, run: &RunId, bundle: &Arc<Bundle>) -> Result<Folded, RunError> {
        let mut folded = Folded {
            run: run.clone(),
            bundle: bundle.clone(),
            machines: BTreeMap::new(),
            told: Vec::new(),
            keys: BTreeMap::new(),
            config: Arc::default(),
            at: Millis::MIN,
            seq: 0,
        };
        folded.catch_up(store)?;
        Ok(folded)
    }

    /// Reads and folds what was written since; whether anything was. Waits for the store.
    pub(crate) fn catch_up(&mut self, store: &dyn Store) -> Result<bool, RunError> {
        let rows = store.entries(&self.run, self.seq)?;
        let told = &mut self.told;
        fold_onto(&mut self.machines, &self.bundle, &rows, &mut |event| told.push(event))
            .map_err(|graph| RunError::UnknownGraph { run: self.run.to_string(), graph })?;
        for row in rows.iter().filter(|row| row.scope.is_root()) {
            match &row.entry.body {
                EntryBody::Started(started) => {
                    self.keys.clone_from(&started.keys);
                    self.config = started.config.clone();
                }
                EntryBody::Resumed { config, .. } => self.config = config.clone(),
                _ => {}
            }
        }
        if let Some(last) = rows.last() {
            (self.at, self.seq) = (last.entry.at, last.seq);
        }
        Ok(!rows.is_empty())
    }

    /// Which open question each answer is for.
    pub(crate) fn assigned(
        &self,
        answers: Vec<(Option<StepId>, String)>,
    ) -> Result<BTreeMap<StepId, String>, RunError> {
        if answers.is_empty() {
            return Ok(BTreeMap::new());
        }
        let machines = self.machines.values().map(|live| &live.machine);
        answers::assigned(&self.run, answers, &open_questions(machines))
    }

    /// Finds out whether the run can go on after its end, from a moment on. Nothing is changed.
    ///
    /// # Errors
    ///
    /// [`RunError::NotResumable`].
    pub(crate) fn can_go_on(&self, now: Millis, config: &Map, from: ResumeFrom) -> Result<(), RunError> {
        // Who asks works with the Machines; values are shared by their copies.
        let copies = self.machines.iter().map(|(scope, live)| (scope.clone(), live.machine.clone()));
        check_resume(&mut copies.collect(), now.max(self.at), &Arc::new(config.clone()), from)
            .map_err(|why| RunError::NotResumable { run: self.run.to_string(), why })
    }
}
