//! Calls of tools that write: their key, and what undoes them.

use serde_json::json;

use super::super::world::AWAITING_INPUT;
use super::Served;

#[test]
fn a_tool_gets_the_key_of_its_call_and_another_tool_undoes_it() {
    let graph = "\
deepgraph: 1
state: {question: string, answer: string, report: string}
input: [question]
output: [report]
mcp:
  crm: SERVER
start: add
nodes:
  add:
    call: crm.add
    input: {a: 40, b: question | length}
    compensate: {call: crm.echo, input: {text: \"'take back ' ~ result.data.sum\"}}
    next: ask
  ask: {ask: Which?, update: {answer: result.text}}
";
    let served = Served::new(graph, "plain", "rules: []\n");
    let said = served.run("??", &[]);
    assert_eq!(said.code, AWAITING_INPUT, "{}", said.err);
    let key = |tool: &str| {
        let asked = served.asked();
        let call = asked.iter().find(|message| message["params"]["name"] == tool);
        let key = call.and_then(|call| call["params"]["_meta"]["deepgraph/idempotency-key"].as_str());
        key.unwrap_or_else(|| panic!("{call:?} has no key")).to_owned()
    };
    assert_eq!(key("add").len(), 64);
    let cancelled = served.deepgraph(&["cancel", "last"]);
    assert_eq!(cancelled.code, 5, "{}", cancelled.err);
    assert!(!cancelled.out.contains("not undone"), "{}", cancelled.out);
    assert_eq!(served.calls("echo"), [json!({"text": "take back 42"})]);
    assert_ne!(key("echo"), key("add"));
    let fork = served.deepgraph(&["fork", "last", "--at", "add.1"]);
    assert_eq!(fork.code, AWAITING_INPUT, "{}", fork.err);
    assert!(fork.err.contains("what add.1 wrote was undone when run"), "{}", fork.err);
    served.keeps_its_secret(&[&said, &cancelled, &fork]);
}
