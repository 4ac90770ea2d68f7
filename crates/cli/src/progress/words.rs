//! Events in plain words.

use deepgraph_graph::Verb;
use deepgraph_protocol::{Event, ScopePath, StepId, Value};

use super::scopes::{Scopes, name_of};
use crate::screen::one_line;
use crate::when;

/// Characters of a text from outside that a line shows.
const SHOWN: usize = 160;

/// What a line says, and which instance says it; none for events that no person waits for.
///
/// `scopes` has taken the event in already.
pub fn words(event: &Event, scopes: &Scopes) -> Option<(ScopePath, String)> {
    let of_step = |step: &StepId, text: String| Some((scopes.scope_of(step), text));
    match event {
        Event::NodeStarted { step, title } if scopes.is_unspoken(step, title) => None,
        // The calls tell it.
        Event::NodeStarted { step, .. } if matches!(scopes.verb(step), Some(Verb::RunTools(_))) => None,
        Event::NodeStarted { step, title } => of_step(step, one_line(title, SHOWN)),
        Event::ItemStarted { step, title } if scopes.is_unspoken(step, title) => None,
        Event::ItemStarted { step, title } => of_step(step, one_line(title, SHOWN)),
        Event::ItemsLeftOut { step, left_out, bound } => of_step(
            step,
            format!(
                "{}: {} left out, at most {bound} are run",
                name_of(step),
                when::counted(*left_out, "item", "items")
            ),
        ),
        Event::CallAdmitted { step, tool, args } => {
            of_step(step, call_in_words(tool, args, &scopes.arguments(step, tool)))
        }
        Event::CallQueued { step, tool } => {
            of_step(step, format!("{} waits for its turn", one_line(tool, SHOWN)))
        }
        // The reason says which of the two it is.
        Event::CallRefused { step, tool, reason } | Event::CallMalformed { step, tool, reason } => {
            of_step(step, format!("{}: {}", one_line(tool, 60), one_line(reason, SHOWN)))
        }
        // The instance itself has told how it ended.
        Event::StepCompleted { step } if scopes.is_scope(step) => None,
        Event::StepCompleted { step } => {
            let steps = when::counted(scopes.done, "step", "steps");
            match scopes.verb(step) {
                Some(Verb::Model(_)) => of_step(step, format!("the model answered ({steps})")),
                _ => of_step(step, format!("{} done ({steps})", name_of(step))),
            }
        }
        Event::AttemptFailed { step, attempt, error, delay_ms, fail_over } => {
            let then = match fail_over {
                true => "the next model is asked".to_owned(),
                false => format!("again in {}", when::duration(*delay_ms)),
            };
            let error = one_line(&error.to_string(), SHOWN);
            of_step(step, format!("attempt {attempt} of {} failed, {then}: {error}", name_of(step)))
        }
        Event::StepFailed { step, error } => {
            of_step(step, format!("{} failed: {}", name_of(step), one_line(&error.to_string(), 2 * SHOWN)))
        }
        Event::CompensationStarted { step, op } => {
            of_step(step, format!("undoes {} by {}", undone(step), one_line(op, SHOWN)))
        }
        Event::Asked { step, question } => of_step(step, format!("asks: {}", one_line(question, SHOWN))),
        Event::LimitReached { scope, limit, .. } => {
            Some((scope.clone(), format!("the limit {limit} is reached")))
        }
        Event::LimitWarned { scope, limit, mark, bound, .. } => {
            let share = mark.saturating_mul(100).checked_div(*bound).unwrap_or(100);
            Some((scope.clone(), format!("{share} % of the limit {limit} are used")))
        }
        Event::Finishing { scope, reason } if scope.is_root() => {
            Some((scope.clone(), format!("research ended by {reason}")))
        }
        Event::Resumed { scope, attempt, from } => {
            Some((scope.clone(), format!("goes on with its {}, attempt {attempt}", from.name())))
        }
        Event::Exited { exit } if !exit.scope.is_root() => {
            Some((exit.scope.clone(), format!("ended by {}", exit.reason)))
        }
        Event::ScopeStarted { .. }
        | Event::SuperStepStarted { .. }
        | Event::Gained { .. }
        | Event::Finishing { .. }
        | Event::Exited { .. }
        | Event::ScopeEnded { .. } => None,
    }
}

/// The shortest wait that is told, in milliseconds.
const TOLD_WAIT: u64 = 1000;

/// That a call waits for its model; none where it is hardly a wait.
pub fn waits(step: &StepId, model: &str, ms: u64) -> Option<String> {
    let text = || format!("{} waits {} until {model} may be asked again", name_of(step), when::duration(ms));
    (ms >= TOLD_WAIT).then(text)
}

/// Whether a line is worth keeping where the present state is shown anyway.
pub fn is_notable(event: &Event) -> bool {
    match event {
        Event::CallRefused { .. }
        | Event::CallMalformed { .. }
        | Event::AttemptFailed { .. }
        | Event::StepFailed { .. }
        | Event::CompensationStarted { .. }
        | Event::ItemsLeftOut { .. }
        | Event::LimitWarned { .. }
        | Event::Resumed { .. }
        | Event::LimitReached { .. } => true,
        Event::Exited { exit } => !exit.scope.is_root(),
        Event::Finishing { scope, .. } => scope.is_root(),
        _ => false,
    }
}

/// The call that a compensation undoes.
fn undone(step: &StepId) -> &str {
    step.as_str().strip_suffix("/compensation").unwrap_or(step.as_str())
}

/// A call with what it is about: the first of its arguments that is a text, in the order of its graph.
fn call_in_words(tool: &str, args: &Value, order: &[&str]) -> String {
    let told = |value: &Value| value.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned);
    let about = args.as_map().and_then(|fields| {
        let named = order.iter().filter_map(|name| fields.get(*name));
        named.chain(fields.values()).find_map(told)
    });
    match about {
        Some(about) => format!("calls {} \"{}\"", one_line(tool, SHOWN), one_line(&about, SHOWN)),
        None => format!("calls {}", one_line(tool, SHOWN)),
    }
}

#[cfg(test)]
mod tests {
    use deepgraph_protocol::{ErrorKind, ExitReason, StepError};

    use super::super::scopes::tests::example;
    use super::*;

    fn said(event: &Event) -> String {
        let mut scopes = example();
        scopes.note(event);
        match words(event, &scopes) {
            Some((scope, text)) => format!("{}: {text}", scopes.get(&scope).unwrap().label),
            None => String::new(),
        }
    }

    fn step(below: &str) -> StepId {
        StepId::new(format!("supervise.1/supervisor_tools.1/ConductResearch.2{below}"))
    }

    #[test]
    fn a_wait_for_a_model_is_told_where_it_is_one() {
        let told = waits(&StepId::new("clarify.1"), "openai::m", 40_000);
        assert_eq!(told.as_deref(), Some("clarify waits 40 s until openai::m may be asked again"));
        assert_eq!(waits(&StepId::new("clarify.1"), "openai::m", 20), None);
    }

    #[test]
    fn events_are_told_in_plain_words() {
        let tool = "search".into();
        let call = step("/tools.1/search.1");
        let error = StepError::new(ErrorKind::RateLimited, "slow\ndown\u{1b}[2J");
        for (event, expected) in [
            (
                Event::NodeStarted { step: step("/researcher.1"), title: "Looking into: the\ntides".into() },
                "researcher 2: Looking into: the tides",
            ),
            (Event::NodeStarted { step: step("/open.1"), title: "open".into() }, ""),
            (
                Event::CallAdmitted {
                    step: call.clone(),
                    tool,
                    args: Value::record([("query", Value::from("range"))]),
                },
                "researcher 2: calls search \"range\"",
            ),
            (
                Event::CallAdmitted {
                    step: step(""),
                    tool: "ConductResearch".into(),
                    args: Value::record([
                        ("boundaries", Value::from("none")),
                        ("expected_output", Value::from("figures")),
                        ("research_topic", Value::from("the tides")),
                    ]),
                },
                "supervisor: calls ConductResearch \"the tides\"",
            ),
            (
                Event::CallAdmitted {
                    step: call.clone(),
                    tool: "read".into(),
                    args: Value::record([("query", Value::from("range")), ("source", Value::from("abc-1"))]),
                },
                "researcher 2: calls read \"abc-1\"",
            ),
            (
                Event::CallAdmitted {
                    step: call.clone(),
                    tool: "unknown".into(),
                    args: Value::record([("a", Value::from(" ")), ("b", Value::from("x"))]),
                },
                "researcher 2: calls unknown \"x\"",
            ),
            (
                Event::LimitWarned {
                    scope: ScopePath::root(),
                    limit: "token_budget".into(),
                    value: 812,
                    mark: 800,
                    bound: 1000,
                },
                "deep_research: 80 % of the limit token_budget are used",
            ),
            (Event::StepCompleted { step: call.clone() }, "researcher 2: search done (1 step)"),
            (Event::StepCompleted { step: step("") }, ""),
            (
                Event::StepCompleted { step: step("/researcher.1") },
                "researcher 2: the model answered (1 step)",
            ),
            (Event::NodeStarted { step: step("/tools.1"), title: "Searching and reading".into() }, ""),
            (
                Event::AttemptFailed {
                    step: call.clone(),
                    attempt: 1,
                    error: error.clone(),
                    delay_ms: 2000,
                    fail_over: false,
                },
                "researcher 2: attempt 1 of search failed, again in 2 s: rate_limited: slow down\u{fffd}[2J",
            ),
            (
                Event::StepFailed { step: call, error },
                "researcher 2: search failed: rate_limited: slow down\u{fffd}[2J",
            ),
            (
                Event::Finishing { scope: ScopePath::root(), reason: ExitReason::IterationLimit },
                "deep_research: research ended by iteration_limit",
            ),
        ] {
            assert_eq!(said(&event), expected, "{event:?}");
        }
    }
}
