use std::collections::BTreeMap;

use deepgraph_graph::Bundle;
use deepgraph_protocol::{Exit, ExitClass, ExitReason, LimitHit, ScopePath};

use super::*;
use crate::graphs;

fn bundle() -> Bundle {
    graphs::load_named(graphs::DEFAULT).unwrap().unwrap_or_else(|m| panic!("{m}")).bundle
}

fn ended(graph: &str, reason: ExitReason, limit: Option<(&str, u64, u64)>, detail: Option<&str>) -> Exit {
    Exit {
        scope: ScopePath::root(),
        graph: graph.into(),
        attempt: 1,
        class: reason.class().unwrap_or(ExitClass::Completion),
        reason,
        limit: limit.map(|(name, value, bound)| LimitHit { name: name.into(), value, bound }),
        counters: BTreeMap::new(),
        last_step: None,
        detail: detail.map(str::to_owned),
        also: Vec::new(),
        findings: None,
        unknown_writes: Box::default(),
        not_undone: Box::default(),
        clocks: Default::default(),
    }
}

fn said(reason: ExitReason, limit: Option<(&str, u64, u64)>, detail: Option<&str>) -> String {
    exit(&ended("deep_research", reason, limit, detail), &bundle(), "0198")
}

#[test]
fn every_exit_has_its_line_and_its_page() {
    let mut all = String::new();
    for (name, reason) in ExitReason::BUILT_IN {
        all += &format!("{name}\n  line: {}\n", said(reason, None, None));
        all += &format!("  page: {}\n", page(name).unwrap().trim_end().replace('\n', "\n        "));
    }
    for (name, class) in ExitClass::DECLARABLE {
        let own = Exit { class, ..ended("deep_research", ExitReason::of("own"), None, None) };
        all += &format!("own exit of class {name}\n  line: {}\n", exit(&own, &bundle(), "0198"));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn every_limit_of_deep_research_is_told_with_what_raises_it() {
    let bundle = bundle();
    let mut all = String::new();
    for graph in &bundle.graphs {
        for limit in &graph.limits {
            let deepgraph_graph::OnReach::Exit(reason, class) = &limit.on_reach else { continue };
            let hit = (&*limit.name, 1_800_000, 1_800_000);
            let end = Exit { class: *class, ..ended(&graph.path, reason.clone(), Some(hit), None) };
            all += &format!("{}, {}: {}\n", graph.path, limit.name, exit(&end, &bundle, "0198"));
        }
    }
    insta::assert_snapshot!(all);
}

#[test]
fn limits_are_told_in_units_that_people_use() {
    assert_eq!(
        said(ExitReason::IterationLimit, Some(("max_researcher_iterations", 6, 6)), None),
        "6 of 6 counted calls (ConductResearch, think_tool) were used; \
         to go on with more: deepgraph resume 0198 --set max_researcher_iterations=12"
    );
    assert_eq!(
        said(ExitReason::Deadline, Some(("deadline", 1_800_000, 1_800_000)), None),
        "30 min of 30 min of time were used; to go on with more: deepgraph resume 0198 --set deadline=60m"
    );
    let money = said(ExitReason::CostBudget, Some(("cost_budget", 500_000, 500_000)), None);
    assert!(money.starts_with("$0.50 of $0.50") && money.ends_with("cost_budget_usd=1.00"), "{money}");
    let gain = said(ExitReason::GainSaturated, Some(("gain", 15_000, 20_000)), None);
    assert!(
        gain.contains("1.5 % after a threshold of 2 %") && gain.ends_with("--set gain_threshold=0"),
        "{gain}"
    );
    let gone = said(ExitReason::StepLimit, Some(("gone", 1, 2)), None);
    assert!(gone.contains("gone was reached at 1 of 2"), "{gone}");
    let granted = said(ExitReason::TokenBudget, Some(("grant.tokens", 900, 1000)), None);
    assert!(granted.starts_with("900 of 1 000 tokens were used, all that the graph above it"), "{granted}");
}

#[test]
fn errors_are_told_with_their_detail_and_what_to_do() {
    let text = said(ExitReason::ModelError, None, Some("unauthorized: the key\nis wrong"));
    assert!(text.contains("unauthorized: the key is wrong; see to the model"), "{text}");
}

#[test]
fn instances_that_ended_alike_are_one_group() {
    let researcher = |reason: ExitReason, limit| ended("deep_research/researcher", reason, limit, None);
    let capped = || researcher(ExitReason::ToolCallCap, Some(("max_react_tool_calls", 10, 10)));
    let exits = [
        ended("deep_research/supervisor", ExitReason::ResearchComplete, None, None),
        capped(),
        researcher(ExitReason::NoToolCalls, None),
        capped(),
        capped(),
    ];
    let root = ended("deep_research", ExitReason::ResearchComplete, None, None);
    assert_eq!(
        of_groups(&root, &exits, &bundle(), "0198"),
        ["3 researchers ended by tool_call_cap: 10 of 10 counted calls (search, read) were used; \
          to go on with more: deepgraph resume 0198 --set max_react_tool_calls=20"]
    );
    // As the root ended by it, it is told there.
    let inherited = Exit { graph: "deep_research".into(), ..capped() };
    assert_eq!(of_groups(&inherited, &exits, &bundle(), "0198"), Vec::<String>::new());
}
