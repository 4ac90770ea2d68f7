//! Two agents that hand a conversation to each other: who is at work is kept with the thread, and one of them calls a
//! tool of a server that has to be approved only sometimes.

use serde_json::json;

use super::super::world::{AWAITING_INPUT, SUCCEEDED};
use super::Served;

const DESK: &str = "\
deepgraph: 1
name: desk
config: {model: {type: string, default: scripted}}
state:
  messages: {type: messages, persist: thread}
  active:   {enum: [front, billing], default: front, persist: thread}
  answer:   string
input:  [messages]
output: [answer]
mcp:
  bank: SERVER
tools:
  to_billing:
    description: Hand over to billing.
    update: {active: \"'billing'\"}
    answer: You are billing now.
    next: billing
  refund:
    call: bank.add
    effect: write
    approve: args.a > 50
limits:
  turns: {count: turns, max: 9, exit: step_limit}
start:
  - {if: active == \"billing\", to: billing}
  - front
nodes:
  front:
    model: config.model
    system: You are the front desk.
    messages: messages
    tools: [to_billing]
    next:
      - {if: result.tool_calls, to: front_tools}
      - {update: {answer: result.text}, exit: completed}
  front_tools: {run_tools: front, next: front}
  billing:
    model: config.model
    system: You are billing.
    messages: messages
    tools: [refund]
    next:
      - {if: result.tool_calls, to: billing_tools}
      - {update: {answer: result.text}, exit: completed}
  billing_tools: {run_tools: billing, next: billing}
";

const SCRIPT: &str = "
rules:
  - {when: {system: front desk}, reply: {calls: [{name: to_billing}]}}
  - {when: {system: billing, user: money}, reply: {text: How much?}}
  - {when: {system: billing, user: '20', turn: 2}, reply: {calls: [{name: refund, arguments: {a: 20, b: 0}}]}}
  - {when: {system: billing, user: '20'}, reply: {text: You have it.}}
  - {when: {system: billing, user: '90', turn: 4}, reply: {calls: [{name: refund, arguments: {a: 90, b: 0}}]}}
  - {when: {system: billing, user: '90', text: too much}, reply: {text: That is too much.}}
";

#[test]
fn the_agent_that_was_at_work_goes_on_in_the_next_run() {
    let served = Served::new(DESK, "plain", SCRIPT);
    let thread = ["--thread", "customer 17"];
    let first = served.run("I want my money back", &thread);
    assert_eq!((first.code, first.out.trim()), (SUCCEEDED, "How much?"), "{}", first.err);
    assert!(first.err.contains("front"), "{}", first.err);
    let second = served.run("20", &thread);
    assert_eq!((second.code, second.out.trim()), (SUCCEEDED, "You have it."), "{}", second.err);
    let trace = served.world.deepgraph(&["trace", "last"]);
    assert!(!trace.out.contains("front.1"), "billing goes on: {}", trace.out);
    assert_eq!(served.calls("add"), [json!({"a": 20, "b": 0})], "so little is not asked about");
    let third = served.run("90", &thread);
    assert_eq!(third.code, AWAITING_INPUT, "{}", third.err);
    let refused = served.deepgraph(&["resume", "last", "--answer", "no: too much"]);
    assert_eq!((refused.code, refused.out.trim()), (SUCCEEDED, "That is too much."), "{}", refused.err);
    assert_eq!(served.calls("add").len(), 1);
    served.all_gone(3);
    served.keeps_its_secret(&[&first, &second, &third, &refused]);
}
