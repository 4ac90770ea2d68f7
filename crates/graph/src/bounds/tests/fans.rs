//! Lists, calls side by side, questions, caps of the run.

use super::*;

/// Summaries of documents, merged in between, then one text: a map and a reduce.
const MAP_REDUCE: &str = r#"deepgraph: 1
config:
  model: {type: string, default: extractive}
  most:  {type: integer, default: 200, minimum: 1}
state:
  question: string
  papers:   [string]
  notes:    {type: [string], reduce: append}
  merged:   {type: [string], reduce: append}
  lost:     {type: [string], reduce: append}
  summary:  string
input:  [question, papers]
output: [summary]
concurrency: {model_calls: 4}
start: map
nodes:
  map:
    model: config.model
    each: papers
    max_items: config.most
    parallel: 8
    prompt: "{{ question }} {{ item }}"
    retry: {max: 2}
    update: {notes: result.text}
    on_error: {update: {lost: error.message}}
    next:
      - {if: not notes, exit: no_sources}
      - {if: notes | length > 20, to: merge}
      - reduce
  merge:
    model: config.model
    each: notes | batch(20)
    max_items: config.most // 20
    prompt: "{{ question }} {{ item | tojson }}"
    update: {merged: result.text}
    on_error: next
    next: reduce
  reduce:
    model: config.model
    prompt: "{{ question }} {{ merged | tojson }}"
    update: {summary: result.text}
"#;

#[test]
fn map_reduce_is_bounded_by_its_items() {
    let bundle = bundle(MAP_REDUCE);
    let bounds = under(&bundle, &[]);
    // 200 of four attempts, 10 and one of five.
    assert_eq!(run(&bounds), "model 211 (855), tools 0, ops 0 (0), questions 0, starts 0");
    assert_eq!(visits(&bounds, "t"), "map 1, merge 1, reduce 1");
    // The map has 8 in flight, the merge 10; the run has places for 4.
    let at_once = &bounds.run.at_once[&Measure::ModelCalls];
    assert_eq!((at_once.bound, &*at_once.why), (Bound::AtMost(4), "4 (concurrency: model_calls)"));
    let few = under(&bundle, &[("most", Value::Int(40))]);
    assert_eq!(run(&few), "model 43 (175), tools 0, ops 0 (0), questions 0, starts 0");
}

/// A node over a list, with these bounds.
fn each(list: &str, most: &str) -> Bounds {
    of(&format!(
        "deepgraph: 1\nstate: {{q: string, n: {{type: integer, minimum: 0, maximum: 7}}, free: integer, few: {{type: \
         [string], max_items: 4}}, sum: {{type: integer, reduce: sum, maximum: 3}}, s: {{type: [string], reduce: \
         append}}}}\ninput: [q, n, free, few]\nstart: a\nnodes:\n  a: {{call: search, input: {{query: item}}, each: \
         {list}, max_items: {most}, update: {{s: result.text}}}}\n"
    ))
}

#[test]
fn the_number_of_items_is_read_where_it_is_declared() {
    let ops = |list: &str, most: &str| short(&each(list, most).run.in_all[&Measure::OpRuns]);
    assert_eq!(ops("s", "5"), "5");
    assert_eq!(ops("s", "2 + 3 * 2"), "8");
    assert_eq!(ops("s", "n"), "7", "the maximum of a channel");
    assert_eq!(ops("few", "20"), "4", "the longest list of a channel");
    assert_eq!(ops("[q, q]", "20"), "2", "a list that is written out");
    assert_eq!(ops("s", "n + 1"), "?");
    assert_eq!(ops("s", "free"), "?");
    assert_eq!(ops("s", "sum"), "?", "sums are not held against their maximum");
    let reason = each("s", "free").run.in_all[&Measure::OpRuns].why.clone();
    assert!(reason.contains("`max_items` of a is `free`"), "{reason}");
}

/// A lead that calls `child` and `other` by tools.
fn lead(tools: &str, limits: &str) -> Bounds {
    of(&format!(
        "deepgraph: 1\nstate: {{q: string, m: messages, s: {{type: [string], reduce: append}}}}\ninput: [q]\ntools:\n  \
         go: {{call: child, parameters: {{q: string}}, update: {{s: result.a}}, {tools}}}\n  say: {{ask: \"{{{{ args.q \
         }}}}\", parameters: {{q: string}}, parallel: 1}}\nlimits: {{turns: {{count: turns, max: 3, exit: \
         step_limit}}{limits}}}\nstart: a\nnodes:\n  a: {{model: x, messages: m, tools: [go, say], next: [{{if: not \
         result.tool_calls, exit: no_tool_calls}}, r]}}\n  r: {{run_tools: a, next: a}}\ngraphs:\n  child:\n    state: \
         {{q: string, a: string}}\n    input: [q]\n    output: [a]\n    start: one\n    nodes:\n      one: {{model: x, \
         prompt: q, update: {{a: result.text}}, next: two}}\n      two: {{call: search, input: {{query: q}}}}\n"
    ))
}

#[test]
fn calls_of_a_turn_are_bounded_by_parallel_where_it_refuses() {
    let refusing = lead("parallel: 4", "");
    assert_eq!(run(&refusing), "model 15 (75), tools 15, ops 12 (36), questions 3, starts 12");
    assert_eq!(instances(&refusing, "child"), "12 in all, 4 at once");
    assert_eq!(short(&refusing.run.at_once[&Measure::ModelCalls]), "4");
    assert_eq!(short(&refusing.run.at_once[&Measure::OpRuns]), "4");
    let queueing = lead("parallel: 4, overflow: queue", "");
    assert_eq!(run(&queueing), "model oo (oo), tools oo, ops oo (oo), questions 3, starts oo");
    assert_eq!(instances(&queueing, "child"), "oo in all, 4 at once");
    assert_eq!(queueing.unbounded(), [Measure::ModelCalls, Measure::OpRuns, Measure::Starts]);
    let limited = lead("parallel: 4, overflow: queue", ", l: {count: [go], max: 9, refuse: true}");
    assert_eq!(run(&limited), "model 12 (60), tools 12, ops 9 (27), questions 3, starts 9");
    assert_eq!(instances(&limited, "child"), "9 in all, 4 at once");
}

#[test]
fn calls_that_one_limit_counts_are_out_together() {
    let bounds = under(&stock_graph("quick_answer"), &[]);
    // Searches and reads, eight of both.
    assert_eq!(short(&bounds.run.at_once[&Measure::OpRuns]), "8");
}

#[test]
fn approvals_are_questions_that_nothing_bounds() {
    let bounds = lead("parallel: 1, approve: true", ", l: {count: [go], max: 2, exit: step_limit}");
    assert_eq!(run(&bounds), "model 5 (25), tools 5, ops 2 (6), questions oo, starts 2");
    assert_eq!(bounds.unbounded(), [], "a question costs nothing");
}

/// One question in three ways: answered at once, looked up, handed to the graph `deep`.
const ROUTER: &str = r#"deepgraph: 1
config:
  small: {type: string, default: extractive}
  way:   {enum: [any, direct, quick, deep], default: any}
state: {question: string, hits: [hit], answer: string}
input:  [question]
output: [answer]
exits:  {answered: completion}
start:
  - {if: config.way == "direct", to: direct}
  - {if: config.way == "quick", to: look}
  - {if: config.way == "deep", to: deep}
  - sort
nodes:
  sort:
    model: config.small
    prompt: "{{ question }}"
    returns: {way: {enum: [direct, quick, deep]}}
    retry: {max: 2}
    on_error: look
    next:
      - {if: result.data.way == "direct", to: direct}
      - {if: result.data.way == "deep", to: deep}
      - look
  direct: {model: config.small, prompt: "{{ question }}", update: {answer: result.text}, next: {exit: answered}}
  look:
    call: search
    input: {query: question}
    update: {hits: result.hits}
    next: [{if: not hits, to: deep}, brief]
  brief:
    model: config.small
    prompt: "{{ question }} {{ hits | tojson }}"
    returns: {enough: boolean, answer: string}
    next:
      - {if: not result.data.enough, to: deep}
      - {update: {answer: result.data.answer}, exit: answered}
  deep: {call: deep_one, input: {question: question}, update: {answer: result.answer}, next: {exit: inherit}}
graphs:
  deep_one:
    config: {small: {type: string, default: extractive}}
    state: {question: string, m: messages, answer: string}
    input:  [question]
    output: [answer]
    tools: {search: {call: search, parallel: 2}}
    limits: {turns: {count: turns, max: 4, exit: step_limit}}
    start: open
    nodes:
      open:  {update: {m: [{user: question}]}, next: agent}
      agent:
        model: config.small
        messages: m
        tools: [search]
        next: [{if: result.tool_calls, to: act}, {update: {answer: result.text}, exit: completed}]
      act:   {run_tools: agent, next: agent}
"#;

#[test]
fn a_router_is_as_dear_as_its_dearest_way() {
    let bundle = bundle(ROUTER);
    let at = |way: &str| run(&under(&bundle, &[("way", Value::from(way))]));
    // Sort (4 attempts), look, brief (5), then the deep graph: 4 turns, 8 searches.
    assert_eq!(at("any"), "model 6 (29), tools 8, ops 9 (27), questions 0, starts 1");
    assert_eq!(at("direct"), "model 1 (5), tools 0, ops 0 (0), questions 0, starts 0");
    assert_eq!(at("quick"), "model 5 (25), tools 8, ops 9 (27), questions 0, starts 1");
    assert_eq!(at("deep"), "model 4 (20), tools 8, ops 8 (24), questions 0, starts 1");
    let direct = under(&bundle, &[("way", Value::from("direct"))]);
    assert_eq!(direct.scopes.len(), 1, "the deep graph is not reached");
}

#[test]
fn tools_that_start_one_graph_with_other_lists_are_not_alike() {
    let bounds = of("
deepgraph: 1
state: {m: messages}
input: [m]
limits: {turns: {count: turns, max: 3, exit: step_limit}, calls: {count: [few, many], max: 2, refuse: true}}
tools:
  few: {call: child, input: {list: [1]}}
  many: {call: child, input: {list: [1, 2, 3]}}
start: a
nodes:
  a: {model: x, messages: m, tools: [few, many], next: [{if: result.tool_calls, to: act}]}
  act: {run_tools: a, next: a}
graphs:
  child:
    state: {list: {type: [integer], optional: true}, out: {type: [string], reduce: append}}
    input: [list]
    start: b
    nodes: {b: {each: list, max_items: 9, model: x, prompt: p, update: {out: result.text}}}
");
    let at_once = short(&bounds.run.at_once[&Measure::ModelCalls]);
    assert!(at_once == "6" || at_once == "8", "two calls of `many` have six model calls out: {at_once}");
}
