//! `config`, `grant` and `effect` of calls, `approve` of tools.

use deepgraph_protocol::{Meter, Value};

use super::tools;
use crate::testing::{clean, compare};
use crate::{Call, Callee, Setting, Tool, ValueExpr, Verb};

/// A graph that calls `c`, which calls `d`.
fn call(keys: &str) -> String {
    format!(
        "deepgraph: 1\nconfig: {{mode: {{enum: [never, auto], default: auto}}, small: {{type: integer, default: 1}}, word: {{type: string, default: x}}}}\n\
         state: {{q: string, n: integer}}\ninput: [q]\nlimits: {{money: {{count: cost_usd, max: 4, exit: cost_budget}}}}\nstart: a\nnodes:\n  a:\n    call: c\n    input: {{t: q}}\n{keys}\
         graphs:\n  c:\n    config: {{mode: {{enum: [never, auto], default: auto}}, depth: {{type: integer, default: 2, minimum: 1}}}}\n    state: {{t: string}}\n    input: [t]\n    start: n\n    nodes: {{n: {{call: d, input: {{t: t}}}}}}\n  \
         d:\n    config: {{time: {{type: duration, default: 1m}}}}\n    state: {{t: string}}\n    input: [t]\n    start: n\n    nodes: {{n: {{call: think, input: {{reflection: t}}}}}}\n"
    )
}

fn op(keys: &str) -> String {
    format!(
        "deepgraph: 1\nstate: {{q: string}}\ninput: [q]\nstart: a\nnodes:\n  a:\n    call: think\n    input: {{reflection: q}}\n{keys}"
    )
}

fn called(text: &str) -> Call {
    let mut bundle = clean(text);
    match bundle.graphs.remove(0).nodes.remove(0).verb {
        Verb::Call(call) => call,
        other => panic!("{other:?}"),
    }
}

fn tool(keys: &str) -> Tool {
    clean(&tools(&format!("  t: {{{keys}}}"))).graphs.remove(0).tools.remove(0)
}

#[test]
fn a_call_can_set_the_configuration_below_it() {
    let call_of = called(&call("    config: {mode: never, depth: config.small, time: 90s}\n"));
    let wanted = [
        ("mode".into(), Setting::Literal(Value::from("never"))),
        ("depth".into(), Setting::Config("small".into())),
        ("time".into(), Setting::Literal(Value::Int(90))),
    ];
    assert_eq!(call_of.config, wanted);
    compare(&[
        (
            "unknown",
            call("    config: {mod: never}\n"),
            &[
                "DG0205 11:14 graph \"c\" and the graphs that it calls do not declare the config key \"mod\" | did you mean \"mode\"?",
            ],
        ),
        (
            "of the caller only",
            call("    config: {word: x}\n"),
            &[
                "DG0205 11:14 graph \"c\" and the graphs that it calls do not declare the config key \"word\" | there is: depth, mode, time",
            ],
        ),
        (
            "value",
            call("    config: {mode: always, depth: 0}\n"),
            &[
                "DG0106 11:20 the config key \"mode\" must be one of never, auto, is \"always\"",
                "DG0110 11:35 the config key \"depth\" must be an integer of at least 1, is 0",
            ],
        ),
        (
            "type",
            call("    config: {depth: config.word}\n"),
            &[
                "DG0401 11:21 the config key \"depth\" takes an integer of at least 1, and config.word is string",
            ],
        ),
        (
            "unknown setting",
            call("    config: {depth: config.smal, mod: config.wrd}\n"),
            &[
                "DG0205 11:21 graph \"t\" does not declare the config key \"smal\"...",
                "DG0205 11:34 graph \"c\" and the graphs that it calls...",
                "DG0205 11:39 graph \"t\" does not declare the config key \"wrd\"...",
            ],
        ),
        (
            "template",
            call("    config: {depth: '{{ n }}'}\n"),
            &["DG0308 11:21 the config key \"depth\" is a fixed value or config.KEY, no template"],
        ),
        ("no mapping", call("    config: [mode]\n"), &["DG0101 11:13 `config` must be a mapping, is a list"]),
        (
            "op",
            op("    config: {a: 1}\n"),
            &["DG0105 9:5 `config` is for the call of a graph, and this calls an op"],
        ),
        (
            "a graph alone",
            call("    config: {mod: never}\n").replace("call: c", "call: d"),
            &["DG0205 11:14 graph \"d\" does not declare the config key \"mod\"...", "~DG0508..."],
        ),
    ]);
}

#[test]
fn a_call_can_grant() {
    let keys = "    grant: {tokens: 300000 if q else 9, cost_usd: limits.money.left / 4, wall_time: 20m, active_time: 30, model_calls: config.small, tool_calls: 0}\n";
    let grant = called(&call(keys)).grant;
    let meters: Vec<Meter> = grant.iter().map(|(meter, _)| *meter).collect();
    let wanted = [
        Meter::Tokens,
        Meter::CostUsd,
        Meter::WallTime,
        Meter::ActiveTime,
        Meter::ModelCalls,
        Meter::ToolCalls,
    ];
    assert_eq!(meters, wanted);
    assert!(matches!(&grant[0].1, ValueExpr::Expr(e) if &*e.source == "300000 if q else 9"));
    assert_eq!(grant[2].1, ValueExpr::Literal(Value::Int(1200)), "in seconds");
    let grant = |grant: &str| call(&format!("    grant: {grant}\n"));
    compare(&[
        (
            "unknown",
            grant("{token: 3}"),
            &["DG0210 11:13 unknown meter \"token\" | did you mean \"tokens\"?"],
        ),
        (
            "of one graph",
            grant("{turns: 3}"),
            &[
                "DG0210 11:13 the meter \"turns\" can not be granted: it counts in one graph | there is: tokens, cost_usd, model_calls, tool_calls, wall_time, active_time",
            ],
        ),
        (
            "text",
            grant("{tokens: q}"),
            &["DG0401 11:21 the grant of `tokens` is a number, and this is string"],
        ),
        (
            "quoted time",
            grant("{wall_time: \"'20m'\"}"),
            &[
                "DG0401 11:24 the grant of `wall_time` is a length of time, and this is string | for example 20m, or seconds",
            ],
        ),
        (
            "negative",
            grant("{cost_usd: -1}"),
            &["DG0401 11:23 the grant of `cost_usd` is a number of dollars, and this is -1"],
        ),
        (
            "null",
            grant("{tokens: null}"),
            &["DG0401 11:21 the grant of `tokens` is a number, and this is null"],
        ),
        ("no time", grant("{tokens: 20m}"), &["DG0307 11:23 this expression can not be read..."]),
        (
            "unknown name",
            grant("{tokens: limits.mony.left}"),
            &["DG0204 11:21 graph \"t\" has no limit \"mony\"..."],
        ),
        ("no mapping", grant("3"), &["DG0101 11:12 `grant` must be a mapping, is a number"]),
        (
            "op",
            op("    grant: {tokens: 3}\n"),
            &["DG0105 9:5 `grant` is for the call of a graph, and this calls an op"],
        ),
        (
            "unknown callee",
            grant("{token: qq}").replace("call: c", "call: cc"),
            &[
                "DG0208 9:11 there is no graph or op \"cc\"...",
                "DG0210 11:13 unknown meter...",
                "DG0301 11:20 unknown name \"qq\"...",
            ],
        ),
    ]);
}

#[test]
fn a_call_says_what_it_does_outside() {
    assert!(!called(&op("")).writes, "thinking changes nothing");
    assert!(called(&op("    effect: write\n")).writes);
    assert!(!called(&op("    effect: read\n")).writes);
    assert!(!called(&call("")).writes);
    assert!(tool("call: search, effect: write").call.expect("it calls").writes);
    compare(&[
        (
            "unknown",
            op("    effect: reed\n"),
            &["DG0106 9:13 `effect` is read or write | did you mean \"read\"?"],
        ),
        ("true", op("    effect: true\n"), &["DG0106 9:13 `effect` is read or write..."]),
        (
            "graph",
            call("    effect: read\n"),
            &[
                "DG0105 11:5 `effect` is for the call of an op, and this calls a graph | what a graph changes outside is what the calls in it do",
            ],
        ),
        (
            "other verb",
            op("")
                .replace("call: think", "ask: why")
                .replace("    input: {reflection: q}\n", "    effect: read\n"),
            &["DG0103 8:5 the key \"effect\" belongs to the verb `call`..."],
        ),
    ]);
}

#[test]
fn tools_have_the_same_keys() {
    let text = call("").replace("    call: c\n    input: {t: q}\n", "    model: x\n    messages: m\n    tools: [t]\n    next: r\n  r: {run_tools: a, next: {exit: completed}}\n")
        .replace("n: integer}", "m: messages}")
        + "tools: {t: {call: c, config: {mode: never}, grant: {tokens: 'args.t | length', wall_time: 5m}}}\n";
    let bundle = clean(&text);
    let call = bundle.root().tools[0].call.as_ref().expect("it calls");
    assert!(matches!(call.callee, Callee::Graph(_)));
    assert_eq!(call.config, [("mode".into(), Setting::Literal(Value::from("never")))]);
    assert!(matches!(&call.grant[0], (Meter::Tokens, ValueExpr::Expr(e)) if &*e.source == "args.t | length"));
    compare(&[
        (
            "unknown argument",
            text.replace("args.t ", "args.u "),
            &["DG0302 27:67 the record has no field \"u\" | there is: t"],
        ),
        (
            "without call",
            tools("  t: {config: {}, grant: {}, effect: read}"),
            &[
                "DG0105 10:7 `config` in tool \"t\" needs `call`",
                "DG0105 10:19 `grant` in tool \"t\" needs `call`",
                "DG0105 10:30 `effect` in tool \"t\" needs `call`",
            ],
        ),
    ]);
}

#[test]
fn a_person_can_be_asked_before_a_call() {
    assert_eq!(tool("call: think, approve: true").approve, Some(ValueExpr::Literal(Value::Bool(true))));
    assert_eq!(tool("call: think, approve: false").approve, None);
    assert_eq!(tool("call: think").approve, None);
    let approve = tool("call: search, approve: args.limit > 5").approve;
    assert!(matches!(approve, Some(ValueExpr::Expr(e)) if &*e.source == "args.limit > 5"));
    assert!(
        tool("answer: done, approve: true").approve.is_some(),
        "what only answers can be approved as well"
    );
    compare(&[
        (
            "unknown argument",
            tools("  t: {call: search, approve: args.limt > 5}"),
            &["DG0302 10:35 the record has no field \"limt\" | did you mean \"limit\"?"],
        ),
        (
            "yes",
            tools("  t: {call: think, approve: yes}"),
            &["DG0012 10:29 `approve` must be an expression | write true"],
        ),
        (
            "template",
            tools("  t: {call: think, approve: '{{ args.reflection }}'}"),
            &["DG0308 10:29 `approve` is a bare expression..."],
        ),
        (
            "result",
            tools("  t: {call: think, approve: result.text}"),
            &["DG0306 10:29 `result` is not known here..."],
        ),
        (
            "question",
            tools("  t: {ask: why, approve: true}"),
            &["DG0105 10:17 tool \"t\" asks a person already, so `approve` means nothing here"],
        ),
    ]);
}
