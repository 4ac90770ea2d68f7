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
    let Some(end) = scope.rows.iter().position(|row| ends(row.outputs)) else { return Vec::new() };
    let mut found = Vec::new();
    for row in &scope.rows[end + 1..] {
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
