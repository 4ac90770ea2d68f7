//! How large pages get.

use deepgraph_protocol::{ExitReason, Source, Value};
use deepgraph_testkit::{Sim, call, calls, says};

use super::parsed::parse;
use super::{GRAPH, trace};
use crate::engine::supervised;
use crate::support;

/// A run of one loop with so many turns, whose conversation and sources grow from turn to turn.
fn loop_of(turns: usize) -> String {
    let graph = GRAPH.replace("You have used", "Of {{ sources | length }} sources, you have used");
    let bundle = support::graph(&graph);
    let run = Sim::new(&bundle, |step, request| {
        let turn = request.messages.iter().filter(|m| !m.tool_calls.is_empty()).count();
        Ok(match turn < turns && !step.last().starts_with("report") {
            true => calls([call("search", &format!("{{\"query\": \"q{turn}\"}}"))]),
            false => says("enough"),
        })
    })
    .ops(|step, _, _| {
        let text = format!("{step}: {}", "found ".repeat(80));
        let source = Source { id: step.to_string(), text: text.clone(), ..Source::default() };
        let sources = Value::record([(step.as_str(), Value::of(&source))]);
        Ok(Value::record([("text", Value::from(text)), ("sources", sources)]))
    })
    .run(support::question("q"), support::config(&bundle, &[]));
    assert_eq!(run.ended().exit.reason, ExitReason::Completed);
    trace(&bundle, &run.rows).to_html()
}

#[test]
fn a_page_grows_with_what_happened_not_with_its_square() {
    let (short, long) = (loop_of(60), loop_of(240));
    parse(&long);
    let (short, long) = (short.len(), long.len());
    assert!(long < short * 4, "{short} bytes for 60 turns, {long} for 240");
    // What only the page as such takes is in both; four times the rest.
    assert!(long > short * 2, "{short} bytes for 60 turns, {long} for 240");
}

/// The bytes of a page for a run of 3,000 steps and 6 MB of texts: the texts once, and at most 2 KiB a step.
const LARGEST: usize = 6_000_000 + 3_000 * 2_048;

#[test]
fn a_run_of_three_thousand_steps_fits_into_a_page() {
    let bundle = support::stock("deep_research");
    let round = || (0..20).map(|i| supervised::conduct(&format!("topic {i}"))).collect();
    let mut turns: Vec<Vec<_>> = (0..5).map(|_| round()).collect();
    turns.push(vec![supervised::complete()]);
    let text = |step: &str| {
        format!("passage of {step}: {}", "what stands in the source, word for word. ".repeat(150))
    };
    let run = Sim::new(&bundle, |step, request| {
        let turn = supervised::turn(request);
        match supervised::node(step) {
            "researcher" if turn < 9 => Ok(calls([call("search", &format!("{{\"query\": \"q{turn}\"}}"))])),
            _ => supervised::answer(&turns, step, request),
        }
    })
    .ops(|step, op, input| match op {
        "search" => {
            let id = format!("s-{}", step.as_str().len());
            let source = Source { id: id.clone(), text: text(step.as_str()), ..Default::default() };
            let sources = Value::record([(id, Value::of(&source))]);
            let hits = Value::empty_list();
            Ok(Value::record([
                ("text", Value::from(text(step.as_str()))),
                ("hits", hits),
                ("sources", sources),
            ]))
        }
        _ => supervised::ops(step, op, input),
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
    assert!(page.len() < LARGEST, "{} bytes for {steps} steps", page.len());
    let parsed = parse(&page);
    assert!(parsed.text.contains("share lanes"), "many instances are drawn together");
    let passage = text("supervise.1/supervisor_tools.5/ConductResearch.20/tools.9/search.1");
    assert!(parsed.text.matches(&*passage).count() == 1, "a text stands once");
}
