//! Values of the wrong kind.

use super::{graph, node, tools};
use crate::testing::compare;

#[test]
fn shapes_of_values() {
    compare(&[
        ("not a mapping", "- a\n".to_owned(), &["DG0101 1:1 a graph file is a mapping, not a list"]),
        (
            "no version",
            graph("").replace("deepgraph: 1\n", ""),
            &["DG0102 1:1 a graph file begins with `deepgraph: 1` | ..."],
        ),
        (
            "nothing else is said of another version",
            "name: x\ndeepgraph: 2\nstages: []\n".to_owned(),
            &["DG0106 2:12 this program reads version 1 of the format: `deepgraph: 1`"],
        ),
        (
            "version",
            graph("").replace("deepgraph: 1", "deepgraph: 2"),
            &["DG0106 1:12 this program reads version 1 of the format: `deepgraph: 1`"],
        ),
        (
            "no state",
            "deepgraph: 1\nstart: a\nnodes: {a: {call: think, input: {reflection: \"'x'\"}}}\n".to_owned(),
            &[r#"DG0102 1:1 graph "t" has no `state`"#],
        ),
        (
            "no start",
            graph("").replace("start: a\n", ""),
            &[r#"DG0102 1:1 graph "t" has no `start` | for example start: a"#],
        ),
        (
            "no nodes",
            "deepgraph: 1\nstate: {}\nstart: a\n".to_owned(),
            &["DG0102 1:1 a graph has no `nodes`", r#"DG0202 3:8 graph "t" has no node "a""#],
        ),
        (
            "two verbs",
            node("    model: x\n    prompt: p\n    ask: why\n"),
            &[r#"DG0105 9:5 node "a" has two verbs, model and ask | make it two nodes"#],
        ),
        ("empty node", node("    {}\n"), &[r#"DG0102 6:3 node "a" does nothing..."#]),
        ("null node", node("    \n"), &["DG0101 6:4 node \"a\" must be a mapping, is nothing"]),
        ("no prompt", node("    model: x\n"), &[r#"DG0102 7:5 node "a" needs `prompt` or `messages`"#]),
        (
            "tools without messages",
            tools("  t: {call: think}").replace("messages: m,", "prompt: p,"),
            &[r#"DG0102 7:28 node "a" offers tools and so needs `messages`..."#],
        ),
        (
            "tools only read",
            tools("  t: {call: think}").replace("messages: m,", "messages: {read: m},"),
            &[r#"DG0105 7:17 node "a" offers tools, so its replies must be added to the conversation..."#],
        ),
        (
            "run_tools",
            node("    run_tools: a\n"),
            &[r#"DG0507 7:16 `run_tools` names a model node that offers tools; "a" is none"#],
        ),
        (
            "boolean",
            graph("config: {k: {type: string, optional: yes}}"),
            &["DG0012 5:38 `optional` must be true or false | write true"],
        ),
        (
            "boolean default",
            graph("config: {k: {type: boolean, default: off}}"),
            &[r#"DG0012 5:38 the default must be true or false, is "off" | write false"#],
        ),
        (
            "default",
            graph("config: {k: {type: integer, default: 0, minimum: 1}}"),
            &["DG0402 5:38 the default must be an integer of at least 1, is 0"],
        ),
        (
            "enum default",
            graph("config: {k: {enum: [a, b], default: c}}"),
            &[r#"DG0402 5:37 the default must be one of a, b, is "c""#],
        ),
        (
            "bounds",
            graph("config: {k: {type: integer, minimum: 3, maximum: 1}}"),
            &["DG0106 5:41 `maximum` is below `minimum`"],
        ),
        (
            "list type",
            graph("types: {p: {a: [string, integer]}}"),
            &[
                "DG0101 5:16 a list type has one type in it: [T] | values to choose from are written {enum: [a, b]}",
            ],
        ),
        (
            "own type",
            graph("types: {p: {a: [r]}, r: {b: p}}"),
            &[r#"DG0106 5:29 the type "p" holds itself..."#],
        ),
        (
            "reducer",
            graph("").replace("n: integer", "n: {type: integer, reduce: append}"),
            &[r#"DG0406 2:47 `append` joins a list type, [T], and the channel "n" is integer"#],
        ),
        (
            "file",
            node("    model: x\n    prompt: missing.md\n"),
            &["DG0010 8:13 the file missing.md can not be read: there is no such file..."],
        ),
        (
            "path",
            node("    model: x\n    prompt: ../secret.md\n"),
            &["DG0011 8:13 a path can not lead out of the graph file's folder | a path is relative..."],
        ),
        ("absolute", node("    model: x\n    prompt: /etc/x.md\n"), &["DG0011 8:13 a path is relative..."]),
        (
            "text",
            node("    model: x\n    prompt: {{ q }}\n"),
            &["DG0001 8:14 a key must be text | a template that begins with `{{` stands in quotes..."],
        ),
        (
            "prompt list",
            node("    model: x\n    prompt: [q]\n"),
            &["DG0101 8:13 `prompt` must be text, is a list"],
        ),
        ("model", node("    model: ''\n    prompt: p\n"), &["DG0106 7:12 `model` names no model"]),
        (
            "timeout",
            node("    model: x\n    prompt: p\n    timeout: soon\n"),
            &[r#"DG0106 9:14 `timeout` must be a duration such as 30s, 10m or 1h, is "soon""#],
        ),
        (
            "retry",
            node("    model: x\n    prompt: p\n    retry: 0\n"),
            &["DG0110 9:12 `retry` must be an integer of at least 1, is 0"],
        ),
        (
            "input list",
            graph("input: q"),
            &["DG0101 5:8 `input` must be a list of names, is text | write [q]"],
        ),
        (
            "child keys",
            graph("graphs: {c: {name: d, state: {q: string}, start: a, nodes: {a: {update: {q: q}}}}}"),
            &[
                r#"~DG0508 5:10 nothing calls the graph "c""#,
                "DG0105 5:14 only the root graph has the key \"name\"...",
            ],
        ),
        (
            "two graphs",
            graph("graphs:\n  t: {state: {q: string}, start: a, nodes: {a: {update: {q: q}}}}\n"),
            &[r#"DG0109 6:3 a graph "t" is already declared in line 1..."#],
        ),
    ]);
}

#[test]
fn types_that_are_too_large_are_refused() {
    let mut types = String::from("types:\n  t0: {a: string}\n");
    for i in 1..20 {
        types += &format!("  t{i}: {{a: t{p}, b: t{p}, c: t{p}}}\n", p = i - 1);
    }
    let found = crate::testing::said(&graph(&types));
    assert!(!found.is_empty() && found.iter().all(|d| d.starts_with("DG0008")), "{found:?}");
    let mut chain = String::from("types:\n");
    for i in 0..400 {
        chain += &format!("  t{i}: {{a: t{}}}\n", i + 1);
    }
    chain += "  t400: {a: string}\n";
    let found = crate::testing::said(&graph(&chain));
    assert!(found.iter().any(|d| d.starts_with("DG0007")), "{found:?}");
}
