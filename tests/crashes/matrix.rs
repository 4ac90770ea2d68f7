//! The process aborts before and after every commit of a run; then the run goes on.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use deepgraph_runtime::Outcome;

use super::abort::Side;
use super::child::{self, Scenario};
use super::place::Place;
use super::rows::sent_since;
use super::world::{World, calls};

/// The signal of an abort.
const SIGABRT: i32 = 6;

/// Positions at which the process aborted before anything was recorded, and after that.
#[derive(Default)]
struct Positions {
    unrecorded: AtomicU64,
    recorded: AtomicU64,
}

/// Aborts at every commit on one side of it, on two threads.
fn abort_everywhere(new_place: &(dyn Fn() -> Place + Sync), side: Side) -> Positions {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let whole = {
        let place = new_place();
        World::new(place.open(), &folder.path().join("whole.log")).begin()
    };
    let (next, done, positions) = (AtomicU64::new(1), AtomicBool::new(false), Positions::default());
    std::thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                while !done.load(Ordering::SeqCst) {
                    let at = next.fetch_add(1, Ordering::SeqCst);
                    let log = folder.path().join(format!("{at}.log"));
                    if !abort_at(&new_place(), side, at, &log, &whole, &positions) {
                        done.store(true, Ordering::SeqCst);
                    }
                }
            });
        }
    });
    positions
}

/// One position. False where the run has fewer commits, so that it ended by itself.
fn abort_at(place: &Place, side: Side, at: u64, log: &Path, whole: &Outcome, positions: &Positions) -> bool {
    let status = child::run(Scenario::Research, place, side, at, log);
    if status.success() {
        return false;
    }
    assert_eq!(status.signal(), Some(SIGABRT), "{side:?} commit {at}: {status}");
    let store = place.open();
    let Ok(record) = store.find_run("last") else {
        positions.unrecorded.fetch_add(1, Ordering::SeqCst);
        assert_eq!(calls(log), 0, "{side:?} commit {at}: something was paid for a run that is not recorded");
        return true;
    };
    positions.recorded.fetch_add(1, Ordering::SeqCst);
    let rows = || store.entries(&record.run_id, 0).expect("the journal can be read");
    let (before, paid) = (rows(), calls(log));
    let outcome = World::new(store.clone(), log).go_on(&record);
    let after = rows();
    assert_eq!(outcome.text("report"), whole.text("report"), "{side:?} commit {at}");
    assert_eq!(outcome.status, whole.status, "{side:?} commit {at}");
    let reasons =
        |outcome: &Outcome| outcome.exits().map(|e| (e.scope.clone(), e.reason.clone())).collect::<Vec<_>>();
    assert_eq!(reasons(&outcome), reasons(whole), "{side:?} commit {at}");
    let sent = sent_since(&before, &after, &format!("{side:?} commit {at}"));
    assert_eq!(calls(log) - paid, sent, "{side:?} commit {at}: calls are those of the journal, and no more");
    true
}

fn every_position(new_place: &(dyn Fn() -> Place + Sync)) {
    for side in [Side::Before, Side::After] {
        let positions = abort_everywhere(new_place, side);
        let (unrecorded, recorded) = (positions.unrecorded.into_inner(), positions.recorded.into_inner());
        // Nothing is there before the record of the run is committed.
        assert_eq!(unrecorded, u64::from(side == Side::Before));
        // Five researchers have 15 model calls and 10 ops; what comes back together is committed together.
        assert!(recorded >= 20, "{side:?}: only {recorded} commits");
    }
}

#[test]
fn a_run_that_aborts_at_any_commit_goes_on_in_sqlite() {
    every_position(&Place::sqlite);
}

#[test]
fn a_run_that_aborts_at_any_commit_goes_on_in_postgresql() {
    every_position(&Place::postgres);
}
