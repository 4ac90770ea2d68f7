//! A model is shown a reply that can not be taken before a guess at it counts: the first such reply of a step never ends
//! it well, and a later one only where it, or the first, was guessed at. A first one counts only where other failures have
//! used up the attempts before it.

use std::collections::{BTreeMap, BTreeSet};

use deepgraph_graph::Verb;
use deepgraph_protocol::{EntryBody, Event, FinishReason, ModelReply, Output, StepId, StepOutput};

use super::Violation;
use super::seen::{Scope, Seen};

const NAME: &str = "repairs";

pub(super) fn check(seen: &Seen<'_>) -> Vec<Violation> {
    seen.scopes.values().flat_map(of_scope).collect()
}

fn of_scope(scope: &Scope<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    // Whether what came of a step so far was guessed at, for steps with replies that could not be taken.
    let mut unfit: BTreeMap<&StepId, bool> = BTreeMap::new();
    // Steps of which an attempt has failed.
    let mut failed: BTreeSet<&StepId> = BTreeSet::new();
    for row in &scope.rows {
        let reply = match &row.entry.body {
            EntryBody::Completed { step, output: StepOutput::Model(reply), .. } => Some((step, reply)),
            _ => None,
        };
        let misfit = reply.filter(|(step, reply)| !is_taken(scope, step, reply));
        for output in row.outputs {
            match output {
                Output::Event(Event::StepCompleted { step }) => {
                    if let Some((of, reply)) = misfit.filter(|(of, _)| *of == step) {
                        let wrong = match unfit.get(of) {
                            None if failed.contains(of) && !reply.guess.is_null() => None,
                            None => {
                                Some("its first reply does not fit and is taken: the model was not shown it")
                            }
                            Some(false) if reply.guess.is_null() => {
                                Some("a reply is taken that does not fit")
                            }
                            Some(_) => None,
                        };
                        found.extend(
                            wrong.map(|what| Violation::of_step(NAME, scope.path, of, what.to_owned())),
                        );
                    }
                    unfit.remove(step);
                    failed.remove(step);
                }
                Output::Event(Event::StepFailed { step, .. }) => drop(unfit.remove(step)),
                Output::Event(Event::AttemptFailed { step, fail_over, .. }) => {
                    if !fail_over {
                        failed.insert(step);
                    }
                    if let Some((of, reply)) = misfit.filter(|(of, _)| *of == step) {
                        // The guesses at the first and at the newest count.
                        unfit.entry(of).or_insert(!reply.guess.is_null());
                    }
                }
                _ => {}
            }
        }
    }
    found
}

/// Whether a reply answers what its node asked for, as it stands.
fn is_taken(scope: &Scope<'_>, step: &StepId, reply: &ModelReply) -> bool {
    let Some(Verb::Model(model)) = scope.node(step).map(|node| &node.verb) else { return true };
    match reply.finish {
        FinishReason::Empty | FinishReason::Repetition => false,
        _ if !reply.tool_calls.is_empty() => true,
        _ => model.returns.as_ref().is_none_or(|returns| returns.field.check(&reply.data).is_ok()),
    }
}
