//! Journals folded under other conditions: other limits, another version of the graph.

mod attempts;
mod clock;
mod graphs;
mod limits;
mod random;
mod same;

use std::sync::Arc;

use deepgraph_graph::Bundle;
use deepgraph_protocol::{Entry, Map, ScopePath};
use deepgraph_trace::Row;
use deepgraph_trace::refold::{Conditions, Matching, Refold, refold};

/// Folds the rows of a run under other conditions.
fn fold(
    recorded: &Arc<Bundle>,
    rows: &[(ScopePath, Entry)],
    bundle: &Arc<Bundle>,
    config: Map,
    matching: Matching,
) -> Refold {
    let rows: Vec<Row<'_>> = rows.iter().map(|(scope, entry)| Row { scope, entry }).collect();
    let conditions = Conditions { bundle: bundle.clone(), config, set: Map::new(), matching };
    refold(recorded, &rows, &conditions).expect("the journals fold")
}
