//! The topology of a graph: what leads where, and why.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{Bfs, EdgeFiltered, EdgeRef};

use crate::{Counted, Graph, Limit, NodeIx, OnReach, Route, Target, ToolIx, ValueExpr, Verb, Way};

/// A place of the drawing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Spot {
    /// Where the graph begins.
    Start,
    /// Where the stage of `finally` begins.
    Finally,
    /// A node.
    Node(NodeIx),
    /// An exit, by name; `inherit` is that of a child.
    Exit(Arc<str>),
    /// A branch ends.
    End,
}

/// Why something leads somewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    /// By what.
    pub cause: Cause,
    /// Its condition, if it has one.
    pub condition: Option<Arc<str>>,
}

/// By what something leads somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// `start`, `finally` or `next`.
    Next,
    /// `on_error` of the node.
    Error,
    /// `next` of a tool, or its `on_error`.
    Tool(ToolIx),
    /// A limit, by index.
    Limit(usize),
}

/// The topology of one graph.
#[derive(Debug)]
pub(crate) struct Shape {
    pub graph: DiGraph<Spot, Edge>,
    spots: BTreeMap<Spot, NodeIndex>,
    /// The limits that count named nodes or tools.
    naming: BTreeSet<usize>,
}

impl Shape {
    /// The topology of a graph; limits included.
    pub fn of(graph: &Graph) -> Shape {
        let naming =
            graph.limits.iter().enumerate().filter(|(_, l)| matches!(l.counted, Counted::Names { .. }));
        let naming = naming.map(|(index, _)| index).collect();
        let mut shape = Shape { graph: DiGraph::new(), spots: BTreeMap::new(), naming };
        shape.spot(Spot::Start);
        for index in 0..graph.nodes.len() {
            shape.spot(Spot::Node(NodeIx(index)));
        }
        shape.route(Spot::Start, &graph.start, Cause::Next, None);
        if let Some(finally) = &graph.finally {
            shape.route(Spot::Finally, finally, Cause::Next, None);
        }
        for (index, node) in graph.nodes.iter().enumerate() {
            shape.node(graph, NodeIx(index), node);
        }
        for (index, limit) in graph.limits.iter().enumerate() {
            shape.limit(graph, index, limit);
        }
        shape
    }

    /// The index of a spot, if the graph has it.
    pub fn index(&self, spot: &Spot) -> Option<NodeIndex> {
        self.spots.get(spot).copied()
    }

    fn spot(&mut self, spot: Spot) -> NodeIndex {
        match self.spots.get(&spot) {
            Some(index) => *index,
            None => {
                let index = self.graph.add_node(spot.clone());
                self.spots.insert(spot, index);
                index
            }
        }
    }

    fn node(&mut self, graph: &Graph, ix: NodeIx, node: &crate::Node) {
        let spot = Spot::Node(ix);
        match &node.next {
            Some(route) => self.route(spot.clone(), route, Cause::Next, None),
            None => self.lead(spot.clone(), Spot::End, Cause::Next, None),
        }
        if let Some(route) = &node.on_error {
            self.route(spot.clone(), route, Cause::Error, node.next.as_ref());
        }
        let Verb::RunTools(of) = node.verb else { return };
        for tool in offered(graph, of) {
            let Some(declared) = graph.tools.get(tool.0) else { continue };
            for route in [&declared.next, &declared.on_error].into_iter().flatten() {
                // A way of a tool that only writes leads nowhere: the node's own `next` goes on.
                let leading = route.0.iter().filter(|w| w.to != Target::CarryOn);
                for way in leading {
                    self.way(spot.clone(), way, Cause::Tool(tool), None);
                }
            }
        }
    }

    fn route(&mut self, from: Spot, route: &Route, cause: Cause, next: Option<&Route>) {
        for way in &route.0 {
            self.way(from.clone(), way, cause, next);
        }
    }

    /// One way; `next` is where "carry on" leads.
    fn way(&mut self, from: Spot, way: &Way, cause: Cause, next: Option<&Route>) {
        let condition = way.condition.as_ref().map(ValueExpr::as_written);
        match &way.to {
            Target::Nodes(nodes) => {
                for node in nodes {
                    self.lead(from.clone(), Spot::Node(*node), cause, condition.clone());
                }
            }
            Target::Exit(reason, _) => self.lead(from, Spot::Exit(reason.name().into()), cause, condition),
            Target::Inherit => self.lead(from, Spot::Exit("inherit".into()), cause, condition),
            Target::CarryOn => match next {
                Some(route) => {
                    for way in route.0.iter().filter(|w| w.to != Target::CarryOn) {
                        self.way(from.clone(), way, cause, None);
                    }
                }
                None => self.lead(from, Spot::End, cause, condition),
            },
        }
    }

    /// What a limit leads to, from everything that it counts.
    fn limit(&mut self, graph: &Graph, index: usize, limit: &Limit) {
        let to = match &limit.on_reach {
            OnReach::Exit(reason, _) => Spot::Exit(reason.name().into()),
            OnReach::To(node) => Spot::Node(*node),
            OnReach::Refuse => return,
        };
        for from in counted_by(graph, limit) {
            self.lead(Spot::Node(from), to.clone(), Cause::Limit(index), None);
        }
    }

    fn lead(&mut self, from: Spot, to: Spot, cause: Cause, condition: Option<Arc<str>>) {
        let (from, to) = (self.spot(from), self.spot(to));
        let edge = Edge { cause, condition };
        // A tool with two ways to one node is one line of the drawing.
        let same = self.graph.edges_connecting(from, to).any(|e| *e.weight() == edge);
        if !same {
            self.graph.add_edge(from, to, edge);
        }
    }

    /// The nodes that can be reached from a spot.
    ///
    /// Meters run on in the stage of `finally`, but what their limits lead to belongs to the main part.
    pub fn reached(&self, from: &Spot) -> Vec<NodeIx> {
        let Some(start) = self.index(from) else { return Vec::new() };
        let followed = |cause: Cause| match cause {
            Cause::Limit(index) => *from != Spot::Finally || self.naming.contains(&index),
            _ => true,
        };
        let part = EdgeFiltered::from_fn(&self.graph, |e| followed(e.weight().cause));
        let mut bfs = Bfs::new(&part, start);
        let mut found = Vec::new();
        while let Some(index) = bfs.next(&part) {
            if let Some(Spot::Node(ix)) = self.graph.node_weight(index) {
                found.push(*ix);
            }
        }
        found.sort();
        found
    }

    /// What leads out of a node.
    pub fn out(&self, from: &Spot) -> impl Iterator<Item = (&Edge, &Spot)> {
        let index = self.index(from);
        index
            .into_iter()
            .flat_map(|i| self.graph.edges(i))
            .filter_map(|e| self.graph.node_weight(e.target()).map(|spot| (e.weight(), spot)))
    }
}

/// The tools that a model node offers.
pub(crate) fn offered(graph: &Graph, node: NodeIx) -> Vec<ToolIx> {
    match graph.nodes.get(node.0).map(|n| &n.verb) {
        Some(Verb::Model(model)) => model.tools.clone(),
        _ => Vec::new(),
    }
}

/// The nodes at whose start or end a limit can be reached: nodes that it counts, and nodes that run the tools
/// that it counts. All nodes where it counts time, tokens or steps.
pub(crate) fn counted_by(graph: &Graph, limit: &Limit) -> Vec<NodeIx> {
    use deepgraph_protocol::Meter;
    let all = || graph.nodes.iter().enumerate().map(|(i, n)| (NodeIx(i), n));
    match &limit.counted {
        Counted::Names { tools, nodes } => {
            let runs = all().filter(|(_, n)| match n.verb {
                Verb::RunTools(of) => offered(graph, of).iter().any(|t| tools.contains(t)),
                _ => false,
            });
            let mut found: Vec<NodeIx> = nodes.iter().copied().chain(runs.map(|(i, _)| i)).collect();
            found.sort();
            found.dedup();
            found
        }
        Counted::Meter(Meter::Turns | Meter::PaidTurns) => {
            all().filter(|(i, _)| !offered(graph, *i).is_empty()).map(|(i, _)| i).collect()
        }
        Counted::Meter(Meter::ToolCalls) => {
            all().filter(|(_, n)| matches!(n.verb, Verb::RunTools(_))).map(|(i, _)| i).collect()
        }
        Counted::Meter(Meter::ModelCalls | Meter::Tokens | Meter::CostUsd) => {
            all().filter(|(_, n)| matches!(n.verb, Verb::Model(_) | Verb::Call(_))).map(|(i, _)| i).collect()
        }
        Counted::Meter(_) => all().map(|(i, _)| i).collect(),
        Counted::Gain { channel, .. } => {
            let writes = |n: &crate::Node| n.update.iter().any(|w| w.channel == *channel);
            let by_tool = |n: &crate::Node| match n.verb {
                Verb::RunTools(of) => offered(graph, of)
                    .iter()
                    .filter_map(|t| graph.tools.get(t.0))
                    .any(|t| t.update.iter().any(|w| w.channel == *channel)),
                _ => false,
            };
            all().filter(|(_, n)| writes(n) || by_tool(n)).map(|(i, _)| i).collect()
        }
    }
}
