//! Limits: where they stand, what they count, what they lead to.

use std::sync::Arc;

use deepgraph_protocol::Meter;

use super::LineKind;
use super::lines::{Lead, Place, drawn_tools};
use crate::draw::taken::Passage;
use crate::shape::counted_by;
use crate::{Counted, Graph, Limit, NodeIx, OnReach, ToolIx, Write};

/// Whether a limit stands among the nodes: it counts some of them, or leads to one. The others may be reached
/// anywhere.
pub(super) fn is_in_flow(limit: &Limit) -> bool {
    let counts_some =
        !matches!(limit.counted, Counted::Meter(meter) if !matches!(meter, Meter::Turns | Meter::PaidTurns));
    counts_some || matches!(limit.on_reach, OnReach::To(_))
}

/// What a limit leads to; none where it refuses.
pub(super) fn exit_of(limit: &Limit) -> Option<Arc<str>> {
    match &limit.on_reach {
        OnReach::Exit(reason, _) => Some(reason.name().into()),
        OnReach::To(_) | OnReach::Refuse => None,
    }
}

/// The lines of a limit that stands among the nodes: from what it counts, and to what happens then.
pub(super) fn leads(graph: &Graph, index: usize, limit: &Limit) -> Vec<Lead> {
    let at = Place::Limit(index);
    let passage = Passage::Limit(index);
    let line = |from, to, kind| Lead { from, to, kind, label: String::new(), passage: passage.clone() };
    let mut found: Vec<Lead> =
        counted(graph, limit).into_iter().map(|from| line(from, at.clone(), LineKind::Counts)).collect();
    match &limit.on_reach {
        OnReach::Exit(reason, _) => {
            found.push(line(at, Place::Exit(reason.name().into()), LineKind::Limit));
        }
        OnReach::To(node) => found.push(line(at, Place::Node(*node), LineKind::Limit)),
        OnReach::Refuse => {}
    }
    found
}

/// What a limit counts, as far as it has a place in the drawing.
fn counted(graph: &Graph, limit: &Limit) -> Vec<Place> {
    let drawn = drawn_tools(graph);
    let place_tools = |tools: Vec<ToolIx>| tools.into_iter().filter(|t| drawn.contains(t)).map(Place::Tool);
    let place_nodes = |nodes: Vec<NodeIx>| nodes.into_iter().map(Place::Node);
    match &limit.counted {
        Counted::Names { tools, nodes } => {
            place_nodes(nodes.clone()).chain(place_tools(tools.clone())).collect()
        }
        Counted::Meter(Meter::Turns | Meter::PaidTurns) => place_nodes(counted_by(graph, limit)).collect(),
        Counted::Meter(_) => Vec::new(),
        Counted::Gain { channel, .. } => {
            let writes = |update: &[Write]| update.iter().any(|w| w.channel == *channel);
            let nodes = (0..graph.nodes.len()).map(NodeIx).filter(|n| writes(&graph.nodes[n.0].update));
            let tools = (0..graph.tools.len()).map(ToolIx).filter(|t| writes(&graph.tools[t.0].update));
            place_nodes(nodes.collect()).chain(place_tools(tools.collect())).collect()
        }
    }
}
