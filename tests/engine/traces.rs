//! Traces of the stock graphs as snapshots: what a change of a graph, a prompt or the engine changes is seen at once.

use deepgraph_protocol::{ErrorKind, Value};
use deepgraph_testkit::{Sim, call, calls, fails, says};
use deepgraph_trace::Detail;

use super::supervised::{self, Turns, complete, conduct, node, think, turn};
use crate::support::{self, stock};

fn snapshot(name: &str, turns: &Turns, config: &[(&str, Value)], broken: &str) {
    let bundle = stock("deep_research");
    let run = Sim::new(&bundle, |step, request| {
        if !broken.is_empty() && step.as_str().ends_with(broken) {
            return Err(fails(ErrorKind::Refusal, "not this"));
        }
        supervised::answer(turns, step, request)
    })
    .ops(supervised::ops)
    .seed(5)
    .run(support::question("a question"), support::config(&bundle, config));
    support::snapshot("deep_research", name, &run.trace(&bundle).to_text(Detail::Short));
}

#[test]
fn research_that_is_complete() {
    let turns = vec![vec![think(), conduct("first"), conduct("second")], vec![complete()]];
    snapshot("complete", &turns, &[], "");
}

#[test]
fn research_that_reaches_its_limit() {
    let turns = vec![vec![conduct("first"), conduct("second"), conduct("third")]];
    snapshot("iteration_limit", &turns, &[("max_researcher_iterations", Value::Int(2))], "");
}

#[test]
fn research_with_a_branch_that_fails() {
    let turns = vec![vec![conduct("first"), conduct("second")], vec![complete()]];
    snapshot("failed_branch", &turns, &[], "ConductResearch.2/researcher.2");
}

#[test]
fn a_report_that_is_assembled() {
    let turns = vec![vec![conduct("first")], vec![complete()]];
    snapshot("assembled", &turns, &[], "report.1");
}

#[test]
fn a_quick_answer() {
    let bundle = stock("quick_answer");
    let run = Sim::new(&bundle, |step, request| {
        Ok(match (node(step), turn(request)) {
            ("agent", 0) => calls([call("search", "{\"query\": \"q\"}")]),
            ("agent", _) => says("found"),
            _ => says("The answer. [abcdef-1]"),
        })
    })
    .ops(supervised::ops)
    .run(support::question("a question"), support::config(&bundle, &[]));
    support::snapshot("quick_answer", "one_search", &run.trace(&bundle).to_text(Detail::Short));
}

#[test]
fn only_super_steps_of_the_report_stage_are_shown_as_such() {
    // Nothing is waited for between the last super-step of the research and the first of the report.
    let bundle = support::graph(
        "
deepgraph: 1
state: {answer: string, report: string}
output: [report]
start: say
finally: {to: report}
nodes:
  say: {update: {answer: \"'so'\"}, next: [{exit: completed}]}
  report: {update: {report: answer}}
",
    );
    let run = Sim::new(&bundle, |_, _| Ok(says(""))).run(Default::default(), support::config(&bundle, &[]));
    let text = run.trace(&bundle).to_text(Detail::Short);
    let shown: Vec<&str> =
        text.lines().map(str::trim).filter(|line| line.starts_with("super-step")).collect();
    assert_eq!(shown, ["super-step 1", "super-step 2 (finally)"], "{text}");
}
