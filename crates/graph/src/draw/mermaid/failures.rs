//! Exits that no file names: what a step that fails leads to where no `on_error` takes it up.

use std::collections::BTreeSet;

use deepgraph_protocol::{ErrorClass, ErrorKind, Meter};

use crate::{Bundle, Counted, Graph, GraphIx, Node, Verb};

/// The exits of failing steps of the main part, in byte order.
pub(super) fn exits(graph: &Graph) -> BTreeSet<&'static str> {
    let mut names = BTreeSet::new();
    for node in graph.nodes.iter().filter(|n| !n.in_finally) {
        names.extend(of_node(node));
    }
    names
}

/// The exits of a child graph whose grant is used up: of the quantities that some graph of the bundle limits.
pub(super) fn of_grant(bundle: &Bundle, graph: GraphIx) -> BTreeSet<&'static str> {
    if graph.0 == 0 {
        return BTreeSet::new();
    }
    let limits = bundle.graphs.iter().flat_map(|g| &g.limits).filter(|l| !l.own);
    let meters =
        limits.filter_map(|l| if let Counted::Meter(meter) = l.counted { Some(meter) } else { None });
    meters
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
    // A way without a condition takes every failure up.
    if node.on_error.as_ref().is_some_and(|route| route.0.iter().any(|way| way.condition.is_none())) {
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
    deepgraph_protocol::ExitReason::BUILT_IN.iter().find(|(_, r)| *r == reason).map_or("", |(name, _)| name)
}
