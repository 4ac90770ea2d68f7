//! The counting rules (G3, G4, G5), as a table: what a supervisor does, and what becomes of it.

use deepgraph_protocol::{Event, Message, Role, Value};
use deepgraph_testkit::{SimRun, call};

use super::supervised::{Turns, complete, conduct, node, run, think};
use crate::support::{stock, stock_with};

/// `exit; counted N; supervisor calls N; researchers N; what became of each call`.
fn summary(run: &SimRun) -> String {
    let end = run.ended();
    let supervisor = end
        .children
        .iter()
        .find(|e| e.graph.ends_with("/supervisor"))
        .expect("the supervisor's exit is handed up");
    let counted = supervisor.counters.get("max_researcher_iterations").copied().unwrap_or(0);
    let calls = run.requests.iter().filter(|(step, _)| node(step) == "supervisor").count();
    let researchers = end.children.iter().filter(|e| e.graph.ends_with("/researcher")).count();
    let mut fates: Vec<(String, &str)> = Vec::new();
    for event in &run.events {
        let (step, fate) = match event {
            Event::CallAdmitted { step, .. } => (step, "run"),
            Event::CallRefused { step, .. } => (step, "refused"),
            Event::CallMalformed { step, .. } => (step, "malformed"),
            _ => continue,
        };
        if step.as_str().contains("supervisor_tools") && !step.as_str().contains("researcher") {
            let place = step.as_str().split("supervisor_tools.").nth(1).unwrap_or("");
            let (visit, rest) = place.split_once('/').unwrap_or((place, ""));
            if !rest.contains('/') {
                let k: usize = rest.rsplit('.').next().and_then(|k| k.parse().ok()).unwrap_or(0);
                fates.push((format!("{visit:0>3} {k:0>3}"), fate));
            }
        }
    }
    fates.sort();
    let fates: Vec<&str> = fates.into_iter().map(|f| f.1).collect();
    format!(
        "{}; counted {counted}; supervisor calls {calls}; researchers {researchers}; {}",
        end.exit.reason,
        fates.join(" ")
    )
}

/// Every call of every reply in the conversation is answered, directly behind it, in call order.
fn all_answered(run: &SimRun, bundle: &std::sync::Arc<deepgraph_graph::Bundle>) {
    let machine = run.machine(bundle, "supervise.1");
    let messages: Vec<Message> = machine
        .channel("messages")
        .and_then(Value::as_list)
        .expect("the supervisor has a conversation")
        .iter()
        .map(|m| Message::from_value(m).expect("messages are messages"))
        .collect();
    let mut rest = messages.iter();
    while let Some(message) = rest.next() {
        for call in &message.tool_calls {
            let answer = rest.next().expect("there is an answer");
            assert_eq!(answer.role, Role::Tool);
            assert_eq!(answer.tool_call_id.as_deref(), Some(&*call.id), "answers stand in call order");
            assert!(!answer.content.is_empty());
        }
    }
}

fn check(name: &str, turns: Turns, config: &[(&str, Value)], changes: &[(&str, &str)], expected: &str) {
    let bundle = stock_with("deep_research", changes);
    for seed in 0..8 {
        let run = run(&bundle, &turns, config, seed);
        assert_eq!(summary(&run), expected, "{name}, seed {seed}");
        all_answered(&run, &bundle);
    }
}

fn max(n: i64) -> (&'static str, Value) {
    ("max_researcher_iterations", Value::Int(n))
}

fn three() -> Vec<deepgraph_protocol::ToolCall> {
    vec![conduct("a"), conduct("b"), conduct("c")]
}

#[test]
fn three_and_six_are_hard() {
    check(
        "3",
        vec![three(), three()],
        &[max(3)],
        &[],
        "iteration_limit; counted 3; supervisor calls 1; researchers 3; run run run",
    );
    check(
        "6",
        vec![three(), three(), three()],
        &[max(6)],
        &[],
        "iteration_limit; counted 6; supervisor calls 2; researchers 6; run run run run run run",
    );
}

#[test]
fn one_below_the_limit_goes_on() {
    check(
        "k - 1",
        vec![vec![conduct("a"), conduct("b")], vec![]],
        &[max(3)],
        &[],
        "no_tool_calls; counted 2; supervisor calls 2; researchers 2; run run",
    );
}

#[test]
fn a_turn_that_straddles_the_limit_is_admitted_up_to_it() {
    check(
        "straddle",
        vec![vec![conduct("a"), conduct("b")], three()],
        &[max(3)],
        &[],
        "iteration_limit; counted 3; supervisor calls 2; researchers 3; run run run refused refused",
    );
    check(
        "straddle with think",
        vec![vec![think(), conduct("a"), think(), conduct("b")]],
        &[max(3)],
        &[],
        "iteration_limit; counted 3; supervisor calls 1; researchers 1; run run run refused",
    );
}

#[test]
fn research_complete_beside_others_runs_them_first() {
    check(
        "complete first",
        vec![vec![complete(), conduct("a"), think()]],
        &[max(6)],
        &[],
        "research_complete; counted 2; supervisor calls 1; researchers 1; run run run",
    );
    check(
        "complete at the limit wins by precedence",
        vec![vec![conduct("a"), conduct("b"), conduct("c"), complete()]],
        &[max(3)],
        &[],
        "research_complete; counted 3; supervisor calls 1; researchers 3; run run run run",
    );
    check(
        "twice",
        vec![vec![complete(), complete()]],
        &[max(3)],
        &[],
        "research_complete; counted 0; supervisor calls 1; researchers 0; run run",
    );
}

#[test]
fn think_tool_counts_like_conduct_research() {
    check(
        "think beside conduct",
        vec![vec![think(), conduct("a")], vec![think()], vec![think()]],
        &[max(3)],
        &[],
        "iteration_limit; counted 3; supervisor calls 2; researchers 1; run run run",
    );
}

#[test]
fn past_the_parallel_cap_calls_are_refused_and_do_not_count() {
    let many = vec![conduct("a"), conduct("b"), conduct("c"), conduct("d")];
    check(
        "refuse",
        vec![many, vec![complete()]],
        &[max(6), ("max_concurrent_research_units", Value::Int(2))],
        &[],
        "research_complete; counted 2; supervisor calls 2; researchers 2; run run refused refused run",
    );
}

#[test]
fn past_the_parallel_cap_calls_queue_where_the_graph_says_so() {
    let many = vec![conduct("a"), conduct("b"), conduct("c"), conduct("d"), conduct("e")];
    let queue = &[("overflow: refuse", "overflow: queue")];
    let config = [max(6), ("max_concurrent_research_units", Value::Int(2))];
    check(
        "queue",
        vec![many.clone(), vec![complete()]],
        &config,
        queue,
        "research_complete; counted 5; supervisor calls 2; researchers 5; run run run run run run",
    );
    let bundle = stock_with("deep_research", queue);
    for seed in 0..20 {
        let run = run(&bundle, &vec![many.clone()], &config, seed);
        assert_eq!(run.most_alive["deep_research/researcher"], 2, "seed {seed}");
    }
}

#[test]
fn unknown_tools_are_answered_and_do_not_count() {
    check(
        "unknown",
        vec![vec![call("ConductReserach", "{}"), conduct("a")], vec![complete()]],
        &[max(6)],
        &[],
        "research_complete; counted 1; supervisor calls 2; researchers 1; malformed run run",
    );
}

#[test]
fn malformed_arguments_are_answered_and_do_not_count() {
    let wrong = [
        ("not JSON", "{\"research_topic\": \"unfinished"),
        ("missing field", "{}"),
        ("empty", ""),
        ("wrong type", "{\"research_topic\": 7}"),
        ("null", "{\"research_topic\": null}"),
        ("no object", "[\"a\"]"),
        ("text", "\"a\""),
    ];
    for (name, arguments) in wrong {
        check(
            name,
            vec![vec![call("ConductResearch", arguments), conduct("a")], vec![complete()]],
            &[max(6)],
            &[],
            "research_complete; counted 1; supervisor calls 2; researchers 1; malformed run run",
        );
    }
}

#[test]
fn a_supervisor_that_never_makes_a_counted_call_is_bounded_by_its_turns() {
    let unknown = vec![call("nothing", "{}")];
    check(
        "never counted",
        vec![unknown; 50],
        &[max(3), ("max_supervisor_turns", Value::Int(4))],
        &[],
        "step_limit; counted 0; supervisor calls 4; researchers 0; malformed malformed malformed malformed",
    );
}

#[test]
fn the_meter_paid_turns_pays_for_the_turn_whose_calls_it_drops() {
    let paid = &[(
        "max_researcher_iterations: {count: [ConductResearch, think_tool], max: config.max_researcher_iterations, \
         exit: iteration_limit}",
        "max_researcher_iterations: {count: paid_turns, max: config.max_researcher_iterations, exit: iteration_limit}",
    )];
    check(
        "paid turns",
        vec![three(), three(), three(), three()],
        &[max(2)],
        paid,
        "iteration_limit; counted 0; supervisor calls 3; researchers 6; run run run run run run refused refused \
         refused",
    );
}

#[test]
fn limits_that_are_no_positive_integers_are_refused_by_name() {
    let bundle = stock("deep_research");
    for value in [Value::Int(0), Value::Int(-1), Value::from("six"), Value::from(2.5)] {
        for key in ["max_researcher_iterations", "configurable.max_researcher_iterations"] {
            let overrides = [(key.to_owned(), value.clone())].into();
            let errors = bundle.config_of(overrides).expect_err("the value does not fit");
            let text = errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
            assert!(text.contains("max_researcher_iterations"), "{value}: {text}");
        }
    }
    for (given, wanted) in [(Value::Int(1), 1), (Value::from("7"), 7), (Value::Int(1000), 1000)] {
        let overrides = [("configurable.max_researcher_iterations".to_owned(), given)].into();
        let config = bundle.config_of(overrides).expect("the value fits");
        assert_eq!(config["max_researcher_iterations"], Value::Int(wanted));
    }
}
