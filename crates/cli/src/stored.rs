//! What the journals of a stored run say: its end, its open questions.

use std::sync::Arc;

use deepgraph_graph::Bundle;
use deepgraph_protocol::{ScopeEnd, ScopePath};
use deepgraph_runtime::{Question, RunError, StepEnd, fold, open_questions, step_ends as ends_of};
use deepgraph_store::{RunRecord, Store, Stored};

use crate::error::CliError;

/// The questions that are open, in canonical order.
///
/// # Errors
///
/// The journals do not fold under the graph.
pub fn questions(
    bundle: &Arc<Bundle>,
    rows: &[Stored],
    record: &RunRecord,
) -> Result<Vec<Question>, CliError> {
    if record.status.is_terminal() {
        return Ok(Vec::new());
    }
    let machines = fold(bundle, rows, |_| {}).map_err(|graph| unknown(record, graph))?;
    Ok(open_questions(machines.values()))
}

/// The ends of all steps, in the order in which they came.
///
/// # Errors
///
/// The journals do not fold under the graph.
pub fn step_ends(
    bundle: &Arc<Bundle>,
    rows: &[Stored],
    record: &RunRecord,
) -> Result<Vec<StepEnd>, CliError> {
    ends_of(bundle, rows).map_err(|graph| unknown(record, graph))
}

/// How a run that is over ended.
///
/// # Errors
///
/// The journals can not be read, or do not fold under the graph.
pub fn end(bundle: &Arc<Bundle>, store: &dyn Store, record: &RunRecord) -> Result<ScopeEnd, CliError> {
    let rows = store.entries(&record.run_id, 0)?;
    let machines = fold(bundle, &rows, |_| {}).map_err(|graph| unknown(record, graph))?;
    let end = machines.get(&ScopePath::root()).and_then(|root| root.end().cloned());
    end.ok_or_else(|| RunError::NotStarted { run: record.run_id.to_string() }.into())
}

/// Whether a run is over though its journals have no end: a replay that met a request that was not recorded.
///
/// # Errors
///
/// As [`end`].
pub fn broke_off(bundle: &Arc<Bundle>, store: &dyn Store, record: &RunRecord) -> Result<bool, CliError> {
    if !record.status.is_terminal() || !record.exits.is_empty() {
        return Ok(false);
    }
    let rows = store.entries(&record.run_id, 0)?;
    let machines = fold(bundle, &rows, |_| {}).map_err(|graph| unknown(record, graph))?;
    Ok(machines.get(&ScopePath::root()).is_none_or(|root| root.end().is_none()))
}

/// Why such a run is over.
pub const BROKE_OFF: &str =
    "its replay asked for something that was not recorded, so its journals have no end";

fn unknown(record: &RunRecord, graph: String) -> CliError {
    RunError::UnknownGraph { run: record.run_id.to_string(), graph }.into()
}
