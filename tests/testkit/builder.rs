//! Cases that are built in Rust say what case files say.

use std::sync::Arc;

use deepgraph_graph::Bundle;
use deepgraph_protocol::{ErrorKind, Map, Value};
use deepgraph_testkit::case::{Answer, Case, CaseBuilder};
use deepgraph_testkit::{assert_trace, call, calls, data, fails, says};

use crate::support;

const AGENT: &str = r#"
deepgraph: 1
config: {tone: {type: string, default: dry}}
state: {question: string, messages: messages, answer: string}
input: [question]
output: [answer]
tools: {search: {call: search}}
limits: {turns: {count: turns, max: 5, exit: step_limit}}
start: open
nodes:
  open: {update: {messages: [{user: "{{ question }} ({{ config.tone }})"}]}, next: agent}
  agent:
    model: m
    messages: messages
    tools: [search]
    retry: {max: 2, backoff: 1s}
    next:
      - {if: result.tool_calls, to: act}
      - {update: {answer: result.text}, exit: no_tool_calls}
  act: {run_tools: agent, next: agent}
"#;

fn agent() -> Arc<Bundle> {
    support::graph(AGENT)
}

fn case(bundle: &Arc<Bundle>) -> CaseBuilder {
    Case::of(bundle)
        .input("question", "How high is the tower?")
        .config("tone", "warm")
        .model("agent.1", calls([call("search", r#"{"query": "tower"}"#)]))
        .model("agent.2", Answer::from(says("60 m.")).expects("It is 60 m high."))
        .op("search", "It is 60 m high.")
}

#[test]
fn a_built_case_is_played_and_its_trace_kept() {
    let played = case(&agent())
        .expect("status", "succeeded")
        .expect("output", Value::record([("answer", Value::from("60 m."))]))
        .expect("took", "act.1/search.1")
        .play()
        .check();
    let exit = played.run.as_ref().and_then(|run| run.root.exit.as_ref()).expect("the run ended");
    assert_eq!(exit.reason.name(), "no_tool_calls");
    support::with_snapshots_of("testkit", || assert_trace!("a_built_case", played));
}

#[test]
fn what_differs_is_told_as_in_a_file() {
    let told = case(&agent()).expect("output", Value::record([("answer", Value::from("80 m."))])).play();
    let told = told.to_string();
    assert!(told.contains("expect.output.answer") && told.contains(r#"came     "60 m.""#), "{told}");
}

#[test]
#[should_panic(expected = "came     \"no_tool_calls\"")]
fn check_fails_the_test() {
    case(&agent()).expect("exit", "step_limit").play().check();
}

#[test]
fn a_request_that_is_not_as_expected_is_told() {
    let case =
        case(&agent()).model("agent.2", Answer::from("60 m.").expects("80 m")).expect("status", "succeeded");
    let told = case.play().to_string();
    assert!(told.contains("the request of `agent.2` is not what models.agent.2"), "{told}");
}

#[test]
fn failures_attempts_and_virtual_time() {
    let limited = deepgraph_protocol::StepError {
        retry_after_ms: Some(5_000),
        ..fails(ErrorKind::RateLimited, "slow down")
    };
    Case::of(&agent())
        .input("question", "Why?")
        .model("agent.1", [Answer::from(limited), Answer::from("So.").takes("2s")])
        .expect("output", Value::record([("answer", Value::from("So."))]))
        .expect("attempts", Value::record([("agent.1", Value::Int(2))]))
        .expect("elapsed", "7s")
        .play()
        .check();
}

#[test]
fn every_mistake_is_told() {
    let told = case(&agent())
        .model("agent", "So.")
        .latency("agent.1", "soon")
        .expect("statsu", "succeeded")
        .play()
        .to_string();
    for part in ["\"agent\" is no position of a step", "a duration such as", "did you mean \"status\"?"] {
        assert!(told.contains(part), "`{part}` is missing in:\n{told}");
    }
    let told = Case::of(&agent()).input("qestion", "Why?").expect("status", "succeeded").play().to_string();
    assert!(told.contains("the graph has no input `qestion`; did you mean \"question\"?"), "{told}");
}

#[test]
fn the_first_of_two_patterns_counts_and_a_key_said_again_replaces() {
    let bundle = agent();
    let play = |first: &str, second: &str| {
        let case =
            Case::of(&bundle).input("question", "Why?").model(first, "First.").model(second, "Second.");
        case.expect("status", "succeeded").play()
    };
    let played = play("*.1", "agent.*");
    assert!(played.trace.contains("output answer = \"First.\""), "{}", played.trace);
    let played = play("agent.1", "agent.1").check();
    assert!(played.trace.contains("output answer = \"Second.\""), "{}", played.trace);
}

#[test]
fn instances_below_are_named_by_their_steps() {
    let bundle = support::graph(
        "
deepgraph: 1
state: {notes: {type: [string], reduce: append}}
output: [notes]
start: {to: [tides, winds]}
nodes:
  tides: {call: look, input: {topic: \"'tides'\"}, update: {notes: result.note}}
  winds: {call: look, input: {topic: \"'winds'\"}, update: {notes: result.note}}
graphs:
  look:
    state: {topic: string, note: string}
    input: [topic]
    output: [note]
    start: say
    nodes: {say: {model: m, prompt: \"{{ topic }}\", returns: note_of, update: {note: result.data.note}}}
types: {note_of: {note: string}}
",
    );
    let note = |text: &str| data(Value::record([("note", Value::from(text))]));
    let notes = |note: &str| Value::from(Map::from([("note".into(), Value::from(note))]));
    Case::of(&bundle)
        .model("tides.1/say.1", note("twice a day"))
        .model("winds.1/say.1", note("from the west"))
        .order(["winds.1/say.1", "tides.1/say.1"])
        .expect_of("tides.1", "output", notes("twice a day"))
        .expect_of("tides.1", "exit", "completed")
        .expect_of("winds.1", "output", notes("from the west"))
        .play()
        .check();
}

#[test]
fn a_person_who_takes_time_says_the_answer_itself() {
    let bundle = support::graph(
        "
deepgraph: 1
state: {said: string, found: string}
output: [said, found]
start: ask
nodes:
  ask: {ask: Which town?, update: {said: result.text}, next: look}
  look: {call: search, input: {query: said}, update: {found: result.text}}
",
    );
    Case::of(&bundle)
        .answer("ask.1", Answer::from("Oslo").takes("5s"))
        .op("search", Answer::from("By the sea.").takes("2s"))
        .expect(
            "output",
            Value::record([("said", Value::from("Oslo")), ("found", Value::from("By the sea."))]),
        )
        .expect("elapsed", "7s")
        .play()
        .check();
}
