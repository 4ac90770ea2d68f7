//! Calls, tools, configuration.

use super::{graph, node, tools};
use crate::testing::compare;

#[test]
fn calls_and_their_input() {
    let child = "graphs:\n  c:\n    state: {x: string, y: {type: integer, optional: true}, z: {type: [string], default: []}, out: handoff}\n    input: [x, y, z]\n    output: [out]\n    start: n\n    nodes: {n: {call: handoff, input: {objective: x}, update: {out: result.handoff}}}\n";
    let call = |body: &str| format!("{}{child}", node(&format!("    call: c\n{body}")));
    let result = |update: &str| {
        format!("{}{child}", node(&format!("    call: c\n    input: {{x: q}}\n    update: {update}\n")))
    };
    compare(&[
        ("fits", call("    input: {x: q, y: 3}\n"), &[]),
        ("missing", call(""), &[r#"DG0403 7:11 the graph needs the input "x" (string)"#]),
        (
            "unknown",
            call("    input: {x: q, yy: 3}\n"),
            &[r#"DG0404 8:19 the graph has no input "yy" | there is: x, y, z"#],
        ),
        (
            "literal",
            call("    input: {x: q, y: 'true'}\n"),
            &[r#"DG0401 8:19 the input "y" takes integer, and this is boolean"#],
        ),
        (
            "fixed",
            call("    input: {x: q, y: 1.5}\n"),
            &[r#"DG0401 8:19 the input "y" must be an integer, is 1.5"#],
        ),
        (
            "type",
            call("    input: {x: m}\n"),
            &[r#"DG0401 8:13 the input "x" takes string, and this is [message]"#],
        ),
        ("result", result("{q: result.out.text}"), &[]),
        (
            "result field",
            result("{q: result.text}"),
            &[r#"DG0302 9:24 `result` has no field "text" | there is: out, exit"#],
        ),
        (
            "inherit",
            format!("{}{child}", node("    call: c\n    input: {x: q}\n    next: {exit: inherit}\n")),
            &[],
        ),
        (
            "op",
            node("    call: search\n    input: {query: q, limit: 99}\n"),
            &["DG0110 8:23 the input \"limit\" must be an integer from 1 to 50, is 99"],
        ),
        (
            "op input",
            node("    call: search\n    input: {qery: q}\n"),
            &[
                r#"DG0403 8:5 the op needs the input "query" (string)"#,
                r#"DG0404 8:13 the op has no input "qery" | did you mean "query"?"#,
            ],
        ),
        (
            "itself",
            format!(
                "{}{}",
                node("    call: c\n    input: {x: q}\n"),
                child.replace(
                    "{n: {call: handoff, input: {objective: x}, update: {out: result.handoff}}}",
                    "{n: {call: c, input: {x: x}}}"
                )
            ),
            &[
                "~DG0511 10:3 nothing in graph \"c\" writes the output \"out\"",
                "DG0515 15:23 graph \"c\" calls itself, and no limit bounds how deep...",
            ],
        ),
        (
            "the root",
            format!(
                "{}{}",
                node("    call: c\n    input: {x: q}\n"),
                child.replace(
                    "call: handoff, input: {objective: x}, update: {out: result.handoff}",
                    "call: t, input: {q: x}"
                )
            ),
            &["DG0515 7:11 a graph calls itself, and no limit bounds how deep: t -> c -> t...", "~DG0511..."],
        ),
    ]);
}

#[test]
fn tools_and_their_arguments() {
    compare(&[
        ("callee's input", tools("  t: {call: search, answer: '{{ args.query }} {{ result.text }}'}"), &[]),
        ("by name", tools("  t: {call: think, parameters: {reflection: string}}"), &[]),
        (
            "by wrong name",
            tools("  t: {call: think, parameters: {reflexion: string}}"),
            &[
                r#"DG0403 10:13 the op needs the input "reflection" (string)"#,
                r#"DG0404 10:33 the op has no input "reflexion" | did you mean "reflection"?"#,
            ],
        ),
        (
            "by wrong type",
            tools("  t: {call: think, parameters: {reflection: integer}}"),
            &[r#"DG0401 10:33 the input "reflection" takes string, and this is integer"#],
        ),
        (
            "args",
            tools("  t: {parameters: {a: string}, update: {q: args.b}}"),
            &["~DG0514...", r#"DG0302 10:49 the record has no field "b" | there is: a"#],
        ),
        (
            "result",
            tools("  t: {update: {q: result.text}}"),
            &[
                "~DG0514...",
                "DG0306 10:19 `result` is not known here | this tool has no `call` and no `ask`, so nothing comes back",
            ],
        ),
        (
            "call and ask",
            tools("  t: {call: think, ask: why}"),
            &["DG0105 10:20 tool \"t\" has `call` and `ask`; it does one thing"],
        ),
        (
            "input without call",
            tools("  t: {input: {a: 1}}"),
            &["DG0105 10:7 `input` in tool \"t\" needs `call`"],
        ),
        (
            "overflow",
            tools("  t: {call: think, parallel: 1, overflow: drop}"),
            &["DG0106 10:43 `overflow` is refuse or queue | there is: refuse, queue"],
        ),
        (
            "parallel",
            tools("  t: {call: think, parallel: 0}"),
            &["DG0110 10:30 `parallel` must be an integer of at least 1, is 0"],
        ),
        (
            "two writers",
            tools("  t: {parameters: {a: string}, update: {q: args.a}}"),
            &[
                "~DG0514 10:3 two calls of \"t\" in one turn would both write the channel \"q\"; the last stays...",
            ],
        ),
        (
            "one writer",
            tools("  t: {parameters: {a: string}, update: {q: args.a}, parallel: 1, overflow: refuse}"),
            &[],
        ),
        ("fixed", tools("  t: {update: {q: \"'done'\"}}"), &[]),
        (
            "unused",
            tools("  t: {call: think}\n  u: {call: think}"),
            &["~DG0508 11:3 no model node offers the tool \"u\"..."],
        ),
    ]);
}

#[test]
fn config_is_one_value_run_wide() {
    let child = |config: &str| {
        graph(&format!(
            "config: {{k: {{type: integer, default: 3, minimum: 1}}}}\ngraphs:\n  c:\n    config: {{k: {config}}}\n    state: {{q: string}}\n    start: a\n    nodes: {{a: {{update: {{q: q}}}}}}\n"
        ))
        .replace("{a: {update: {q: \"'x'\"}}}", "{a: {call: c}}")
    };
    compare(&[
        ("same", child("{type: integer, default: 3, minimum: 1}"), &[]),
        ("without default", child("{type: integer, minimum: 1}"), &[]),
        (
            "type",
            child("{type: number, default: 3, minimum: 1}"),
            &[
                "DG0405 8:14 config key \"k\" has another type here than in t.yaml:5:10 | one name is one value...",
            ],
        ),
        (
            "bounds",
            child("{type: integer, default: 3}"),
            &["DG0405 8:14 config key \"k\" has other bounds here than in t.yaml:5:10..."],
        ),
        (
            "default",
            child("{type: integer, default: 4, minimum: 1}"),
            &["DG0405 8:14 config key \"k\" has another default here than in t.yaml:5:10..."],
        ),
    ]);
}
