//! Graphs that call themselves, and graphs that nobody calls.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::diagnostic::code;
use crate::read::{Decls, Reader, Reading};
use crate::source::Place;

/// Reports calls that lead back to the calling graph, and graphs that are never called.
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
    if reader.out.has_errors() {
        return;
    }
    for (index, decl) in decls.graphs.iter().enumerate().skip(1) {
        let called = reading.sites.iter().any(|s| s.calls.iter().any(|(_, callee)| *callee == index));
        if !called {
            reader.warning(code::UNUSED, decl.place, format!("nothing calls the graph \"{}\"", decl.name));
        }
    }
}
