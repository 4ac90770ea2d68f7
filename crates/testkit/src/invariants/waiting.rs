//! Whether children of an instance may wait for a place among those that `parallel` allows: calls of a turn, items of a
//! list.

use std::collections::{BTreeMap, BTreeSet};

use deepgraph_graph::{Call, Callee, Verb};
use deepgraph_protocol::{Event, Output, StepId};

use super::seen::{Row, Scope};

/// What may wait, as the rows are gone through.
pub(super) struct Waiting<'s, 'r> {
    scope: &'s Scope<'r>,
    /// The row in which the last item of a list was started, by the step of its node and the attempt of the instance.
    /// None where items may have been given up without being started, or without going on.
    last_items: BTreeMap<(&'r str, u32), Option<usize>>,
    attempt: u32,
    calls: BTreeSet<&'r StepId>,
    lists: BTreeSet<&'r str>,
    /// All lists so far: where the work goes on after its end, one of them may be open again.
    known: BTreeSet<&'r str>,
}

impl<'s, 'r> Waiting<'s, 'r> {
    pub(super) fn of(scope: &'s Scope<'r>) -> Waiting<'s, 'r> {
        let mut last_items: BTreeMap<(&str, u32), Option<usize>> = BTreeMap::new();
        let (mut open, mut known): (BTreeSet<&str>, BTreeSet<&str>) = Default::default();
        let mut attempt = 1;
        for (row, event) in scope.events() {
            match event {
                Event::NodeStarted { step, .. } if waits(scope, step) => {
                    open.insert(step.as_str());
                    known.insert(step.as_str());
                }
                // One of the lists may be open again.
                Event::Resumed { .. } => {
                    attempt += 1;
                    open.clone_from(&known);
                }
                Event::ItemStarted { step, .. } => {
                    if let Some(at) = scope.at(step) {
                        last_items.insert((at.run, attempt), Some(row));
                    }
                }
                // Nothing of a super-step was given up that another one of the main stage follows.
                Event::SuperStepStarted { .. } => open.clear(),
                Event::Finishing { .. } | Event::Exited { .. } => {
                    let given_up = std::mem::take(&mut open).into_iter();
                    last_items.extend(given_up.map(|list| ((list, attempt), None)));
                }
                _ => {}
            }
        }
        last_items.extend(open.into_iter().map(|list| ((list, attempt), None)));
        let (lists, known) = Default::default();
        Waiting { scope, last_items, attempt: 1, calls: BTreeSet::new(), lists, known }
    }

    pub(super) fn enter(&mut self, row: &Row<'r>) {
        for output in row.outputs {
            let Output::Event(event) = output else { continue };
            match event {
                Event::CallQueued { step, tool } if is_graph_tool(self.scope, tool) => {
                    self.calls.insert(step);
                }
                Event::CallAdmitted { step, .. } => drop(self.calls.remove(step)),
                Event::NodeStarted { step, .. } if waits(self.scope, step) => {
                    self.lists.insert(step.as_str());
                    self.known.insert(step.as_str());
                }
                Event::Resumed { .. } => {
                    self.attempt += 1;
                    self.lists.clone_from(&self.known);
                }
                Event::SuperStepStarted { .. } | Event::Finishing { .. } | Event::Exited { .. } => {
                    self.calls.clear();
                    self.lists.clear();
                }
                _ => {}
            }
        }
        let (last_items, attempt) = (&self.last_items, self.attempt);
        self.lists.retain(|list| match last_items.get(&(*list, attempt)) {
            Some(Some(last)) => row.number < *last,
            // No item was started at all.
            None => false,
            Some(None) => true,
        });
    }

    /// Whether any may wait now.
    pub(super) fn is_any(&self) -> bool {
        !self.calls.is_empty() || !self.lists.is_empty()
    }
}

fn is_graph(call: &Call) -> bool {
    matches!(call.callee, Callee::Graph(_))
}

fn is_graph_tool(scope: &Scope<'_>, tool: &str) -> bool {
    let tool = scope.graph.tool(tool).and_then(|ix| scope.graph.tools.get(ix.0));
    tool.and_then(|tool| tool.call.as_ref()).is_some_and(is_graph)
}

/// Whether items of a node's list wait for each other.
fn waits(scope: &Scope<'_>, step: &StepId) -> bool {
    let Some(node) = scope.node(step) else { return false };
    node.each.as_ref().is_some_and(|each| each.parallel.is_some())
        && matches!(&node.verb, Verb::Call(call) if is_graph(call))
}
