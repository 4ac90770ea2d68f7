//! The stock graphs in a storm of faults.

use deepgraph_testkit::{Faults, simulate as simulate_with};

use super::simulate;
use crate::support::{self, stock};

#[test]
fn a_thousand_runs_of_deep_research_in_a_storm_of_faults_break_nothing() {
    let report = simulate("deep_research", &stock("deep_research"), 0..1000);
    // It really happened.
    for fault in [
        "crash",
        "takeover",
        "fenced",
        "duplicate",
        "late",
        "lost",
        "timed_out",
        "cancelled",
        "misfit",
        "unanswered",
        "rate_limited",
        "unavailable",
        "network",
        "context_overflow",
        "refusal",
        "tool",
    ] {
        assert!(report.faults.get(fault).is_some_and(|count| *count > 9), "too few {fault}: {report}");
    }
    assert!(report.compared > 500, "{report}");
    assert!(report.further > 500, "runs that were over went on: {report:?}");
    let exits = |graph: &str| report.exits.get(graph).map_or(0, std::collections::BTreeMap::len);
    assert!(exits("deep_research") > 8, "{report}");
    assert!(exits("deep_research/supervisor") > 5 && exits("deep_research/researcher") > 5, "{report}");
}

#[test]
fn the_other_stock_graphs_break_nothing() {
    let folders = std::fs::read_dir(support::repo().join("graphs")).expect("the stock graphs are there");
    let mut names: Vec<String> = folders
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name != "deep_research")
        .filter(|name| support::repo().join("graphs").join(name).join("graph.yaml").exists())
        .collect();
    names.sort();
    assert!(names.len() > 8, "{names:?}");
    for name in names {
        let report = simulate(&name, &stock(&name), 0..100);
        assert!(report.ended > 50 && report.compared > 20, "{name}: {report}");
    }
}

#[test]
fn without_faults_every_run_that_can_be_compared_is_the_same_in_any_order() {
    let bundle = stock("deep_research");
    let input = support::question("a question");
    let report = simulate_with(&bundle, input, std::collections::BTreeMap::new(), 0..100, Faults::none());
    let report = report.expect("there is nothing to fit");
    assert!(report.is_clean(), "{:?}", report.broken);
    assert!(report.faults.is_empty() && report.compared > 50, "{report}");
}
