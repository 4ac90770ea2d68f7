//! Nodes that wait: `after`, `defer`, and nodes that run once per item.

use super::nodes;
use crate::testing::{clean, compare};

/// Two branches, of which `b` goes on as given, and a node that waits for both.
fn joined(b: &str, more: &str) -> String {
    nodes(
        "{to: [a, b]}",
        &format!(
            "  a: {{update: {{s: q}}, next: join}}\n  b: {b}\n  join: {{update: {{s: q}}, after: [a, b]}}\n{more}"
        ),
        "",
    )
}

#[test]
fn what_is_waited_for_leads_there() {
    let c = "  c: {update: {s: q}}\n";
    let help = "what waits for something that never comes ends the graph by graph_error";
    let end = format!("~DG0516 9:37 \"join\" waits for \"b\", which may lead to its end instead | {help}");
    let to_c = format!("~DG0516 9:37 \"join\" waits for \"b\", which may lead to \"c\" instead | {help}");
    compare(&[
        ("both", joined("{update: {s: q}, next: join}", ""), &[]),
        ("several at once", joined("{update: {s: q}, next: {to: [c, join]}}", c), &[]),
        (
            "not by itself",
            joined("{update: {s: q}}", ""),
            &[
                "DG0516 9:37 \"join\" waits for \"b\", which does not lead to it | `after` only makes a node wait: name \"join\" in the `next` of \"b\"",
            ],
        ),
        (
            "by another",
            joined("{update: {s: q}, next: c}", "  c: {update: {s: q}, next: join}\n"),
            &["DG0516 9:37 \"join\" waits for \"b\", which does not lead to it..."],
        ),
        (
            "an exit ends the wait",
            joined("{update: {s: q}, next: [{if: q, exit: no_sources}, join]}", ""),
            &[],
        ),
        ("elsewhere", joined("{update: {s: q}, next: [{if: q, to: c}, join]}", c), &[&to_c]),
        ("only writes", joined("{update: {s: q}, next: [{if: q, update: {s: q}}, join]}", ""), &[&end]),
        (
            "past the source",
            joined("{update: {s: q}, next: [{if: q, to: c}, join]}", "  c: {update: {s: q}, next: join}\n"),
            &[&to_c],
        ),
        (
            "and back",
            joined("{update: {s: q}, next: [{if: q, to: c}, join]}", "  c: {update: {s: q}, next: b}\n")
                .replace("start:", "limits: {l: {count: [c], max: 3, exit: step_limit}}\nstart:"),
            &[],
        ),
        (
            "failure handled",
            joined("{call: think, input: {reflection: q}, on_error: next, next: join}", ""),
            &[],
        ),
        (
            "failure elsewhere",
            joined("{call: think, input: {reflection: q}, on_error: c, next: join}", c),
            &[&to_c],
        ),
        (
            "a limit is no way of its own",
            joined("{update: {s: q}}", "")
                .replace("start:", "limits: {l: {count: [b], max: 3, to: join}}\nstart:"),
            &["DG0516 10:37 \"join\" waits for \"b\", which does not lead to it..."],
        ),
        (
            "nothing is said where a route could not be read",
            joined("{update: {s: q}, next: jon}", ""),
            &["DG0202 8:29 graph \"t\" has no node \"jon\"..."],
        ),
    ]);
}

#[test]
fn a_tool_may_lead_to_what_waits() {
    let text = |next: &str| {
        nodes(
            "{to: [a, b]}",
            &format!(
                "  a: {{model: x, messages: m, tools: [t], next: r}}\n  b: {{update: {{s: q}}, next: join}}\n  r: {{run_tools: a, next: {next}}}\n  join: {{update: {{s: q}}, after: [b, r]}}\n"
            ),
            "tools: {t: {next: join}}\n",
        )
    };
    compare(&[("always", text("join"), &[]), ("by the tool alone", text("{exit: completed}"), &[])]);
}

#[test]
fn waiting_makes_no_way_and_no_end() {
    compare(&[
        (
            "no way",
            nodes("a", "  a: {update: {s: q}}\n  c: {update: {s: q}, after: [a]}\n", ""),
            &[
                "DG0501 8:3 nothing leads to node \"c\"...",
                "DG0516 8:31 \"c\" waits for \"a\", which does not lead to it...",
            ],
        ),
        (
            "a cycle",
            nodes(
                "a",
                "  a: {update: {s: q}, next: c}\n  c: {update: {s: q}, after: [a], next: [{if: q, to: a}, {exit: completed}]}\n",
                "",
            ),
            &["DG0504 7:3 no limit cuts the cycle a -> c -> a..."],
        ),
    ]);
}

#[test]
fn what_waits_does_not_write_together_with_the_others() {
    let fan = |b: &str| {
        nodes(
            "{to: [a, b, c]}",
            &format!("  a: {{update: {{q: q}}, next: b}}\n  b: {b}\n  c: {{update: {{s: q}}, next: b}}\n"),
            "",
        )
    };
    compare(&[
        (
            "together",
            fan("{update: {q: q}}"),
            &["DG0505 5:13 \"a\" and \"b\" run together and both write..."],
        ),
        ("after it", fan("{update: {q: q}, after: [a]}"), &[]),
        (
            "after another",
            fan("{update: {q: q}, after: [c]}"),
            &["~DG0505 5:13 \"a\" and \"b\" run together and may both write..."],
        ),
        ("deferred", fan("{update: {q: q}, defer: true}"), &[]),
        (
            "both deferred",
            fan("{update: {q: q}, defer: true}").replace("next: b}\n  b:", "next: b, defer: true}\n  b:"),
            &["DG0505 5:13 \"a\" and \"b\" run together and both write..."],
        ),
        (
            "of no item perhaps",
            fan("{update: {q: item}, each: s, max_items: 1}"),
            &["~DG0505 5:13 \"a\" and \"b\" run together and may both write..."],
        ),
    ]);
}

#[test]
fn a_list_without_items_makes_no_call() {
    let text = |limit: &str| {
        nodes(
            "a",
            "  a: {model: x, prompt: p, each: s, max_items: 3, next: [{if: q, to: a}, {exit: completed}]}\n",
            &format!("limits: {{l: {limit}}}\n"),
        )
    };
    let cycle = "DG0504 8:3 no limit cuts the cycle a -> a...";
    compare(&[
        ("visits", text("{count: [a], max: 3, exit: step_limit}"), &[]),
        ("super-steps", text("{count: super_steps, max: 3, exit: step_limit}"), &[]),
        ("model calls", text("{count: model_calls, max: 3, exit: step_limit}"), &[cycle]),
        ("steps", text("{count: steps, max: 3, exit: step_limit}"), &[cycle]),
    ]);
}

#[test]
fn what_waits_is_part_of_the_stage_that_leads_to_it() {
    let text = nodes(
        "c",
        "  a: {update: {s: q}, next: j}\n  b: {update: {s: q}, next: j}\n  c: {update: {s: q}}\n  j: {update: {s: q}, after: [a, b]}\n",
        "finally: {to: [a, b]}\n",
    );
    let stage: Vec<bool> = clean(&text).root().nodes.iter().map(|n| n.in_finally).collect();
    assert_eq!(stage, [true, true, false, true]);
}
