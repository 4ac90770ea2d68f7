//! What holds where nothing is said.

use deepgraph_protocol::{Meter, Value};

use super::{graph, tools};
use crate::testing::clean;
use crate::*;

#[test]
fn what_is_left_out_has_its_default() {
    let bundle = clean(&tools("  t: {call: search}"));
    let root = bundle.root();
    let tool = &root.tools[0];
    assert_eq!(tool.answer_max, Setting::Literal(Value::Int(8000)));
    assert_eq!(tool.retry.max, Setting::Literal(Value::Int(3)));
    assert_eq!(tool.call.as_ref().unwrap().input.len(), 8, "each argument goes to the input of its name");
    let Verb::Model(model) = &root.nodes[0].verb else { panic!() };
    assert_eq!(model.truncate.cut, [Cut::ToolResults, Cut::Oldest]);
    assert_eq!((model.truncate.to, model.truncate.shrink, model.truncate.tries), (0.9, 0.1, 3));
    assert!(model.extends);
    assert_eq!(model.specs[0].parameters.get("required").unwrap().to_json_text(), r#"["query"]"#);
    assert!(!model.specs[0].description.is_empty(), "an op describes itself");
}

#[test]
fn reserves_and_scopes_of_limits() {
    let text = graph(
        "finally: {if: q, to: f}\nlimits:\n  a: {count: tokens, max: 9, exit: token_budget}\n  b: {count: tokens, max: 9, exit: token_budget, reserve: 0.2}\n  c: {count: model_calls, max: 9, exit: step_limit, reserve: 2}\n  d: {count: wall_time, max: 1h, exit: deadline, reserve: 30s}\n  e: {count: turns, max: 9, exit: step_limit}\n  f: {count: wall_time, max: 9, exit: deadline, scope: own}\n",
    )
    .replace("nodes: {a:", "nodes: {f: {update: {q: q}}, a:");
    let bundle = clean(&text);
    let found: Vec<(Reserve, bool)> = bundle.root().limits.iter().map(|l| (l.reserve, l.own)).collect();
    let wanted = [
        (Reserve::Share(0.1), false),
        (Reserve::Share(0.2), false),
        (Reserve::Units(2.0), false),
        (Reserve::Units(30.0), false),
        (Reserve::Share(0.0), true),
        (Reserve::Share(0.1), true),
    ];
    assert_eq!(found, wanted);
    assert!(matches!(bundle.root().limits[3].counted, Counted::Meter(Meter::WallTime)));
    assert_eq!(bundle.root().limits[3].max, Some(Setting::Literal(Value::Int(3600))));
}

#[test]
fn channels_have_reducers_and_first_values() {
    let text = "deepgraph: 1\nstate:\n  a: string\n  b: [string]\n  c: {string: source}\n  d: messages\n  e: {type: integer, reduce: sum}\n  f: {type: integer, reduce: max}\n  g: {type: string, default: x}\n  h: {enum: [p, q], default: q}\n  i: {type: messages}\n  j: {type: [message]}\nstart: n\nnodes: {n: {update: {a: \"'x'\"}}}\n";
    let bundle = clean(text);
    let found: Vec<(String, String)> = bundle
        .root()
        .channels
        .iter()
        .map(|c| (c.reducer.name().to_owned(), c.initial.to_json_text()))
        .collect();
    let wanted = [
        ("replace", "null"),
        ("replace", "[]"),
        ("replace", "{}"),
        ("messages", "[]"),
        ("sum", "0"),
        ("max", "null"),
        ("replace", "\"x\""),
        ("replace", "\"q\""),
        ("messages", "[]"),
        ("replace", "[]"),
    ];
    assert_eq!(found, wanted.map(|(a, b)| (a.to_owned(), b.to_owned())));
}
