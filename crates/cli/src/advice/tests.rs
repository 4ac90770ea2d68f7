use std::collections::BTreeMap;

use deepgraph_engine::{LedgerView, NotResumable};
use deepgraph_graph::Bundle;
use deepgraph_protocol::{Exit, ExitClass, ExitReason, LimitHit, Map, Meter, ScopePath};

use super::outlook::No;
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

/// A run of which it is known what it would be let do.
struct Known {
    config: Map,
    /// The values of a key below which it is refused: key, the least, and what is said.
    refuses: Vec<(&'static str, f64, NotResumable)>,
    has_end: bool,
    call: Option<u64>,
}

impl Known {
    fn willing() -> Known {
        let config = bundle().config_of(BTreeMap::new()).unwrap();
        Known { config, refuses: Vec::new(), has_end: false, call: None }
    }
}

impl Outlook for Known {
    fn resumes(&self, set: &Sets, _: ResumeFrom) -> Result<(), No> {
        if self.has_end {
            return Err(No::Other);
        }
        let wanted = set.iter().map(|(key, value)| (key.clone(), value.as_str().into()));
        let config = bundle().config_of(wanted.collect()).map_err(|_| No::Other)?;
        let low =
            |key: &str, least: f64| config.get(key).and_then(|v| v.as_float()).is_none_or(|n| n < least);
        let refused = self.refuses.iter().find(|(key, least, _)| low(key, *least));
        refused.map_or(Ok(()), |(_, _, why)| Err(No::Engine(why.clone())))
    }

    fn fork_before(&self, _: &ScopePath, _: &Sets) -> Option<String> {
        Some("brief.1".to_owned())
    }

    fn config(&self) -> &Map {
        &self.config
    }

    fn last_call(&self, _: &ScopePath, meter: Meter) -> Option<u64> {
        self.call.filter(|_| meter == Meter::Tokens)
    }

    fn used(&self) -> LedgerView {
        LedgerView::default()
    }
}

fn exit(exit: &Exit, bundle: &Bundle, run: &str) -> String {
    Adviser::new(run, bundle, Some(&Known::willing()), exit, &[]).research()
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
        said(ExitReason::Deadline, Some(("deadline", 1_530_000, 1_800_000)), None),
        "25 min 30 s of 30 min of time were used; 4 min 30 s kept for the report; to go on with more: \
         deepgraph resume 0198 --set deadline=60m"
    );
    let gain = said(ExitReason::GainSaturated, Some(("gain", 15_000, 20_000)), None);
    assert!(
        gain.contains("a gain of 1.5 %, and the threshold is 2 %")
            && gain.ends_with("--set gain_threshold=0"),
        "{gain}"
    );
    let gone = said(ExitReason::StepLimit, Some(("gone", 1, 2)), None);
    assert!(gone.contains("gone was reached at 1 of 2"), "{gone}");
    let granted = said(ExitReason::TokenBudget, Some(("grant.tokens", 900, 1000)), None);
    assert!(granted.starts_with("900 of 1 000 tokens that the graph above it granted"), "{granted}");
    assert!(granted.ends_with("--set token_budget=2000000"), "{granted}");
}

#[test]
fn a_value_that_is_proposed_is_twice_what_is_used_and_what_the_next_call_wants() {
    let limit = Some(("deadline", 7_000, 1_000));
    let over = ended("deep_research", ExitReason::Deadline, limit, None);
    let mut known = Known::willing();
    known.config = bundle().config_of(BTreeMap::from([("deadline".to_owned(), "1s".into())])).unwrap();
    let said = Adviser::new("0198", &bundle(), Some(&known), &over, &[]).research();
    assert!(said.ends_with("--set deadline=14s"), "{said}");

    let limit = Some(("token_budget", 0, 5_000));
    let over = ended("deep_research", ExitReason::TokenBudget, limit, None);
    known.config = bundle().config_of(BTreeMap::from([("token_budget".to_owned(), "5000".into())])).unwrap();
    known.call = Some(20_000);
    let said = Adviser::new("0198", &bundle(), Some(&known), &over, &[]).research();
    assert!(said.contains("; 750 kept for the report; the next call wants about 20 000 tokens"), "{said}");
    assert!(said.ends_with("--set token_budget=48000"), "twice the call, and 15 % of it kept: {said}");
}

#[test]
fn values_that_only_do_together_are_proposed_together() {
    let refused = NotResumable::AtOnce {
        scope: ScopePath::root(),
        limit: "token_budget".into(),
        meter: Some(Meter::Tokens),
        used: 900_000,
        bound: 1_000_000,
        kept: 150_000,
        key: Some("token_budget".into()),
    };
    let known = Known { refuses: vec![("token_budget", 3_000_000.0, refused)], ..Known::willing() };
    let capped =
        ended("deep_research", ExitReason::IterationLimit, Some(("max_researcher_iterations", 6, 6)), None);
    let said = Adviser::new("0198", &bundle(), Some(&known), &capped, &[]).research();
    assert!(said.ends_with("--set max_researcher_iterations=12 --set token_budget=4000000"), "{said}");

    let starved = Exit {
        scope: ScopePath::new("supervise.1"),
        ..ended("deep_research/researcher", ExitReason::TokenBudget, Some(("grant.tokens", 0, 2_000)), None)
    };
    let below = [starved];
    let said = Adviser::new("0198", &bundle(), Some(&Known::willing()), &capped, &below).research();
    assert!(said.ends_with("--set max_researcher_iterations=12 --set token_budget=2000000"), "{said}");
}

#[test]
fn no_command_is_named_that_would_be_refused() {
    let known = Known { has_end: true, ..Known::willing() };
    for (name, reason) in ExitReason::BUILT_IN {
        let over = ended("deep_research", reason, None, None);
        let said = Adviser::new("0198", &bundle(), Some(&known), &over, &[]).research();
        let resumes = said.contains("deepgraph resume 0198") && !said.contains("--graph FILE");
        assert!(!resumes && !said.contains(AGAIN), "{name}: {said}");
    }
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
    let groups =
        |known: &Known, root: &Exit| Adviser::new("0198", &bundle(), Some(known), root, &exits).groups();
    let over = Known { has_end: true, ..Known::willing() };
    assert_eq!(
        groups(&over, &root),
        ["3 researchers ended by tool_call_cap: 10 of 10 counted calls (search, read) were used; \
          in another run, from before it was started: deepgraph fork 0198 --at brief.1 --set max_react_tool_calls=20"]
    );
    // Where the run goes on, it does so with more for those that follow.
    assert_eq!(
        groups(&Known::willing(), &root),
        ["3 researchers ended by tool_call_cap: 10 of 10 counted calls (search, read) were used; \
          to go on with more: deepgraph resume 0198 --set max_react_tool_calls=20"]
    );
    // What was raised since is not proposed again.
    let set = BTreeMap::from([("max_react_tool_calls".to_owned(), 20.into())]);
    let raised = Known { config: bundle().config_of(set).unwrap(), ..over };
    assert_eq!(
        groups(&raised, &root),
        ["3 researchers ended by tool_call_cap: 10 of 10 counted calls (search, read) were used"]
    );
    // As the root ended by it, it is told there.
    let inherited = Exit { graph: "deep_research".into(), ..capped() };
    assert_eq!(groups(&Known::willing(), &inherited), Vec::<String>::new());
}
