//! Calls that write, as the Machine sees them in its journal.

use std::sync::Arc;

use deepgraph_graph::Bundle;
use deepgraph_protocol::{EntryBody, ErrorKind, ResumeFrom, ScopePath, StepError, StepId, Value};
use deepgraph_testkit::{Sim, SimRun, says};

use crate::support;

/// A write that is undone, then a write without an outcome, then a model.
const GRAPH: &str = "\
deepgraph: 1
name: orders
state: {said: {type: [string], reduce: append}}
output: [said]
start: book
nodes:
  book:
    call: think
    effect: write
    input: {reflection: \"'a room'\"}
    compensate: {call: think, input: {reflection: \"'undo'\"}}
    next: pay
  pay: {call: think, effect: write, input: {reflection: \"'100 euros'\"}, next: tell}
  tell: {model: m, prompt: Tell.}
";

fn bundle() -> Arc<Bundle> {
    support::graph(GRAPH)
}

/// Runs it; `pay` answers, or its connection breaks.
fn sim(bundle: &Arc<Bundle>, pays: bool) -> Sim<'static> {
    Sim::new(bundle, |_, _| Ok(says("done"))).ops(move |step, _, _| match (step.as_str(), pays) {
        ("pay.1", false) => Err(StepError::new(ErrorKind::Network, "it broke")),
        _ => Ok(Value::record([("text", Value::from("ok"))])),
    })
}

fn calls(run: &SimRun, step: &str) -> usize {
    run.carried_out.get(&StepId::new(step)).copied().unwrap_or(0)
}

#[test]
fn a_crash_behind_the_claim_leaves_the_outcome_open_and_one_before_it_does_not() {
    let bundle = bundle();
    let whole = sim(&bundle, true).run(Default::default(), Default::default());
    let claim = |step: &str| {
        let is_it = |body: &EntryBody| matches!(body, EntryBody::Dispatched { step: s, key: Some(_), .. } if s.as_str() == step);
        whole.rows.iter().position(|(_, entry)| is_it(&entry.body)).expect("it is claimed")
    };
    for step in ["book.1", "pay.1"] {
        let at = claim(step);
        let before = sim(&bundle, true).resume(&whole.rows[..at]);
        assert!(before.ended().exit.unknown_writes.is_empty());
        assert_eq!(calls(&before, step), 1, "it was not made");
        let behind = sim(&bundle, true).resume(&whole.rows[..=at]);
        assert_eq!(*behind.ended().exit.unknown_writes, [StepId::new(step)]);
        assert_eq!(behind.ended().exit.reason.name(), "tool_error");
        assert_eq!(calls(&behind, step), 0, "it may have been made");
    }
}

#[test]
fn a_further_attempt_of_the_run_does_not_make_the_call_again() {
    let bundle = bundle();
    let first = sim(&bundle, false).run(Default::default(), Default::default());
    assert_eq!(*first.ended().exit.unknown_writes, [StepId::new("pay.1")]);
    match sim(&bundle, true).again(&first, Default::default(), ResumeFrom::Research) {
        Ok(again) => {
            assert_eq!(calls(&again, "pay.1"), 0);
            assert_eq!(*again.ended().exit.unknown_writes, [StepId::new("pay.1")]);
        }
        Err(why) => panic!("{why}"),
    }
}

#[test]
fn journals_without_claims_list_no_writes() {
    let bundle = bundle();
    let run = sim(&bundle, true).cancel_at(6).run(Default::default(), Default::default());
    assert_eq!(run.ended().exit.reason.name(), "cancelled");
    assert_eq!(calls(&run, "book.1/compensation"), 1);
    // As they were written before calls were claimed.
    let is_old = |body: &EntryBody| {
        !matches!(body, EntryBody::Dispatched { key: Some(_), .. })
            && body.step().is_none_or(|step| step.last() != "compensation")
    };
    let rows: Vec<_> = run.rows.iter().filter(|(_, entry)| is_old(&entry.body)).cloned().collect();
    let mut machine = deepgraph_engine::Machine::new(bundle, deepgraph_graph::GraphIx(0), ScopePath::root());
    rows.iter().for_each(|(_, entry)| drop(machine.apply(entry)));
    let end = machine.end().expect("it is over");
    assert!(end.writes.is_empty() && end.exit.not_undone.is_empty() && end.exit.unknown_writes.is_empty());
}
