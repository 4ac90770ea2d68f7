//! Runs of several attempts under other limits: each attempt is compared with the values that it had.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_graph::Bundle;
use deepgraph_protocol::{Map, ResumeFrom, Value};
use deepgraph_testkit::{Sim, SimRun};
use deepgraph_trace::Row;
use deepgraph_trace::refold::{Change, Conditions, Matching, WhatIf, judged_keys, refold, what_if};
use deepgraph_trace::{figures, history};

use crate::engine::supervised::{self, Turns, conduct};
use crate::support::{self, graph, stock};

fn rounds(n: usize) -> Turns {
    (0..n).map(|i| vec![conduct(&format!("topic {i}"))]).collect()
}

fn iterations(n: i64) -> [(&'static str, Value); 1] {
    [("max_researcher_iterations", Value::Int(n))]
}

/// A run that ended at each of these limits and went on with the next.
fn run(bundle: &Arc<Bundle>, limits: &[i64]) -> SimRun {
    let turns = rounds(6);
    let (first, more) = limits.split_first().expect("there is an attempt");
    let mut run = supervised::run(bundle, &turns, &iterations(*first), 0);
    for limit in more {
        let sim =
            Sim::new(bundle, |step, request| supervised::answer(&turns, step, request)).ops(supervised::ops);
        let config = support::config(bundle, &iterations(*limit));
        run = sim.again(&run, config, ResumeFrom::Research).expect("it goes on");
    }
    run
}

fn recorded(run: &SimRun) -> Map {
    let started = run.rows.iter().find_map(|(scope, entry)| match &entry.body {
        deepgraph_protocol::EntryBody::Started(started) if scope.is_root() => Some(started.config.clone()),
        _ => None,
    });
    started.map(|config| (*config).clone()).expect("it was started")
}

fn under(bundle: &Arc<Bundle>, run: &SimRun, set: &[(&str, Value)]) -> WhatIf {
    let rows: Vec<Row<'_>> = run.rows.iter().map(|(scope, entry)| Row { scope, entry }).collect();
    let set = set.iter().map(|(key, value)| ((*key).into(), value.clone())).collect();
    let matching = Matching::ById;
    let conditions = Conditions { bundle: bundle.clone(), config: recorded(run), set, matching };
    what_if(&refold(bundle, &rows, &conditions).expect("it folds"))
}

#[test]
fn the_value_that_was_in_force_last_changes_nothing() {
    let bundle = stock("deep_research");
    let run = run(&bundle, &[1, 3, 4]);
    let what_if = under(&bundle, &run, &iterations(4));
    assert!(what_if.is_unchanged(), "{:?}", what_if.changes);
    assert_eq!((what_if.as_they_were, what_if.not_begun), (vec![1, 2], None));
    assert!(under(&bundle, &run, &[("gain_threshold", Value::from(0.02))]).is_unchanged());
}

#[test]
fn lower_limits_stop_earlier_whatever_the_first_attempt_had() {
    let bundle = stock("deep_research");
    let run = run(&bundle, &[2, 4, 5]);
    let mut before = 0;
    for (limit, refused) in [(1, 2), (2, 2), (3, 3), (4, 3)] {
        let what_if = under(&bundle, &run, &iterations(limit));
        let steps = what_if.steps.expect("all of it is recorded");
        assert!(before < steps && steps < what_if.steps_recorded, "{limit}: {before} {steps}");
        before = steps;
        let not_begun = what_if.not_begun.as_ref().expect("it could not have gone on");
        assert_eq!(not_begun.attempt, refused, "{limit}");
        assert!(not_begun.why.contains("max_researcher_iterations"), "{}", not_begun.why);
        let not_started = what_if.changes.iter().filter(|c| c.change == Change::NotStarted).count();
        assert_eq!(not_started, 5 - limit as usize, "{:?}", what_if.changes);
        // Each researcher hands over one finding.
        let found = what_if.found.expect("all of it is recorded");
        assert_eq!((found.findings, what_if.found_recorded.findings), (limit as u64, 5));
        assert_eq!(what_if.missed.len() as u64, 5 - limit as u64, "{:?}", what_if.missed);
    }
}

#[test]
fn a_higher_limit_than_the_last_goes_on_and_no_more_is_said() {
    let bundle = stock("deep_research");
    let run = run(&bundle, &[1, 2]);
    let what_if = under(&bundle, &run, &iterations(3));
    assert!(what_if.is_open_ended && !what_if.is_unchanged() && !what_if.stops());
    assert_eq!((what_if.steps, what_if.used, what_if.found), (None, None, None));
    assert!(what_if.missed.is_empty());
    let [change] = &what_if.changes[..] else { panic!("{:?}", what_if.changes) };
    assert!(matches!(change.change, Change::GoesOn { .. }), "{change:?}");
}

#[test]
fn a_budget_that_was_raised_and_would_have_been_lower_stops_earlier() {
    let bundle = stock("deep_research");
    let turns = rounds(4);
    let budget = |tokens: i64| [("token_budget", Value::Int(tokens))];
    let whole = supervised::run(&bundle, &turns, &[], 0).ended().settled.tokens;
    let mut run = None;
    // The highest budget at which the research is cut short, and goes on with all of it.
    for tokens in (1..20).map(|n| i64::try_from(whole).unwrap_or(0) * n / 20) {
        let first = supervised::run(&bundle, &turns, &budget(tokens), 0);
        let sim =
            Sim::new(&bundle, |step, request| supervised::answer(&turns, step, request)).ops(supervised::ops);
        let config = support::config(&bundle, &budget(1_000_000));
        if let Ok(again) = sim.again(&first, config, ResumeFrom::Research) {
            // Of the first attempt alone nobody knows how it would have gone on.
            let open = under(&bundle, &first, &budget(1_000_000));
            assert!(open.is_open_ended && open.steps.is_none() && open.missed.is_empty(), "{tokens}");
            assert!(open.changes.iter().all(|c| c.change != Change::NotStarted), "{:?}", open.changes);
            run = Some((tokens, again));
        }
    }
    let (first, run) = run.expect("some budget is too low");
    let what_if = under(&bundle, &run, &budget(first / 2));
    assert!(!what_if.is_open_ended, "{:?}", what_if.changes);
    assert!(what_if.steps < Some(what_if.steps_recorded) && !what_if.is_unchanged());
    assert!(under(&bundle, &run, &budget(1_000_000)).is_unchanged());
}

#[test]
fn steps_are_counted_alike_everywhere() {
    let bundle = stock("deep_research");
    for limits in [&[3][..], &[1, 3], &[1, 2, 4]] {
        let run = run(&bundle, limits);
        let rows: Vec<Row<'_>> = run.rows.iter().map(|(scope, entry)| Row { scope, entry }).collect();
        let figures = figures::of_run(&bundle, rows.iter().copied()).expect("it folds");
        let what_if = under(&bundle, &run, &[]);
        assert_eq!(figures.steps, what_if.steps_recorded, "{limits:?}");
        assert_eq!(figures.findings, Some(what_if.found_recorded.findings), "{limits:?}");
        let line = history::history(&bundle, &rows).expect("it folds");
        let ends = line.iter().filter(|moment| moment.what.completes_step());
        let steps: BTreeMap<_, ()> = ends.filter_map(|moment| Some((moment.step.clone()?, ()))).collect();
        assert_eq!(figures.steps, steps.len() as u64, "{limits:?}");
    }
}

const KEYS: &str = "
deepgraph: 1
name: keys
config:
  writer:   {type: string, default: m}
  tone:     {type: string, default: dry}
  depth:    {type: string, default: quick}
  most:     {type: integer, default: 3, minimum: 1}
  of_part:  {type: integer, default: 2, minimum: 1}
  window:   {type: integer, default: 2, minimum: 1}
  quoted:   {type: boolean, default: false}
  patience: {type: duration, default: 10}
state: {question: string, text: string, note: string}
input: [question]
output: [text]
limits:
  visits: {count: [write], max: config.most, exit: step_limit}
start: write
nodes:
  write:
    model: config.writer
    prompt: 'In a {{ config.tone }} tone: {{ question }}'
    timeout: config.patience
    update: {text: result.text}
    next:
      - {if: 'config.depth == \"deep\"', to: part}
      - {if: 'config[\"quoted\"]', to: write}
      - {exit: completed}
  part: {call: part, config: {window: config.of_part}, input: {topic: text}, update: {note: result.note}}
graphs:
  part:
    config: {window: {type: integer, default: 2, minimum: 1}}
    state: {topic: string, note: string}
    input: [topic]
    output: [note]
    limits:
      turns: {count: turns, max: config.window, exit: step_limit}
    start: note
    nodes:
      note: {model: m, prompt: '{{ topic }}', update: {note: result.text}}
";

#[test]
fn what_limits_and_conditions_read_can_be_judged() {
    let judged = judged_keys(&graph(KEYS));
    let judged: Vec<&str> = judged.iter().map(|key| &**key).collect();
    assert_eq!(judged, ["depth", "most", "of_part", "quoted", "window"]);
    let stock = judged_keys(&stock("deep_research"));
    assert!(stock.contains("max_concurrent_research_units") && stock.contains("clarify"), "{stock:?}");
    assert!(!stock.iter().any(|key| key.ends_with("_model")), "{stock:?}");
}
