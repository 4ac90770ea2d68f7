//! Other limits: as far as everything was recorded, a refold is the run that these limits would have given.

use std::sync::Arc;

use deepgraph_graph::Bundle;
use deepgraph_protocol::{
    Fact, Map, ModelReply, ModelRequest, ScopeEnd, ScopePath, Source, StepError, StepId, Value,
};
use deepgraph_testkit::{Sim, SimRun, call, calls, says};
use deepgraph_trace::refold::{Change, Matching, MissedKind, WhatIf, what_if};

use super::fold;
use crate::engine::supervised::{self, Turns, conduct, node, turn};
use crate::support::{self, stock};

/// What a run was recorded with, and what it is folded under.
fn under(bundle: &Arc<Bundle>, run: &SimRun, config: &[(&str, Value)]) -> (WhatIf, Option<ScopeEnd>) {
    let config = support::config(bundle, config);
    let folded = fold(bundle, &run.rows, bundle, config, Matching::ById);
    let end = folded.machines.get(&ScopePath::root()).and_then(|root| root.end().cloned());
    (what_if(&folded), end)
}

/// How a run ended, but for its clocks: what comes behind an early end is answered when it was, so time stands still.
fn timeless(end: Option<&ScopeEnd>) -> Option<ScopeEnd> {
    let mut end = end?.clone();
    for exit in std::iter::once(&mut end.exit).chain(&mut end.children) {
        exit.clocks = Default::default();
    }
    Some(end)
}

fn rounds(n: usize) -> Turns {
    (0..n).map(|i| vec![conduct(&format!("topic {i}"))]).collect()
}

fn iterations(n: i64) -> [(&'static str, Value); 1] {
    [("max_researcher_iterations", Value::Int(n))]
}

#[test]
fn fewer_iterations_give_the_run_that_they_would_have_given() {
    let bundle = stock("deep_research");
    let turns = rounds(4);
    let run = supervised::run(&bundle, &turns, &iterations(6), 0);
    assert_eq!(run.ended().exit.reason.name(), "no_tool_calls");
    for max in 1..=3 {
        let (what_if, end) = under(&bundle, &run, &iterations(max));
        let real = supervised::run(&bundle, &turns, &iterations(max), 0);
        assert_eq!(timeless(end.as_ref()), timeless(real.end.as_ref()), "{max} iterations");
        assert!(!what_if.is_open_ended && !what_if.is_unchanged());
        assert!(what_if.steps < Some(what_if.steps_recorded));
        assert!(what_if.used.is_some_and(|used| used.tokens < what_if.used_recorded.tokens));
        let supervisor = &what_if.changes.iter().find(|c| c.scope.as_str() == "supervise.1");
        let supervisor = supervisor.expect("the supervisor ends otherwise");
        let Change::Stops { exit, .. } = &supervisor.change else { panic!("{supervisor:?}") };
        assert_eq!(exit.reason.name(), "iteration_limit");
        let not_started = what_if.changes.iter().filter(|c| c.change == Change::NotStarted).count();
        assert_eq!(not_started, 4 - max as usize);
    }
}

#[test]
fn more_iterations_go_on_to_where_nothing_is_recorded() {
    let bundle = stock("deep_research");
    let run = supervised::run(&bundle, &rounds(4), &iterations(2), 0);
    assert_eq!(run.ended().exit.reason.name(), "iteration_limit");
    let (what_if, end) = under(&bundle, &run, &iterations(3));
    assert!(end.is_none() && what_if.is_open_ended && !what_if.stops());
    let [change] = &what_if.changes[..] else { panic!("{:?}", what_if.changes) };
    let Change::GoesOn { after, asks } = &change.change else { panic!("{change:?}") };
    assert_eq!(change.scope.as_str(), "supervise.1");
    assert!(after.is_some() && asks.as_str().starts_with("supervise.1/"), "{asks}");
    assert_eq!((what_if.steps, what_if.used, what_if.found), (None, None, None), "it is said and no more");
}

#[test]
fn a_smaller_budget_ends_the_run_where_it_would_have() {
    let bundle = stock("deep_research");
    let turns = rounds(4);
    let run = supervised::run(&bundle, &turns, &[], 0);
    let mut stopped = 0;
    for budget in [3_000, 8_000, 20_000, 30_000, 40_000] {
        let config = [("token_budget", Value::Int(budget))];
        let (what_if, end) = under(&bundle, &run, &config);
        let real = supervised::run(&bundle, &turns, &config, 0);
        stopped += usize::from(!what_if.is_unchanged());
        assert!(!what_if.is_open_ended, "a budget of {budget}");
        if end.is_some() {
            assert_eq!(timeless(end.as_ref()), timeless(real.end.as_ref()), "a budget of {budget}");
            continue;
        }
        // The budget is too small for the report too: it is put together, which was not recorded.
        let root = what_if.changes.iter().find(|change| change.scope.is_root());
        let Some(Change::Closes { reason, asks, .. }) = root.map(|root| &root.change) else {
            panic!("a budget of {budget}: {root:?}")
        };
        assert_eq!((reason, asks.as_str()), (&real.ended().exit.reason, "assemble.1"));
    }
    assert!(stopped > 1, "some budgets are too small");
}

/// Reads eight documents, of which the first three hold facts.
fn reads(step: &StepId, request: &ModelRequest) -> Result<ModelReply, StepError> {
    match node(step) {
        "researcher" if turn(request) < 8 => {
            Ok(calls([call("read", &format!("{{\"source\": \"d{}\"}}", turn(request)))]))
        }
        "researcher" => Ok(says("found")),
        _ => supervised::answer(&vec![vec![conduct("a topic")]], step, request),
    }
}

fn facts(step: &StepId, op: &str, input: &Map) -> Result<Value, StepError> {
    let Some(document) = input.get("source").and_then(Value::as_str).filter(|_| op == "read") else {
        return supervised::ops(step, op, input);
    };
    let number: usize = document.trim_start_matches('d').parse().unwrap_or(0);
    // Every document holds one more fact; from the fourth on they hold little else.
    let new = if number < 3 { 20 } else { 1 };
    let fact = |i: usize| {
        let key = format!("{document}-{i}");
        Value::of(&Fact { text: format!("fact {key}"), key, source: document.into(), ..Fact::default() })
    };
    let source = Source { id: document.into(), document: document.into(), ..Source::default() };
    Ok(Value::record([
        ("text", Value::from("text")),
        ("sources", Value::record([(document.to_owned(), Value::of(&source))])),
        ("facts", (0..new).map(fact).collect::<Value>()),
    ]))
}

fn read_run(bundle: &Arc<Bundle>, threshold: f64) -> SimRun {
    let config = support::config(bundle, &[("gain_threshold", Value::from(threshold))]);
    Sim::new(bundle, reads).ops(facts).run(support::question("a question"), config)
}

const RESEARCHER: &str = "supervise.1/supervisor_tools.1/ConductResearch.1";

#[test]
fn a_higher_threshold_stops_earlier_and_tells_what_is_missed() {
    let bundle = stock("deep_research");
    let run = read_run(&bundle, 0.0);
    let (what_if, end) = under(&bundle, &run, &[("gain_threshold", Value::from(0.02))]);
    assert_eq!(timeless(end.as_ref()), timeless(read_run(&bundle, 0.02).end.as_ref()));
    let [change] = &what_if.changes[..] else { panic!("{:?}", what_if.changes) };
    assert_eq!(change.scope.as_str(), RESEARCHER);
    let Change::Stops { after, exit } = &change.change else { panic!("{change:?}") };
    assert_eq!(exit.reason.name(), "gain_saturated");
    assert_eq!(after.as_ref().map(StepId::as_str), Some(&*format!("{RESEARCHER}/tools.6/read.1")));
    // Documents d6 and d7 are not read: a fact and a passage of each.
    let found = what_if.found.expect("all of it is recorded");
    assert_eq!((what_if.found_recorded.facts, found.facts), (65, 63));
    assert_eq!((what_if.found_recorded.passages, found.passages), (8, 6));
    let of = |kind: MissedKind| what_if.missed.iter().filter(|missed| missed.kind == kind).count();
    assert_eq!((of(MissedKind::Fact), of(MissedKind::Passage)), (2, 2), "{:?}", what_if.missed);
    let otherwise: Vec<&str> = what_if.otherwise.iter().map(StepId::last).collect();
    assert_eq!(otherwise, ["compress.1", "hand_over.1", "supervisor.2", "cite.1"], "they are over less");
}

#[test]
fn a_lower_threshold_goes_on_and_the_same_changes_nothing() {
    let bundle = stock("deep_research");
    let run = read_run(&bundle, 0.02);
    let (same, end) = under(&bundle, &run, &[("gain_threshold", Value::from(0.02))]);
    assert!(same.is_unchanged() && end == run.end);
    let (what_if, end) = under(&bundle, &run, &[("gain_threshold", Value::from(0.001))]);
    assert!(end.is_none() && what_if.is_open_ended);
    let [change] = &what_if.changes[..] else { panic!("{:?}", what_if.changes) };
    let Change::GoesOn { after, asks } = &change.change else { panic!("{change:?}") };
    assert_eq!(after.as_ref().map(StepId::as_str), Some(&*format!("{RESEARCHER}/tools.6/read.1")));
    assert_eq!(asks.as_str(), format!("{RESEARCHER}/researcher.7"));
}
