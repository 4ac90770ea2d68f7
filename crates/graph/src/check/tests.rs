mod recursion;
mod waits;

use crate::testing::{clean, compare};

/// A graph of these nodes; each writes the text channel of its own name unless it says more.
fn nodes(start: &str, nodes: &str, more: &str) -> String {
    format!(
        "deepgraph: 1\nconfig: {{k: {{type: integer, default: 3, minimum: 1}}, o: {{type: integer, optional: true}}}}\n\
         state: {{q: string, s: {{type: [string], reduce: append}}, m: messages}}\ninput: [q]\nstart: {start}\n{more}nodes:\n{nodes}"
    )
}

/// A loop of a model with a tool.
fn react(limits: &str) -> String {
    let tools = "tools:\n  t: {call: think}\n  u: {next: b}\n";
    nodes(
        "a",
        "  a: {model: x, messages: m, tools: [t, u], next: [{if: not result.tool_calls, exit: no_tool_calls}, r]}\n  \
         r: {run_tools: a, next: a}\n  b: {update: {s: q}, next: {exit: completed}}\n",
        &format!("{tools}limits: {{{limits}}}\n"),
    )
}

#[test]
fn nodes_that_nothing_leads_to() {
    let two = "  a: {update: {s: q}}\n  b: {update: {s: q}, next: c}\n  c: {update: {s: q}}\n";
    compare(&[
        (
            "lost",
            nodes("a", two, ""),
            &[
                r#"DG0501 8:3 nothing leads to node "b" of graph "t" | name it in `start`, in a `next` or `on_error`, or take it out"#,
                r#"DG0501 9:3 nothing leads to node "c" of graph "t"..."#,
            ],
        ),
        ("by finally", nodes("a", two, "finally: b\n"), &[]),
        ("by a limit", nodes("a", two, "limits: {l: {count: [a], max: 1, to: b}}\n"), &[]),
        (
            "by on_error",
            nodes("a", &two.replace("a: {update: {s: q}}", "a: {update: {s: q}, on_error: b}"), ""),
            &[],
        ),
        ("by a tool", react("t: {count: turns, max: 3, exit: step_limit}"), &[]),
        (
            "nothing is said where a route could not be read",
            nodes("a", &two.replace("a: {update: {s: q}}", "a: {update: {s: q}, next: bb}"), ""),
            &["DG0202 7:29 graph \"t\" has no node \"bb\" | there is: a, b, c"],
        ),
    ]);
}

#[test]
fn cycles_must_be_cut() {
    const A_R: &str = "DG0504 11:3 no limit cuts the cycle a -> r -> a | add to `limits`: turns: {count: turns, max: 12, exit: step_limit}";
    let tools_only = format!("{A_R} (a limit on tools does not: the model may call none of them)");
    compare(&[
        ("none", react(""), &[A_R]),
        ("turns", react("l: {count: turns, max: 3, exit: step_limit}"), &[]),
        ("paid turns", react("l: {count: paid_turns, max: config.k, exit: step_limit}"), &[]),
        ("model calls", react("l: {count: model_calls, max: 3, exit: step_limit}"), &[]),
        ("steps", react("l: {count: steps, max: 3, exit: step_limit}"), &[]),
        ("super-steps", react("l: {count: super_steps, max: 3, exit: step_limit}"), &[]),
        ("visits", react("l: {count: [r], max: 3, exit: step_limit}"), &[]),
        ("refused start", react("l: {count: [r], max: 3, refuse: true}"), &[]),
        ("tools only", react("l: {count: [t, u], max: 3, exit: step_limit}"), &[&tools_only]),
        ("all tool calls", react("l: {count: tool_calls, max: 3, exit: step_limit}"), &[A_R]),
        ("tokens", react("l: {count: tokens, max: 3, exit: token_budget}"), &[A_R]),
        ("time", react("l: {count: wall_time, max: 3s, exit: deadline}"), &[A_R]),
        ("gain", react("l: {gain: s, exit: gain_saturated}"), &[A_R]),
        ("off", react("l: {count: turns, max: null, exit: step_limit}"), &[A_R]),
        ("may be off", react("l: {count: turns, max: config.o, exit: step_limit}"), &[A_R]),
        ("leads out", react("l: {count: turns, max: 3, to: b}"), &[]),
        (
            "leads back",
            react("l: {count: [r], max: 3, to: a}"),
            &["DG0504 11:3 no limit cuts the cycle a -> a..."],
        ),
    ]);
}

#[test]
fn cycles_of_other_kinds() {
    let pair = "  a: {update: {s: q}, next: b}\n  b: {update: {s: q}, next: a}\n";
    let handled =
        "  a: {model: x, prompt: p, next: {exit: completed}, on_error: b}\n  b: {update: {s: q}, next: a}\n";
    let refused =
        "  a: {update: {s: q}, next: b}\n  b: {model: x, prompt: p, next: {exit: completed}, on_error: a}\n";
    compare(&[
        (
            "no way out",
            nodes("a", pair, ""),
            &[
                "DG0502 7:3 there is no way out of the cycle a -> b -> a, and no limit cuts it | add to `limits`: visits: {count: [a], max: 10, exit: step_limit}",
            ],
        ),
        (
            "a limit is the way out",
            nodes("a", pair, "limits: {l: {count: [b], max: 3, exit: step_limit}}\n"),
            &[],
        ),
        ("by on_error", nodes("a", handled, ""), &["DG0504 7:3 no limit cuts the cycle a -> b -> a..."]),
        (
            "a refusal is handled in the cycle",
            nodes("a", refused, "limits: {l: {count: [b], max: 3, refuse: true}}\n"),
            &["DG0504 8:3 no limit cuts the cycle a -> b -> a..."],
        ),
        (
            "in finally",
            nodes("c", &format!("{pair}  c: {{update: {{s: q}}}}\n"), "finally: a\n"),
            &["DG0502 8:3 there is no way out of the cycle a -> b -> a..."],
        ),
        (
            "inner cycle",
            nodes(
                "a",
                "  a: {update: {s: q}, next: b}\n  b: {update: {s: q}, next: [{if: q, to: c}, a]}\n  c: {update: {s: q}, next: b}\n",
                "limits: {l: {count: [a], max: 3, exit: step_limit}}\n",
            ),
            &["DG0504 9:3 no limit cuts the cycle b -> c -> b..."],
        ),
        (
            "by a counted tool",
            react("l: {count: turns, max: 3, exit: step_limit}")
                .replace("b: {update: {s: q}, next: {exit: completed}}", "b: {update: {s: q}, next: r}"),
            &["DG0504 12:3 no limit cuts the cycle r -> b -> r..."],
        ),
        (
            "a counted tool cuts it",
            react("l: {count: turns, max: 3, exit: step_limit}, u: {count: [u], max: 2, refuse: true}")
                .replace("b: {update: {s: q}, next: {exit: completed}}", "b: {update: {s: q}, next: r}"),
            &[],
        ),
    ]);
}

#[test]
fn a_long_chain_does_not_overflow_the_stack() {
    let mut text = String::new();
    for i in 0..2000 {
        text += &format!("  n{i}: {{update: {{s: q}}, next: n{}}}\n", (i + 1) % 2000);
    }
    let found = crate::testing::said(&nodes("n0", &text, ""));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("n0 -> n1 -> n2 -> n3 -> n4 -> ... -> n1998 -> n1999 -> n0"), "{found:?}");
}

#[test]
fn the_stage_of_finally_stands_apart() {
    let text = nodes(
        "a",
        "  a: {update: {s: q}, next: report}\n  report: {update: {s: q}, next: cite}\n  cite: {update: {s: q}}\n",
        "finally: report\n",
    );
    compare(&[(
        "shared",
        text.clone(),
        &[
            r#"DG0506 9:3 node "report" is part of `finally` and the main part leads to it as well | every exit passes through `finally` by itself: let the way end in an exit, or leave `next` out"#,
        ],
    )]);
    let bundle = clean(&text.replace("next: report}", "next: {exit: completed}}"));
    let stage: Vec<bool> = bundle.root().nodes.iter().map(|n| n.in_finally).collect();
    assert_eq!(stage, [false, true, true]);
}

#[test]
fn a_meter_in_the_stage_of_finally_leads_nowhere_in_it() {
    let text = nodes(
        "a",
        "  a: {model: x, prompt: p, next: {exit: completed}}\n  b: {update: {s: q}}\n  report: {model: x, prompt: p}\n",
        "finally: report\nlimits: {l: {count: tokens, max: 9, to: b}}\n",
    );
    let stage: Vec<bool> = clean(&text).root().nodes.iter().map(|n| n.in_finally).collect();
    assert_eq!(stage, [false, false, true]);
}

#[test]
fn writers_of_one_super_step() {
    let fan = |a: &str, b: &str| nodes("{to: [a, b]}", &format!("  a: {a}\n  b: {b}\n"), "");
    compare(&[
        (
            "replace",
            fan("{update: {q: q}}", "{update: {q: q}}"),
            &[
                r#"DG0505 5:13 "a" and "b" run together and both write the channel "q" | give the channel a reducer (append, merge, ...), or each node a channel of its own"#,
            ],
        ),
        ("append", fan("{update: {s: q}}", "{update: {s: q}}"), &[]),
        ("one of them", fan("{update: {q: q}}", "{update: {s: q}}"), &[]),
        (
            "perhaps",
            fan(
                "{update: {q: q}}",
                "{update: {s: q}, next: [{if: q, update: {q: 's[0]'}, exit: completed}, {exit: completed}]}",
            ),
            &[r#"~DG0505 5:13 "a" and "b" run together and may both write the channel "q"..."#],
        ),
    ]);
}

#[test]
fn writers_behind_nodes_that_run_together() {
    const BOTH: &str = r#"DG0505 5:13 "c" and "d" run together and both write the channel "q"..."#;
    // `a` talks, `b` writes; `r` runs the tools of `a` while `w` waits a super-step. Behind them come `c` and `d`.
    let text = |tool: &str, more: &str| {
        let list = format!(
            "  a: {{model: x, messages: m, tools: [t], next: r}}\n  b: {{update: {{s: q}}, next: w}}\n  \
             r: {{run_tools: a, next: c}}\n  w: {{update: {{s: q}}, next: d{more}}}\n  c: {{update: {{q: q}}}}\n  \
             d: {{update: {{q: q}}}}\n  e: {{update: {{s: q}}}}\n"
        );
        nodes("{to: [a, b]}", &list, &format!("tools: {{t: {tool}}}\nfinally: e\n"))
    };
    compare(&[
        ("tools that lead nowhere", text("{call: think}", ""), &[BOTH]),
        ("a tool that only writes", text("{call: think, next: {update: {s: q}}}", ""), &[BOTH]),
        ("a tool may lead elsewhere", text("{call: think, next: {if: q, exit: completed}}", ""), &[]),
        ("where it fails", text("{call: think, on_error: {exit: tool_error}}", ""), &[]),
        ("what waits runs later", text("{call: think}", ", defer: true"), &[]),
    ]);
}

#[test]
fn outputs_that_nothing_writes() {
    let text = nodes("a", "  a: {update: {s: q}}\n", "output: [s, q, m]\n");
    compare(&[("never", text, &[r#"~DG0511 1:1 nothing in graph "t" writes the output "m""#])]);
}

#[test]
fn graphs_that_nobody_calls() {
    let child = "graphs:\n  c: {state: {x: string}, start: n, nodes: {n: {update: {x: \"'x'\"}}}}\n";
    let text = nodes("a", "  a: {update: {s: q}}\n", child);
    compare(&[("unused", text, &[r#"~DG0508 7:3 nothing calls the graph "c""#])]);
}

#[test]
fn tool_calls_that_nothing_runs() {
    let text = nodes("a", "  a: {model: x, messages: m, tools: [t]}\n", "tools: {t: {call: think}}\n");
    compare(&[(
        "not run",
        text,
        &[r#"~DG0512 8:3 nothing runs the tool calls of node "a" | add a node with `run_tools: a`"#],
    )]);
}

#[test]
fn what_is_unused_is_told_beside_other_mistakes() {
    let wrong = "output: [none]\n";
    let child = "graphs:\n  c: {state: {x: string}, start: n, nodes: {n: {update: {x: \"'x'\"}}}}\n";
    let other = r#"DG0201 6:10 unknown channel "none" in `output`..."#;
    let model = |tools: &str| {
        format!("  a: {{model: x, messages: m, tools: {tools}, next: r}}\n  r: {{run_tools: a}}\n")
    };
    let two = format!("{wrong}tools:\n  t: {{call: think}}\n  u: {{call: think}}\n");
    let unused = "~DG0508 9:3 no model node offers the tool \"u\"...";
    compare(&[
        (
            "graph",
            nodes("a", "  a: {update: {s: q}}\n", &format!("{wrong}{child}")),
            &[other, r#"~DG0508 8:3 nothing calls the graph "c""#],
        ),
        (
            "a graph that may be meant",
            nodes("a", "  a: {call: d}\n", child),
            &["DG0208 9:13 there is no graph or op \"d\"..."],
        ),
        (
            "a graph under a wrong key",
            nodes("a", "  a: {cal: c, update: {s: q}}\n", child),
            &["DG0103 9:7 unknown key \"cal\"..."],
        ),
        ("tool", nodes("a", &model("[t]"), &two), &[other, unused]),
        (
            "a tool that may be meant",
            nodes("a", &model("[t, v]"), &two),
            &[other, r#"DG0203 11:41 graph "t" has no tool "v"..."#],
        ),
    ]);
}
