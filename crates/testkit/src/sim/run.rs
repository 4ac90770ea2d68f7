//! What came of a simulated run.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_engine::Machine;
use deepgraph_graph::Bundle;
use deepgraph_protocol::{
    Entry, EntryBody, Event, Map, Millis, ModelRequest, Output, ScopeEnd, ScopePath, Started, StepId,
};
use deepgraph_trace::{FoldError, Row, Trace};

use super::faults::Fault;
use super::journals::NotAppended;

/// A step that was sent out, or that came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The step.
    pub step: StepId,
    /// Whether it was sent out.
    pub out: bool,
    /// How many entries were committed then, the one that ended it included.
    pub entries: usize,
}

/// A model call that was sent out.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    /// The step.
    pub(crate) step: StepId,
    /// What was asked.
    pub(crate) request: Arc<ModelRequest>,
}

/// A call that writes and that was made.
#[derive(Clone, Debug)]
pub(crate) struct SentWrite {
    /// The instance.
    pub(crate) scope: ScopePath,
    /// The step.
    pub(crate) step: StepId,
    /// The attempt.
    pub(crate) attempt: u32,
    /// Its idempotency key.
    pub(crate) key: String,
    /// Whether the op takes it.
    pub(crate) takes_key: bool,
    /// How many rows the run had then.
    pub(crate) entries: usize,
}

/// What came of a simulated run.
#[derive(Debug)]
pub struct SimRun {
    /// How the root ended; none where the run was stopped before, or waits for a person.
    pub end: Option<ScopeEnd>,
    /// The journals, in order of commit.
    pub rows: Vec<(ScopePath, Entry)>,
    /// The events, in order.
    pub events: Vec<Event>,
    /// Model requests whose answers came back, in the order in which they did.
    pub requests: Vec<(StepId, ModelRequest)>,
    /// The most instances of each graph that were alive at once.
    pub most_alive: BTreeMap<String, usize>,
    /// Steps that were carried out, with how often.
    pub carried_out: BTreeMap<StepId, usize>,
    /// Steps that were sent out and that came to their end, in order. Nodes that only write are none of them.
    pub flight: Vec<Passage>,
    /// What the Machine put out for each row. Nothing for rows that were there before.
    pub(crate) outputs: Vec<Vec<Output>>,
    /// Under which epoch each row was written: that of its owner.
    pub(crate) epochs: Vec<u64>,
    /// Model calls that were sent out, in order, whatever came of them.
    pub(crate) sent: Vec<Sent>,
    /// How many models the longest route had.
    pub(crate) longest_route: usize,
    /// Calls that write and were made, in order, whatever came of them.
    pub(crate) writes: Vec<SentWrite>,
    /// The Machines as they stood when the run ended or was left.
    pub(crate) machines: BTreeMap<ScopePath, Machine>,
    /// What went wrong, and how often.
    pub faults: BTreeMap<Fault, usize>,
    /// What the journals did not take from the owner of the run. Nothing, if all is well.
    pub(crate) not_appended: Vec<NotAppended>,
    /// When virtual time began.
    pub began: Millis,
    /// When the run ended or was left.
    pub(crate) now: Millis,
}

impl SimRun {
    pub(crate) fn new(began: Millis) -> SimRun {
        SimRun {
            end: None,
            rows: Vec::new(),
            events: Vec::new(),
            requests: Vec::new(),
            most_alive: BTreeMap::new(),
            carried_out: BTreeMap::new(),
            flight: Vec::new(),
            outputs: Vec::new(),
            epochs: Vec::new(),
            sent: Vec::new(),
            longest_route: 1,
            writes: Vec::new(),
            machines: BTreeMap::new(),
            faults: BTreeMap::new(),
            not_appended: Vec::new(),
            began,
            now: began,
        }
    }

    /// The canonical trace, without times.
    ///
    /// # Errors
    ///
    /// The journals do not fold.
    pub fn fold(&self, bundle: &Arc<Bundle>) -> Result<Trace, FoldError> {
        let rows = self.rows.iter().map(|(scope, entry)| Row { scope, entry });
        Ok(deepgraph_trace::fold(bundle, rows)?.redact(""))
    }

    /// The canonical trace, without times, for tests.
    ///
    /// # Panics
    ///
    /// The journals do not fold: see [`SimRun::fold`].
    pub fn trace(&self, bundle: &Arc<Bundle>) -> Trace {
        self.fold(bundle).unwrap_or_else(|e| panic!("the journals do not fold: {e}"))
    }

    /// The Machine of a scope as the journals leave it, for tests.
    ///
    /// # Panics
    ///
    /// The run has no such scope, or the bundle not its graph.
    pub fn machine(&self, bundle: &Arc<Bundle>, scope: &str) -> Machine {
        let scope = ScopePath::new(scope);
        let mut rows = self.rows.iter().filter(|(s, _)| *s == scope).map(|(_, entry)| entry);
        let started = rows.clone().next().map(|e| &e.body);
        let Some(EntryBody::Started(Started { graph, .. })) = started else { panic!("no scope `{scope}`") };
        let graph = bundle.find(graph).unwrap_or_else(|| panic!("no graph `{graph}`"));
        let mut machine = Machine::new(bundle.clone(), graph, scope.clone());
        rows.by_ref().for_each(|entry| drop(machine.apply(entry)));
        machine
    }

    /// The configuration of the root's last attempt.
    pub(crate) fn config(&self) -> Map {
        let of_root = self.rows.iter().rev().filter(|(scope, _)| scope.is_root());
        let mut configs = of_root.filter_map(|(_, entry)| match &entry.body {
            EntryBody::Started(started) => Some(&started.config),
            EntryBody::Resumed { config, .. } => Some(config),
            _ => None,
        });
        configs.next().map(|config| (**config).clone()).unwrap_or_default()
    }

    /// How the root ended, for tests.
    ///
    /// # Panics
    ///
    /// It has not ended.
    pub fn ended(&self) -> &ScopeEnd {
        self.end.as_ref().unwrap_or_else(|| panic!("the run has not ended; last: {:?}", self.events.last()))
    }
}
