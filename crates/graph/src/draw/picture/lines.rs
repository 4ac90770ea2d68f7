//! Where the routes of a graph lead.

use std::sync::Arc;

use super::{LineKind, limits};
use crate::draw::taken::{Passage, RouteOf};
use crate::shape::offered;
use crate::{Graph, Node, NodeIx, Route, Target, ToolIx, ValueExpr, Verb, Way};

/// A place of one graph's drawing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Start,
    Finally,
    Node(NodeIx),
    Tool(ToolIx),
    Limit(usize),
    /// An exit of a stage, by name; `inherit` is that of a called graph.
    Exit(Stage, Arc<str>),
}

/// A stage of a graph: each is drawn by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    Main,
    Finally,
}

impl Stage {
    /// The stage in which a place stands. A limit stands in that of `finally` if it counts nothing else.
    pub fn of(graph: &Graph, place: &Place) -> Stage {
        let in_finally = |ix: NodeIx| graph.nodes.get(ix.0).is_some_and(|n| n.in_finally);
        let is_finally = match place {
            Place::Start => false,
            Place::Finally => true,
            Place::Node(ix) => in_finally(*ix),
            Place::Tool(tool) => runners(graph, *tool).next().is_some_and(in_finally),
            Place::Limit(index) => graph.limits.get(*index).is_some_and(|limit| {
                let counted = limits::counted(graph, limit);
                !counted.is_empty() && counted.iter().all(|place| Stage::of(graph, place) == Stage::Finally)
            }),
            Place::Exit(stage, _) => *stage == Stage::Finally,
        };
        if is_finally { Stage::Finally } else { Stage::Main }
    }
}

/// The nodes that run a tool.
pub(super) fn runners(graph: &Graph, tool: ToolIx) -> impl Iterator<Item = NodeIx> {
    let runs = move |verb: &Verb| matches!(verb, Verb::RunTools(of) if offered(graph, *of).contains(&tool));
    (0..graph.nodes.len()).map(NodeIx).filter(move |ix| graph.nodes.get(ix.0).is_some_and(|n| runs(&n.verb)))
}

/// What leads from one place to another.
#[derive(Debug)]
pub(super) struct Lead {
    pub from: Place,
    pub to: Place,
    pub kind: LineKind,
    pub label: String,
    pub passage: Passage,
}

/// The exit of a branch that just ends.
pub(super) const COMPLETED: &str = "completed";

/// The exit "as the called graph ended".
pub(super) const INHERIT: &str = "inherit";

/// What stands at a line to the end of a graph when no way holds.
const OTHERWISE: &str = "otherwise";

/// All ways of all routes, in the order of the file.
pub(super) fn leads(graph: &Graph) -> Vec<Lead> {
    let mut found = Leads { graph, found: Vec::new() };
    found.route(Place::Start, &graph.start, RouteOf::Start, LineKind::Way, ("", ""));
    if !graph.start.is_sure() {
        found.ends(Place::Start, LineKind::Way, OTHERWISE, Passage::NotStarted);
    }
    if let Some(finally) = &graph.finally {
        found.route(Place::Finally, finally, RouteOf::Finally, LineKind::Way, ("", ""));
    }
    for (index, node) in graph.nodes.iter().enumerate() {
        found.node(NodeIx(index), node);
    }
    for (ix, tool) in drawn_tools(graph).into_iter().filter_map(|ix| Some((ix, graph.tools.get(ix.0)?))) {
        for (route, of, kind) in [
            (&tool.next, RouteOf::Tool(ix), LineKind::Way),
            (&tool.on_error, RouteOf::ToolError(ix), LineKind::Error),
        ] {
            if let Some(route) = route {
                found.route(Place::Tool(ix), route, of, kind, prefix(kind));
            }
        }
    }
    found.found
}

/// The tools that some node runs, in the order of the file.
pub(super) fn drawn_tools(graph: &Graph) -> Vec<ToolIx> {
    let runs = graph.nodes.iter().filter_map(|n| match n.verb {
        Verb::RunTools(of) => Some(offered(graph, of)),
        _ => None,
    });
    let mut tools: Vec<ToolIx> = runs.flatten().collect();
    tools.sort();
    tools.dedup();
    tools
}

/// What stands before the condition of a way, and between both.
fn prefix(kind: LineKind) -> (&'static str, &'static str) {
    if kind == LineKind::Error { ("on_error", ": ") } else { ("", "") }
}

struct Leads<'g> {
    graph: &'g Graph,
    found: Vec<Lead>,
}

impl Leads<'_> {
    fn node(&mut self, ix: NodeIx, node: &Node) {
        let from = Place::Node(ix);
        match &node.next {
            None if !node.in_finally => self.ends(from.clone(), LineKind::Way, "", Passage::Ended(ix)),
            None => {}
            Some(next) => {
                self.route(from.clone(), next, RouteOf::Next(ix), LineKind::Way, ("", ""));
                if !node.in_finally && !next.is_sure() {
                    self.ends(from.clone(), LineKind::Way, OTHERWISE, Passage::Ended(ix));
                }
            }
        }
        let Some(on_error) = &node.on_error else { return };
        self.route(from.clone(), on_error, RouteOf::Error(ix), LineKind::Error, prefix(LineKind::Error));
        for (index, way) in on_error.0.iter().enumerate().filter(|(_, w)| w.to == Target::CarryOn) {
            let words = labelled(prefix(LineKind::Error), way);
            match &node.next {
                Some(next) => {
                    let of = RouteOf::Carried(ix, index);
                    self.route(from.clone(), next, of, LineKind::Error, (&words, ", then "));
                }
                None if node.in_finally => {}
                None => {
                    let passage = Passage::Way { of: RouteOf::Error(ix), way: index, to: None };
                    self.ends(from.clone(), LineKind::Error, &words, passage);
                }
            }
        }
    }

    /// All ways of a route but those that carry on.
    fn route(&mut self, from: Place, route: &Route, of: RouteOf, kind: LineKind, before: (&str, &str)) {
        let stage = Stage::of(self.graph, &from);
        for (index, way) in route.0.iter().enumerate() {
            let label = labelled(before, way);
            let passage = |to| Passage::Way { of, way: index, to };
            let mut lead = |to: Place, passage| {
                self.found.push(Lead { from: from.clone(), to, kind, label: label.clone(), passage });
            };
            match &way.to {
                Target::Nodes(nodes) => {
                    for node in nodes {
                        lead(Place::Node(*node), passage(Some(*node)));
                    }
                }
                Target::Exit(reason, _) => lead(Place::Exit(stage, reason.name().into()), passage(None)),
                Target::Inherit => lead(Place::Exit(stage, INHERIT.into()), passage(None)),
                Target::CarryOn => {}
            }
        }
    }

    fn ends(&mut self, from: Place, kind: LineKind, label: &str, passage: Passage) {
        let to = Place::Exit(Stage::Main, COMPLETED.into());
        self.found.push(Lead { from, to, kind, label: label.to_owned(), passage });
    }
}

/// The words of a way: what stands before it, joined with its condition.
fn labelled((before, joint): (&str, &str), way: &Way) -> String {
    let condition = way.condition.as_ref().map(ValueExpr::as_written).unwrap_or_default();
    match (before.is_empty(), condition.is_empty()) {
        (true, _) => condition.to_string(),
        (_, true) => before.to_owned(),
        _ => format!("{before}{joint}{condition}"),
    }
}
