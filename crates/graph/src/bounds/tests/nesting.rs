//! Graphs that call themselves.

use super::*;

/// Breadth by depth: a level plans queries, each of them is looked up in a branch, and a branch may open a level of its
/// own.
const LEVELS: &str = r#"deepgraph: 1
config:
  breadth: {type: integer, default: 3, minimum: 1}
  levels:  {type: integer, default: 2, minimum: 1}
state: {question: string, found: {type: [string], reduce: union}, report: string}
input:  [question]
output: [report]
concurrency: {graphs: 8}
finally: report
start: research
nodes:
  research: {call: level, input: {goal: question}, update: {found: result.found}, next: {exit: inherit}}
  report:   {model: x, prompt: "{{ question }} {{ found | tojson }}", update: {report: result.text}}
graphs:
  level:
    config:
      breadth: {type: integer, default: 3, minimum: 1}
      levels:  {type: integer, default: 2, minimum: 1}
    state: {goal: string, queries: [string], found: {type: [string], reduce: union}}
    input:  [goal]
    output: [found]
    limits: {depth: {count: depth, max: config.levels, refuse: true}}
    start: plan
    nodes:
      plan: {model: x, prompt: "{{ goal }}", returns: {type: [string]}, update: {queries: result.data}, next: fan}
      fan:
        call: branch
        each: queries
        max_items: config.breadth
        input: {query: item}
        update: {found: result.found}
        on_error: next
  branch:
    state: {query: string, hits: [hit], found: {type: [string], reduce: union}}
    input:  [query]
    output: [found]
    start: look
    nodes:
      look:   {call: search, input: {query: query}, update: {hits: result.hits}, next: digest}
      digest: {model: x, prompt: "{{ query }} {{ hits | tojson }}", update: {found: result.text}, next: deeper}
      deeper: {call: level, input: {goal: query}, update: {found: result.found}, on_error: next}
"#;

#[test]
fn visits_are_in_plan_order_though_instances_differ() {
    let text = r#"deepgraph: 1
state: {q: string, a: string}
input: [q]
start: few
nodes:
  few:  {call: child, input: {q: q}, config: {deep: false}, update: {a: result.a}, next: many}
  many: {call: child, input: {q: q}, config: {deep: true}, update: {a: result.a}}
graphs:
  child:
    config: {deep: {type: boolean, default: false}}
    state: {q: string, a: string}
    input: [q]
    output: [a]
    start: first
    nodes:
      first: {update: {a: q}, next: [{if: config.deep, to: extra}, last]}
      extra: {update: {a: q}, next: last}
      last:  {update: {a: q}}
"#;
    assert_eq!(visits(&of(text), "child"), "first 1, extra 1, last 1");
}

#[test]
fn recursion_is_followed_to_its_depth() {
    let bundle = bundle(LEVELS);
    let bounds = under(&bundle, &[]);
    // The lowest branch: one call. The level above: 1 + 3. Its branch: 1 + 4. The upper level: 1 + 3 · 5. The report.
    assert_eq!(run(&bounds), "model 17 (85), tools 0, ops 12 (36), questions 0, starts 16");
    assert_eq!(instances(&bounds, "level"), "4 in all, 4 at once");
    assert_eq!(instances(&bounds, "branch"), "12 in all, 12 at once");
    assert_eq!(short(&bounds.run.at_once[&Measure::Starts]), "8");
    let at = |breadth: i64, levels: i64| {
        let bounds = under(&bundle, &[("breadth", Value::Int(breadth)), ("levels", Value::Int(levels))]);
        short(&bounds.run.in_all[&Measure::ModelCalls])
    };
    // level(1) = 1 + b; level(d) = 1 + b · (1 + level(d − 1)); one for the report.
    assert_eq!(at(1, 1), "3");
    assert_eq!(at(4, 3), (1 + 1 + 4 * (1 + 1 + 4 * (1 + 1 + 4))).to_string());
    assert_eq!(at(10, 20), "more");
    assert_eq!(at(2, 1000), "?", "so deep is not looked");
}

/// A graph that calls itself, with this limit and this way to the call.
fn itself(limit: &str, nodes: &str) -> Bounds {
    of(&format!(
        "deepgraph: 1\nstate: {{q: string, s: {{type: [string], reduce: append}}}}\ninput: [q]\nstart: go\nnodes:\n  \
         go: {{call: level, input: {{q: q}}}}\ngraphs:\n  level:\n    state: {{q: string, s: {{type: [string], \
         reduce: append}}}}\n    input: [q]\n    limits: {{depth: {{count: depth, max: 3, {limit}}}}}\n    start: \
         again\n{nodes}"
    ))
}

const AGAIN: &str = "    nodes:\n      again: {call: level, input: {q: q}, on_error: next}\n";

#[test]
fn a_depth_with_an_exit_starts_one_more_that_ends_at_once() {
    assert_eq!(instances(&itself("refuse: true", AGAIN), "level"), "3 in all, 3 at once");
    assert_eq!(instances(&itself("exit: step_limit", AGAIN), "level"), "4 in all, 4 at once");
}

#[test]
fn a_depth_that_leads_on_to_a_call_of_the_graph_bounds_nothing() {
    let onward = "    nodes:\n      again: {call: level, input: {q: q}, next: more}\n      more: {call: level, input: \
                  {q: q}}\n";
    let bounds = itself("to: more", onward);
    assert_eq!(instances(&bounds, "level"), "oo in all, oo at once");
    assert_eq!(bounds.unbounded(), [Measure::Starts]);
    let stage = "    finally: more\n    nodes:\n      again: {call: level, input: {q: q}}\n      more: {call: level, \
                 input: {q: q}}\n";
    assert_eq!(instances(&itself("exit: step_limit", stage), "level"), "oo in all, oo at once");
}

#[test]
fn the_configuration_of_a_call_holds_below_it() {
    let text =
        LEVELS.replace("input: {goal: query}, update", "input: {goal: query}, config: {breadth: 1}, update");
    let bounds = under(&bundle(&text), &[("levels", Value::Int(2))]);
    // The lower level has one branch: 1 + 1. Its branch above: 1 + 2. The upper level: 1 + 3 · 3. The report.
    assert_eq!(short(&bounds.run.in_all[&Measure::ModelCalls]), "11");
    assert_eq!(instances(&bounds, "branch"), "6 in all, 6 at once");
}

#[test]
fn what_a_call_hands_down_is_followed() {
    // Half the breadth at each level: 4, 2, 1.
    let text = LEVELS
        .replace("input: {goal: question}", "input: {goal: question, breadth: config.breadth}")
        .replace("input: {goal: query}", "input: {goal: query, breadth: (breadth + 1) // 2}")
        .replace("input: {query: item}", "input: {query: item, breadth: breadth}")
        .replace("input:  [goal]", "input:  [goal, breadth]")
        .replace("input:  [query]", "input:  [query, breadth]")
        .replace("state: {goal: string,", "state: {goal: string, breadth: integer,")
        .replace("state: {query: string,", "state: {query: string, breadth: integer,")
        .replace("max_items: config.breadth", "max_items: breadth");
    let at = |breadth: i64, levels: i64| {
        let bounds =
            under(&bundle(&text), &[("breadth", Value::Int(breadth)), ("levels", Value::Int(levels))]);
        format!("{}; {}", instances(&bounds, "branch"), short(&bounds.run.in_all[&Measure::ModelCalls]))
    };
    // level(3) = 1 + 1; level(2) = 1 + 2 · (1 + 2); level(1) = 1 + 4 · (1 + 7); one for the report.
    assert_eq!(at(4, 3), "20 in all, 20 at once; 34");
    assert_eq!(at(1, 2), "2 in all, 2 at once; 5");
}

#[test]
fn what_a_graph_writes_itself_is_not_known() {
    let text = |more: &str| {
        format!(
            "deepgraph: 1\nstate: {{q: string}}\ninput: [q]\nstart: go\nnodes:\n  go: {{call: child, input: {{q: q, n: \
             3}}}}\ngraphs:\n  child:\n    state: {{q: string, n: integer, s: {{type: [string], reduce: append}}}}\n    \
             input: [q, n]\n    start: a\n    nodes:\n      a: {{update: {{s: q{more}}}, next: b}}\n      b: {{call: \
             search, each: s, max_items: n, input: {{query: item}}}}\n"
        )
    };
    let ops = |more: &str| short(&of(&text(more)).run.in_all[&Measure::OpRuns]);
    assert_eq!(ops(""), "3");
    assert_eq!(ops(", n: n + 1"), "?");
}
