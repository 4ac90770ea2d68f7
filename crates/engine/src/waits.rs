//! Nodes that wait: `after` for others to have led to them, `defer` until nothing else runs.

use deepgraph_graph::NodeIx;
use deepgraph_protocol::{ErrorKind, StepError};

use crate::machine::Machine;

impl Machine {
    /// A node leads to others: those that wait for more than that stay behind.
    pub(crate) fn arrive(&mut self, from: NodeIx, nodes: Vec<NodeIx>) {
        let bundle = self.bundle.clone();
        let plan = bundle.graph(self.graph);
        for node in nodes {
            let after = &plan.nodes[node.0].after;
            if after.is_empty() {
                self.make_ready(node);
                continue;
            }
            let arrived = self.arrived.entry(node).or_default();
            if after.contains(&from) {
                arrived.insert(from);
            }
            if after.iter().all(|source| arrived.contains(source)) {
                self.arrived.remove(&node);
                self.make_ready(node);
            }
        }
    }

    /// `start` or `finally` leads to nodes. That is no arrival that `after` waits for.
    pub(crate) fn arrive_first(&mut self, nodes: Vec<NodeIx>) {
        for node in nodes {
            if self.plan().nodes[node.0].after.is_empty() {
                self.make_ready(node);
            } else {
                self.arrived.entry(node).or_default();
            }
        }
    }

    /// A node may run: in the next super-step, or when nothing else does.
    pub(crate) fn make_ready(&mut self, node: NodeIx) {
        if self.plan().nodes[node.0].defer {
            self.deferred.insert(node);
        } else {
            self.ready.insert(node);
        }
    }

    /// Fills the next super-step: with what is ready, else with what was deferred. False where nothing is left.
    pub(crate) fn gather_ready(&mut self) -> bool {
        if self.ready.is_empty() {
            self.ready = std::mem::take(&mut self.deferred);
        }
        !self.ready.is_empty()
    }

    /// A node that still waits when nothing runs any more waits for ever: the graph is at fault.
    pub(crate) fn waits_in_vain(&mut self) -> Option<StepError> {
        let (node, arrived) = self.arrived.pop_first()?;
        self.arrived.clear();
        let plan = self.plan();
        let declared = plan.nodes.get(node.0)?;
        let missing: Vec<&str> = declared
            .after
            .iter()
            .filter(|source| !arrived.contains(source))
            .map(|source| &*plan.nodes[source.0].name)
            .collect();
        let message = format!(
            "`{}` waits for {} and nothing runs any more; each node named in its `after` must lead to it \
             whenever one of them does",
            declared.name,
            missing.join(", ")
        );
        Some(StepError::new(ErrorKind::Graph, message))
    }
}
