//! A child is started once. What goes on later goes on in the same journal, as the attempt behind the one whose end it
//! handed up last; so nothing that it handed up is lost or done again.

use std::collections::{BTreeMap, BTreeSet};

use deepgraph_protocol::{Effect, EntryBody, Output, StepId};

use super::Violation;
use super::seen::{Scope, Seen};

const NAME: &str = "children";

pub(super) fn check(seen: &Seen<'_>) -> Vec<Violation> {
    seen.scopes.values().flat_map(|scope| begun(scope).into_iter().chain(asked(scope))).collect()
}

/// A journal begins once.
fn begun(scope: &Scope<'_>) -> Option<Violation> {
    let begun = scope.rows.iter().filter(|row| matches!(row.entry.body, EntryBody::Started(_))).count();
    let what = || format!("its journal begins {begun} times");
    (begun != 1).then(|| Violation::of_scope(NAME, scope.path, what()))
}

/// A child is asked for once; one that goes on, behind the end that it handed up.
fn asked(scope: &Scope<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut asked: BTreeSet<&StepId> = BTreeSet::new();
    let mut handed_up: BTreeMap<&StepId, u32> = BTreeMap::new();
    for row in &scope.rows {
        if let EntryBody::ChildEnded { step, end } = &row.entry.body {
            handed_up.insert(step, end.exit.attempt);
        }
        for output in row.outputs {
            let mut wrong =
                |step: &StepId, what: String| found.push(Violation::of_step(NAME, scope.path, step, what));
            match output {
                Output::Effect(Effect::Spawn { step, .. }) if !asked.insert(step) => {
                    wrong(step, "a child is started that was started before".to_owned());
                }
                Output::Effect(Effect::Reopen { step, attempt, .. }) => {
                    let last = handed_up.get(step).copied().unwrap_or(0);
                    if last == 0 || *attempt != last.saturating_add(1) {
                        wrong(
                            step,
                            format!("a child goes on as attempt {attempt}, and handed up {last} last"),
                        );
                    }
                }
                _ => {}
            }
        }
    }
    found
}
