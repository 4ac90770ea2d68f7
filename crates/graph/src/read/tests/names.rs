//! Names and what they stand for.

use super::{graph, limit, node, tools};
use crate::testing::compare;

#[test]
fn unknown_names() {
    compare(&[
        (
            "channel",
            node("    update: {qq: q}\n"),
            &[r#"DG0201 7:14 graph "t" has no channel "qq" | there is: q, m"#],
        ),
        (
            "output",
            graph("output: [nn]"),
            &[r#"DG0201 5:10 unknown channel "nn" in `output` | there is: q, n, l, m"#],
        ),
        (
            "messages",
            node("    model: x\n    messages: mm\n"),
            &[r#"DG0201 8:15 graph "t" has no channel "mm" | there is: q, m"#],
        ),
        (
            "cut",
            node("    model: x\n    prompt: p\n    truncate: {cut: [oldst]}\n"),
            &[r#"DG0201 9:22 unknown channel "oldst" in `cut` | did you mean "oldest"?"#],
        ),
        (
            "node",
            node("    update: {q: q}\n    next: sumarize\n")
                .replace("nodes:\n", "nodes:\n  summarize: {update: {q: q}}\n"),
            &[r#"DG0202 9:11 graph "t" has no node "sumarize" | did you mean "summarize"?"#],
        ),
        (
            "exit as a node",
            node("    update: {q: q}\n    next: completed\n"),
            &[r#"DG0202 8:11 graph "t" has no node "completed" | an exit is written {exit: completed}"#],
        ),
        (
            "tool",
            tools("  think: {call: think}"),
            &[r#"DG0203 7:38 graph "t" has no tool "t" | there is: think"#],
        ),
        (
            "config",
            node("    model: config.modl\n    prompt: p\n")
                .replace("start", "config: {model: string}\nstart"),
            &[r#"DG0205 8:12 graph "t" does not declare the config key "modl" | did you mean "model"?"#],
        ),
        (
            "type",
            graph("types: {p: {a: strin}}"),
            &[r#"DG0206 5:16 unknown type "strin" | did you mean "string"?"#],
        ),
        (
            "reducer",
            graph("").replace("n: integer", "n: {type: integer, reduce: summ}"),
            &[r#"DG0207 2:47 unknown reducer "summ" | did you mean "sum"?"#],
        ),
        (
            "callee",
            node("    call: thnk\n    input: {a: 1}\n"),
            &[r#"DG0208 7:11 there is no graph or op "thnk" | did you mean "think"?"#],
        ),
        (
            "exit",
            node("    update: {q: q}\n    next: {exit: complet}\n"),
            &[r#"DG0209 8:18 unknown exit "complet" | did you mean "completed"?"#],
        ),
        (
            "own exit",
            node("    update: {q: q}\n    next: {exit: zzz}\n"),
            &["DG0209 8:18 unknown exit \"zzz\" | declare it: exits: {zzz: completion}"],
        ),
        (
            "meter",
            limit("{count: turn, max: 1, exit: step_limit}"),
            &[r#"DG0210 6:14 unknown meter "turn" | did you mean "turns"?"#],
        ),
        (
            "meter that is a node",
            limit("{count: a, max: 1, exit: step_limit}"),
            &[r#"DG0210 6:14 unknown meter "a" | tools and nodes are counted as a list: [a]"#],
        ),
        (
            "counted",
            limit("{count: [b], max: 1, exit: step_limit}"),
            &[r#"DG0210 6:15 graph "t" has no tool or node "b" | there is: a"#],
        ),
        (
            "limit to",
            limit("{count: [a], max: 1, to: b}"),
            &[r#"DG0202 6:31 graph "t" has no node "b" | there is: a"#],
        ),
    ]);
}

#[test]
fn names_that_can_not_be() {
    compare(&[
        (
            "reserved root",
            graph("").replace("n: integer", "result: integer"),
            &[
                r#"DG0108 2:20 "result" is reserved and can not be the name of a channel | reserved are config, limits, ..."#,
            ],
        ),
        (
            "exit as channel",
            graph("").replace("n: integer", "exit: integer"),
            &[r#"DG0108 2:20 "exit" is reserved and can not be the name of a channel..."#],
        ),
        (
            "word",
            graph("").replace("n: integer", "loop: integer"),
            &[r#"DG0108 2:20 "loop" is a word of expressions and can not be the name of a channel"#],
        ),
        (
            "bad channel",
            graph("").replace("n: integer", "a-b: integer"),
            &[r#"DG0107 2:20 "a-b" can not be the name of a channel..."#],
        ),
        (
            "bad node",
            node("    update: {q: q}\n").replace("  a:", "  'a/b':").replace("start: a", "start: a/b"),
            &[r#"DG0107 6:3 "a/b" can not be the name of a node..."#],
        ),
        (
            "node called next",
            graph("").replace("{a:", "{next:").replace("start: a", "start: {to: [next]}"),
            &[r#"DG0108 4:9 "next" is a word of routes and can not be the name of a node"#],
        ),
        (
            "built-in type",
            graph("types: {source: {a: string}}"),
            &[r#"DG0108 5:9 the type "source" is built in"#],
        ),
        (
            "built-in exit",
            graph("exits: {completed: error}"),
            &[r#"DG0108 5:9 the exit "completed" is built in..."#],
        ),
        (
            "class",
            graph("exits: {mine: completon}"),
            &[
                "DG0106 5:15 the class of an exit is one of completion, error, budget, cap, waiting | did you mean \"completion\"?",
            ],
        ),
    ]);
}

#[test]
fn config_keys_of_a_bad_type_are_still_there_to_be_meant() {
    let config = "config: {model: strng, n: integer, unused: string}\n";
    for (body, at) in [
        ("    model: config.modl\n    prompt: p\n", "8:12"),
        ("    model: x\n    prompt: '{{ config.modl }}'\n", "9:"),
    ] {
        let text = node(body).replace("start: a\n", &format!("start: a\n{config}"));
        let found = crate::testing::said(&text);
        let hint = found.iter().find(|line| line.starts_with("DG0205")).expect("the key is unknown");
        assert!(hint.contains(at) && hint.ends_with("did you mean \"model\"?"), "{found:?}");
    }
}
