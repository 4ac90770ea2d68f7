//! What came of a simulated run.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_engine::Machine;
use deepgraph_graph::Bundle;
use deepgraph_protocol::{
    Entry, EntryBody, Event, Millis, ModelRequest, Output, ScopeEnd, ScopePath, Started, StepId,
};
use deepgraph_trace::{Row, Trace};

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

/// An attempt that was sent out.
#[derive(Clone, Debug)]
pub struct Sent {
    /// The step.
    pub step: StepId,
    /// The attempt, from 1.
    pub attempt: u32,
    /// What a model was asked; none for an op.
    pub request: Option<Arc<ModelRequest>>,
    /// How many entries were committed then.
    pub entries: usize,
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
    /// Model requests that were sent, in order.
    pub requests: Vec<(StepId, ModelRequest)>,
    /// The most instances of each graph that were alive at once.
    pub most_alive: BTreeMap<String, usize>,
    /// Steps that were carried out, with how often.
    pub carried_out: BTreeMap<StepId, usize>,
    /// Steps that were sent out and that came to their end, in order. Nodes that only write are none of them.
    pub flight: Vec<Passage>,
    /// What the Machine put out for each row. Nothing for rows that were there before.
    pub outputs: Vec<Vec<Output>>,
    /// Under which epoch each row was written: that of its owner.
    pub epochs: Vec<u64>,
    /// Attempts that were sent out, in order.
    pub sent: Vec<Sent>,
    /// The Machines as they stood when the run ended or was left.
    pub machines: BTreeMap<ScopePath, Machine>,
    /// What went wrong, by kind: `timed_out`, `lost`, `late`, `duplicate`, `crash`, `takeover`, `fenced`, `cancelled`.
    pub faults: BTreeMap<&'static str, usize>,
    /// What the journals did not take from the owner of the run. Nothing, if all is well.
    pub not_appended: Vec<NotAppended>,
    /// When virtual time began.
    pub began: Millis,
    /// When the run ended or was left.
    pub now: Millis,
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
            machines: BTreeMap::new(),
            faults: BTreeMap::new(),
            not_appended: Vec::new(),
            began,
            now: began,
        }
    }

    /// The canonical trace, without times.
    pub fn trace(&self, bundle: &Arc<Bundle>) -> Trace {
        let rows = self.rows.iter().map(|(scope, entry)| Row { scope, entry });
        deepgraph_trace::fold(bundle, rows)
            .unwrap_or_else(|e| panic!("the journals do not fold: {e}"))
            .redact("")
    }

    /// The Machine of a scope as the journals leave it.
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

    /// How the root ended.
    pub fn ended(&self) -> &ScopeEnd {
        self.end.as_ref().unwrap_or_else(|| panic!("the run has not ended; last: {:?}", self.events.last()))
    }
}
