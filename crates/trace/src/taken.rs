//! What a run took of its graphs: which nodes, calls, ways, limits and exits, and how often.
//!
//! The events of a Machine do not tell which way of a route was followed, and two ways may lead to one node. So the
//! journals are folded under a copy of the bundle in which every way and every node writes its own number into a
//! channel that nothing else reads ([`marked`]). Such a write changes no decision, and what the channel holds is
//! exactly what was followed, in order.
//!
//! A way counts when the node that it leads to started in the next super-step. A way that was followed and then
//! overtaken, by a limit or by an exit of the same super-step, does not count.

mod ending;
mod instance;
mod left;
mod marked;

use std::collections::BTreeMap;

use deepgraph_graph::{Bundle, Taken};
use deepgraph_protocol::{EntryBody, ScopePath};

use self::instance::Instance;
use self::marked::Marked;
use crate::fold::{FoldError, Row};

/// What a run took of its bundle. Rows in any order that keeps each scope's own order; those of a run that is not
/// over give what it took so far.
///
/// # Errors
///
/// [`FoldError`].
pub fn taken<'a>(bundle: &Bundle, rows: impl IntoIterator<Item = Row<'a>>) -> Result<Taken, FoldError> {
    let marked = Marked::of(bundle)?;
    let mut instances: BTreeMap<ScopePath, Instance<'_>> = BTreeMap::new();
    let mut taken = Taken::default();
    for row in rows {
        if let EntryBody::Started(started) = &row.entry.body {
            let graph = marked
                .bundle
                .find(&started.graph)
                .ok_or_else(|| FoldError::UnknownGraph(started.graph.to_string()))?;
            instances.entry(row.scope.clone()).or_insert_with(|| Instance::new(&marked, graph, row.scope));
        }
        if let Some(instance) = instances.get_mut(row.scope) {
            let graph = taken.graphs.entry(instance.graph).or_default();
            instance.apply(row.entry, graph);
        }
    }
    if !instances.contains_key(&ScopePath::root()) {
        return Err(FoldError::Empty);
    }
    for instance in instances.values() {
        instance.note_open(taken.graphs.entry(instance.graph).or_default());
    }
    Ok(taken)
}
