//! What limits that lead `to` a node put in place of what would come: the same places at which the engine asks them.

use std::collections::BTreeSet;

use deepgraph_protocol::Meter;

use super::in_force::{InForce, What};
use super::ways::{Leads, Ways};
use crate::shape::offered;
use crate::{Graph, Node, NodeIx, OnReach, Verb};

impl InForce {
    /// The node that starts in place of another one.
    pub(super) fn redirects(&self, graph: &Graph, from: NodeIx) -> Option<NodeIx> {
        self.target().filter(|_| self.stops_start(graph, from))
    }

    /// The node that comes behind a super-step in which another one ran, in place of where that leads.
    pub(super) fn detours(&self, graph: &Graph, from: NodeIx) -> Option<NodeIx> {
        let node = graph.nodes.get(from.0)?;
        let of = if let Verb::RunTools(of) = node.verb { Some(of) } else { None };
        // What acts at the boundary of a super-step does not in the stage of `finally`.
        let acts = !node.in_finally;
        let applies = match &self.what {
            What::Names { tools, .. } => {
                acts && of.is_some_and(|of| offered(graph, of).iter().any(|tool| tools.contains(tool)))
            }
            What::Meter(Meter::ToolCalls) => acts && of.is_some(),
            What::Meter(Meter::PaidTurns) => of.is_some(),
            What::Meter(Meter::Tokens | Meter::CostUsd) => acts && matches!(node.verb, Verb::Model(_)),
            // A further attempt for which there is no room.
            What::Meter(Meter::ModelCalls) => {
                (acts && matches!(node.verb, Verb::Model(_))) || self.stops_item(node)
            }
            What::Meter(_) | What::Gain => self.stops_item(node),
        };
        self.target().filter(|_| applies)
    }

    /// The node that it leads to at most once, whatever ran before.
    pub(super) fn leads_once(&self) -> Option<NodeIx> {
        let applies = match &self.what {
            What::Meter(meter) => matches!(
                meter,
                Meter::Tokens
                    | Meter::CostUsd
                    | Meter::ToolCalls
                    | Meter::WallTime
                    | Meter::ActiveTime
                    | Meter::TurnTime
                    | Meter::ToolFailures
                    | Meter::RepeatedCalls
            ),
            What::Gain => true,
            What::Names { .. } => false,
        };
        self.target().filter(|_| applies)
    }

    /// Whether it lets the start of a node fail.
    pub(super) fn refuses(&self, graph: &Graph, ix: NodeIx) -> bool {
        // A super-step that is refused ends the instance.
        let ends = matches!(self.what, What::Meter(Meter::SuperSteps));
        self.then == OnReach::Refuse && !ends && self.stops_start(graph, ix)
    }
}

/// Whether a limit can lead from the stage of `finally` back into the main part.
pub(super) fn leads_back(graph: &Graph, limits: &[InForce]) -> bool {
    let stage = || numbered(graph).filter(|(_, node)| node.in_finally).map(|(ix, _)| ix);
    let is_main = |ix: NodeIx| graph.nodes.get(ix.0).is_some_and(|node| !node.in_finally);
    limits.iter().any(|limit| {
        stage().any(|from| {
            let targets = [limit.redirects(graph, from), limit.detours(graph, from)];
            targets.into_iter().flatten().any(is_main)
        })
    })
}

/// The nodes that can run at all.
pub(super) fn live(
    graph: &Graph,
    limits: &[InForce],
    ways: &[Ways],
    begins: &[&Leads],
    at: Option<NodeIx>,
) -> BTreeSet<NodeIx> {
    let first = begins.iter().flat_map(|leads| leads.iter()).flatten().copied();
    let mut open: Vec<NodeIx> =
        first.chain(at).chain(limits.iter().filter_map(InForce::leads_once)).collect();
    let mut live = BTreeSet::new();
    while let Some(ix) = open.pop() {
        if !live.insert(ix) {
            continue;
        }
        open.extend(ways.get(ix.0).into_iter().flat_map(Ways::all).flatten());
        for limit in limits {
            open.extend(limit.redirects(graph, ix).into_iter().chain(limit.detours(graph, ix)));
        }
    }
    live
}

/// The nodes with their indices.
pub(super) fn numbered(graph: &Graph) -> impl Iterator<Item = (NodeIx, &Node)> {
    graph.nodes.iter().enumerate().map(|(i, node)| (NodeIx(i), node))
}
