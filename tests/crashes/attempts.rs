//! A run ended at a limit and goes on with a higher one; the process aborts before and after every commit of that second
//! attempt, and the run goes on once more.

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;

use deepgraph_protocol::{EntryBody, StepId};
use deepgraph_runtime::Outcome;
use deepgraph_store::{RunRecord, Stored};

use super::abort::Side;
use super::child::{self, Scenario};
use super::place::Place;
use super::rows::sent_since;
use super::world::{World, calls};

/// The signal of an abort.
const SIGABRT: i32 = 6;

/// The limit of the first attempt lets three of the five researchers begin; that of the second lets all.
const LOW: i64 = 3;
pub const HIGH: i64 = 10;

/// The first attempt, to its end.
fn first_attempt(place: &Place, log: &Path) -> Outcome {
    let outcome = World::new(place.open(), log).begin_with(LOW);
    assert_eq!(outcome.end.children[0].reason.name(), "iteration_limit", "{:?}", outcome.end);
    outcome
}

/// The run as it goes on after an abort: by the command once more, where nothing of the attempt was there.
fn go_on(world: &World, record: &RunRecord) -> Outcome {
    if record.attempt == 1 { world.raise(record, HIGH) } else { world.go_on(record) }
}

/// The steps that were sent in an attempt.
fn sent_in(rows: &[Stored], attempt: u32) -> BTreeSet<StepId> {
    let mut now = 1;
    let mut steps = BTreeSet::new();
    for row in rows {
        match &row.entry.body {
            EntryBody::Resumed { attempt, .. } if row.scope.is_root() => now = *attempt,
            EntryBody::Dispatched { step, .. } if now == attempt => drop(steps.insert(step.clone())),
            _ => {}
        }
    }
    steps
}

fn reasons(outcome: &Outcome) -> Vec<String> {
    outcome.exits().map(|exit| format!("{} {} {}", exit.scope, exit.attempt, exit.reason)).collect()
}

/// One position. Whether the process aborted, and whether the attempt was in the store then; none where it came to its
/// end.
fn abort_at(side: Side, at: u64, log: &Path, whole: &Outcome) -> Option<bool> {
    let what = format!("{side:?} commit {at}");
    let place = Place::sqlite();
    first_attempt(&place, log);
    let status = child::run(Scenario::Raised, &place, side, at, log);
    if status.success() {
        return None;
    }
    assert_eq!(status.signal(), Some(SIGABRT), "{what}: {status}");
    let store = place.open();
    let record = store.find_run("last").expect("it was there before");
    let rows = || store.entries(&record.run_id, 0).expect("the journal can be read");
    let (before, paid) = (rows(), calls(log));
    let outcome = go_on(&World::new(store.clone(), log), &record);
    let after = rows();
    assert_eq!(
        calls(log) - paid,
        sent_since(&before, &after, &what),
        "{what}: calls are those of the journal"
    );
    assert_eq!(outcome.text("report"), whole.text("report"), "{what}");
    assert_eq!((outcome.status, reasons(&outcome)), (whole.status, reasons(whole)), "{what}");
    let (first, second) = (sent_in(&after, 1), sent_in(&after, 2));
    assert!(first.is_disjoint(&second), "{what}: {first:?} and again {second:?}");
    let recorded = store.run(&record.run_id).expect("it can be read").expect("it is there");
    assert_eq!((recorded.attempt, recorded.status), (2, whole.status), "{what}");
    Some(record.attempt == 2)
}

#[test]
fn a_second_attempt_that_aborts_at_any_commit_goes_on() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let whole = {
        let (place, log) = (Place::sqlite(), folder.path().join("whole.log"));
        let first = first_attempt(&place, &log);
        let store = place.open();
        let record = store.find_run("last").expect("it was recorded");
        let whole = World::new(store, &log).raise(&record, HIGH);
        assert_eq!((first.end.exit.attempt, whole.end.exit.attempt), (1, 2));
        whole
    };
    for side in [Side::Before, Side::After] {
        let positions = (1..).map_while(|at| {
            let log = folder.path().join(format!("{side:?}-{at}.log"));
            abort_at(side, at, &log, &whole)
        });
        let (begun, not_begun): (Vec<bool>, Vec<bool>) = positions.partition(|begun| *begun);
        // The claim comes first, then the entry with which the attempt begins.
        assert_eq!(not_begun.len(), if side == Side::Before { 2 } else { 1 }, "{side:?}");
        // Two researchers have six model calls and four ops; what comes back together is committed together.
        assert!(begun.len() >= 8, "{side:?}: only {} commits", begun.len());
    }
}
