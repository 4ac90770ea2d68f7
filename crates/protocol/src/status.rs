//! Report outcome and run status.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{ExitClass, ExitReason};

/// How the `finally` stage went: recorded apart from the exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportOutcome {
    /// It ran as written.
    Complete,
    /// It took an `on_error` way, or an output was cut.
    Partial,
    /// It ended by an error.
    Failed,
    /// There is such a stage, and its route led nowhere or the exit does not pass it.
    Skipped,
}

/// Where a run stands. The set is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// Recorded, not started.
    Queued,
    /// At work.
    Running,
    /// Nothing is open but a question to a person.
    AwaitingInput,
    /// Asked to stop; a step is still in flight.
    Cancelling,
    /// Ended well.
    Succeeded,
    /// Ended by an error, without a usable result.
    Failed,
    /// Cancelled.
    Cancelled,
    /// Gave up: a budget, an error with a report, or nothing found.
    Exhausted,
}

impl ReportOutcome {
    /// The name in traces and JSON.
    pub fn name(self) -> &'static str {
        match self {
            ReportOutcome::Complete => "complete",
            ReportOutcome::Partial => "partial",
            ReportOutcome::Failed => "failed",
            ReportOutcome::Skipped => "skipped",
        }
    }
}

impl fmt::Display for ReportOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl RunStatus {
    /// The status of a run that has ended.
    ///
    /// `report` is none where the graph has no report stage; [`ReportOutcome::Skipped`] counts as none.
    /// `findings` is none where the graph has no channel that tells: then it counts as "with findings".
    /// `can_ask` says whether a person can still be asked.
    pub fn of_ended(
        reason: &ExitReason,
        class: ExitClass,
        findings: Option<u64>,
        report: Option<ReportOutcome>,
        can_ask: bool,
    ) -> RunStatus {
        use ReportOutcome::{Complete, Failed, Partial, Skipped};
        let empty_handed = findings == Some(0) || *reason == ExitReason::NoSources;
        match (class, report) {
            (ExitClass::Cancelled, _) => RunStatus::Cancelled,
            (ExitClass::Waiting, _) if can_ask => RunStatus::AwaitingInput,
            (ExitClass::Waiting, _) => RunStatus::Exhausted,
            (_, Some(Failed)) if empty_handed => RunStatus::Failed,
            (ExitClass::Budget, _) => RunStatus::Exhausted,
            (_, Some(Failed)) => RunStatus::Failed,
            (ExitClass::Error, Some(Complete | Partial)) => RunStatus::Exhausted,
            (ExitClass::Error, Some(Skipped) | None) if empty_handed => RunStatus::Exhausted,
            (ExitClass::Error, Some(Skipped) | None) => RunStatus::Failed,
            (_, _) if empty_handed => RunStatus::Exhausted,
            (_, Some(Partial)) => RunStatus::Exhausted,
            (_, Some(Complete | Skipped) | None) => RunStatus::Succeeded,
        }
    }

    /// Whether the run is over.
    pub fn is_terminal(self) -> bool {
        matches!(self, RunStatus::Succeeded | RunStatus::Failed | RunStatus::Cancelled | RunStatus::Exhausted)
    }

    /// The name in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            RunStatus::Queued => "queued",
            RunStatus::Running => "running",
            RunStatus::AwaitingInput => "awaiting_input",
            RunStatus::Cancelling => "cancelling",
            RunStatus::Succeeded => "succeeded",
            RunStatus::Failed => "failed",
            RunStatus::Cancelled => "cancelled",
            RunStatus::Exhausted => "exhausted",
        }
    }

    /// The status of a name.
    pub fn parse(name: &str) -> Option<RunStatus> {
        use RunStatus::*;
        [Queued, Running, AwaitingInput, Cancelling, Succeeded, Failed, Cancelled, Exhausted]
            .into_iter()
            .find(|s| s.name() == name)
    }
}

impl fmt::Display for RunStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
