//! Which graph is drawn inside which: each once, inside the graph that is the first to call it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::{Bundle, Callee, Graph, GraphIx};

/// The graphs to draw inside each graph. Those that nobody calls stand in the root.
pub(super) fn nested(bundle: &Bundle) -> BTreeMap<GraphIx, Vec<GraphIx>> {
    let mut inside: BTreeMap<GraphIx, Vec<GraphIx>> = BTreeMap::new();
    let root = GraphIx(0);
    let mut placed = BTreeSet::from([root]);
    for index in 0..bundle.graphs.len() {
        let mut queue = VecDeque::new();
        if index == 0 {
            queue.push_back(root);
        } else if placed.insert(GraphIx(index)) {
            inside.entry(root).or_default().push(GraphIx(index));
            queue.push_back(GraphIx(index));
        }
        while let Some(at) = queue.pop_front() {
            let Some(graph) = bundle.graphs.get(at.0) else { continue };
            for callee in callees(graph) {
                if placed.insert(callee) {
                    inside.entry(at).or_default().push(callee);
                    queue.push_back(callee);
                }
            }
        }
    }
    inside
}

/// The graphs that a graph calls, by nodes first.
fn callees(graph: &Graph) -> Vec<GraphIx> {
    let callees = graph.calls().filter_map(|call| match call.callee {
        Callee::Graph(ix) => Some(ix),
        Callee::Op(_) => None,
    });
    callees.collect()
}
