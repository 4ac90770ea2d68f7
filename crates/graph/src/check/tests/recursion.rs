//! Graphs that call themselves.

use crate::testing::{clean, compare};

/// A root that calls `a`, and the graphs `a`, `b` and `c`, each with limits and what it calls.
fn graphs(a: (&str, &str), b: (&str, &str), c: (&str, &str)) -> String {
    let graph = |name: &str, (limits, calls): (&str, &str)| {
        format!(
            "  {name}:\n    config: {{d: {{type: integer, default: 2}}, off: {{type: integer, optional: true}}}}\n    \
             state: {{q: string}}\n    input: [q]\n    limits: {{{limits}}}\n    start: n\n    nodes:\n      \
             n: {{call: {calls}, input: {{q: q}}, on_error: {{exit: completed}}}}\n"
        )
    };
    format!(
        "deepgraph: 1\nname: root\nstate: {{q: string}}\ninput: [q]\nstart: n\nnodes: {{n: {{call: a, input: {{q: q}}}}}}\ngraphs:\n{}{}{}",
        graph("a", a),
        graph("b", b),
        graph("c", c)
    )
}

const NONE: &str = "";
const BOUND: &str = "depth: {count: depth, max: config.d, refuse: true}";

#[test]
fn a_cycle_of_calls_needs_a_limit_on_the_depth() {
    let help =
        "| give one of them a limit on its nesting in itself: depth: {count: depth, max: 3, refuse: true}";
    let three = |place: &str, names: &str| {
        format!("DG0515 {place} a graph calls itself, and no limit bounds how deep: {names} {help}")
    };
    compare(&[
        (
            "in a circle",
            graphs((NONE, "b"), (NONE, "c"), (NONE, "a")),
            &[&three("15:17", "a -> b -> c -> a")],
        ),
        ("not all of it", graphs((NONE, "b"), (NONE, "c"), (NONE, "b")), &[&three("23:17", "b -> c -> b")]),
        (
            "one for itself",
            graphs((NONE, "a"), (NONE, "c"), (NONE, "root")),
            &[
                "DG0515 15:17 graph \"a\" calls itself, and no limit bounds how deep | give it a limit...",
                "~DG0508 16:3 nothing calls the graph \"b\"",
            ],
        ),
    ]);
}

#[test]
fn one_limit_on_the_depth_cuts_the_cycles_through_its_graph() {
    let cut = |limits: &str| graphs((NONE, "b"), (limits, "c"), (NONE, "a"));
    for limits in [
        BOUND,
        "depth: {count: depth, max: 1, exit: completed}",
        "other: {count: steps, max: 3, exit: step_limit}, depth: {count: depth, max: 4, refuse: true}",
    ] {
        let bundle = clean(&cut(limits));
        assert_eq!(bundle.graphs.len(), 4);
        assert!(crate::Drawing::of(&bundle).mermaid().contains("subgraph"));
    }
    let uncut = "DG0515 15:17 a graph calls itself, and no limit bounds how deep: a -> b -> c -> a...";
    compare(&[
        ("another meter", cut("s: {count: steps, max: 3, exit: step_limit}"), &[uncut]),
        ("switched off", cut("depth: {count: depth, max: null, refuse: true}"), &[uncut]),
        ("perhaps off", cut("depth: {count: depth, max: config.off, refuse: true}"), &[uncut]),
        // What it would have counted is not known.
        (
            "broken",
            cut("depth: {count: dept, max: 3, refuse: true}"),
            &["DG0210 20:29 unknown meter \"dept\"..."],
        ),
    ]);
}

#[test]
fn the_root_can_call_itself_by_its_name() {
    let text = |limits: &str| {
        format!(
            "deepgraph: 1\nname: root\nstate: {{q: string}}\ninput: [q]\n{limits}start: n\nnodes: {{n: {{call: root, input: {{q: q}}, on_error: {{exit: completed}}}}}}\n"
        )
    };
    clean(&text(&format!("limits: {{{}}}\n", BOUND.replace("config.d", "2"))));
    compare(&[(
        "unbounded",
        text(""),
        &["DG0515 6:19 graph \"root\" calls itself, and no limit bounds how deep..."],
    )]);
}

#[test]
fn tools_call_graphs_again_as_nodes_do() {
    let text = |limits: &str| {
        format!(
            "deepgraph: 1\nname: root\nstate: {{q: string, m: messages}}\ninput: [q]\nlimits: {{t: {{count: turns, max: 3, exit: step_limit}}{limits}}}\n\
             tools: {{again: {{description: Again., call: root, parameters: {{q: string}}}}}}\nstart: a\nnodes:\n  a: {{model: x, messages: m, tools: [again], next: r}}\n  r: {{run_tools: a, next: a}}\n"
        )
    };
    clean(&text(", d: {count: depth, max: 2, refuse: true}"));
    compare(&[("unbounded", text(""), &["DG0515 6:44 graph \"root\" calls itself..."])]);
}
