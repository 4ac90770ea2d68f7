//! Every cycle is cut by a limit that each traversal of it increments.
//!
//! The proof: nodes whose visits are bounded by a limit are taken out of the graph, and ways of tools whose calls
//! are bounded; where a limit leads on (`to`) or a refusal is handled (`on_error`), those ways are put in instead.
//! What can then still run in a circle can do so for ever.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use deepgraph_protocol::{Meter, Value};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::Checked;
use crate::diagnostic::code;
use crate::shape::{Cause, Spot, offered};
use crate::{Counted, Graph, Limit, NodeIx, OnReach, Setting, ToolIx, Verb};

/// Reports cycles that no limit cuts.
pub(super) fn endless(checked: &mut Checked<'_, '_>) {
    let left = remainder(checked);
    for component in kosaraju_scc(&left) {
        let mut members: Vec<NodeIx> = component.iter().map(|i| NodeIx(i.index())).collect();
        members.sort();
        let Some(first) = members.first().copied() else { continue };
        let itself = left.find_edge(NodeIndex::new(first.0), NodeIndex::new(first.0)).is_some();
        if members.len() > 1 || itself {
            report(checked, &left, &members, first);
        }
    }
}

/// Reports limits that lead to what they count: the way out would be barred as well.
pub(super) fn self_limits(checked: &mut Checked<'_, '_>) {
    for (index, limit) in checked.graph.limits.iter().enumerate() {
        let OnReach::To(to) = limit.on_reach else { continue };
        if bounds(checked.graph, limit, to) {
            let place = checked.sites.limits.get(index).copied().unwrap_or(checked.sites.graph);
            let message =
                format!("limit \"{}\" leads to \"{}\", which it counts", limit.name, checked.name(to));
            checked
                .reader
                .error(code::SELF_LIMIT, place, message)
                .help("lead to a node that it does not count, or to an exit");
        }
    }
}

/// The graph of nodes without what is bounded. Its indices are those of the nodes.
fn remainder(checked: &Checked<'_, '_>) -> DiGraph<(), ()> {
    let graph = checked.graph;
    let limits: Vec<&Limit> = graph.limits.iter().filter(|l| certain(l, checked.optional)).collect();
    let mut left = DiGraph::new();
    for _ in &graph.nodes {
        left.add_node(());
    }
    let bounded: Vec<bool> =
        (0..graph.nodes.len()).map(|i| limits.iter().any(|l| bounds(graph, l, NodeIx(i)))).collect();
    let is_bounded = |ix: NodeIx| bounded.get(ix.0).copied().unwrap_or(false);
    // Where a start of a node ends up instead, once it is bounded.
    let instead = |ix: NodeIx| -> Vec<NodeIx> {
        let limits = limits.iter().filter(|l| bounds(graph, l, ix));
        let mut found = Vec::new();
        for limit in limits {
            match limit.on_reach {
                OnReach::To(to) => found.push(to),
                OnReach::Refuse => found.push(ix),
                OnReach::Exit(..) => {}
            }
        }
        found
    };
    let lead = |left: &mut DiGraph<(), ()>, from: NodeIx, to: NodeIx| {
        left.update_edge(NodeIndex::new(from.0), NodeIndex::new(to.0), ());
    };
    for from in (0..graph.nodes.len()).map(NodeIx) {
        let refused = is_bounded(from) && instead(from).contains(&from);
        if is_bounded(from) && !refused {
            continue;
        }
        for (edge, spot) in checked.shape.out(&Spot::Node(from)) {
            // A node whose start is refused leads on by `on_error` only.
            if refused && edge.cause != Cause::Error {
                continue;
            }
            let Spot::Node(to) = spot else { continue };
            match edge.cause {
                Cause::Limit(_) => {}
                Cause::Tool(tool) if limits.iter().any(|l| bounds_tool(l, tool)) => {
                    for limit in limits.iter().filter(|l| bounds_tool(l, tool)) {
                        if let OnReach::To(to) = limit.on_reach {
                            lead(&mut left, from, to);
                        }
                    }
                }
                _ if is_bounded(*to) => instead(*to).into_iter().for_each(|to| lead(&mut left, from, to)),
                _ => lead(&mut left, from, *to),
            }
        }
    }
    left
}

/// Whether a limit is sure to be in force. A bound of null switches it off; a granted one may be endless.
pub(super) fn certain(limit: &Limit, optional: &BTreeSet<Arc<str>>) -> bool {
    match &limit.max {
        None => false,
        Some(Setting::Literal(value)) => *value != Value::Null,
        Some(Setting::Config(key)) => !optional.contains(key),
    }
}

/// Whether each start of a node increments a limit.
fn bounds(graph: &Graph, limit: &Limit, ix: NodeIx) -> bool {
    let node = graph.nodes.get(ix.0);
    let verb = node.map(|n| &n.verb);
    // A list without items makes no call.
    let empty = node.is_some_and(|n| n.each.is_some());
    match &limit.counted {
        Counted::Names { nodes, .. } => nodes.contains(&ix),
        Counted::Meter(Meter::Turns | Meter::PaidTurns) => !offered(graph, ix).is_empty(),
        Counted::Meter(Meter::ModelCalls | Meter::Steps) if empty => false,
        Counted::Meter(Meter::ModelCalls) => matches!(verb, Some(Verb::Model(_))),
        Counted::Meter(Meter::Steps) => matches!(verb, Some(Verb::Model(_) | Verb::Call(_) | Verb::Ask(_))),
        Counted::Meter(Meter::SuperSteps) => verb.is_some(),
        // Tokens, money and time may not grow (a model without usage, a price that is not known, a clock that
        // stands still), calls of tools may not be made, and gain may stay high.
        Counted::Meter(_) | Counted::Gain { .. } => false,
    }
}

/// Whether each call of a tool increments a limit.
fn bounds_tool(limit: &Limit, tool: ToolIx) -> bool {
    match &limit.counted {
        // Not each call is counted, or not all of them together.
        Counted::Names { .. } if limit.condition.is_some() || limit.per.is_some() => false,
        Counted::Names { tools, .. } => tools.contains(&tool),
        Counted::Meter(Meter::ToolCalls) => true,
        _ => false,
    }
}

fn report(checked: &mut Checked<'_, '_>, left: &DiGraph<(), ()>, members: &[NodeIx], first: NodeIx) {
    let path = cycle(left, members, first);
    let names: Vec<&str> = path.iter().map(|ix| checked.name(*ix)).collect();
    let shown = crate::nearest::shortened_list(&names, " -> ");
    // A limit that does not cut the cycle for sure may still be what ends it.
    let leaves = members.iter().any(|ix| {
        let outside = |spot: &Spot| !matches!(spot, Spot::Node(to) if members.contains(to));
        checked.shape.out(&Spot::Node(*ix)).any(|(_, spot)| outside(spot))
    });
    let place = checked.place(first);
    let help = advice(checked, members, first);
    let (code, message) = if leaves {
        (code::ENDLESS, format!("no limit cuts the cycle {shown}"))
    } else {
        (code::NO_WAY_OUT, format!("there is no way out of the cycle {shown}, and no limit cuts it"))
    };
    checked.reader.error(code, place, message).help(help);
}

fn advice(checked: &Checked<'_, '_>, members: &[NodeIx], first: NodeIx) -> String {
    let turns = members.iter().any(|ix| !offered(checked.graph, *ix).is_empty());
    if !turns {
        return format!(
            "add to `limits`: visits: {{count: [{}], max: 10, exit: step_limit}}",
            checked.name(first)
        );
    }
    let counts_tools = checked.graph.limits.iter().any(
        |l| matches!(&l.counted, Counted::Names { nodes, tools } if nodes.is_empty() && !tools.is_empty()),
    );
    let why = if counts_tools { " (a limit on tools does not: the model may call none of them)" } else { "" };
    format!("add to `limits`: turns: {{count: turns, max: 12, exit: step_limit}}{why}")
}

/// A shortest cycle through the first member.
fn cycle(left: &DiGraph<(), ()>, members: &[NodeIx], first: NodeIx) -> Vec<NodeIx> {
    let inside: BTreeSet<NodeIx> = members.iter().copied().collect();
    let mut came: Vec<Option<NodeIx>> = vec![None; left.node_count()];
    let mut queue = VecDeque::from([first]);
    while let Some(at) = queue.pop_front() {
        let mut nexts: Vec<NodeIx> = left
            .neighbors(NodeIndex::new(at.0))
            .map(|i| NodeIx(i.index()))
            .filter(|n| inside.contains(n))
            .collect();
        nexts.sort();
        for next in nexts {
            if next == first {
                return back(&came, first, at);
            }
            if let Some(slot @ None) = came.get_mut(next.0) {
                *slot = Some(at);
                queue.push_back(next);
            }
        }
    }
    members.to_vec()
}

/// The way that led to the last node, and the first again at its end.
fn back(came: &[Option<NodeIx>], first: NodeIx, last: NodeIx) -> Vec<NodeIx> {
    let mut path = vec![first, last];
    let mut at = last;
    while at != first {
        let Some(Some(before)) = came.get(at.0) else { break };
        at = *before;
        path.push(at);
    }
    if last == first {
        return vec![first, first];
    }
    path.reverse();
    path
}
