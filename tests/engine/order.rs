//! What finishes first makes no difference.

use deepgraph_protocol::{ErrorKind, Event, Value};
use deepgraph_testkit::{Sim, calls, fails, says};
use deepgraph_trace::Detail;

use super::supervised::{self, Turns, complete, conduct, node, run, think};
use crate::support::{self, graph, stock};

fn two_rounds() -> Turns {
    let round = |r: &str| (0..5).map(|i| conduct(&format!("topic {r}{i}"))).collect::<Vec<_>>();
    vec![round("a"), [round("b"), vec![think()]].concat(), vec![complete()]]
}

#[test]
fn every_order_of_completion_gives_the_same_bytes() {
    let bundle = stock("deep_research");
    let config = [("max_researcher_iterations", Value::Int(20))];
    let first = run(&bundle, &two_rounds(), &config, 0).trace(&bundle);
    let (text, json) = (first.to_text(Detail::Full), first.to_json());
    let mut orders = std::collections::BTreeSet::new();
    for seed in 1..=200 {
        let run = run(&bundle, &two_rounds(), &config, seed);
        orders.insert(run.requests.iter().map(|(s, _)| s.to_string()).collect::<Vec<_>>());
        let trace = run.trace(&bundle);
        assert_eq!(trace.to_text(Detail::Full), text, "seed {seed}");
        assert_eq!(trace.to_json(), json, "seed {seed}");
    }
    assert!(orders.len() > 150, "the seeds really change the order: {} orders", orders.len());
}

#[test]
fn the_parallel_cap_bounds_researchers_of_a_turn() {
    let bundle = stock("deep_research");
    for seed in 0..20 {
        let run = run(&bundle, &two_rounds(), &[("max_researcher_iterations", Value::Int(20))], seed);
        assert_eq!(run.most_alive["deep_research/researcher"], 5);
    }
}

#[test]
fn a_failed_researcher_costs_only_itself() {
    let bundle = stock("deep_research");
    let turns = two_rounds();
    let broken = |step: &deepgraph_protocol::StepId| {
        node(step) == "researcher" && step.as_str().contains("ConductResearch.3/")
    };
    let mut traces = std::collections::BTreeSet::new();
    for seed in 0..30 {
        let config = support::config(&bundle, &[("max_researcher_iterations", Value::Int(20))]);
        let run = Sim::new(&bundle, |step, request| {
            if broken(step) {
                return Err(fails(ErrorKind::InvalidRequest, "bad day"));
            }
            supervised::answer(&turns, step, request)
        })
        .ops(supervised::ops)
        .seed(seed)
        .run(support::question("a question"), config);
        let end = run.ended();
        assert_eq!(end.exit.reason.name(), "research_complete");
        let exits: Vec<&str> = end
            .children
            .iter()
            .filter(|e| e.graph.ends_with("researcher"))
            .map(|e| e.reason.name())
            .collect();
        assert_eq!(exits.iter().filter(|e| **e == "model_error").count(), 2, "{exits:?}");
        assert_eq!(exits.iter().filter(|e| **e == "no_tool_calls").count(), 8);
        // It still hands over, and its exit says what was wrong.
        let failed = end.children.iter().find(|e| e.reason.name() == "model_error").expect("it is kept");
        assert!(failed.detail.as_deref().unwrap_or("").contains("bad day"));
        traces.insert(run.trace(&bundle).to_text(Detail::Full));
    }
    assert_eq!(traces.len(), 1);
}

#[test]
fn parallel_nodes_read_the_same_state_and_write_in_plan_order() {
    let bundle = graph(
        r#"
deepgraph: 1
name: join
state:
  question: string
  seen: {type: [string], reduce: append}
input: [question]
output: [seen]
start: {to: [c, a, b]}
nodes:
  a: {update: {seen: "a saw {{ seen | length }}"}}
  b: {update: {seen: "b saw {{ seen | length }}"}, next: d}
  c: {update: {seen: "c saw {{ seen | length }}"}, next: [{if: seen | length == 1, to: d}]}
  d: {update: {seen: "d saw {{ seen | length }}"}}
"#,
    );
    let run = Sim::new(&bundle, |_, _| Ok(says(""))).run(support::question("?"), Default::default());
    let seen = run.ended().output["seen"].to_json_text();
    // Plan order is the order of the file; `c` sees its own write in its route, not those of the others.
    assert_eq!(seen, r#"["a saw 0","b saw 0","c saw 0","d saw 3"]"#);
    assert_eq!(run.ended().exit.reason.name(), "completed");
}

#[test]
fn two_writers_of_one_channel_are_an_error_that_names_both() {
    let bundle = graph(
        r#"
deepgraph: 1
name: conflict
config:
  model: {type: string, default: scripted}
state:
  question: string
  answer: string
input: [question]
output: [answer]
start: {to: [go_left, go_right]}
nodes:
  go_left: {next: [{if: question, to: left}]}    # on a condition, so the check can not know
  go_right: {next: [{if: question, to: right}]}
  left: {model: config.model, prompt: left, update: {answer: result.text}}
  right: {model: config.model, prompt: right, update: {answer: result.text}}
"#,
    );
    for seed in 0..10 {
        let run = Sim::new(&bundle, |_, _| Ok(says("x")))
            .seed(seed)
            .run(support::question("?"), support::config(&bundle, &[]));
        let exit = &run.ended().exit;
        assert_eq!(exit.reason.name(), "graph_error");
        let detail = exit.detail.as_deref().unwrap_or("");
        assert!(
            detail.contains("`left`") && detail.contains("`right`") && detail.contains("`answer`"),
            "{detail}"
        );
    }
}

#[test]
fn late_and_duplicate_answers_change_nothing() {
    let bundle = stock("deep_research");
    let config = [("max_researcher_iterations", Value::Int(20))];
    let run = run(&bundle, &two_rounds(), &config, 3);
    let text = run.trace(&bundle).to_text(Detail::Full);
    let mut doubled = Vec::new();
    for (scope, entry) in &run.rows {
        doubled.push((scope.clone(), entry.clone()));
        if !matches!(entry.body, deepgraph_protocol::EntryBody::Dispatched { .. }) {
            doubled.push((scope.clone(), entry.clone()));
        }
    }
    let mut again = run;
    again.rows = doubled;
    assert_eq!(again.trace(&bundle).to_text(Detail::Full), text);
}

#[test]
fn only_the_first_route_of_a_turn_is_taken() {
    let bundle = graph(
        r#"
deepgraph: 1
name: handover
config: {model: {type: string, default: scripted}}
state:
  messages: messages
  active: {type: string, default: nobody}
input: [messages]
output: [active, messages]
limits: {turns: {count: turns, max: 9, exit: step_limit}}
tools:
  to_a: {update: {active: "'a'"}, next: a}
  to_b: {update: {active: "'b'"}, next: b}
start: agent
nodes:
  agent: {model: config.model, messages: messages, tools: [to_a, to_b], next: act}
  act: {run_tools: agent, next: agent}
  a: {update: {messages: [{user: "now {{ active }}"}]}}
  b: {update: {messages: [{user: "now {{ active }}"}]}}
"#,
    );
    let run = Sim::new(&bundle, |_, _| {
        Ok(calls([deepgraph_testkit::call("to_b", "{}"), deepgraph_testkit::call("to_a", "{}")]))
    })
    .run(Default::default(), support::config(&bundle, &[]));
    let end = run.ended();
    assert_eq!(end.output["active"], Value::from("b"));
    let messages = end.output["messages"].as_list().expect("a list");
    assert_eq!(messages.len(), 4, "reply, two answers, what the node wrote");
    assert_eq!(messages[1].text("content"), "ok");
    assert!(messages[2].text("content").starts_with("not taken"));
    assert_eq!(messages[3].text("content"), "now b");
}

#[test]
fn steps_that_were_refused_are_told_with_their_reason() {
    let bundle = stock("deep_research");
    let run = run(&bundle, &two_rounds(), &[("max_researcher_iterations", Value::Int(6))], 0);
    let refused: Vec<&str> = run
        .events
        .iter()
        .filter_map(|e| if let Event::CallRefused { reason, .. } = e { Some(&**reason) } else { None })
        .collect();
    assert_eq!(refused.len(), 5, "four topics and one thought of the second turn");
    assert!(
        refused.iter().all(|r| r.contains("max_researcher_iterations") && r.contains('6')),
        "{refused:?}"
    );
}

#[test]
fn a_tools_way_that_only_writes_lets_the_loop_go_on() {
    let bundle = graph(
        r#"
deepgraph: 1
name: noted
config: {model: {type: string, default: scripted}}
state:
  messages: messages
  notes: {type: [string], reduce: append}
input: [messages]
output: [notes]
limits: {turns: {count: turns, max: 3, exit: step_limit}}
tools:
  note: {next: {update: {notes: "'noted'"}}}
start: agent
nodes:
  agent: {model: config.model, messages: messages, tools: [note], next: act}
  act: {run_tools: agent, next: agent}
"#,
    );
    let run = Sim::new(&bundle, |_, _| Ok(calls([deepgraph_testkit::call("note", "{}")])))
        .run(Default::default(), support::config(&bundle, &[]));
    assert_eq!(run.ended().exit.reason.name(), "step_limit");
    assert_eq!(run.ended().output["notes"].as_list().map(<[Value]>::len), Some(3));
}
