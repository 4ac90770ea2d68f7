//! Crashes and cancellation at every position of the journal.

use std::sync::Arc;

use deepgraph_graph::Bundle;
use deepgraph_protocol::{EntryBody, RunStatus, Value};
use deepgraph_testkit::{Sim, SimRun};
use deepgraph_trace::Detail;

use super::supervised::{self, Turns, complete, conduct, think};
use crate::support::{self, stock};

fn turns() -> Turns {
    vec![vec![think(), conduct("a"), conduct("b")], vec![conduct("c"), complete()]]
}

fn sim<'a>(bundle: &'a Arc<Bundle>, turns: &'a Turns) -> Sim<'a> {
    Sim::new(bundle, |step, request| supervised::answer(turns, step, request)).ops(supervised::ops)
}

fn start(sim: Sim<'_>, bundle: &Bundle) -> SimRun {
    sim.run(support::question("a question"), support::config(bundle, &[("clarify", Value::from("never"))]))
}

/// The trace without what was used: a call whose answer was lost stays charged.
fn told(run: &SimRun, bundle: &Arc<Bundle>) -> String {
    let text = run.trace(bundle).to_text(Detail::Full);
    text.lines().filter(|l| !l.trim_start().starts_with("used ")).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_crash_between_any_two_entries_changes_nothing_and_repeats_no_committed_step() {
    let bundle = stock("deep_research");
    let turns = turns();
    let whole = start(sim(&bundle, &turns), &bundle);
    let expected = told(&whole, &bundle);
    let paid = whole.ended().settled;
    assert!(whole.rows.len() > 40, "{} entries", whole.rows.len());
    for seed in [0, 1, 2] {
        let length = start(sim(&bundle, &turns).seed(seed), &bundle).rows.len();
        for at in 1..length {
            let killed = start(sim(&bundle, &turns).seed(seed).stop_at(at), &bundle);
            assert_eq!(killed.rows.len(), at);
            let resumed = sim(&bundle, &turns).seed(seed + 100).resume(&killed.rows);
            assert_eq!(told(&resumed, &bundle), expected, "seed {seed}, killed at {at}");
            let settled = resumed.ended().settled;
            assert!(settled.tokens >= paid.tokens && settled.model_calls >= paid.model_calls);
            for (_, entry) in &killed.rows {
                if let EntryBody::Completed { step, .. } = &entry.body {
                    assert!(!resumed.carried_out.contains_key(step), "{step} was committed and ran again");
                }
            }
        }
    }
}

#[test]
fn a_run_can_be_cancelled_at_any_moment() {
    let bundle = stock("deep_research");
    let turns = turns();
    let length = start(sim(&bundle, &turns), &bundle).rows.len();
    for seed in [0, 7] {
        for at in 1..length {
            let run = start(sim(&bundle, &turns).seed(seed).cancel_at(at), &bundle);
            let end = run.ended();
            if end.exit.reason.name() != "cancelled" {
                // The cancellation came with the last entries: the run was over before.
                assert!(run.rows.len() <= at + 1, "cancelled at {at}, went on to {}", run.rows.len());
                continue;
            }
            let status =
                RunStatus::of_ended(&end.exit.reason, end.exit.class, end.exit.findings, end.report, false);
            assert_eq!(status, RunStatus::Cancelled);
            let asked =
                run.rows.iter().position(|(_, e)| matches!(e.body, EntryBody::CancelRequested { .. }));
            let asked = asked.expect("the cancellation is an entry");
            let later = run.rows[asked..]
                .iter()
                .filter(|(_, e)| matches!(e.body, EntryBody::Dispatched { .. }))
                .count();
            assert_eq!(later, 0, "nothing is started after the cancellation at {at}");
        }
    }
}

#[test]
fn each_scope_has_exactly_one_exit() {
    let bundle = stock("deep_research");
    let turns = turns();
    for seed in 0..50 {
        let run = start(sim(&bundle, &turns).seed(seed), &bundle);
        let mut scopes: Vec<String> = run
            .events
            .iter()
            .filter_map(|e| match e {
                deepgraph_protocol::Event::Exited { exit } => Some(exit.scope.to_string()),
                _ => None,
            })
            .collect();
        let all = scopes.len();
        scopes.sort();
        scopes.dedup();
        assert_eq!((scopes.len(), all), (5, 5), "root, supervisor, three researchers");
    }
}
