//! Calls of a server's tools that a person has to approve.

use serde_json::json;

use super::super::world::{AWAITING_INPUT, SUCCEEDED, Said, USAGE};
use super::{REACT, Served};

/// Looks twice, then adds, then tells what came of it.
const SCRIPT: &str = "
rules:
  - {when: {turn: 0}, reply: {calls: [{name: echo, arguments: {text: Ada, unasked: {deep: [1]}}}, {name: picture}]}}
  - {when: {turn: 1, text: 'image/png, 4 bytes'}, reply: {calls: [{name: add, arguments: {a: 40, b: 2}}]}}
  - {when: {turn: 2, text: '42'}, reply: {text: It is 42.}}
  - {when: {turn: 2, text: '7'}, reply: {text: It is 7.}}
  - {when: {turn: 2, text: 'a person decided against this call: not today'}, reply: {text: It was not to be today.}}
  - {when: {turn: 2, text: nobody approved}, reply: {text: Nobody was there.}}
";

/// The first requests of every process that uses the server.
const GREETING: [&str; 2] = ["initialize", "tools/list"];
const LOOKS: [&str; 2] = ["call echo", "call picture"];

/// A run that has looked, and waits.
fn waiting() -> (Served, Said) {
    let served = Served::new(REACT, "plain", SCRIPT);
    let waits = served.run("Who is Ada?", &[]);
    assert_eq!(waits.code, AWAITING_INPUT, "{}", waits.err);
    (served, waits)
}

/// Resumes it with an answer; the report, and the requests that reached the server meanwhile.
fn resumed(served: &Served, answer: &str) -> (String, Vec<String>) {
    let before = served.requests().len();
    let said = served.deepgraph(&["resume", "last", "--answer", answer]);
    assert_eq!(said.code, SUCCEEDED, "{answer}: {}", said.err);
    served.keeps_its_secret(&[&said]);
    (said.out, served.requests().split_off(before))
}

#[test]
fn a_run_uses_a_set_of_tools_and_asks_before_it_writes() {
    let (served, waits) = waiting();
    let mut requests = served.requests();
    requests[GREETING.len()..].sort_unstable();
    assert_eq!(requests, [GREETING, LOOKS].concat());
    let reached = json!({"text": "Ada", "unasked": {"deep": [1]}});
    assert_eq!(served.calls("echo"), [reached], "arguments that the server does not declare reach it too");
    for part in [
        "connecting to crm",
        "crm with 18 tools",
        "Question act.2/add.1/approval:\nMay `add` be called with {\"a\":40,\"b\":2}?",
        "Answer yes or no.",
        "--answer \"yes\"",
    ] {
        assert!(waits.err.contains(part), "{part}: {}", waits.err);
    }
    served.all_gone(1);
    let shown = served.world.deepgraph(&["show", "last"]);
    assert!(shown.out.contains("Answer yes or no."), "without the secret, too: {}", shown.out);
    served.keeps_its_secret(&[&waits, &shown]);
}

#[test]
fn yes_lets_it_run_and_nothing_is_asked_again() {
    for answer in ["yes", "approve", "act.2/add.1/approval=y", r#"{"action": "approve"}"#] {
        let (served, _) = waiting();
        let (report, requests) = resumed(&served, answer);
        assert_eq!(report.trim(), "It is 42.", "{answer}");
        assert_eq!(requests, [GREETING[0], GREETING[1], "call add"], "{answer}");
        served.all_gone(2);
    }
}

#[test]
fn other_arguments_run_in_place_of_those_of_the_model() {
    let (served, _) = waiting();
    let (report, _) = resumed(&served, r#"edit {"a": 3, "b": 4}"#);
    assert_eq!(report.trim(), "It is 7.");
    assert_eq!(served.calls("add"), [json!({"a": 3, "b": 4})]);
}

#[test]
fn no_tells_the_model_why_and_the_server_is_not_even_started() {
    let (served, _) = waiting();
    let (report, requests) = resumed(&served, "no: not today");
    assert_eq!((report.trim(), requests.len()), ("It was not to be today.", 0));
    served.all_gone(1);
}

#[test]
fn what_is_no_decision_leaves_the_question_open() {
    let (served, _) = waiting();
    let said = served.deepgraph(&["resume", "last", "--answer", "perhaps"]);
    assert_eq!(said.code, AWAITING_INPUT, "{}", said.err);
    assert!(said.err.contains("The last answer was not taken"), "{}", said.err);
    let said = served.deepgraph(&["resume", "last", "--answer", "act.9/add.1/approval=yes"]);
    assert_eq!(said.code, USAGE, "{}", said.err);
    assert!(said.err.contains("act.2/add.1/approval"), "the open one is named: {}", said.err);
    assert_eq!(served.calls("add").len(), 0);
}

#[test]
fn where_nobody_can_be_asked_the_call_is_refused_and_the_run_goes_on() {
    let served = Served::new(REACT, "plain", SCRIPT);
    let said = served.run("Who is Ada?", &["--no-input"]);
    assert_eq!((said.code, said.out.trim()), (SUCCEEDED, "Nobody was there."), "{}", said.err);
    assert_eq!(served.calls("add").len(), 0);
}

#[test]
fn a_resume_needs_the_secret_again() {
    let (served, _) = waiting();
    let before = served.world.journal();
    let said = served.world.deepgraph(&["resume", "last", "--answer", "yes"]);
    assert_eq!(said.code, USAGE, "{}", said.err);
    assert!(said.err.contains("\"crm\" needs the secret CRM_TOKEN"), "{}", said.err);
    assert_eq!(served.world.journal(), before);
}
