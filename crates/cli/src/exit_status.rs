//! What the shell is told.

use std::process::ExitCode;

use deepgraph_protocol::RunStatus;

/// The exit statuses of the program. The numbers are kept for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// All is well; of a run: it succeeded.
    Succeeded = 0,
    /// The program, its store or the system failed; or what was compared or tested is not as it should be
    /// ([`ExitStatus::DIFFERS`]).
    Internal = 1,
    /// The command, a graph file or the configuration is wrong.
    Usage = 2,
    /// The run gave up: a budget, an error with a report, nothing found.
    Exhausted = 3,
    /// The run failed.
    Failed = 4,
    /// The run was cancelled.
    Cancelled = 5,
    /// The run waits for an answer.
    AwaitingInput = 6,
    /// Ctrl-C before all cases were played, or so often that a run was left in the middle: as shells expect of an
    /// interrupted program.
    Interrupted = 130,
}

/// The table that every help page of a command that runs something shows.
pub const TABLE: &str = "\
Exit status:
  0  the run succeeded
  1  the program, its store or the system failed; of test: a case failed, of diff: both differ, of simulate: a
     rule was broken, of case from-run: the case does not pass, of bounds: a bound is not proven
  2  wrong usage: options, graph file, configuration, documents, models, MCP servers
  3  the run is exhausted: a budget was used up, an error left a report, or nothing was found
  4  the run failed
  5  the run was cancelled
  6  the run waits for an answer
  130  Ctrl-C: of test before all cases were played, of a run when it was pressed three times";

impl ExitStatus {
    /// Something is not as it should be: a case failed, two traces differ, a rule was broken in a simulation. Scripts
    /// tell it from a command that is wrong ([`ExitStatus::Usage`]), as they do of other programs that test or compare.
    pub const DIFFERS: ExitStatus = ExitStatus::Internal;

    /// The number.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The status of a run that is not driven any more. One that is neither over nor waiting was left in the
    /// middle: that is a failure of ours.
    pub fn of_run(status: RunStatus) -> ExitStatus {
        match status {
            RunStatus::Succeeded => ExitStatus::Succeeded,
            RunStatus::Exhausted => ExitStatus::Exhausted,
            RunStatus::Failed => ExitStatus::Failed,
            RunStatus::Cancelled => ExitStatus::Cancelled,
            RunStatus::AwaitingInput => ExitStatus::AwaitingInput,
            RunStatus::Queued | RunStatus::Running | RunStatus::Cancelling => ExitStatus::Internal,
        }
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> ExitCode {
        ExitCode::from(status.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_status_has_its_number() {
        let numbers = [
            (RunStatus::Succeeded, 0),
            (RunStatus::Queued, 1),
            (RunStatus::Running, 1),
            (RunStatus::Cancelling, 1),
            (RunStatus::Exhausted, 3),
            (RunStatus::Failed, 4),
            (RunStatus::Cancelled, 5),
            (RunStatus::AwaitingInput, 6),
        ];
        for (status, number) in numbers {
            assert_eq!(ExitStatus::of_run(status).code(), number, "{status}");
        }
    }

    #[test]
    fn the_help_lists_every_number() {
        for status in [
            ExitStatus::Succeeded,
            ExitStatus::Internal,
            ExitStatus::Usage,
            ExitStatus::Exhausted,
            ExitStatus::Failed,
            ExitStatus::Cancelled,
            ExitStatus::AwaitingInput,
            ExitStatus::Interrupted,
        ] {
            assert!(TABLE.contains(&format!("\n  {}  ", status.code())), "{status:?}");
        }
    }
}
