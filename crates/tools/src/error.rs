//! What can go wrong with a corpus as a whole. Trouble with one document never is an error: it is a
//! [`SkipReason`](crate::SkipReason) in the report.

use std::io;
use std::path::PathBuf;

/// A failure of a corpus.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// A path given as `--docs` does not exist.
    #[error("the documents path \"{}\" does not exist: give a folder or a file that does", .path.display())]
    PathNotFound {
        /// The path as it was given.
        path: PathBuf,
    },
    /// A path given as `--docs` can not be read.
    #[error("the documents path \"{}\" can not be read: {error}", .path.display())]
    PathUnreadable {
        /// The path as it was given.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// No document or passage has this name.
    #[error("no document or passage \"{what}\" among {documents} documents{}", nearest_text(.nearest))]
    NotFound {
        /// What was asked for.
        what: String,
        /// How many documents there are.
        documents: usize,
        /// The documents with the nearest names, best first.
        nearest: Vec<String>,
    },
    /// The document exists, the passage does not.
    #[error("{document} has {passages} passages, so there is no passage {wanted}: ask for 1 to {passages}")]
    NoSuchPassage {
        /// The document.
        document: String,
        /// The passage that was asked for, from 1.
        wanted: usize,
        /// How many passages it has.
        passages: usize,
    },
    /// The index can not be used.
    #[error("the index of the documents can not be used ({error}): delete {} and try again", .file)]
    Index {
        /// The index file, or "the index in memory".
        file: String,
        /// What SQLite says.
        error: rusqlite::Error,
    },
}

fn nearest_text(nearest: &[String]) -> String {
    match nearest {
        [] => String::new(),
        names => format!("; the nearest names are {}", names.join(", ")),
    }
}
