//! Random graphs with ceilings: a lead that sends researchers out in parallel, whose like may send others.

use deepgraph_protocol::{Map, Value};
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

/// What the choices of a seed are drawn from.
fn numbers(seed: u64, test: u8) -> Vec<u32> {
    let mut bytes = [test; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    (0..200).map(|_| rng.next_u32()).collect()
}

fn ceilings(c: &mut Choices<'_>) -> Ceilings {
    let some = |of: &[u64], c: &mut Choices<'_>| (!c.one_in(3)).then(|| c.one(of));
    Ceilings {
        tokens: some(&[500, 2_000, 6_000, 20_000, 60_000], c),
        micro_usd: some(&[0, 900, 5_000, 40_000, 400_000], c),
        model_calls: some(&[1, 3, 8, 20, 60], c),
        tool_calls: some(&[1, 4, 9, 25], c),
    }
}

/// What the report does where its model fails, and the node for it.
fn assembly(assembles: bool) -> (&'static str, &'static str) {
    match assembles {
        true => (
            "on_error: assemble, ",
            "  assemble: {call: think, input: {reflection: question}, update: {report: \"'put together: ' ~ (notes | length)\"}}\n",
        ),
        false => ("", ""),
    }
}

/// The graph of a seed.
pub fn graph(seed: u64) -> Random {
    let numbers = numbers(seed, 11);
    let c = &mut Choices::of(&numbers);
    let ceilings = ceilings(c);
    let assembles = !c.one_in(3);
    let (depth, spreads) = (c.from(1, 2), c.one_in(3));
    let limits = limits(&ceilings.said(), c);
    let (report, assemble) = assembly(assembles);
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
        researcher("researcher", depth, Turns::Drawn, c),
    );
    Random { text, ceilings, assembles }
}

/// The graph of a seed whose ceilings are keys of its configuration, and whose exit is that of a list of researchers:
/// they go on with it.
pub fn that_goes_on(seed: u64) -> Random {
    let numbers = numbers(seed, 12);
    let c = &mut Choices::of(&numbers);
    let ceilings = ceilings(c);
    let assembles = !c.one_in(3);
    let (depth, turns) = (c.from(1, 2), c.from(1, 2));
    let said = ceilings.said();
    let keys: String = said
        .iter()
        .filter_map(|(meter, max)| Some(format!(", {meter}: {{type: number, default: {}}}", max.as_ref()?)))
        .collect();
    let limits = limits(&said.map(|(meter, max)| (meter, max.map(|_| format!("config.{meter}")))), c);
    let (report, assemble) = assembly(assembles);
    let text = format!(
        "deepgraph: 1
config: {{turns: {{type: integer, default: {turns}}}{keys}}}
state: {{question: string, notes: {{type: [string], reduce: append}}, report: string}}
input: [question]
output: [notes, report]
limits:
{limits}  circles: {{count: super_steps, max: 99, exit: iteration_limit}}
finally: report
start: look
nodes:
  look: {{call: researcher, each: \"['a', 'b', 'c', 'd']\", max_items: 4, parallel: {}, input: {{topic: item}}, update: \
         {{notes: result.notes}}, next: {{exit: inherit}}}}
  report: {{{}, prompt: \"{{{{ question }}}} {{{{ notes | join(' ') }}}}\", {report}update: {{report: result.text}}}}
{assemble}graphs:
{}",
        c.from(1, 4),
        model(c),
        researcher("researcher", depth, Turns::Config(turns), c),
    );
    Random { text, ceilings, assembles }
}

impl Ceilings {
    /// As a graph says them: in calls, tokens and dollars.
    fn said(&self) -> [(&'static str, Option<String>); 4] {
        let dollars = |micro: u64| format!("{}", micro as f64 / 1_000_000.0);
        [
            ("tokens", self.tokens.map(|n| n.to_string())),
            ("cost_usd", self.micro_usd.map(dollars)),
            ("model_calls", self.model_calls.map(|n| n.to_string())),
            ("tool_calls", self.tool_calls.map(|n| n.to_string())),
        ]
    }

    /// Those that a configuration sets.
    pub fn of(config: &Map) -> Ceilings {
        let units = |meter: &str, unit: f64| {
            let said = config.get(meter).and_then(Value::as_float)?;
            Some((said * unit).round() as u64)
        };
        Ceilings {
            tokens: units("tokens", 1.0),
            micro_usd: units("cost_usd", 1_000_000.0),
            model_calls: units("model_calls", 1.0),
            tool_calls: units("tool_calls", 1.0),
        }
    }
}

fn limits(said: &[(&'static str, Option<String>); 4], c: &mut Choices<'_>) -> String {
    let mut lines = String::new();
    for ((meter, max), exit) in
        said.iter().zip(["token_budget", "cost_budget", "step_limit", "tool_call_cap"])
    {
        let share = match *meter {
            "tool_calls" => "",
            _ => c.one(&["", ", reserve: 0.3", ", reserve: 0.02", ", warn: 0.5"]),
        };
        if let Some(max) = max {
            lines += &format!("  {meter}: {{count: {meter}, max: {max}{share}, exit: {exit}}}\n");
        }
    }
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

/// How the turns of a researcher are bounded.
#[derive(Clone, Copy)]
enum Turns {
    /// By a number, beside other limits of its own.
    Drawn,
    /// By the configuration, and by nothing else of its own.
    Config(usize),
}

/// A researcher that calls others of its own down to a depth.
fn researcher(name: &str, depth: usize, turns: Turns, c: &mut Choices<'_>) -> String {
    let own = match c.below(3) {
        _ if matches!(turns, Turns::Config(_)) => "",
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
    let below = if depth == 1 { String::new() } else { researcher("helper", depth - 1, turns, c) };
    let (config, turns) = match turns {
        Turns::Drawn => (String::new(), c.from(1, 4).to_string()),
        Turns::Config(n) => {
            (format!("    config: {{turns: {{type: integer, default: {n}}}}}\n"), "config.turns".to_owned())
        }
    };
    format!(
        "  {name}:
{config}    state: {{topic: string, messages: messages, notes: {{type: [string], reduce: append}}, words: string}}
    input: [topic]
    output: [notes]
    tools:
      look: {{call: search, parameters: {{query: string}}, update: {{notes: result.text}}}}
{deeper}    limits:
{own}      turns: {{count: turns, max: {turns}, exit: iteration_limit}}
    finally: compress
    start: open
    nodes:
      open: {{update: {{messages: [{{user: topic}}]}}, next: work}}
      work: {{{}, messages: messages, tools: {offered}, on_error: {{exit: model_error}}, next: [{{if: not result.tool_calls, exit: no_tool_calls}}, act]}}
      act: {{run_tools: work, next: work}}
      compress: {{{}, prompt: \"{{{{ notes | join(' ') }}}}\", on_error: keep, update: {{words: result.text}}, next: keep}}
      keep: {{update: {{notes: \"'of ' ~ topic\"}}}}
{below}",
        model(c),
        model(c),
    )
}
