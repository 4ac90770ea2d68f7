//! What keeps a journal from being read.

use deepgraph_protocol::SEMANTICS;

use super::FORMAT;
use crate::json_words;

/// Bytes of a message that comes from outside.
const LONGEST: usize = 300;

/// A journal that can not be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum JournalError {
    /// There is no line.
    #[error(
        "the journal is empty: its first line must be the header, as `deepgraph trace RUN --format journal` writes it"
    )]
    Empty,
    /// The first line is no header.
    #[error(
        "line {line}: this is no journal: the first line must hold `deepgraph_journal`, the number of the form"
    )]
    NoHeader {
        /// The line, from 1.
        line: usize,
    },
    /// The header can not be read.
    #[error("line {line}: the header can not be read: {problem}")]
    Header {
        /// The line, from 1.
        line: usize,
        /// Why.
        problem: String,
    },
    /// A form of another version.
    #[error(
        "line {line}: the journal has the form {found}, this version reads form {FORMAT}: use the version that wrote it"
    )]
    Format {
        /// The line, from 1.
        line: usize,
        /// The number found.
        found: u32,
    },
    /// Rules of another version.
    #[error(
        "line {line}: the journal was written under semantics {found}, this version folds semantics {SEMANTICS}: use the version that wrote it"
    )]
    Semantics {
        /// The line, from 1.
        line: usize,
        /// The number found.
        found: u32,
    },
    /// An entry can not be read.
    #[error("line {line}: the entry can not be read: {problem}")]
    Entry {
        /// The line, from 1.
        line: usize,
        /// Why.
        problem: String,
    },
    /// The bundle does not compile.
    #[error("the graph of the journal can not be compiled from its texts:\n\n{0}")]
    Bundle(String),
}

impl JournalError {
    pub(super) fn header(line: usize, error: &serde_json::Error) -> JournalError {
        JournalError::Header { line, problem: problem(error) }
    }

    pub(super) fn entry(line: usize, error: &serde_json::Error) -> JournalError {
        JournalError::Entry { line, problem: problem(error) }
    }
}

/// What was wrong and in which column. The line that the reader counted is always the first, so it is left out.
fn problem(error: &serde_json::Error) -> String {
    let mut text = format!(
        "column {}: {}",
        error.column(),
        json_words::of(error).replacen("the file ends", "the line ends", 1)
    );
    if text.len() > LONGEST {
        let mut end = LONGEST;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push('…');
    }
    text
}
