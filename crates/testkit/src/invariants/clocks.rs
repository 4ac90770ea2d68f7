//! Time in which all that an instance has out is held by the limiter of an account is no active time of it.

use std::collections::BTreeSet;

use deepgraph_protocol::{Effect, EntryBody, Event, Millis, Output, StepId};

use super::Violation;
use super::seen::{Scope, Seen};

const NAME: &str = "clocks";

pub(super) fn check(seen: &Seen<'_>) -> Vec<Violation> {
    seen.scopes.values().flat_map(of_scope).collect()
}

fn of_scope(scope: &Scope<'_>) -> Vec<Violation> {
    // An instance that went on has clocks of several attempts, with time between them that is none of it.
    let goes_on =
        |body: &EntryBody| matches!(body, EntryBody::Resumed { .. } | EntryBody::StateEdited { .. });
    if scope.rows.iter().any(|row| goes_on(&row.entry.body)) {
        return Vec::new();
    }
    let (mut out, mut held): (BTreeSet<&StepId>, BTreeSet<&StepId>) = Default::default();
    let (mut may_work, mut last): (Millis, Option<Millis>) = (0, None);
    let mut found = Vec::new();
    for row in &scope.rows {
        let at = last.map_or(row.entry.at, |last| last.max(row.entry.at));
        let all_held = !out.is_empty() && out.iter().all(|step| held.contains(step));
        if !out.is_empty() && !all_held {
            may_work += at - last.unwrap_or(at);
        }
        last = Some(at);
        match &row.entry.body {
            EntryBody::Held { step, .. } if out.contains(step) => drop(held.insert(step)),
            EntryBody::Dispatched { step, .. } => drop(held.remove(step)),
            _ => {}
        }
        for output in row.outputs {
            match output {
                Output::Effect(
                    Effect::CallModel { step, .. }
                    | Effect::RunOp { step, .. }
                    | Effect::Spawn { step, .. }
                    | Effect::Reopen { step, .. },
                ) => drop(out.insert(step)),
                Output::Event(Event::StepCompleted { step } | Event::StepFailed { step, .. }) => {
                    out.remove(step);
                    held.remove(step);
                }
                Output::Event(Event::Exited { exit }) => {
                    let active = i64::try_from(exit.clocks.active_ms).unwrap_or(i64::MAX);
                    if active > may_work {
                        let what = format!(
                            "{active} ms are told as active time, and in no more than {may_work} something was out \
                             that was not held"
                        );
                        found.push(Violation::of_scope(NAME, scope.path, what));
                    }
                }
                _ => {}
            }
        }
    }
    found
}
