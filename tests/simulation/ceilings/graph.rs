//! Random graphs with ceilings: a lead that sends researchers out in parallel, whose like may send others.

use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};

use crate::bounds::choices::Choices;

/// A random graph.
pub struct Random {
    pub text: String,
    pub ceilings: Ceilings,
    /// Whether the report is put together by an op where its model has failed.
    pub assembles: bool,
}

/// The ceilings of its root, over all below. None: it has none of these.
pub struct Ceilings {
    pub tokens: Option<u64>,
    pub micro_usd: Option<u64>,
    pub model_calls: Option<u64>,
    pub tool_calls: Option<u64>,
}

/// The graph of a seed.
pub fn graph(seed: u64) -> Random {
    let mut bytes = [11; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let numbers: Vec<u32> = (0..200).map(|_| rng.next_u32()).collect();
    let c = &mut Choices::of(&numbers);
    let some = |of: &[u64], c: &mut Choices<'_>| (!c.one_in(3)).then(|| c.one(of));
    let ceilings = Ceilings {
        tokens: some(&[500, 2_000, 6_000, 20_000, 60_000], c),
        micro_usd: some(&[0, 900, 5_000, 40_000, 400_000], c),
        model_calls: some(&[1, 3, 8, 20, 60], c),
        tool_calls: some(&[1, 4, 9, 25], c),
    };
    let assembles = !c.one_in(3);
    let (depth, spreads) = (c.from(1, 2), c.one_in(3));
    let limits = limits(&ceilings, c);
    let report = if assembles { "on_error: assemble, " } else { "" };
    let assemble = if assembles {
        "  assemble: {call: think, input: {reflection: question}, update: {report: \"'put together: ' ~ (notes | length)\"}}\n"
    } else {
        ""
    };
    let (start, spread) = match spreads {
        true => (
            "spread",
            format!(
                "  spread: {{call: researcher, each: \"['a', 'b', 'c', 'd']\", max_items: 4, parallel: {}, input: {{topic: item}}, \
                 update: {{notes: result.notes}}, on_error: next, next: open}}\n",
                c.from(1, 4)
            ),
        ),
        false => ("open", String::new()),
    };
    let text = format!(
        "deepgraph: 1
state: {{question: string, messages: messages, notes: {{type: [string], reduce: append}}, report: string}}
input: [question]
output: [notes, report]
tools:
  go: {{call: researcher, parameters: {{topic: string}}, input: {{topic: args.topic}}, update: {{notes: result.notes}}, parallel: {}, overflow: {}}}
  look: {{call: search, parameters: {{query: string}}}}
limits:
{limits}  turns: {{count: turns, max: {}, exit: iteration_limit}}
finally: report
start: {start}
nodes:
{spread}  open: {{update: {{messages: [{{user: question}}]}}, next: lead}}
  lead: {{{}, messages: messages, tools: [go, look], next: [{{if: not result.tool_calls, exit: no_tool_calls}}, act]}}
  act: {{run_tools: lead, next: lead}}
  report: {{{}, prompt: \"{{{{ question }}}} {{{{ notes | join(' ') }}}}\", {report}update: {{report: result.text}}}}
{assemble}graphs:
{}",
        c.from(1, 4),
        c.one(&["refuse", "queue"]),
        c.from(1, 6),
        model(c),
        model(c),
        researcher("researcher", depth, c),
    );
    Random { text, ceilings, assembles }
}

fn limits(ceilings: &Ceilings, c: &mut Choices<'_>) -> String {
    let mut lines = String::new();
    let mut add = |meter: &str, max: Option<String>, exit: &str, reserve: &str| {
        if let Some(max) = max {
            lines += &format!("  {meter}: {{count: {meter}, max: {max}{reserve}, exit: {exit}}}\n");
        }
    };
    let share = |c: &mut Choices<'_>| c.one(&["", ", reserve: 0.3", ", reserve: 0.02", ", warn: 0.5"]);
    add("tokens", ceilings.tokens.map(|n| n.to_string()), "token_budget", share(c));
    let dollars = |micro: u64| format!("{}", micro as f64 / 1_000_000.0);
    add("cost_usd", ceilings.micro_usd.map(dollars), "cost_budget", share(c));
    add("model_calls", ceilings.model_calls.map(|n| n.to_string()), "step_limit", share(c));
    add("tool_calls", ceilings.tool_calls.map(|n| n.to_string()), "tool_call_cap", "");
    lines
}

/// What is called and how often it is tried.
fn model(c: &mut Choices<'_>) -> String {
    format!(
        "model: m{}, max_output: {}, timeout: 60s, retry: {{max: {}, backoff: 1s}}",
        c.below(6),
        c.one(&[10, 50, 200, 1_000]),
        c.from(1, 3)
    )
}

/// A researcher that calls others of its own down to a depth.
fn researcher(name: &str, depth: usize, c: &mut Choices<'_>) -> String {
    let own = match c.below(3) {
        0 => "      own: {count: tokens, max: 3000, exit: token_budget}\n",
        1 => "      own: {count: model_calls, max: 4, reserve: 0.3, exit: step_limit}\n",
        _ => "",
    };
    let (deeper, offered) = match depth {
        1 => (String::new(), "[look]"),
        _ => (
            "      deeper: {call: helper, parameters: {topic: string}, input: {topic: args.topic}, update: {notes: \
             result.notes}}\n"
                .to_owned(),
            "[look, deeper]",
        ),
    };
    let below = if depth == 1 { String::new() } else { researcher("helper", depth - 1, c) };
    format!(
        "  {name}:
    state: {{topic: string, messages: messages, notes: {{type: [string], reduce: append}}, words: string}}
    input: [topic]
    output: [notes]
    tools:
      look: {{call: search, parameters: {{query: string}}, update: {{notes: result.text}}}}
{deeper}    limits:
{own}      turns: {{count: turns, max: {}, exit: iteration_limit}}
    finally: compress
    start: open
    nodes:
      open: {{update: {{messages: [{{user: topic}}]}}, next: work}}
      work: {{{}, messages: messages, tools: {offered}, on_error: {{exit: model_error}}, next: [{{if: not result.tool_calls, exit: no_tool_calls}}, act]}}
      act: {{run_tools: work, next: work}}
      compress: {{{}, prompt: \"{{{{ notes | join(' ') }}}}\", on_error: keep, update: {{words: result.text}}, next: keep}}
      keep: {{update: {{notes: \"'of ' ~ topic\"}}}}
{below}",
        c.from(1, 4),
        model(c),
        model(c),
    )
}
