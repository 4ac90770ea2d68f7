//! The page of a run: what it shows, what it must never do, how large it gets.

mod hostile;
mod parsed;
mod size;

use std::sync::Arc;

use deepgraph_graph::Bundle;
use deepgraph_protocol::{Entry, ErrorKind, Map, ScopePath, StepError, Value};
use deepgraph_testkit::{Sim, SimRun, call, calls, fails, says};
use deepgraph_trace::{Row, Trace, fold};

use super::world::{AWAITING_INPUT, SUCCEEDED, USAGE, World, harbour};
use crate::support;
use parsed::parse;

const QUESTION: &str = "What is the range of the Norvane N60?";

/// One loop with a tool, a child graph, and a budget.
const GRAPH: &str = r#"
deepgraph: 1
config:
  model: {type: string, default: scripted}
state:
  question: string
  messages: messages
  sources:  {type: {string: source}, reduce: merge}
  answer:   string
input:  [question]
output: [answer, sources]
tools:
  search: {call: search, update: {sources: result.sources}}
  helper: {call: helper, parameters: {topic: string}, input: {topic: args.topic}, answer: "{{ result.found }}"}
limits:
  turns:  {count: turns, max: 4000, exit: step_limit}
  budget: {count: tokens, max: 10000000, exit: token_budget, reserve: 0.2}
start: open
finally: report
nodes:
  open:
    update: {messages: [{user: question}]}
    next: agent
  agent:
    model: config.model
    system: "You have used {{ limits.turns.used }} turns."
    messages: messages
    tools: [search, helper]
    retry: {max: 2, backoff: 2s}
    on_error: {exit: model_error}
    next:
      - {if: result.tool_calls, to: act}
      - {update: {answer: result.text}, exit: completed}
  act:
    run_tools: agent
    next: agent
  report:
    model: config.model
    prompt: "Report on {{ question }}"
    update: {answer: result.text}
graphs:
  helper:
    config: {model: {type: string, default: scripted}}
    state: {topic: string, found: string}
    input: [topic]
    output: [found]
    start: look
    nodes:
      look:
        model: config.model
        prompt: "{{ topic }}"
        update: {found: result.text}
"#;

/// The trace of a simulated run with its times.
fn trace(bundle: &Arc<Bundle>, rows: &[(ScopePath, Entry)]) -> Trace {
    let rows = rows.iter().map(|(scope, entry)| Row { scope, entry });
    fold(bundle, rows).unwrap_or_else(|e| panic!("the journals do not fold: {e}"))
}

fn search(_: &deepgraph_protocol::StepId, _: &str, input: &Map) -> Result<Value, StepError> {
    let query = input.get("query").and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok(Value::record([("text", Value::from(format!("found: {query}"))), ("sources", Value::empty_map())]))
}

/// A small run: a search that is refused nothing, a call that can not be read, a child, a failed attempt, a report.
fn small(seed: u64) -> (Arc<Bundle>, SimRun) {
    let bundle = support::graph(GRAPH);
    let mut failed = false;
    let run = Sim::new(&bundle, |step, request| {
        let turns = request.messages.iter().filter(|m| m.tool_calls.len() > 1).count();
        Ok(match step.last() {
            "agent.1" => calls([
                call("search", r#"{"query": "tides"}"#),
                call("helper", r#"{"topic": "piers"}"#),
                call("helper", r#"{"subject": "piers"}"#),
            ]),
            "agent.2" if !failed => {
                failed = true;
                return Err(fails(ErrorKind::RateLimited, "slow down"));
            }
            "look.1" => says("Piers stand in water."),
            "report.1" => says("The report."),
            _ => says(&format!("known after {turns} turns")),
        })
    })
    .ops(search)
    .seed(seed)
    .run(support::question("What of tides?"), support::config(&bundle, &[]));
    (bundle, run)
}

/// The body without script, a line for each block.
fn body(page: &str) -> String {
    let from = page.find("<body>").expect("there is a body");
    let until = page.find("<script>").expect("there is a script");
    let mut lines = page[from..until].replace('\n', " ");
    for block in
        ["<section", "<li", "<details", "<div", "<dl", "<tr", "<ol", "<ul", "<p", "<h", "<nav", "<main"]
    {
        lines = lines.replace(block, &format!("\n{block}"));
    }
    lines.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect()
}

#[test]
fn the_page_of_a_small_run() {
    let (bundle, run) = small(0);
    let page = run.trace(&bundle).to_html();
    parse(&page);
    support::snapshot("trace", "page", &body(&page));
}

#[test]
fn a_redacted_page_is_the_same_whatever_finished_first() {
    let page = |seed| {
        let (bundle, run) = small(seed);
        trace(&bundle, &run.rows).redact("2026-01-01").to_html()
    };
    let first = page(0);
    assert!((1..8).all(|seed| page(seed) == first));
    assert!(first.contains("The times are redacted"));
    for gone in ["2026-01-01", "00:00:0"] {
        assert!(!first.contains(gone), "{gone}");
    }
}

#[test]
fn times_charges_and_failures_are_shown() {
    let (bundle, run) = small(0);
    let parsed = parse(&trace(&bundle, &run.rows).to_html());
    for shown in [
        "From 2026-01-01 00:00:00 UTC",
        "1\u{a0}attempt failed",
        "rate_limited: slow down",
        "(then waited 2.0 s)",
        "do not fit",
        "limit budget 10\u{a0}000\u{a0}000, 2\u{a0}000\u{a0}000 of it kept for the finally stage",
        "research ended by",
        "You have used 1 turns.",
        "message 2 as in agent.1",
        "Piers stand in water.",
    ] {
        assert!(parsed.text.contains(shown), "{shown}\n{}", parsed.text);
    }
    assert!(parsed.elements["rect"] > 8 && parsed.elements["path"] == 2, "{:?}", parsed.elements);
}

#[test]
fn the_ledger_ends_where_the_engine_does() {
    let bundle = support::graph(GRAPH);
    for seed in 0..6 {
        for (kind, cancel_at) in [
            (ErrorKind::Network, usize::MAX),
            (ErrorKind::RateLimited, usize::MAX),
            (ErrorKind::StepTimeout, 9),
            (ErrorKind::Refusal, 12),
        ] {
            let mut asked = 0;
            let run = Sim::new(&bundle, |step, _| {
                asked += 1;
                match (asked % 3, step.last()) {
                    (2, _) => Err(fails(kind, "no")),
                    (_, "agent.1") => Ok(calls([
                        call("search", r#"{"query": "tides"}"#),
                        call("helper", r#"{"topic": "piers"}"#),
                        call("helper", r#"{"topic": "locks"}"#),
                    ])),
                    _ => Ok(says("said")),
                }
            })
            .ops(search)
            .seed(seed)
            .cancel_at(cancel_at)
            .run(support::question("q"), support::config(&bundle, &[]));
            let trace = trace(&bundle, &run.rows);
            let last = trace.ledger.last().copied().unwrap_or_default();
            let figures = |spent: deepgraph_protocol::Spent| {
                (spent.tokens, spent.cost_micro_usd, spent.cost_unknown, spent.model_calls)
            };
            assert_eq!(figures(last.used), figures(trace.root.settled), "{kind}, seed {seed}");
            assert_eq!(figures(last.reserved), (0, 0, 0, 0), "{kind}, seed {seed}");
            let mut steps = deepgraph_protocol::Spent::default();
            for scope in trace.root.instances() {
                scope.steps().for_each(|step| steps += step.charged);
            }
            assert_eq!(figures(steps), figures(trace.root.settled), "{kind}, seed {seed}");
        }
    }
}

#[test]
fn the_command_writes_the_page() {
    let world = World::new();
    assert_eq!(world.deepgraph(&["run", QUESTION, "--docs", &harbour()]).code, SUCCEEDED);
    let said = world.deepgraph(&["trace", "last", "--format", "html", "-o", "trace.html"]);
    assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (SUCCEEDED, "", ""));
    let written = std::fs::read_to_string(world.path("trace.html")).expect("the page is there");
    let parsed = parse(&written);
    for shown in [QUESTION, "succeeded", "research_complete", "ConductResearch.1", "54 km", "Timeline"] {
        assert!(parsed.text.contains(shown), "{shown}");
    }
    let printed = world.deepgraph(&["trace", "last", "--format", "html", "-o", "-"]);
    assert_eq!(printed.out.trim_end(), written.trim_end());
    let said = world.deepgraph(&["trace", "last", "--format", "html", "-o", "no/such/page.html"]);
    assert_eq!((said.code, said.out.as_str()), (USAGE, ""));
    assert!(said.err.contains("no/such"), "{}", said.err);
    let text = world.deepgraph(&["trace", "last", "--out", "trace.txt"]);
    assert_eq!((text.code, text.out.as_str()), (SUCCEEDED, ""));
    assert!(
        std::fs::read_to_string(world.path("trace.txt")).expect("written").contains("exit research_complete")
    );
}

#[test]
fn the_page_of_a_run_that_waits_says_for_what() {
    let world = World::new();
    let args = ["run", QUESTION, "--docs", &harbour(), "--set", "plan_review=required"];
    assert_eq!(world.deepgraph(&args).code, AWAITING_INPUT);
    let parsed = parse(&world.deepgraph(&["trace", "last", "--format", "html"]).out);
    for shown in ["awaiting_input", "waits for an answer to review_plan.1", "not ended", "time so far"] {
        assert!(parsed.text.contains(shown), "{shown}");
    }
    let redacted = parse(&world.deepgraph(&["trace", "last", "--format", "html", "--redact"]).out);
    assert!(redacted.text.contains("The times are redacted"), "{}", redacted.text);
}
