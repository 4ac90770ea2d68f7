//! What can be reached.

use super::Checked;
use crate::diagnostic::code;
use crate::shape::{Shape, Spot, offered};
use crate::{Graph, NodeIx, Verb};

/// Marks the nodes that `finally` leads to.
pub(super) fn mark_finally(graph: &mut Graph, shape: &Shape) {
    for ix in shape.reached(&Spot::Finally) {
        if let Some(node) = graph.nodes.get_mut(ix.0) {
            node.in_finally = true;
        }
    }
}

/// Nodes that nothing leads to.
pub(super) fn unreachable(checked: &mut Checked<'_, '_>) {
    let main = checked.shape.reached(&Spot::Start);
    let stage = checked.shape.reached(&Spot::Finally);
    let lost = |ix: &NodeIx| !main.contains(ix) && !stage.contains(ix);
    let all: Vec<NodeIx> = (0..checked.graph.nodes.len()).map(NodeIx).filter(lost).collect();
    for ix in all {
        let message = format!("nothing leads to node \"{}\" of {}", checked.name(ix), checked.title);
        let place = checked.place(ix);
        checked
            .reader
            .error(code::UNREACHABLE, place, message)
            .help("name it in `start`, in a `next` or `on_error`, or take it out");
    }
}

/// Nodes both in the main part and in the stage of `finally`.
pub(super) fn shared_stage(checked: &mut Checked<'_, '_>) {
    let main = checked.shape.reached(&Spot::Start);
    let stage = checked.shape.reached(&Spot::Finally);
    let shared: Vec<NodeIx> = stage.iter().copied().filter(|ix| main.contains(ix)).collect();
    let Some(first) = shared.first().copied() else { return };
    // The others follow from this one.
    let direct = shared
        .iter()
        .copied()
        .find(|ix| checked.shape.out(&Spot::Finally).any(|(_, spot)| *spot == Spot::Node(*ix)));
    let ix = direct.unwrap_or(first);
    let name = checked.name(ix).to_owned();
    let message = format!("node \"{name}\" is part of `finally` and the main part leads to it as well");
    let place = checked.place(ix);
    checked.reader.error(code::SHARED_STAGE, place, message).help(
        "every exit passes through `finally` by itself: let the way end in an exit, or leave `next` out",
    );
}

/// Model nodes that offer tools and whose calls nothing runs.
pub(super) fn not_run(checked: &mut Checked<'_, '_>) {
    let graph = checked.graph;
    let run = |ix: NodeIx| graph.nodes.iter().any(|n| matches!(n.verb, Verb::RunTools(of) if of == ix));
    let lost = |ix: &NodeIx| !offered(graph, *ix).is_empty() && !run(*ix);
    let all: Vec<NodeIx> = (0..graph.nodes.len()).map(NodeIx).filter(lost).collect();
    for ix in all {
        let name = checked.name(ix).to_owned();
        let place = checked.place(ix);
        checked
            .reader
            .warning(code::NOT_RUN, place, format!("nothing runs the tool calls of node \"{name}\""))
            .help(format!("add a node with `run_tools: {name}`"));
    }
}
