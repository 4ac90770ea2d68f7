//! What mappings hold.

use super::{graph, limit, node, tools};
use crate::testing::compare;

#[test]
fn unknown_keys_at_every_level() {
    compare(&[
        (
            "graph",
            graph("limts: {}"),
            &[r#"DG0103 5:1 unknown key "limts" in a graph | did you mean "limits"?"#],
        ),
        (
            "node",
            node("    promt: hi\n    model: x\n    prompt: hi\n"),
            &[r#"DG0103 7:5 unknown key "promt" in node "a" | did you mean "prompt"?"#],
        ),
        (
            "other verb",
            node("    model: x\n    prompt: hi\n    input: {a: 1}\n"),
            &[r#"DG0103 9:5 the key "input" belongs to the verb `call`, which node "a" has not"#],
        ),
        (
            "no verb",
            node("    prompt: hi\n    update: {q: q}\n"),
            &[r#"DG0103 7:5 the key "prompt" belongs to the verb `model`, which node "a" has not"#],
        ),
        (
            "field",
            graph("config: {k: {type: string, defalt: x}}"),
            &[r#"DG0103 5:28 unknown key "defalt" in a field | did you mean "default"?"#],
        ),
        (
            "tool",
            tools("  t: {descripton: x}"),
            &[r#"DG0103 10:7 unknown key "descripton" in tool "t" | did you mean "description"?"#],
        ),
        (
            "limit",
            limit("{count: steps, max: 3, exits: step_limit}"),
            &[
                r#"DG0102 6:3 limit "l" needs one of `exit`, `to` and `refuse`"#,
                r#"DG0103 6:29 unknown key "exits" in limit "l" | did you mean "exit"?"#,
            ],
        ),
        (
            "way",
            node("    update: {q: q}\n    next: {iff: q, exit: completed}\n"),
            &[r#"DG0103 8:12 unknown key "iff" in a way | did you mean "if"?"#],
        ),
        (
            "truncate",
            node("    model: x\n    prompt: hi\n    truncate: {cuts: []}\n"),
            &[r#"DG0103 9:16 unknown key "cuts" in `truncate` | did you mean "cut"?"#],
        ),
        (
            "retry",
            node("    model: x\n    prompt: hi\n    retry: {times: 3}\n"),
            &[r#"DG0103 9:13 unknown key "times" in `retry` | there is: max, backoff, factor, if"#],
        ),
        (
            "messages",
            node("    model: x\n    messages: {reed: m}\n"),
            &[
                "DG0102 8:15 `messages` is a channel or {read: CHANNEL}",
                r#"DG0103 8:16 unknown key "reed" in `messages` | did you mean "read"?"#,
            ],
        ),
        (
            "concurrency",
            graph("concurrency: {graph: 1}"),
            &[r#"DG0103 5:15 unknown key "graph" in `concurrency` | did you mean "graphs"?"#],
        ),
    ]);
}

#[test]
fn keys_that_are_not_built_yet_are_refused_as_such() {
    let not_built = |what: &str, at: &str| {
        format!(
            "DG0104 {at} {what} is not built yet | it is part of the language, but this version can not run it"
        )
    };
    let cases = [
        (graph("profiles: {a: {}}"), "the key \"profiles\"", "5:1"),
        (graph("upgrade: {}"), "the key \"upgrade\"", "5:1"),
        (graph("schedule: {}"), "the key \"schedule\"", "5:1"),
        (node("    call: publish\n"), "the op \"publish\"", "7:11"),
        (node("    model: x\n    prompt: '{{ profile.name }}'\n"), "`profile`", "8:17"),
    ];
    for (text, what, at) in cases {
        compare(&[(what, text, &[&not_built(what, at)])]);
    }
}

#[test]
fn a_mistake_is_told_once() {
    compare(&[
        (
            "returns",
            node("    model: x\n    prompt: p\n    returns: digst\n    update: {q: result.data.text}\n"),
            &["DG0206 9:14 unknown type \"digst\"..."],
        ),
        (
            "asked",
            node("    ask: why\n    returns: digst\n    update: {q: result.data.text}\n"),
            &["DG0206 8:14 unknown type \"digst\"..."],
        ),
        (
            "config",
            graph("config: {k: strng}\nlimits: {l: {count: steps, max: config.k, exit: step_limit}}")
                .replace("\"'x'\"", "config.k"),
            &["DG0206 5:13 unknown type \"strng\"..."],
        ),
        (
            "channel",
            graph("").replace("n: integer", "n: integr").replace("\"'x'\"", "n.x"),
            &["DG0206 2:23 unknown type \"integr\" | did you mean \"integer\"?"],
        ),
        (
            "type",
            graph("types: {p: {a: strng}}").replace("n: integer", "n: p").replace("\"'x'\"", "n.a"),
            &["DG0206 5:16 unknown type \"strng\"..."],
        ),
        (
            "limit",
            graph("limits: {l: {count: stps, max: 3, exit: step_limit}}")
                .replace("\"'x'\"", "limits.l.left | string"),
            &["DG0210 5:21 unknown meter \"stps\"..."],
        ),
        (
            "callee",
            node(
                "    call: thnk\n    input: {a: q}\n    update: {q: result.text}\n    next: {exit: inherit}\n",
            ),
            &["DG0208 7:11 there is no graph or op..."],
        ),
        (
            "tool",
            tools("  t: {call: thnk, update: {q: args.x ~ result.y}}"),
            &["~DG0514...", "DG0208 10:13 there is no graph or op \"thnk\" | did you mean \"think\"?"],
        ),
        ("expression", node("    update: {q: qq + 1}\n"), &["DG0301 7:17 unknown name \"qq\"..."]),
    ]);
}
