//! Calls that go well and calls that fail.

use serde_json::{Value, json};

use super::super::world::SUCCEEDED;
use super::{REACT, Served};

/// The loop with other tools.
fn with_tools(tools: &str, offered: &str) -> String {
    let own =
        "  crm: {call: crm.*, only: [echo, picture], effect: read}\n  add: {call: crm.add, approve: true}\n";
    assert!(REACT.contains(own), "the graph no longer has these tools");
    REACT.replace(own, tools).replace("tools: [crm, add]", &format!("tools: [{offered}]"))
}

#[test]
fn a_server_that_dies_fails_its_call_and_the_run_goes_on() {
    let graph = with_tools("  die: {call: crm.die, retry: 1}\n  echo: {call: crm.echo}\n", "die, echo");
    let script = "
rules:
  - {when: {turn: 0}, reply: {calls: [{name: die}]}}
  - {when: {turn: 1, text: 'error: unknown: it is not known whether it was done: the MCP server \"crm\"'}, reply: {calls: [{name: echo, arguments: {text: back}}]}}
  - {when: {turn: 2, text: back}, reply: {text: It came back.}}
";
    let served = Served::new(&graph, "plain", script);
    let said = served.run("Does it live?", &[]);
    assert_eq!((said.code, said.out.trim()), (SUCCEEDED, "It came back."), "{}", said.err);
    served.all_gone(2);
    let trace = served.world.deepgraph(&["trace", "last"]);
    assert!(trace.out.contains("fatal: out of memory"), "its last words are kept: {}", trace.out);
    served.keeps_its_secret(&[&said, &trace]);
}

#[test]
fn a_call_that_fails_can_lead_to_a_repair() {
    let mut graph = with_tools(
        "  query: {call: crm.fail, retry: 1, on_error: {update: {failure: error}, to: repair}}\n  \
         echo: {call: crm.echo}\n",
        "query, echo",
    );
    graph = graph.replace("answer: string}", "answer: string, failure: {type: error, optional: true}}");
    graph = graph
        .replace("limits:\n", "limits:\n  repairs: {count: [repair], max: 2, exit: repeated_tool_failure}\n");
    graph += "  repair:
    model: config.model
    prompt: 'It failed ({{ failure.kind }}): {{ failure.message }}. What must change?'
    update: {failure: null, messages: [{user: result.text}]}
    next: agent
";
    let script = "
rules:
  - {when: {user: 'It failed (tool): crm.fail: no such customer: 17'}, reply: {text: Ask by name.}}
  - {when: {user: Ask by name., text: Ada}, reply: {text: Ada it is.}}
  - {when: {user: Ask by name.}, reply: {calls: [{name: echo, arguments: {text: Ada}}]}}
  - {when: {turn: 0}, reply: {calls: [{name: query}]}}
";
    let served = Served::new(&graph, "plain", script);
    let said = served.run("Who is 17?", &[]);
    assert_eq!((said.code, said.out.trim()), (SUCCEEDED, "Ada it is."), "{}", said.err);
    assert_eq!(served.calls("fail").len(), 1);
}

#[test]
fn a_call_that_takes_too_long_is_given_up() {
    let graph = with_tools("  slow: {call: crm.slow, retry: 1, timeout: 200ms}\n", "slow");
    let script = "
rules:
  - {when: {turn: 0}, reply: {calls: [{name: slow}]}}
  - {when: {turn: 1, text: 'error: unknown: it is not known whether it was done: no answer within 0.2 s'}, reply: {text: It was too slow.}}
";
    let served = Served::new(&graph, "plain", script);
    let said = served.run("How long?", &[]);
    assert_eq!((said.code, said.out.trim()), (SUCCEEDED, "It was too slow."), "{}", said.err);
}

#[test]
fn a_node_calls_a_tool_without_a_model() {
    let graph = "\
deepgraph: 1
state: {question: string, sum: any, report: string}
input: [question]
output: [report]
mcp:
  crm: SERVER
start: add
nodes:
  add:
    call: crm.add
    input: {a: 40, b: question | length}
    update: {sum: result.data.sum, report: \"'The sum is ' ~ result.text\"}
";
    let served = Served::new(graph, "plain", "rules: []\n");
    let said = served.run("??", &["--json"]);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    let first: Value = serde_json::from_str(said.out.lines().next().unwrap_or_default()).expect("it is JSON");
    assert_eq!(first, json!({"type": "servers", "servers": [{"name": "crm", "tools": 18}]}));
    assert!(said.out.contains("The sum is 42"), "{}", said.out);
    assert_eq!(served.calls("add"), [json!({"a": 40, "b": 2})]);
}
