//! What can be proved of a plan before it runs.

mod cycles;
mod ranges;
mod reach;
mod recursion;
#[cfg(test)]
mod tests;
mod unused;
mod waits;
mod ways;
mod writers;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::read::{Decls, Reader, Reading, Sites};
use crate::shape::Shape;
use crate::source::Place;
use crate::{Graph, NodeIx};

/// Checks the graphs of all files, and marks the nodes of the `finally` stages.
pub(crate) fn check(reader: &mut Reader<'_>, decls: &Decls<'_>, reading: &mut Reading) {
    let may_be_null = decls.config.iter().filter(|(_, field)| field.optional && field.default.is_none());
    let optional: BTreeSet<Arc<str>> = may_be_null.map(|(key, _)| key.clone()).collect();
    for ((graph, sites), decl) in reading.graphs.iter_mut().zip(&reading.sites).zip(&decls.graphs) {
        reader.enter(decls.files, decl.file);
        let shape = Shape::of(graph);
        let title = decl.title();
        reach::mark_finally(graph, &shape);
        let mut checked = Checked { reader, graph, sites, shape: &shape, title: &title, optional: &optional };
        // What a broken route would have led to is not known, so nothing is said about what leads nowhere.
        if !sites.routes_broken {
            reach::unreachable(&mut checked);
            reach::shared_stage(&mut checked);
            reach::not_run(&mut checked);
            waits::check(&mut checked);
        }
        if !sites.limits_broken {
            cycles::endless(&mut checked);
        }
        cycles::self_limits(&mut checked);
        writers::fans(&mut checked);
        writers::tools(&mut checked);
        writers::outputs(&mut checked);
        unused::tools(&mut checked, decl);
        ranges::limits(&mut checked, decl, &decls.config);
        ways::never_taken(reader, decl);
    }
    recursion::check(reader, decls, reading, &optional);
    reader.enter(decls.files, 0);
    unused::graphs(reader, decls, reading);
}

/// A graph that is being checked.
struct Checked<'c, 'r> {
    reader: &'c mut Reader<'r>,
    graph: &'c Graph,
    sites: &'c Sites,
    shape: &'c Shape,
    title: &'c str,
    /// The config keys that may have no value.
    optional: &'c BTreeSet<Arc<str>>,
}

impl Checked<'_, '_> {
    fn place(&self, node: NodeIx) -> Place {
        self.sites.nodes.get(node.0).copied().unwrap_or(self.sites.graph)
    }

    fn name(&self, node: NodeIx) -> &str {
        self.graph.nodes.get(node.0).map_or("", |n| &n.name)
    }
}
