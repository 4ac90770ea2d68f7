//! Exits that no file names: of steps that fail where no `on_error` takes it up, and of what a caller granted.

use std::collections::BTreeSet;

use deepgraph_protocol::{ErrorClass, ErrorKind, ExitReason, Meter};

use crate::{Bundle, Callee, Counted, Graph, GraphIx, Node, Route, Verb};

/// The nodes of the main part whose failure may end the graph, and the exits, in byte order.
pub(super) fn failures(graph: &Graph) -> (Vec<&str>, BTreeSet<&'static str>) {
    let mut names = Vec::new();
    let mut exits = BTreeSet::new();
    for node in graph.nodes.iter().filter(|n| !n.in_finally) {
        let own = of_node(node);
        if !own.is_empty() {
            names.push(&*node.name);
            exits.extend(own);
        }
    }
    (names, exits)
}

/// The exits of a child graph whose grant is used up: of the quantities that a call grants or that some other graph
/// of the bundle limits, and that it does not limit itself.
pub(super) fn of_grant(bundle: &Bundle, ix: GraphIx) -> BTreeSet<&'static str> {
    let Some(graph) = bundle.graphs.get(ix.0).filter(|_| ix.0 > 0) else { return BTreeSet::new() };
    let meters = |graph: &Graph| -> Vec<Meter> {
        let shared = graph.limits.iter().filter(|l| !l.own);
        shared
            .filter_map(|l| if let Counted::Meter(meter) = l.counted { Some(meter) } else { None })
            .collect()
    };
    let covered = meters(graph);
    let calls = bundle.graphs.iter().flat_map(Graph::calls).filter(|call| call.callee == Callee::Graph(ix));
    let named = calls.flat_map(|call| call.grant.iter().map(|(meter, _)| *meter));
    let granted = bundle.graphs.iter().flat_map(meters).chain(named).filter(|meter| !covered.contains(meter));
    granted
        .filter_map(|meter| match meter {
            Meter::Tokens => Some("token_budget"),
            Meter::CostUsd => Some("cost_budget"),
            Meter::WallTime => Some("deadline"),
            Meter::ActiveTime => Some("active_time"),
            Meter::ModelCalls => Some("step_limit"),
            Meter::ToolCalls => Some("tool_call_cap"),
            _ => None,
        })
        .collect()
}

fn of_node(node: &Node) -> Vec<&'static str> {
    // A way that is always taken takes every failure up.
    if node.on_error.as_ref().is_some_and(Route::is_sure) {
        return Vec::new();
    }
    let (class, mut kinds) = match &node.verb {
        Verb::Model(_) => (
            ErrorClass::Model,
            vec![ErrorKind::InvalidRequest, ErrorKind::ContextOverflow, ErrorKind::Refusal],
        ),
        Verb::Call(_) => (ErrorClass::Tool, vec![ErrorKind::Tool]),
        Verb::Ask(_) => return vec![name(ErrorKind::Unanswered, ErrorClass::Tool)],
        Verb::Pass | Verb::RunTools(_) => return Vec::new(),
    };
    if node.timeout.is_some() {
        kinds.push(ErrorKind::StepTimeout);
    }
    kinds.into_iter().map(|kind| name(kind, class)).collect()
}

fn name(kind: ErrorKind, class: ErrorClass) -> &'static str {
    let reason = kind.exit(class);
    ExitReason::BUILT_IN.iter().find(|(_, r)| *r == reason).map_or("", |(name, _)| name)
}
