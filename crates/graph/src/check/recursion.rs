//! Graphs that call themselves.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::diagnostic::code;
use crate::read::{Decl, Decls, Reader, Reading};
use crate::source::Place;

/// Reports calls that lead back to the calling graph.
pub(super) fn check(reader: &mut Reader<'_>, decls: &Decls<'_>, reading: &Reading) {
    let bounded: Vec<bool> = decls.graphs.iter().map(is_bounded).collect();
    let is_bounded = |ix: usize| bounded.get(ix).copied().unwrap_or(false);
    let all = calls(decls, reading, |_| true);
    // Each nesting of a graph with a bound is counted, so what leads into one can not go on for ever.
    let unbounded = calls(decls, reading, |callee| !is_bounded(callee));
    for (place, _) in circular(&unbounded) {
        refuse(reader, place, false);
    }
    for (place, callee) in circular(&all) {
        if is_bounded(callee) {
            refuse(reader, place, true);
        }
    }
}

/// Refuses one call that leads back to its own graph.
pub(crate) fn refuse(reader: &mut Reader<'_>, at: Place, is_bounded: bool) {
    if is_bounded {
        return reader.not_built(at, "a graph that calls itself, directly or through others,");
    }
    let message = "this graph calls itself, directly or through others, and no limit bounds how deep";
    reader
        .error(code::UNBOUNDED, at, message)
        .help("a graph that calls itself needs a limit on the meter `depth`");
}

/// Whether a graph has a limit on how deep it is nested in itself.
pub(crate) fn is_bounded(graph: &Decl<'_>) -> bool {
    graph.limits.iter().any(|limit| {
        let counts_depth = limit.node.get("count").and_then(|c| c.text()).is_some_and(|t| &**t == "depth");
        counts_depth && limit.node.get("max").is_none_or(|max| !max.is_null())
    })
}

/// Which graph calls which.
fn calls(decls: &Decls<'_>, reading: &Reading, counts: impl Fn(usize) -> bool) -> DiGraph<(), Place> {
    let mut calls = DiGraph::new();
    for _ in &decls.graphs {
        calls.add_node(());
    }
    for (caller, sites) in reading.sites.iter().enumerate() {
        for (place, callee) in sites.calls.iter().filter(|(_, callee)| counts(*callee)) {
            if *callee < decls.graphs.len() {
                calls.add_edge(NodeIndex::new(caller), NodeIndex::new(*callee), *place);
            }
        }
    }
    calls
}

/// The calls that lie on a circle, with the graph that each calls.
fn circular(calls: &DiGraph<(), Place>) -> Vec<(Place, usize)> {
    let components = kosaraju_scc(calls);
    let together = |a: NodeIndex, b: NodeIndex| components.iter().any(|c| c.contains(&a) && c.contains(&b));
    let edges = calls.edge_indices().filter_map(|edge| {
        let (from, to) = calls.edge_endpoints(edge)?;
        together(from, to).then(|| Some((*calls.edge_weight(edge)?, to.index()))).flatten()
    });
    edges.collect()
}
