//! The journals of a run as one text: to keep, to send, to fold again.
//!
//! JSON Lines. The first line is the header: the number of this form, the `semantics` number under which the journals
//! are folded, the texts that the bundle is made from, and which run it was. Each line after it is one entry with the
//! scope whose journal it belongs to, in the order in which they were committed:
//!
//! ```json
//! {"deepgraph_journal":1,"semantics":1,"bundle":{"entry":"graph.yaml","files":{"graph.yaml":"..."}}}
//! {"scope":"","entry":{"at":1736812800000,"entry":"started","graph":"notes","input":{},...}}
//! {"scope":"","entry":{"at":1736812800010,"entry":"dispatched","step":"brief.1","attempt":1}}
//! ```

mod error;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use deepgraph_graph::{Bundle, BundleSource, OpTable};
use deepgraph_protocol::{Entry, EntryBody, SEMANTICS, ScopePath};
use serde::{Deserialize, Serialize};

pub use error::JournalError;

use crate::{FoldError, Row, Trace, fold};

/// The number of the form that is written. It is raised when an older reader could not read it.
pub const FORMAT: u32 = 1;

/// The journals of a run, with the graph that they are folded under.
#[derive(Clone, Debug, PartialEq)]
pub struct Journal {
    /// Graph, prompts, tools of servers.
    pub bundle: BundleSource,
    /// The run's id; none where it does not matter.
    pub run: Option<String>,
    /// The entries in the order in which they were committed.
    pub rows: Vec<JournalRow>,
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JournalRow {
    /// The scope whose journal it belongs to.
    pub scope: ScopePath,
    /// The entry.
    pub entry: Entry,
}

/// The first line, all of it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    deepgraph_journal: u32,
    semantics: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run: Option<String>,
    bundle: BundleSource,
}

/// What is looked at before all else: a later form may have other fields.
#[derive(Deserialize)]
struct Numbers {
    deepgraph_journal: Option<u32>,
    semantics: Option<u32>,
}

impl Journal {
    /// Whether a text begins as one of these does.
    pub fn is_one(text: &str) -> bool {
        text.trim_start().starts_with("{\"deepgraph_journal\"")
    }

    /// Reads the text form. Empty lines are passed over.
    ///
    /// # Errors
    ///
    /// [`JournalError`], with the line. Whether the bundle compiles is not looked at here: [`Journal::compile`].
    pub fn read(text: &str) -> Result<Journal, JournalError> {
        let mut lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
        let mut lines = lines.by_ref().filter(|(_, line)| !line.is_empty());
        let (line, first) = lines.next().ok_or(JournalError::Empty)?;
        let numbers: Numbers = serde_json::from_str(first).map_err(|e| JournalError::header(line, &e))?;
        match numbers.deepgraph_journal {
            None => return Err(JournalError::NoHeader { line }),
            Some(FORMAT) => {}
            Some(found) => return Err(JournalError::Format { line, found }),
        }
        if let Some(found) = numbers.semantics.filter(|found| !is_known(*found)) {
            return Err(JournalError::Semantics { line, found });
        }
        let header: Header = serde_json::from_str(first).map_err(|e| JournalError::header(line, &e))?;
        let mut rows = Vec::new();
        for (line, text) in lines {
            let row: JournalRow = serde_json::from_str(text).map_err(|e| JournalError::entry(line, &e))?;
            if let EntryBody::Started(started) = &row.entry.body
                && !is_known(started.semantics)
            {
                return Err(JournalError::Semantics { line, found: started.semantics });
            }
            rows.push(row);
        }
        Ok(Journal { bundle: header.bundle, run: header.run, rows })
    }

    /// The text form.
    ///
    /// # Errors
    ///
    /// A value has no JSON form.
    pub fn write(&self) -> Result<String, JournalError> {
        let json = |line: usize, text: Result<String, serde_json::Error>| {
            text.map_err(|e| JournalError::entry(line, &e))
        };
        let header = Header {
            deepgraph_journal: FORMAT,
            semantics: SEMANTICS,
            run: self.run.clone(),
            bundle: self.bundle.clone(),
        };
        let mut text = json(1, serde_json::to_string(&header))?;
        text.push('\n');
        for (i, row) in self.rows.iter().enumerate() {
            text.push_str(&json(i + 2, serde_json::to_string(row))?);
            text.push('\n');
        }
        Ok(text)
    }

    /// Compiles the bundle from its texts, with the ops that it was compiled with; [`OpTable::stock`] has those of
    /// all graphs that name no others.
    ///
    /// # Errors
    ///
    /// [`JournalError::Bundle`].
    pub fn compile(&self, ops: &OpTable) -> Result<Arc<Bundle>, JournalError> {
        let bundle = Bundle::from_source(&self.bundle, ops);
        bundle.map(Arc::new).map_err(|mistakes| JournalError::Bundle(mistakes.to_string()))
    }

    /// The trace.
    ///
    /// # Errors
    ///
    /// The journals do not fold under this bundle.
    pub fn trace(&self, bundle: &Arc<Bundle>) -> Result<Trace, FoldError> {
        let rows = self.rows.iter().map(|row| Row { scope: &row.scope, entry: &row.entry });
        let mut trace = fold(bundle, rows)?;
        trace.run.clone_from(&self.run);
        Ok(trace)
    }
}

/// Whether journals of this number can be folded.
fn is_known(semantics: u32) -> bool {
    semantics == SEMANTICS
}
