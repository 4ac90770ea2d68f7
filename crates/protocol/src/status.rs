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
    /// Every status, in the order that a run may go through them.
    pub const ALL: [RunStatus; 8] = {
        use RunStatus::*;
        [Queued, Running, AwaitingInput, Cancelling, Succeeded, Failed, Cancelled, Exhausted]
    };

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
        RunStatus::ALL.into_iter().find(|status| status.name() == name)
    }
}

impl fmt::Display for RunStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ReportOutcome::{Complete, Failed, Partial, Skipped};

    /// What the research ended by.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Row {
        WithFindings,
        Budget,
        Error,
        EmptyHanded,
        Waiting,
        Cancelled,
    }

    /// The table: a row per kind of end, then the status for complete, partial, failed, no report stage.
    const TABLE: [(Row, [RunStatus; 4]); 6] = {
        use RunStatus::{Cancelled, Exhausted, Failed, Succeeded};
        [
            (Row::WithFindings, [Succeeded, Exhausted, Failed, Succeeded]),
            (Row::Budget, [Exhausted; 4]),
            (Row::Error, [Exhausted, Exhausted, Failed, Failed]),
            (Row::EmptyHanded, [Exhausted, Exhausted, Failed, Exhausted]),
            // Where nobody can be asked.
            (Row::Waiting, [Exhausted; 4]),
            (Row::Cancelled, [Cancelled; 4]),
        ]
    };

    /// The row that is meant; "any reason with zero findings" goes before what the reason would say.
    fn row(class: ExitClass, findings: Option<u64>) -> Row {
        match (class, findings) {
            (ExitClass::Cancelled, _) => Row::Cancelled,
            (ExitClass::Waiting, _) => Row::Waiting,
            (_, Some(0)) => Row::EmptyHanded,
            (ExitClass::Budget, _) => Row::Budget,
            (ExitClass::Error, _) => Row::Error,
            (ExitClass::Completion | ExitClass::Cap | ExitClass::NoToolCalls | ExitClass::Gain, _) => {
                Row::WithFindings
            }
        }
    }

    #[test]
    fn every_cell_of_the_table() {
        let classes = [
            ExitClass::Cancelled,
            ExitClass::Error,
            ExitClass::Waiting,
            ExitClass::Completion,
            ExitClass::Budget,
            ExitClass::Cap,
            ExitClass::NoToolCalls,
            ExitClass::Gain,
        ];
        // Skipped counts as no report stage.
        let reports =
            [(Some(Complete), 0), (Some(Partial), 1), (Some(Failed), 2), (None, 3), (Some(Skipped), 3)];
        let reason = ExitReason::of("declared");
        let mut met = std::collections::BTreeSet::new();
        for class in classes {
            for findings in [None, Some(0), Some(1), Some(7)] {
                let row = row(class, findings);
                let Some(at) = TABLE.iter().position(|(of, _)| *of == row) else { panic!("no row {row:?}") };
                for (report, column) in reports {
                    let status = RunStatus::of_ended(&reason, class, findings, report, false);
                    let expected = TABLE[at].1[column];
                    assert_eq!(status, expected, "{class:?}, findings {findings:?}, report {report:?}");
                    met.insert((at, column));
                }
            }
        }
        assert_eq!(met.len(), 6 * 4, "every cell was looked at");
    }

    #[test]
    fn a_graph_without_findings_to_count_counts_as_with_findings() {
        let status =
            |report| RunStatus::of_ended(&ExitReason::Completed, ExitClass::Completion, None, report, false);
        assert_eq!(status(None), RunStatus::Succeeded);
        assert_eq!(status(Some(Complete)), RunStatus::Succeeded);
    }

    #[test]
    fn without_sources_nothing_was_found() {
        let status = RunStatus::of_ended(&ExitReason::NoSources, ExitClass::Cap, None, Some(Complete), false);
        assert_eq!(status, RunStatus::Exhausted);
    }

    #[test]
    fn a_waiting_exit_depends_on_whether_somebody_can_be_asked() {
        for (can_ask, expected) in [(true, RunStatus::AwaitingInput), (false, RunStatus::Exhausted)] {
            for reason in [ExitReason::ClarificationNeeded, ExitReason::PlanRejected] {
                let status =
                    RunStatus::of_ended(&reason, ExitClass::Waiting, Some(0), Some(Skipped), can_ask);
                assert_eq!(status, expected);
            }
        }
    }

    #[test]
    fn names_are_read_back() {
        for name in [
            "queued",
            "running",
            "awaiting_input",
            "cancelling",
            "succeeded",
            "failed",
            "cancelled",
            "exhausted",
        ] {
            assert_eq!(RunStatus::parse(name).map(RunStatus::name), Some(name));
        }
        assert_eq!(RunStatus::parse("done"), None);
        for (name, reason) in ExitReason::BUILT_IN {
            assert_eq!(ExitReason::of(name), reason);
            assert!(reason.class().is_some());
        }
    }
}
