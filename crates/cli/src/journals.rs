//! The journals that a user means: of a stored run, or of a file.

use std::path::Path;
use std::sync::Arc;

use deepgraph_graph::{Bundle, OpTable};
use deepgraph_protocol::{EntryBody, RunStatus};
use deepgraph_trace::{Journal, JournalError, JournalRow, Trace, date_of};

use crate::args::Global;
use crate::error::CliError;
use crate::graphs;
use crate::home::Home;
use crate::screen::Screen;
use crate::stored::BROKE_OFF;

/// Journals with the graph that they fold under.
pub struct Journals {
    /// The graph.
    pub bundle: Arc<Bundle>,
    /// The entries.
    pub journal: Journal,
    /// The status in the run's record; none of a file.
    pub status: Option<RunStatus>,
}

/// Whether a name means a file and no run: ids have neither a dot nor a slash, nor has `last`.
pub fn is_file(name: &str) -> bool {
    name.contains(['.', '/', '\\']) || Path::new(name).is_file()
}

/// The journals of a run, by its id, the beginning of it, or `last`; or of a journal file.
///
/// # Errors
///
/// There is no such run or file, or it can not be read.
pub fn named(name: &str, global: &Global) -> Result<Journals, CliError> {
    if is_file(name) {
        let path = Path::new(name);
        return of_text(path, &read(path)?);
    }
    let store = Home::find(global)?.kept()?;
    let record = store.find_run(name)?;
    let bundle = graphs::stored_bundle(&record)?;
    let rows = store.entries(&record.run_id, 0)?;
    let rows = rows.into_iter().map(|row| JournalRow { scope: row.scope, entry: row.entry });
    let journal =
        Journal { bundle: bundle.source.clone(), run: Some(record.run_id.to_string()), rows: rows.collect() };
    Ok(Journals { bundle, journal, status: Some(record.status) })
}

/// The text of a file.
///
/// # Errors
///
/// It can not be read.
pub fn read(path: &Path) -> Result<String, CliError> {
    std::fs::read_to_string(path)
        .map_err(|error| CliError::TraceFile { path: path.into(), problem: error.to_string() })
}

/// The journals in the text of a file.
///
/// # Errors
///
/// It holds none that can be read.
pub fn of_text(path: &Path, text: &str) -> Result<Journals, CliError> {
    let told = |error: JournalError| CliError::TraceFile { path: path.into(), problem: error.to_string() };
    let journal = Journal::read(text).map_err(told)?;
    let bundle = journal.compile(&OpTable::stock()).map_err(told)?;
    Ok(Journals { bundle, journal, status: None })
}

impl Journals {
    /// The trace, with the run's id. Of a run that is over though its journals have no end, the status is that of its
    /// record, and it is said why.
    ///
    /// # Errors
    ///
    /// The journals do not fold.
    pub fn trace(&self, screen: &Screen) -> Result<Trace, CliError> {
        let mut trace = self.journal.trace(&self.bundle).map_err(CliError::Fold)?;
        let over = self.status.filter(|status| trace.status.is_none() && status.is_terminal());
        if let (Some(status), Some(run)) = (over, &trace.run) {
            screen.say(&format!("run {run} is over ({status}): {BROKE_OFF}"));
            trace.status = over;
        }
        Ok(trace)
    }

    /// The date of the run as its prompts read it: that of its first entry.
    pub fn date(&self) -> String {
        let started = self
            .journal
            .rows
            .iter()
            .find(|row| row.scope.is_root() && matches!(row.entry.body, EntryBody::Started(_)));
        date_of(started.map(|row| &row.entry))
    }
}
