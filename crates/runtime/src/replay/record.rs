//! Recordings of runs that were driven here.

use std::sync::Arc;

use deepgraph_graph::Bundle;
use deepgraph_protocol::Hidden;
use deepgraph_store::{RunRecord, Stored};
use deepgraph_trace::{FoldError, Recording, Row};

/// Whether an op is computed here, from its input alone. Such ones are not recorded: a replay runs them again.
pub(crate) fn is_pure(op: &str) -> bool {
    deepgraph_research::ops::OPS.iter().any(|pure| pure.name == op)
}

/// The recording of a stored run, with these secrets taken out of it.
///
/// # Errors
///
/// The journals do not fold under the graph.
pub fn recording(
    bundle: &Arc<Bundle>,
    record: &RunRecord,
    rows: &[Stored],
    hidden: &Hidden,
) -> Result<Recording, FoldError> {
    let rows = rows.iter().map(|row| Row { scope: &row.scope, entry: &row.entry });
    Recording::of(bundle, rows, &record.graph, &record.question, &is_pure, hidden)
}
