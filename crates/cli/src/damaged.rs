//! Runs whose record can not be read: told on standard error and left out, so that the others are seen.

use deepgraph_store::{RunId, RunRecord, Store, StoreError};

use crate::error::CliError;
use crate::screen::Screen;

/// Up to `limit` runs, newest first, without those that are damaged.
///
/// # Errors
///
/// The store fails otherwise.
pub fn newest(store: &dyn Store, limit: usize) -> Result<Vec<RunRecord>, CliError> {
    match store.runs(limit) {
        Err(StoreError::CorruptRecord { .. }) => {}
        read => return Ok(read?),
    }
    // One at a time, to find out which.
    let mut records = Vec::new();
    for run in store.run_ids()?.iter().take(limit) {
        match store.run(run) {
            Err(error @ StoreError::CorruptRecord { .. }) => tell(run, &error),
            read => records.extend(read?),
        }
    }
    Ok(records)
}

/// Says that a run is left out, and why.
pub fn tell(run: &RunId, error: &StoreError) {
    Screen::plain()
        .warn(&format!("run {run} is left out: {error}. `deepgraph gc --status damaged` removes such runs"));
}
