//! Of several reasons the one of highest precedence is the exit, and the trace tells the status that follows from how the
//! run ended. The table itself is tested where it stands.

use deepgraph_protocol::{Event, RunStatus, ScopePath};

use super::Violation;
use super::seen::Seen;

const NAME: &str = "status";

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
    found.extend(of_trace(seen));
    found
}

fn of_trace(seen: &Seen<'_>) -> Option<Violation> {
    let wrong = |what| Violation::of_scope(NAME, &ScopePath::root(), what);
    let trace = match seen.run.fold(seen.bundle) {
        Ok(trace) => trace,
        Err(error) => return Some(wrong(format!("its journals do not fold: {error}"))),
    };
    let expected = seen.run.end.as_ref().map(|end| {
        RunStatus::of_ended(&end.exit.reason, end.exit.class, end.exit.findings, end.report, false)
    });
    let name = |status: Option<RunStatus>| status.map_or("none", RunStatus::name);
    (trace.status != expected).then(|| {
        let (told, expected) = (name(trace.status), name(expected));
        wrong(format!("its trace tells the status {told}; by how it ended it is {expected}"))
    })
}
