//! Graphs that call themselves.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::read::{Decls, Reader, Reading};
use crate::source::Place;

/// Reports calls that lead back to the calling graph.
pub(super) fn check(reader: &mut Reader<'_>, decls: &Decls<'_>, reading: &Reading) {
    let mut calls: DiGraph<(), Place> = DiGraph::new();
    for _ in &decls.graphs {
        calls.add_node(());
    }
    for (caller, sites) in reading.sites.iter().enumerate() {
        for (place, callee) in &sites.calls {
            if *callee < decls.graphs.len() {
                calls.add_edge(NodeIndex::new(caller), NodeIndex::new(*callee), *place);
            }
        }
    }
    let components = kosaraju_scc(&calls);
    let together = |a: NodeIndex, b: NodeIndex| components.iter().any(|c| c.contains(&a) && c.contains(&b));
    for edge in calls.edge_indices() {
        if let (Some((from, to)), Some(place)) = (calls.edge_endpoints(edge), calls.edge_weight(edge))
            && together(from, to)
        {
            reader.not_built(*place, "a graph that calls itself, directly or through others,");
        }
    }
}
