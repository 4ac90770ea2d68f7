//! Where the nodes of a graph can lead under a configuration: ways that never hold are left out.

use std::collections::BTreeSet;

use super::known::Known;
use crate::shape::offered;
use crate::{Graph, Node, NodeIx, Route, Target, ToolIx, Verb};

/// Where something can lead: sets of nodes that run side by side, one of them is taken. Ways out and ends are left
/// out.
pub(super) type Leads = BTreeSet<Vec<NodeIx>>;

/// Where a node can lead.
#[derive(Debug, Default)]
pub(super) struct Ways {
    /// Once its work is done, or has failed.
    pub(super) done: Leads,
    /// Where its start is refused.
    pub(super) refused: Leads,
    /// By a call of a tool, in place of `done`.
    pub(super) tools: Vec<(ToolIx, Leads)>,
}

impl Ways {
    pub(super) fn of(graph: &Graph, node: &Node, known: &Known<'_>) -> Ways {
        let next = node.next.as_ref().map(|route| leads(route, known, &Leads::new())).unwrap_or_default();
        let refused = node.on_error.as_ref().map(|route| leads(route, known, &next)).unwrap_or_default();
        let mut done = next;
        if node.verb.is_step() {
            done.extend(refused.iter().cloned());
        }
        let mut tools = Vec::new();
        if let Verb::RunTools(model) = node.verb {
            for tool in offered(graph, model) {
                let Some(declared) = graph.tools.get(tool.0) else { continue };
                let routes = [&declared.next, &declared.on_error].into_iter().flatten();
                let by_tool: Leads = routes.flat_map(|route| leads(route, known, &Leads::new())).collect();
                tools.push((tool, by_tool));
            }
        }
        Ways { done, refused, tools }
    }

    /// All sets of nodes that it can lead to.
    pub(super) fn all(&self) -> impl Iterator<Item = &Vec<NodeIx>> {
        let by_tools = self.tools.iter().flat_map(|(_, leads)| leads);
        self.done.iter().chain(&self.refused).chain(by_tools)
    }
}

/// Where a route can lead; `next` is where "carry on" does.
pub(super) fn leads(route: &Route, known: &Known<'_>, next: &Leads) -> Leads {
    let mut found = Leads::new();
    for way in &route.0 {
        let holds = known.holds(way.condition.as_ref());
        if holds == Some(false) {
            continue;
        }
        match &way.to {
            Target::Nodes(nodes) => {
                let set: BTreeSet<NodeIx> = nodes.iter().copied().collect();
                found.insert(set.into_iter().collect());
            }
            Target::CarryOn => found.extend(next.iter().cloned()),
            Target::Exit(..) | Target::Inherit => {}
        }
        if holds == Some(true) {
            break;
        }
    }
    found
}
