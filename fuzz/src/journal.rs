//! Any text as a journal.

use std::sync::Arc;

use deepgraph_graph::{Bundle, OpTable};
use deepgraph_trace::{Detail, Journal, JournalRow, Row, fold, taken};

/// Reads it, and folds what can be read.
pub fn check(text: &str) {
    match Journal::read(text) {
        Ok(journal) => {
            let written = journal.write().expect("what was read can be written");
            assert_eq!(Journal::read(&written).as_ref(), Ok(&journal), "what is written is read again");
            if let Ok(bundle) = journal.compile(&OpTable::stock()) {
                folded(&bundle, &journal.rows);
            }
        }
        Err(error) => assert!(error.to_string().len() < 1_000, "{error}"),
    }
}

/// Folds rows, whatever they are, and prints the trace in every form.
pub fn folded(bundle: &Arc<Bundle>, rows: &[JournalRow]) {
    let rows = || rows.iter().map(|row| Row { scope: &row.scope, entry: &row.entry });
    let Ok(trace) = fold(bundle, rows()) else { return };
    let _ = taken(bundle, rows());
    let _ = (trace.to_text(Detail::Full), trace.to_json(), trace.to_html());
    let _ = trace.redact("2026-01-01").to_text(Detail::Short);
}
