//! What came of a case and its snapshot.

use std::path::PathBuf;

use super::name::CaseName;

/// How a case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// All was as the case and its snapshot say.
    Passed,
    /// All was as the case says, and its trace is the accepted one from now on.
    Accepted,
    /// Something was not as the case says.
    Failed,
    /// All was as the case says; there is no snapshot yet.
    SnapshotNew,
    /// All was as the case says; the trace is not that of the snapshot.
    SnapshotChanged,
    /// The file has mistakes.
    Unreadable,
}

impl Verdict {
    /// Whether the case counts as passed.
    pub fn passed(self) -> bool {
        matches!(self, Verdict::Passed | Verdict::Accepted)
    }

    /// Whether a trace waits to be accepted.
    pub fn waits(self) -> bool {
        matches!(self, Verdict::SnapshotNew | Verdict::SnapshotChanged)
    }
}

/// What came of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What it is called.
    pub name: CaseName,
    /// Its file, as it was reached.
    pub file: PathBuf,
    /// The sentence that says what it shows; none where the file has mistakes.
    pub sentence: Option<String>,
    /// How it ended.
    pub verdict: Verdict,
    /// What differs, in lines; "" where nothing does.
    pub text: String,
    /// Whether the case keeps a snapshot; none where the file has mistakes.
    pub keeps_snapshot: Option<bool>,
}
