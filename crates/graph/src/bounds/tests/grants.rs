//! Limits that cover children, and what they leave to them.

use super::*;

/// A graph that calls a child with a loop of twenty turns for each of up to four items, then once in the stage of
/// `finally`.
fn parent(limits: &str, call: &str) -> Bounds {
    of(&format!(
        "deepgraph: 1\nstate: {{q: string, list: [string], s: {{type: [string], reduce: append}}}}\ninput: [q, \
         list]\nlimits: {{{limits}}}\nfinally: last\nstart: go\nnodes:\n  go: {{call: child, each: list, max_items: 4, \
         parallel: 2, input: {{q: item}}, update: {{s: result.a}}, on_error: next{call}}}\n  last: {{call: child, input: {{q: q}}}}\ngraphs:\n  child:\n    state: {{q: string, \
         m: messages, a: string}}\n    input: [q]\n    output: [a]\n    tools: {{t: {{call: think, parallel: 3}}}}\n    limits: \
         {{turns: {{count: turns, max: 20, exit: step_limit}}}}\n    start: a\n    nodes:\n      a: {{model: x, \
         messages: m, tools: [t], retry: 1, truncate: {{tries: 1}}, next: [{{if: result.tool_calls, to: r}}, {{exit: \
         no_tool_calls}}]}}\n      r: {{run_tools: a, next: a}}\n"
    ))
}

#[test]
fn without_such_limits_children_are_bounded_by_their_own() {
    let bounds = parent("", "");
    assert_eq!(run(&bounds), "model 100 (100), tools 300, ops 300 (900), questions 0, starts 5");
    assert_eq!(instances(&bounds, "child"), "5 in all, 2 at once");
    assert_eq!(short(&bounds.run.in_all[&Measure::Tokens]), "?");
    let tokens = why(&bounds.run.in_all, Measure::Tokens);
    assert!(tokens.contains("a limit on tokens would bound them"), "{tokens}");
}

#[test]
fn a_limit_covers_all_below_and_is_what_a_child_gets_at_most() {
    let bounds = parent(
        "calls: {count: model_calls, max: 30, exit: step_limit}, tools: {count: tool_calls, max: 12, exit: tool_call_cap, reserve: 2}, \
         tokens: {count: tokens, max: 5000, exit: token_budget, reserve: 0.2}, money: {count: cost_usd, max: 1.5, exit: cost_budget}",
        "",
    );
    assert_eq!(run(&bounds), "model 30 (30), tools 12, ops 12 (36), questions 0, starts 5");
    assert_eq!(short(&bounds.run.in_all[&Measure::Tokens]), "5000");
    assert_eq!(short(&bounds.run.in_all[&Measure::CostMicroUsd]), "1500000");
    // Twenty turns are less than thirty calls. Of the calls of tools the one in `finally` may get all.
    assert_eq!(own(&bounds, "child"), "model 20 (20), tools 12, ops 12 (36), questions 0, starts 0");
    let child = &scope(&bounds, "child").with_children;
    assert_eq!(short(&child[&Measure::Tokens]), "5000");
    assert_eq!(why(child, Measure::Tokens), "5000 (what tokens of t grants), which covers all below");
}

#[test]
fn a_grant_is_what_one_call_gets() {
    let bounds = parent(
        "calls: {count: model_calls, max: 30, exit: step_limit}",
        ", grant: {model_calls: 2 + 3, tokens: 700}",
    );
    // The call in `finally` asks for nothing, so it may get all that is left.
    let child = scope(&bounds, "child");
    assert_eq!(short(&child.own[&Measure::ModelCalls]), "20");
    // Three calls of tools for each of 4 × 5 turns by the items, and for 20 in `finally`.
    assert_eq!(run(&bounds), "model 30 (30), tools 120, ops 120 (360), questions 0, starts 5");
    let alone = parent("", ", grant: {model_calls: 5}");
    assert_eq!(short(&alone.run.in_all[&Measure::ModelCalls]), "40");
}

#[test]
fn a_limit_on_the_instance_alone_grants_nothing() {
    let bounds = parent("calls: {count: model_calls, max: 3, scope: own, exit: step_limit}", "");
    assert_eq!(run(&bounds), "model 100 (100), tools 300, ops 300 (900), questions 0, starts 5");
}

#[test]
fn the_reserve_of_a_count_is_for_the_stage_of_finally() {
    let text = "deepgraph: 1\nstate: {q: string, s: {type: [string], reduce: append}}\ninput: [q]\nlimits: {l: {count: \
                model_calls, max: 10, reserve: 0.3, exit: step_limit}}\nfinally: last\nstart: a\nnodes:\n  a: {model: x, \
                prompt: q, next: a}\n  last: {model: x, prompt: q, on_error: next}\n";
    let bounds = of(text);
    assert_eq!(visits(&bounds, "t"), "a 7, last 1");
    assert_eq!(why(&scope(&bounds, "t").own, Measure::ModelCalls), "7 (l less its reserve) + 1 (finally)");
}
