//! Nothing is asked of the outside for a step that is over, a step is over once, and only its current attempt can end
//! it.

use std::collections::{BTreeMap, BTreeSet};

use deepgraph_protocol::{Effect, EntryBody, Event, Output, StepId};

use super::Violation;
use super::seen::{Scope, Seen};

const NAME: &str = "closed";

pub(super) fn check(seen: &Seen<'_>) -> Vec<Violation> {
    seen.scopes.values().flat_map(of_scope).collect()
}

fn of_scope(scope: &Scope<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut wrong = |step: &StepId, what: String| {
        found.push(Violation::of_step(NAME, scope.path, step, what));
    };
    let mut over: BTreeSet<&StepId> = BTreeSet::new();
    let mut attempts: BTreeMap<&StepId, u32> = BTreeMap::new();
    for row in &scope.rows {
        let brought = match &row.entry.body {
            EntryBody::Completed { step, attempt, .. } | EntryBody::AttemptFailed { step, attempt, .. } => {
                Some((step, *attempt))
            }
            _ => None,
        };
        if let Some((step, attempt)) = brought {
            let current = attempts.get(step).copied();
            let is_late = over.contains(step) || current != Some(attempt);
            if is_late && !row.outputs.is_empty() {
                let what = format!(
                    "attempt {attempt} came back when {} was out, and something followed from it",
                    match current {
                        Some(current) if !over.contains(step) => format!("attempt {current}"),
                        _ => "nothing".to_owned(),
                    }
                );
                wrong(step, what);
            }
        }
        for output in row.outputs {
            match output {
                Output::Event(Event::StepCompleted { step } | Event::StepFailed { step, .. }) => {
                    let is_first = over.insert(step);
                    if !is_first {
                        wrong(step, "it was told as over a second time".to_owned());
                    }
                }
                // What had failed, or ended short of its work, is begun anew.
                Output::Event(Event::Resumed { .. }) => over.clear(),
                Output::Effect(
                    effect @ (Effect::CallModel { step, .. }
                    | Effect::RunOp { step, .. }
                    | Effect::Spawn { step, .. }
                    | Effect::Reopen { step, .. }
                    | Effect::Ask { step, .. }),
                ) => {
                    if over.contains(step) {
                        wrong(step, "it was put out, and it is over".to_owned());
                    }
                    if let Effect::CallModel { attempt, .. } | Effect::RunOp { attempt, .. } = effect {
                        let before = attempts.insert(step, *attempt).unwrap_or(0);
                        if *attempt != before + 1 {
                            wrong(step, format!("attempt {attempt} was put out after attempt {before}"));
                        }
                    }
                }
                _ => {}
            }
        }
    }
    found
}
