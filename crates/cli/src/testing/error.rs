//! What keeps cases from being played.

use std::io;
use std::path::PathBuf;

use deepgraph_testkit::suite::{FindError, SnapshotError};

use crate::exit_status::ExitStatus;

/// A failure of `deepgraph test` that is none of a case.
#[derive(Debug, thiserror::Error)]
pub enum TestError {
    /// Cases that can not be found.
    #[error("{0}")]
    Find(#[from] FindError),
    /// There are no such cases: where was looked, what is there, and what cases are.
    #[error("{0}")]
    NoCases(String),
    /// An argument without a text.
    #[error(
        "\"\" is no path and no part of a name: give one, or leave it out to play all cases below the current folder"
    )]
    EmptyArgument,
    /// What would write snapshots where nobody looks at them.
    #[error(
        "{option} changes snapshots, and the variable CI is set: nothing is written there. Run it on your own machine, and keep what it wrote with the graph"
    )]
    InCi {
        /// The option.
        option: &'static str,
    },
    /// What would write snapshots where nothing is to be written.
    #[error("{option} changes snapshots, and with --check nothing is written: leave one of them out")]
    UnderCheck {
        /// The option.
        option: &'static str,
    },
    /// A review without somebody to ask.
    #[error(
        "--review asks at the terminal, and standard input is none: run it at a terminal, or take all traces with --accept"
    )]
    NoTerminal,
    /// A snapshot that can not be read or written.
    #[error("{0}")]
    Snapshot(#[from] SnapshotError),
    /// A file that can not be removed.
    #[error("{} can not be removed: {error}", .path.display())]
    Remove {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

impl TestError {
    /// What the shell is told.
    pub fn exit_status(&self) -> ExitStatus {
        match self {
            TestError::Snapshot(_) | TestError::Remove { .. } => ExitStatus::Internal,
            _ => ExitStatus::Usage,
        }
    }
}
