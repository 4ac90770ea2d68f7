//! Limits that cut cycles, and what they leave.

use super::*;

/// A loop of a model with tools `t`, `u` and `out`; `out` leads to `b`.
fn react(limits: &str) -> String {
    format!(
        "deepgraph: 1\nconfig: {{k: {{type: integer, default: 3, minimum: 1}}}}\nstate: {{q: string, s: {{type: \
         [string], reduce: append}}, m: messages}}\ninput: [q]\nstart: a\ntools:\n  t: {{call: think}}\n  u: {{call: \
         think, parallel: 2}}\n  out: {{next: b}}\nlimits: {{{limits}}}\nnodes:\n  a: {{model: x, messages: m, \
         tools: [t, u, out], retry: 2, next: [{{if: not result.tool_calls, exit: no_tool_calls}}, r]}}\n  r: \
         {{run_tools: a, next: a}}\n  b: {{update: {{s: q}}, next: {{exit: completed}}}}\n"
    )
}

fn case(limits: &str) -> (String, String, String) {
    let bounds = of(&react(limits));
    (own(&bounds, "t"), visits(&bounds, "t"), tools(&bounds, "t"))
}

fn said(model: &str, visits: &str, tools: &str) -> (String, String, String) {
    (model.to_owned(), visits.to_owned(), tools.to_owned())
}

#[test]
fn turns_bound_the_loop_and_counted_names_the_calls() {
    // Two attempts and two overflows a turn.
    assert_eq!(
        case(
            "turns: {count: turns, max: 4, exit: step_limit}, l: {count: [t, out], max: config.k, exit: step_limit}"
        ),
        said(
            "model 4 (16), tools 11, ops 11 (33), questions 0, starts 0",
            "a 4, r 4, b 1",
            "t 3, u 8, out 3"
        )
    );
}

#[test]
fn all_calls_together_are_bounded_by_their_meter() {
    assert_eq!(
        case(
            "turns: {count: turns, max: 4, exit: step_limit}, l: {count: tool_calls, max: 7, exit: step_limit}"
        ),
        said("model 4 (16), tools 7, ops 7 (21), questions 0, starts 0", "a 4, r 4, b 1", "t 7, u 7, out 7")
    );
}

#[test]
fn calls_that_not_all_count_are_not_bounded() {
    for filter in ["if: \"args.reflection == 'x'\"", "per: args.reflection"] {
        let limits = format!(
            "turns: {{count: turns, max: 4, exit: step_limit}}, l: {{count: [t], max: 3, refuse: true, {filter}}}"
        );
        let (own, _, tools) = case(&limits);
        assert_eq!(tools, "t oo, u 8, out oo", "{filter}");
        assert_eq!(own, "model 4 (16), tools oo, ops oo (oo), questions 0, starts 0");
    }
}

#[test]
fn a_paid_turn_is_one_past_the_bound() {
    let (own, visits, _) = case(
        "l: {count: paid_turns, max: 3, exit: step_limit}, c: {count: tool_calls, max: 5, exit: step_limit}",
    );
    assert_eq!(own, "model 4 (16), tools 5, ops 5 (15), questions 0, starts 0");
    assert_eq!(visits, "a 4, r 4, b 1");
}

#[test]
fn paid_turns_bound_nothing_where_no_tools_are_run() {
    let text = react("l: {count: paid_turns, max: 3, exit: step_limit}")
        .replace(
            "[{if: not result.tool_calls, exit: no_tool_calls}, r]",
            "[{if: result.tool_calls, to: r}, w]",
        )
        .replace("  b: {", "  w: {update: {s: q}, next: a}\n  b: {");
    let bounds = of(&text);
    assert_eq!(short(&scope(&bounds, "t").own[&Measure::Turns]), "oo");
}

#[test]
fn paid_turns_that_only_refuse_calls_bound_nothing() {
    let (own, _, _) = case(
        "l: {count: paid_turns, max: 3, refuse: true}, c: {count: tool_calls, max: 5, exit: step_limit}",
    );
    assert!(own.starts_with("model oo (oo), tools 5"), "{own}");
}

#[test]
fn calls_that_do_not_fit_are_not_sent() {
    // What `w` asks for does not fit either, so it starts again and again; nothing is sent.
    let text = "deepgraph: 1\nstate: {q: string}\ninput: [q]\nstart: a\nlimits: {l: {count: tokens, max: 50, to: \
                w}}\nnodes:\n  a: {model: x, prompt: q}\n  w: {model: x, prompt: q}\n";
    let bounds = of(text);
    assert_eq!(visits(&bounds, "t"), "a 1, w oo");
    // By `a`, and once after an overshoot.
    assert_eq!(own(&bounds, "t"), "model 2 (10), tools 0, ops 0 (0), questions 0, starts 0");
}

#[test]
fn a_limit_on_model_calls_bounds_the_attempts() {
    for scope in ["", ", scope: own"] {
        let limits = format!(
            "l: {{count: model_calls, max: 6, exit: step_limit{scope}}}, c: {{count: tool_calls, max: 5, refuse: true}}"
        );
        assert_eq!(case(&limits).0, "model 6 (6), tools 5, ops 5 (15), questions 0, starts 0");
    }
}

#[test]
fn super_steps_bound_everything_that_they_hold() {
    let (own, visits, _) = case("l: {count: super_steps, max: 9, exit: step_limit}");
    // Every other one is a turn; the last leads out.
    assert!(own.starts_with("model 5 (20)"), "{own}");
    assert_eq!(visits, "a 5, r 4, b 1");
    let bounds = of(&react("l: {count: super_steps, max: 9, exit: step_limit}"));
    assert_eq!(short(&scope(&bounds, "t").own[&Measure::SuperSteps]), "9");
}

/// Nodes that write text, of these ways.
fn pass(start: &str, nodes: &[(&str, &str)], more: &str) -> String {
    let nodes: String =
        nodes.iter().map(|(n, rest)| format!("  {n}: {{update: {{s: q}}{rest}}}\n")).collect();
    format!(
        "deepgraph: 1\nconfig: {{way: {{enum: [left, right, any], default: any}}}}\nstate: {{q: string, s: {{type: \
         [string], reduce: append}}}}\ninput: [q]\nstart: {start}\n{more}nodes:\n{nodes}"
    )
}

#[test]
fn branches_of_which_one_is_taken_are_counted_once() {
    let nodes = [
        ("a", ", next: [{if: q, to: b}, c]"),
        ("b", ", next: d"),
        ("c", ", next: d"),
        ("d", ", next: [{if: q, to: e}, f]"),
        ("e", ", next: g"),
        ("f", ", next: g"),
        ("g", ""),
    ];
    let bounds = of(&pass("a", &nodes, ""));
    assert_eq!(visits(&bounds, "t"), "a 1, b 1, c 1, d 1, e 1, f 1, g 1");
    assert_eq!(short(&scope(&bounds, "t").own[&Measure::SuperSteps]), "5");
}

#[test]
fn branches_side_by_side_meet_once_where_they_are_waited_for() {
    let nodes = |after: &'static str| {
        [("a", ", next: {to: [b, c]}"), ("b", ", next: d"), ("c", ", next: d"), ("d", after)]
    };
    assert_eq!(visits(&of(&pass("a", &nodes(", after: [b, c]"), "")), "t"), "a 1, b 1, c 1, d 1");
    // Both come at the same time here, so it runs once. That is not seen.
    assert_eq!(visits(&of(&pass("a", &nodes(""), "")), "t"), "a 1, b 1, c 1, d 2");
}

#[test]
fn conditions_on_the_configuration_are_decided() {
    let nodes = [
        ("a", ", next: [{if: config.way == 'left', to: b}, {if: config.way == 'right' and q, to: c}, d]"),
        ("b", ""),
        ("c", ""),
        ("d", ""),
    ];
    let bundle = bundle(&pass("a", &nodes, ""));
    let at = |way: &str| visits(&under(&bundle, &[("way", Value::from(way))]), "t");
    assert_eq!(at("left"), "a 1, b 1");
    assert_eq!(at("right"), "a 1, c 1, d 1");
    assert_eq!(at("any"), "a 1, d 1");
}

#[test]
fn a_limit_that_leads_elsewhere_moves_the_start() {
    // The third visit of b becomes one of c.
    let nodes = [("a", ", next: b"), ("b", ", next: [{if: q, to: a}, {exit: completed}]"), ("c", "")];
    let bounds = of(&pass("a", &nodes, "limits: {l: {count: [b], max: 2, to: c}}\n"));
    assert_eq!(visits(&bounds, "t"), "a 3, b 2, c 1");
}

#[test]
fn a_refused_start_is_a_visit_and_leads_on() {
    let nodes = [("a", ", next: b"), ("b", ", next: a, on_error: c"), ("c", "")];
    let bounds = of(&pass("a", &nodes, "limits: {l: {count: [b], max: 2, refuse: true}}\n"));
    assert_eq!(visits(&bounds, "t"), "a 3, b 3, c 1");
}

#[test]
fn a_start_that_the_stage_of_finally_refuses_can_go_round_for_ever() {
    // No limit ends the stage: past the bound `n` fails, `m` runs, and leads to `n` again.
    let text = "deepgraph: 1\nstate: {q: string, s: {type: [string], reduce: append}}\ninput: [q]\nstart: a\nfinally: \
                n\nlimits: {l: {count: [n], max: 3, exit: step_limit}}\nnodes:\n  a: {update: {s: q}}\n  n: {model: x, \
                prompt: q, on_error: m, next: m}\n  m: {model: x, prompt: q, next: n}\n";
    let bounds = of(text);
    assert_eq!(visits(&bounds, "t"), "a 1, n oo, m oo");
    assert_eq!(bounds.unbounded(), [Measure::ModelCalls]);
    let reason = why(&bounds.run.in_all, Measure::ModelCalls);
    assert!(reason.contains("n, m"), "{reason}");
}
