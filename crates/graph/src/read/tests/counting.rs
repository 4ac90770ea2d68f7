//! Limits over the arguments of calls, and the meters `depth` and `active_time`.

use deepgraph_protocol::{Meter, Value};

use super::limit;
use crate::testing::{clean, compare};
use crate::{Counted, OnReach, Reserve, Setting, ValueExpr};

/// A graph with two tools and a limit.
fn counted(limit: &str) -> String {
    format!(
        "deepgraph: 1\nstate: {{q: string, m: messages}}\ninput: [q]\nlimits: {{t: {{count: turns, max: 3, exit: step_limit}}, l: {limit}}}\n\
         start: a\nnodes:\n  a: {{model: x, messages: m, tools: [put, get], next: r}}\n  r: {{run_tools: a, next: a}}\n\
         tools:\n  put: {{parameters: {{block: string, old: {{type: string, optional: true}}}}, answer: done}}\n  get: {{parameters: {{block: integer}}, answer: done}}\n"
    )
}

#[test]
fn limits_look_at_arguments() {
    let bundle = clean(&counted("{count: [put], if: args.old, per: args.block, max: 2, refuse: true}"));
    let limit = &bundle.root().limits[1];
    let source = |value: &Option<ValueExpr>| match value {
        Some(ValueExpr::Expr(expr)) => expr.source.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!((source(&limit.condition), source(&limit.per)), ("args.old".into(), "args.block".into()));
    assert!(bundle.root().limits[0].condition.is_none() && bundle.root().limits[0].per.is_none());
    compare(&[
        (
            "of several tools",
            counted("{count: [put, get], if: args.old, per: args.block, max: 2, refuse: true}"),
            &[],
        ),
        (
            "unknown argument",
            counted("{count: [put, get], if: args.odl, per: args.blok, max: 2, refuse: true}"),
            &[
                "DG0302 4:87 the record has no field \"odl\" | did you mean \"old\"?",
                "DG0302 4:102 the record has no field \"blok\" | did you mean \"block\"?",
            ],
        ),
        (
            "nothing but arguments",
            counted("{count: [put], if: block, max: 2, refuse: true}"),
            &["DG0301 4:77 unknown name \"block\"..."],
        ),
        (
            "a node",
            counted("{count: [put, a], if: args.old, max: 2, exit: step_limit}"),
            &[
                "DG0105 4:76 `if` looks at the arguments of calls, and this limit counts visits of nodes, which have none | count tools by name: count: [TOOL]",
            ],
        ),
        (
            "a meter",
            counted("{count: tool_calls, if: args.old, per: args.block, max: 2, refuse: true}"),
            &[
                "DG0105 4:78 `if` looks at the arguments of calls, and this limit counts by a meter...",
                "DG0105 4:92 `per` looks at the arguments of calls, and this limit counts by a meter...",
            ],
        ),
        (
            "gain",
            counted("{gain: m, per: args.block, exit: gain_saturated}"),
            &[
                "DG0105 4:68 `per` looks at the arguments of calls, and this limit counts what is new in a channel...",
            ],
        ),
        (
            "unknown tool",
            counted("{count: [pt], if: args.what, max: 2, refuse: true}"),
            &["DG0210 4:67 graph \"t\" has no tool or node \"pt\"..."],
        ),
    ]);
}

#[test]
fn a_limit_on_some_calls_cuts_no_cycle() {
    let text = |limit: &str| {
        format!(
            "deepgraph: 1\nstate: {{m: messages}}\nlimits: {{t: {{count: turns, max: 3, exit: step_limit}}, l: {limit}}}\n\
             start: a\nnodes:\n  a: {{model: x, messages: m, tools: [put], next: r}}\n  r: {{run_tools: a, next: a}}\n  b: {{update: {{m: []}}, next: r}}\n\
             tools:\n  put: {{parameters: {{x: string}}, next: b}}\n"
        )
    };
    let cycle = "DG0504 7:3 no limit cuts the cycle r -> b -> r...";
    compare(&[
        ("all", text("{count: [put], max: 2, refuse: true}"), &[]),
        ("some", text("{count: [put], if: args.x, max: 2, refuse: true}"), &[cycle]),
        ("per", text("{count: [put], per: args.x, max: 2, refuse: true}"), &[cycle]),
    ]);
}

#[test]
fn the_depth_of_a_graph_in_itself() {
    let bundle = clean(&limit("{count: depth, max: 3, refuse: true}"));
    let depth = &bundle.root().limits[0];
    assert!(matches!(depth.counted, Counted::Meter(Meter::Depth)));
    assert_eq!(
        (&depth.max, &depth.on_reach, depth.own),
        (&Some(Setting::Literal(Value::Int(3))), &OnReach::Refuse, true)
    );
    compare(&[
        ("exit", limit("{count: depth, max: 3, exit: step_limit}"), &[]),
        ("to", limit("{count: depth, max: 3, to: b}").replace("{a: {", "{b: {update: {q: q}}, a: {"), &[]),
        ("no bound", limit("{count: depth, refuse: true}"), &["DG0102 6:3 limit \"l\" needs `max`"]),
        (
            "none",
            limit("{count: depth, max: 0, refuse: true}"),
            &["DG0110 6:26 `max` must be an integer of at least 1, is 0"],
        ),
        (
            "tree",
            limit("{count: depth, max: 3, refuse: true, scope: tree}"),
            &["DG0106 6:50 this is counted in the graph itself only: `scope: own`"],
        ),
    ]);
}

#[test]
fn the_time_at_work() {
    let text = limit("{count: active_time, max: 10m, exit: active_time, reserve: 30s}");
    let bundle = clean(&text);
    let time = &bundle.root().limits[0];
    assert!(matches!(time.counted, Counted::Meter(Meter::ActiveTime)));
    assert_eq!(
        (&time.max, time.reserve, time.own),
        (&Some(Setting::Literal(Value::Int(600))), Reserve::Units(30.0), false)
    );
    compare(&[
        (
            "refuse",
            limit("{count: active_time, max: 10m, refuse: true}"),
            &["DG0105 6:37 `refuse` refuses a start, and this limit counts none..."],
        ),
        (
            "bound",
            limit("{count: active_time, max: long, exit: active_time}"),
            &["DG0106 6:32 `max` must be a duration..."],
        ),
        (
            "granted",
            limit("{count: active_time, exit: active_time}"),
            &[
                "DG0102 6:3 limit \"l\" needs `max` | only a child graph can leave it out: its bound is what it is granted",
            ],
        ),
    ]);
}
