//! The graphs, as the text of a graph file.

use std::fmt::Write;

/// The op that all of them may call: `n` in, `text` out.
pub const OPS: &str = "
fetch:
  description: Gives a text.
  effect: read
  input:
    n: {type: integer, description: Which text.}
  result:
    text: string
";

/// The node that every graph starts with. It waits for one call, so that a Machine can be made and started before
/// a clock runs.
const GATE: &str = "  gate: {call: fetch, input: {n: 0}, next: ";

fn graph(name: &str, state: &str, rest: &str, first: &str, nodes: &str) -> String {
    format!("deepgraph: 1\nname: {name}\nstate:\n{state}{rest}start: gate\nnodes:\n{GATE}{first}}}\n{nodes}")
}

/// What cuts a loop: more super-steps than it has.
fn bound(steps: usize) -> String {
    format!("limits:\n  steps: {{count: super_steps, max: {}, exit: step_limit}}\n", steps + 10)
}

/// `n1` to `nN`, one after the other. They do nothing.
pub fn chain(nodes: usize) -> String {
    let mut text = String::new();
    for i in 1..nodes {
        let _ = writeln!(text, "  n{i}: {{next: n{}}}", i + 1);
    }
    let _ = writeln!(text, "  n{nodes}: {{next: {{exit: completed}}}}");
    graph("chain", "  done: {type: boolean, default: false}\n", "output: [done]\n", "n1", &text)
}

/// One node that leads to itself while a channel is true. It writes nothing; the count of super-steps ends it.
pub fn condition(steps: usize) -> String {
    let limits = format!("limits:\n  steps: {{count: super_steps, max: {}, exit: step_limit}}\n", steps + 1);
    let rest = format!("output: [go]\n{limits}");
    let nodes = "  turn:\n    next:\n      - {if: go, to: turn}\n      - {exit: completed}\n";
    graph("condition", "  go: {type: boolean, default: true}\n", &rest, "turn", nodes)
}

/// One node that adds one and leads to itself until there are `steps`, in a state with `channels` integers of
/// which it reads and writes the first, and a list of texts that nothing touches.
pub fn counting(steps: usize, channels: usize) -> String {
    let mut state = String::from("  ballast: [string]\n");
    for i in 0..channels {
        let _ = writeln!(state, "  c{i}: {{type: integer, default: 0}}");
    }
    let all: Vec<String> = (0..channels).map(|i| format!("c{i}")).collect();
    let rest = format!("input: [ballast]\noutput: [{}]\n{}", all.join(", "), bound(steps));
    let nodes = format!(
        "  turn:\n    update: {{c0: c0 + 1}}\n    next:\n      - {{if: c0 < {steps}, to: turn}}\n      \
         - {{exit: completed}}\n"
    );
    graph("counting", &state, &rest, "turn", &nodes)
}

/// A node that appends each item of a list to another, and one node behind it.
pub fn fan_out() -> String {
    each("fan_out", "update: {found: item}")
}

/// The same, with a call of an op for each item.
pub fn fan_out_calls() -> String {
    each("fan_out_calls", "call: fetch, input: {n: item}, update: {found: item}")
}

/// The same, with a child graph of three nodes for each item; each hands a number up.
pub fn subgraphs() -> String {
    let parent = each("subgraphs", "call: three, input: {x: item}, update: {found: result.x}");
    format!(
        "{parent}graphs:\n  three:\n    state:\n      x: integer\n    input: [x]\n    output: [x]\n    start: a\n    \
         nodes:\n      a: {{update: {{x: x + 1}}, next: b}}\n      b: {{update: {{x: x + 1}}, next: c}}\n      \
         c: {{update: {{x: x + 1}}, next: {{exit: completed}}}}\n"
    )
}

fn each(name: &str, work: &str) -> String {
    let state = "  items: [integer]\n  found: {type: [integer], reduce: append}\n";
    let nodes = format!(
        "  work: {{each: items, max_items: 100000, {work}, next: join}}\n  join: {{next: {{exit: completed}}}}\n"
    );
    graph(name, state, "input: [items]\noutput: [found]\n", "work", &nodes)
}

/// `width` nodes in one super-step, each of which appends a number, and one node behind them. The state has
/// `channels` channels that nothing touches.
pub fn nodes(width: usize, channels: usize) -> String {
    let mut state = String::from("  found: {type: [integer], reduce: append}\n");
    for i in 0..channels {
        let _ = writeln!(state, "  c{i}: {{type: integer, default: 0}}");
    }
    let mut nodes = String::new();
    for i in 0..width {
        let _ = writeln!(nodes, "  w{i}: {{update: {{found: {i}}}, next: join}}");
    }
    nodes.push_str("  join: {next: {exit: completed}}\n");
    let all: Vec<String> = (0..width).map(|i| format!("w{i}")).collect();
    let first = format!("{{to: [{}]}}", all.join(", "));
    graph("nodes", &state, "input: [found]\noutput: [found]\n", &first, &nodes)
}

/// A loop that calls an op and appends its text, until there are `items`.
pub fn append(items: usize) -> String {
    let nodes = format!(
        "  turn:\n    call: fetch\n    input: {{n: texts | length}}\n    update: {{texts: result.text}}\n    next:\n      \
         - {{if: texts | length < {items}, to: turn}}\n      - {{exit: completed}}\n"
    );
    let state = "  texts: {type: [string], reduce: append}\n";
    graph("append", state, &format!("output: [texts]\n{}", bound(items)), "turn", &nodes)
}

/// A model that calls a tool in every turn until it answers without a call.
pub fn tool_loop(turns: usize) -> String {
    let rest = format!(
        "output: [answer]\ntools:\n  fetch: {{call: fetch, answer_max: 100000}}\nlimits:\n  turns: {{count: turns, \
         max: {}, exit: step_limit}}\n",
        turns + 10
    );
    let nodes = "  agent:\n    model: scripted\n    messages: messages\n    tools: [fetch]\n    next:\n      \
                 - {if: result.tool_calls, to: act}\n      - {update: {answer: result.text}, exit: completed}\n  \
                 act: {run_tools: agent, next: agent}\n";
    let state = "  messages: messages\n  answer: string\n";
    let first = "open";
    let open = "  open: {update: {messages: [{user: \"'Go'\"}]}, next: agent}\n";
    graph("tool_loop", state, &rest, first, &format!("{open}{nodes}"))
}
