//! What the simulation has found, as small runs.

use deepgraph_protocol::{EntryBody, StepOutput};
use deepgraph_testkit::{Sim, call, calls, says};

use crate::support;

const ONE_CALL: &str = "deepgraph: 1
state: {q: string, a: string}
input: [q]
output: [a]
limits: {budget: {count: tokens, max: 150, exit: token_budget}}
start: ask
nodes:
  ask:
    model: x
    prompt: \"{{ q }}\"
    update: {a: result.text}
    next: {exit: completed}
";

fn sim<'a>(bundle: &'a std::sync::Arc<deepgraph_graph::Bundle>) -> Sim<'a> {
    Sim::new(bundle, |_, _| Ok(says(&"word ".repeat(10))))
}

#[test]
fn a_call_that_was_out_in_a_crash_and_does_not_fit_again_stays_charged() {
    // Its reservation, twice, is above the budget; once it is not.
    let text = ONE_CALL.replace("prompt: \"{{ q }}\"", "prompt: \"{{ q }}\"\n    max_output: 100");
    let bundle = support::graph(&text);
    let input = deepgraph_protocol::Map::from([("q".into(), deepgraph_protocol::Value::from("why"))]);
    let killed = sim(&bundle).stop_at(2).run(input, support::config(&bundle, &[]));
    let Some((_, last)) = killed.rows.last() else { panic!("it has begun") };
    let EntryBody::Dispatched { reserve_tokens, .. } = last.body else { panic!("it was sent: {last:?}") };
    let resumed = sim(&bundle).resume(&killed.rows);
    let end = resumed.ended();
    assert_eq!(end.exit.reason.name(), "token_budget");
    assert_eq!(end.settled.tokens, reserve_tokens, "what the lost call cost is not known");
    assert_eq!(end.settled.model_calls, 1);
}

#[test]
fn an_answer_that_comes_twice_is_not_taken_for_that_of_a_lost_attempt() {
    let text = ONE_CALL.replace("max: 150", "max: 1000");
    let bundle = support::graph(&text);
    let input = deepgraph_protocol::Map::from([("q".into(), deepgraph_protocol::Value::from("why"))]);
    let killed = sim(&bundle).stop_at(2).run(input, support::config(&bundle, &[]));
    let resumed = sim(&bundle).resume(&killed.rows);
    let once = resumed.machine(&bundle, "").ledger();
    assert!(once.unknown.tokens > 0 && once.settled.model_calls == 1, "{once:?}");
    let answered =
        |body: &EntryBody| matches!(body, EntryBody::Completed { output: StepOutput::Model(_), .. });
    let mut twice = resumed;
    let answer = twice.rows.iter().find(|(_, entry)| answered(&entry.body)).cloned();
    twice.rows.extend(answer);
    assert_eq!(twice.machine(&bundle, "").ledger(), once);
}

const TWO_CHILDREN: &str = "deepgraph: 1
state: {q: string, n: {type: integer, reduce: sum}, messages: messages}
input: [q]
output: [n]
tools:
  go: {call: child, parameters: {x: any}, input: {q: q}, update: {n: args.x + 1}}
limits: {turns: {count: turns, max: 3, exit: step_limit}}
start: lead
nodes:
  lead: {model: x, messages: messages, tools: [go], next: [{if: not result.tool_calls, exit: no_tool_calls}, act]}
  act: {run_tools: lead, next: lead}
graphs:
  child:
    state: {q: string}
    input: [q]
    start: look
    nodes:
      look: {call: think, input: {reflection: q}, next: {exit: completed}}
";

#[test]
fn where_one_call_of_a_turn_ends_the_instance_the_exits_of_all_its_children_are_kept() {
    let bundle = support::graph(TWO_CHILDREN);
    let input = deepgraph_protocol::Map::from([("q".into(), deepgraph_protocol::Value::from("why"))]);
    let run = Sim::new(&bundle, |_, _| Ok(calls([call("go", "{\"x\": {}}"), call("go", "{\"x\": 1}")])))
        .run(input, support::config(&bundle, &[]));
    let end = run.ended();
    assert_eq!(end.exit.reason.name(), "graph_error");
    let children: Vec<&str> = end.children.iter().map(|exit| exit.scope.as_str()).collect();
    assert_eq!(children, ["act.1/go.1", "act.1/go.2"]);
}

#[test]
fn where_one_item_ends_the_instance_the_exits_of_all_its_children_are_kept() {
    let text = TWO_CHILDREN.replace("start: lead", "start: all").replace(
        "nodes:\n  lead",
        "nodes:\n  all: {call: child, each: \"[{}, 1]\", max_items: 2, input: {q: q}, update: {n: item + 1}, next: lead}\n  lead",
    );
    let bundle = support::graph(&text);
    let input = deepgraph_protocol::Map::from([("q".into(), deepgraph_protocol::Value::from("why"))]);
    let run = Sim::new(&bundle, |_, _| Ok(says("enough"))).run(input, support::config(&bundle, &[]));
    let end = run.ended();
    assert_eq!(end.exit.reason.name(), "graph_error");
    let children: Vec<&str> = end.children.iter().map(|exit| exit.scope.as_str()).collect();
    assert_eq!(children, ["all.1/item.1", "all.1/item.2"]);
}

/// Counts only calls that are not about what is asked, and those of a value apart.
const COUNTED_BY_STATE: &str = "deepgraph: 1
state: {q: string, messages: messages}
input: [q]
tools:
  note: {call: think, parameters: {q: string}, input: {reflection: args.q}, update: {q: args.q}}
limits:
  turns: {count: turns, max: 6, exit: step_limit}
  others: {count: [note], if: args.q != q, max: 1, refuse: true}
  each: {count: [note], per: \"args.q ~ q\", max: 1, refuse: true}
start: lead
nodes:
  lead: {model: x, messages: messages, tools: [note], next: [{if: not result.tool_calls, exit: no_tool_calls}, act]}
  act: {run_tools: lead, next: lead}
";

#[test]
fn what_a_limit_counts_by_the_state_is_not_guessed() {
    let report = super::simulate("counted by state", &support::graph(COUNTED_BY_STATE), 0..200);
    assert!(report.calls_admitted > 200 && report.calls_refused > 200, "{report}");
}
