//! What indexing tells: progress, counts, and the documents that were left out with the reason.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Files larger than this many bytes are not indexed.
pub const MAX_DOCUMENT_BYTES: u64 = 50 * 1024 * 1024;

/// One step of indexing. Told for every file that is read, before it is read.
#[derive(Clone, Copy, Debug)]
pub struct IndexProgress<'a> {
    /// The document that comes next.
    pub document: &'a str,
    /// How many files of `total` are done.
    pub done: usize,
    /// How many files are new or changed.
    pub total: usize,
}

/// What indexing did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IndexReport {
    /// Documents that can be searched.
    pub documents: usize,
    /// Their passages.
    pub passages: usize,
    /// Documents that were read now, since they are new or changed.
    pub indexed_now: usize,
    /// Documents that were indexed before and have not changed.
    pub unchanged: usize,
    /// Documents that are gone and were dropped from the index.
    pub removed: usize,
    /// Documents that were left out, wholly or in part, by name. Those of which only a part was left out count as
    /// documents, too: see [`SkipReason::is_partial`].
    pub skipped: Vec<Skipped>,
    /// Symbolic links that lead out of the paths that were given, by name. What they lead to is indexed.
    pub linked: Vec<String>,
    /// Why the index is kept in memory only; none where it is kept in a file.
    pub in_memory: Option<String>,
}

/// A document that was left out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skipped {
    /// Its name, as [`Source::document`](deepgraph_protocol::Source) would have it.
    pub document: String,
    /// Why.
    pub reason: SkipReason,
}

impl IndexReport {
    /// Documents that were wholly left out.
    pub fn left_out(&self) -> impl Iterator<Item = &Skipped> {
        self.skipped.iter().filter(|skipped| !skipped.reason.is_partial())
    }

    /// Documents that are indexed but for a part.
    pub fn in_part(&self) -> impl Iterator<Item = &Skipped> {
        self.skipped.iter().filter(|skipped| skipped.reason.is_partial())
    }
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.document, self.reason)
    }
}

/// Why a document was left out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// It has no bytes, or nothing but white space.
    Empty,
    /// It has content, but no text that could be cited, such as a scanned PDF.
    NoText,
    /// It is text in another encoding than UTF-8.
    NotUtf8 {
        /// The encoding that it seems to be in.
        encoding: String,
    },
    /// It is no text.
    Binary,
    /// It is larger than [`MAX_DOCUMENT_BYTES`].
    TooLarge {
        /// Its size in bytes.
        bytes: u64,
    },
    /// It is not what its name says.
    Broken {
        /// The format: `JSON`, `PDF`.
        format: String,
        /// What is wrong and where.
        detail: String,
    },
    /// Some records of a file of records are broken. The others are indexed.
    BrokenRecords {
        /// How many.
        count: usize,
        /// The line of the first, from 1.
        line: u64,
        /// What is wrong with it.
        detail: String,
        /// The lines of the first of them, at most 20, from 1.
        lines: Vec<u64>,
    },
    /// The system does not let us read it.
    Unreadable {
        /// What the system says.
        detail: String,
    },
    /// A symbolic link to a folder that holds it.
    SymlinkLoop,
    /// A pipe, socket or device.
    NotAFile,
    /// Its name, or that of a folder that it is in, is no text on one line, so no citation could show it.
    BadName,
    /// This build can not read the format.
    Unsupported {
        /// The format.
        format: String,
    },
}

/// So many lines of broken records are told.
pub const MAX_LINES_TOLD: usize = 20;

impl SkipReason {
    /// Whether the rest of the document is indexed.
    pub fn is_partial(&self) -> bool {
        matches!(self, SkipReason::BrokenRecords { .. })
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SkipReason::Empty => f.write_str("it is empty"),
            SkipReason::NoText => f.write_str("no text could be found in it"),
            SkipReason::NotUtf8 { encoding } => {
                write!(f, "it is not UTF-8 but seems to be {encoding}; convert it to UTF-8")
            }
            SkipReason::Binary => f.write_str("it is a binary file"),
            SkipReason::TooLarge { bytes } => {
                write!(
                    f,
                    "it is too large: {} MB, at most {} MB",
                    megabytes(*bytes),
                    megabytes(MAX_DOCUMENT_BYTES)
                )
            }
            SkipReason::Broken { format, detail } => write!(f, "it is broken {format}: {detail}"),
            SkipReason::BrokenRecords { count: 1, line, detail, .. } => {
                write!(f, "the record at line {line} is broken: {detail}")
            }
            SkipReason::BrokenRecords { count, line, detail, lines } => {
                let told: Vec<String> = lines.iter().map(u64::to_string).collect();
                let more = count.saturating_sub(lines.len());
                let more = if more == 0 { String::new() } else { format!(" and {more} more") };
                write!(f, "the records at lines {}{more} are broken, that at line {line}: {detail}", told.join(", "))
            }
            SkipReason::Unreadable { detail } => write!(f, "it can not be read: {detail}"),
            SkipReason::SymlinkLoop => f.write_str("it is a symbolic link to a folder that holds it"),
            SkipReason::NotAFile => f.write_str("it is a pipe, socket or device"),
            SkipReason::BadName => f.write_str(
                "its name holds a line break, another control character or bytes that are not UTF-8; rename it",
            ),
            SkipReason::Unsupported { format } => write!(f, "this build does not read {format}"),
        }
    }
}

/// Mebibytes, rounded up so that a size over the limit never reads as the limit.
fn megabytes(bytes: u64) -> u64 {
    bytes.div_ceil(1024 * 1024)
}
