//! After its end an instance does nothing more: what is committed then is late and changes nothing.

use deepgraph_protocol::{EntryBody, Event, Output};

use super::Violation;
use super::seen::{Scope, Seen};

const NAME: &str = "after_end";

pub(super) fn check(seen: &Seen<'_>) -> Vec<Violation> {
    seen.scopes.values().flat_map(of_scope).collect()
}

fn of_scope(scope: &Scope<'_>) -> Vec<Violation> {
    let ends = |outputs: &[Output]| outputs.iter().any(|o| matches!(o, Output::Event(Event::Exited { .. })));
    let mut found = Vec::new();
    let mut is_over = false;
    for row in &scope.rows {
        // It may go on, as its next attempt.
        is_over &= !matches!(row.entry.body, EntryBody::Resumed { .. });
        if !is_over {
            is_over = ends(row.outputs);
            continue;
        }
        let is_late = matches!(
            row.entry.body,
            EntryBody::Completed { .. }
                | EntryBody::AttemptFailed { .. }
                | EntryBody::Failed { .. }
                | EntryBody::ChildEnded { .. }
                | EntryBody::Answered { .. }
                | EntryBody::TimerFired { .. }
        );
        let number = row.number + 1;
        if !is_late {
            let what = format!("entry {number} was committed after its end and is no late answer");
            found.push(Violation::of_scope(NAME, scope.path, what));
        }
        if !row.outputs.is_empty() {
            let what = format!("something followed from entry {number}, which came after its end");
            found.push(Violation::of_scope(NAME, scope.path, what));
        }
    }
    found
}
