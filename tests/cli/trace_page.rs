//! The page of a run: what it shows, what it must never do, how large it gets.

mod parsed;

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
        "1 attempt failed",
        "rate_limited: slow down",
        "(then waited 2.0 s)",
        "do not fit",
        "limit budget 10\u{a0}000\u{a0}000, 2\u{a0}000\u{a0}000 of it kept for the finally stage",
        "research ended by",
        "You have used 1 turns.",
        "messages 2 to",
        "Piers stand in water.",
    ] {
        assert!(parsed.text.contains(shown), "{shown}\n{}", parsed.text);
    }
    assert!(parsed.elements["rect"] > 8 && parsed.elements["path"] == 2, "{:?}", parsed.elements);
}

/// Texts that would do harm in a page that took them as they are.
const HOSTILE: [&str; 9] = [
    "</script><img src=x onerror=alert(1)>",
    "</style></title></textarea><svg onload=alert(1)>",
    "]]><!--<script>alert(1)</script>",
    "\" onmouseover=\"alert(1)\" x='",
    "&lt;b&gt; &amp;quot; &#60;i&#62;",
    "javascript:alert(1)",
    "\0nul \u{1b}[2J \u{85}",
    "\u{202e}turned\u{2066} \u{200b}\u{e0041}",
    "{{ config }} {% raw %} ${x} `x`",
];

#[test]
fn texts_from_outside_stay_texts() {
    let bundle = support::graph(GRAPH);
    for hostile in HOSTILE {
        let long = format!("{hostile} {}", "and so on ".repeat(60));
        let said = |text: &str| Value::from(text).to_json_text();
        let mut failed = false;
        let run = Sim::new(&bundle, |step, _| {
            Ok(match step.last() {
                "agent.1" => calls([
                    call("search", &format!("{{\"query\": {}}}", said(&long))),
                    call("helper", &format!("{{\"topic\": {}}}", said(hostile))),
                    call(hostile, hostile),
                    call("search", hostile),
                ]),
                "agent.2" if !failed => {
                    failed = true;
                    return Err(fails(ErrorKind::Unavailable, hostile));
                }
                "report.1" => return Err(fails(ErrorKind::Refusal, &long)),
                _ => says(&long),
            })
        })
        .ops(|_, _, _| {
            let source = Value::record([("text", Value::from(&*long)), ("id", Value::from(hostile))]);
            let sources = Value::record([(hostile, source)]);
            Ok(Value::record([("text", Value::from(hostile)), ("sources", sources)]))
        })
        .run(support::question(hostile), support::config(&bundle, &[]));
        for trace in [trace(&bundle, &run.rows), run.trace(&bundle)] {
            let page = trace.to_html();
            let parsed = parse(&page);
            assert_eq!((parsed.elements["script"], parsed.elements["style"]), (1, 1), "{hostile:?}");
            let seen = page.chars().find(|c| (c.is_control() && *c != '\n' && *c != '\t') || is_hidden(*c));
            assert_eq!(seen, None, "{hostile:?}");
            if !hostile.contains(['\0', '\u{202e}']) {
                assert!(parsed.text.matches(hostile).count() > 5, "{hostile:?} is shown as it is");
            }
        }
    }
}

fn is_hidden(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}' | '\u{e0000}'..='\u{e007f}')
}

#[test]
fn characters_that_can_not_be_seen_are_named() {
    let bundle = support::graph(GRAPH);
    let run = Sim::new(&bundle, |_, _| Ok(says("a\0b \u{202e}c")))
        .run(support::question("q"), support::config(&bundle, &[]));
    assert!(parse(&run.trace(&bundle).to_html()).text.contains("a␀b ⟨U+202E⟩c"));
}

/// The bytes of a page for a run of 3,000 steps and 6 MB of texts: the texts once, and at most 2 KiB a step.
const LARGEST: usize = 6_000_000 + 3_000 * 2_048;

#[test]
fn a_run_of_three_thousand_steps_fits_into_a_page() {
    let bundle = support::stock("deep_research");
    let round =
        || (0..20).map(|i| super::super::engine::supervised::conduct(&format!("topic {i}"))).collect();
    let mut turns: Vec<Vec<_>> = (0..5).map(|_| round()).collect();
    turns.push(vec![super::super::engine::supervised::complete()]);
    let text = |step: &str| {
        format!("passage of {step}: {}", "what stands in the source, word for word. ".repeat(150))
    };
    let run = Sim::new(&bundle, |step, request| {
        let turn = super::super::engine::supervised::turn(request);
        match super::super::engine::supervised::node(step) {
            "researcher" if turn < 9 => Ok(calls([call("search", &format!("{{\"query\": \"q{turn}\"}}"))])),
            _ => super::super::engine::supervised::answer(&turns, step, request),
        }
    })
    .ops(|step, op, input| match op {
        "search" => {
            let id = format!("s-{}", step.as_str().len());
            let source = deepgraph_protocol::Source {
                id: id.clone(),
                text: text(step.as_str()),
                ..Default::default()
            };
            let sources = Value::record([(id, Value::of(&source))]);
            let hits = Value::empty_list();
            Ok(Value::record([
                ("text", Value::from(text(step.as_str()))),
                ("hits", hits),
                ("sources", sources),
            ]))
        }
        _ => super::super::engine::supervised::ops(step, op, input),
    })
    .run(
        support::question("a question"),
        support::config(
            &bundle,
            &[
                ("max_researcher_iterations", Value::Int(100)),
                ("max_concurrent_research_units", Value::Int(20)),
                ("token_budget", Value::Int(1_000_000_000)),
            ],
        ),
    );
    let trace = trace(&bundle, &run.rows);
    let steps: usize = trace.root.instances().iter().map(|scope| scope.steps().count()).sum();
    assert!(steps > 3_000, "{steps}");
    let page = trace.to_html();
    std::fs::write("/tmp/dgpage/big.html", &page).unwrap();
    assert!(page.len() < LARGEST, "{} bytes for {steps} steps", page.len());
    let parsed = parse(&page);
    assert!(parsed.text.contains("share lanes"), "many instances are drawn together");
    let passage = text("supervise.1/supervisor_tools.5/ConductResearch.20/tools.9/search.1");
    assert!(parsed.text.matches(&*passage).count() == 1, "a text stands once");
}
