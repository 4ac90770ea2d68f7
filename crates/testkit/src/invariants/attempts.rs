//! Attempts of a step follow one from the other: each that failed leads to the next, to another model of the route or to
//! the first again, or to the end of the step; never more models are asked in a row than the route has, and never is more
//! tried than the policy allows.

use std::collections::BTreeMap;

use deepgraph_graph::Verb;
use deepgraph_protocol::{Effect, EntryBody, Event, Output, StepId};

use super::Violation;
use super::seen::{Scope, Seen};

const NAME: &str = "attempts";

/// What is known of a model step that is out.
#[derive(Clone, Copy, Default)]
struct Tried {
    attempt: u32,
    route: u32,
    /// Attempts since it was begun.
    sent: u64,
    /// The models that were asked in a row without a failure that counts.
    in_a_row: u64,
}

pub(super) fn check(seen: &Seen<'_>) -> Vec<Violation> {
    let longest = seen.run.longest_route as u64;
    seen.scopes.values().flat_map(|scope| of_scope(scope, longest)).collect()
}

fn of_scope(scope: &Scope<'_>, longest: u64) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut tried: BTreeMap<&StepId, Tried> = BTreeMap::new();
    for row in &scope.rows {
        let mut wrong =
            |step: &StepId, what: String| found.push(Violation::of_step(NAME, scope.path, step, what));
        let wanted = match &row.entry.body {
            EntryBody::AttemptFailed { fail_over, .. } => Some(*fail_over),
            _ => None,
        };
        let mut told: Option<(&StepId, u32, bool)> = None;
        for output in row.outputs {
            match output {
                Output::Event(Event::AttemptFailed { step, attempt, fail_over, delay_ms, .. }) => {
                    if *fail_over && wanted != Some(true) {
                        wrong(step, "another model is asked, and nobody said that there is one".to_owned());
                    }
                    if *fail_over && *delay_ms > 0 {
                        wrong(step, format!("another model is asked only after {delay_ms} ms"));
                    }
                    told = Some((step, *attempt, *fail_over));
                }
                Output::Event(Event::StepCompleted { step } | Event::StepFailed { step, .. }) => {
                    tried.remove(step);
                }
                Output::Effect(Effect::CallModel { step, attempt, route, .. }) => {
                    let failed = told.take().filter(|(of, ..)| *of == step);
                    let before = tried.get(step).copied().filter(|_| failed.is_some());
                    let next = match (before, failed) {
                        (Some(before), Some((_, number, fail_over))) => {
                            if number != before.attempt {
                                wrong(
                                    step,
                                    format!("attempt {number} is told as failed, {} was out", before.attempt),
                                );
                            }
                            let follows = match fail_over {
                                true => *route == before.route + 1,
                                // A request that was too long goes to the same one again.
                                false => *route == 0 || *route == before.route,
                            };
                            if !follows {
                                wrong(
                                    step,
                                    format!("model {route} of the route is asked after {}", before.route),
                                );
                            }
                            let in_a_row = if fail_over { before.in_a_row + 1 } else { 1 };
                            Tried { attempt: *attempt, route: *route, sent: before.sent + 1, in_a_row }
                        }
                        _ => {
                            if *route != 0 {
                                wrong(step, format!("it begins with model {route} of the route"));
                            }
                            Tried { attempt: *attempt, route: *route, sent: 1, in_a_row: 1 }
                        }
                    };
                    if next.in_a_row > longest {
                        wrong(
                            step,
                            format!("{} models are asked in a row, the route has {longest}", next.in_a_row),
                        );
                    }
                    if let Some(most) = most(scope, step, longest).filter(|most| next.sent > *most) {
                        wrong(step, format!("it is sent {} times, at most {most} are allowed", next.sent));
                    }
                    tried.insert(step, next);
                }
                _ => {}
            }
        }
        if let Some((step, ..)) = told
            && matches!(scope.node(step).map(|node| &node.verb), Some(Verb::Model(_)))
        {
            wrong(step, "an attempt failed, the step is not over, and nothing is sent".to_owned());
        }
    }
    found
}

/// How often a model step may be sent: for each attempt of `retry`, of which the repair turn is one, to all models of the
/// route, and once more for each try of `truncate` beyond the first. Where there are fallbacks that is so for each
/// attempt: what is too long for one of them says nothing of the configured model.
fn most(scope: &Scope<'_>, step: &StepId, longest: u64) -> Option<u64> {
    let node = scope.node(step)?;
    let Verb::Model(model) = &node.verb else { return None };
    let counted = node.retry.max.count(&scope.config).unwrap_or(1).max(1);
    let tries = u64::from(model.truncate.tries.max(1)) - 1;
    let times = if longest > 1 { counted } else { 1 };
    Some(counted.saturating_mul(longest).saturating_add(tries.saturating_mul(times)))
}
