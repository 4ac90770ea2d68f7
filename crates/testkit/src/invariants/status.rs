//! The run's status follows from its exit and its report by the table; of several reasons the one of highest precedence
//! is the exit.

use deepgraph_protocol::{Event, ExitClass, ExitReason, ReportOutcome, RunStatus};

use super::Violation;
use super::seen::Seen;

const NAME: &str = "status";

/// A row of the table: what the research ended by, and the status where the report is complete, partial, failed, and
/// where there is none.
type Line = (Ended, [RunStatus; 4]);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    WithFindings,
    Budget,
    Error,
    EmptyHanded,
    Waiting,
    Cancelled,
}

const TABLE: [Line; 6] = {
    use RunStatus::{Cancelled, Exhausted, Failed, Succeeded};
    [
        (Ended::WithFindings, [Succeeded, Exhausted, Failed, Succeeded]),
        (Ended::Budget, [Exhausted, Exhausted, Exhausted, Exhausted]),
        (Ended::Error, [Exhausted, Exhausted, Failed, Failed]),
        (Ended::EmptyHanded, [Exhausted, Exhausted, Failed, Exhausted]),
        // Nobody can be asked.
        (Ended::Waiting, [Exhausted, Exhausted, Exhausted, Exhausted]),
        (Ended::Cancelled, [Cancelled, Cancelled, Cancelled, Cancelled]),
    ]
};

pub(super) fn check(seen: &Seen<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    for scope in seen.scopes.values() {
        let exits = scope.events().filter_map(|(_, event)| match event {
            Event::Exited { exit } => Some(exit),
            _ => None,
        });
        for exit in exits {
            // A child that inherits may carry a class of its own graph: only the closed set is judged.
            let better = exit.also.iter().find(|also| also.class().is_some_and(|class| class < exit.class));
            if let Some(better) = better {
                let what = format!("it ended by {}, and {better} goes before that", exit.reason);
                found.push(Violation::of_scope(NAME, scope.path, what));
            }
        }
    }
    let Some(end) = &seen.run.end else { return found };
    let status = RunStatus::of_ended(&end.exit.reason, end.exit.class, end.exit.findings, end.report, false);
    let empty_handed = end.exit.findings == Some(0) || end.exit.reason == ExitReason::NoSources;
    let ended = match end.exit.class {
        ExitClass::Cancelled => Ended::Cancelled,
        ExitClass::Waiting => Ended::Waiting,
        _ if empty_handed => Ended::EmptyHanded,
        ExitClass::Budget => Ended::Budget,
        ExitClass::Error => Ended::Error,
        ExitClass::Completion | ExitClass::Cap | ExitClass::NoToolCalls | ExitClass::Gain => {
            Ended::WithFindings
        }
    };
    let column = match end.report {
        Some(ReportOutcome::Complete) => 0,
        Some(ReportOutcome::Partial) => 1,
        Some(ReportOutcome::Failed) => 2,
        Some(ReportOutcome::Skipped) | None => 3,
    };
    let expected = TABLE.iter().find(|(line, _)| *line == ended).map(|(_, cells)| cells[column]);
    if expected != Some(status) {
        let what = format!(
            "it ended by {} with report {:?} and findings {:?}: its status is {status}, by the table {}",
            end.exit.reason,
            end.report.map(ReportOutcome::name),
            end.exit.findings,
            expected.map_or("none", RunStatus::name)
        );
        found.push(Violation::of_scope(NAME, &end.exit.scope, what));
    }
    found
}
