//! The process aborts before and after every commit of a run that writes, and of one that is cancelled and undoes what
//! it wrote; then the run goes on. A write without a key is made once at most, one with a key under one key only, and
//! each is undone once or listed.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;

use deepgraph_protocol::{EntryBody, RunStatus};
use deepgraph_runtime::Outcome;
use deepgraph_store::Stored;

use super::abort::Side;
use super::child::{self, Scenario};
use super::place::Place;
use super::shop::{Line, Shop, lines};

/// The signal of an abort.
const SIGABRT: i32 = 6;

/// The steps that write.
const STEPS: [&str; 3] = ["plain.1", "keyed.1", "bare.1"];

/// One run that broke off and went on.
struct Broken {
    what: String,
    rows: Vec<Stored>,
    log: Vec<Line>,
    outcome: Outcome,
}

/// Breaks off at every commit on one side of it. How many positions had something recorded.
fn abort_everywhere(scenario: Scenario, side: Side, judge: impl Fn(&Broken)) -> usize {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut recorded = 0;
    for at in 1.. {
        let (place, log) = (Place::sqlite(), folder.path().join(format!("{at}.log")));
        let status = child::run(scenario, &place, side, at, &log);
        if status.success() {
            break;
        }
        let what = format!("{scenario:?}, {side:?} commit {at}");
        assert_eq!(status.signal(), Some(SIGABRT), "{what}: {status}");
        let store = place.open();
        let Ok(record) = store.find_run("last") else {
            assert_eq!(lines(&log), [], "{what}: something was written for a run that is not recorded");
            continue;
        };
        recorded += 1;
        let rows = || store.entries(&record.run_id, 0).expect("the journal can be read");
        let before = rows();
        let outcome = Shop::new(store.clone(), &log, scenario == Scenario::Undone).go_on(&record.run_id);
        let after = rows();
        assert_eq!(after[..before.len()], before[..], "{what}: what was committed stays");
        let broken = Broken { what, rows: after, log: lines(&log), outcome };
        broken.each_write_is_made_once(&log);
        judge(&broken);
    }
    recorded
}

impl Broken {
    fn calls(&self, step: &str) -> Vec<&Line> {
        self.log.iter().filter(|line| line.step == step).collect()
    }

    fn has(&self, of: &str, is_it: impl Fn(&EntryBody) -> bool) -> bool {
        let is_of = |row: &&Stored| row.entry.body.step().is_some_and(|step| step.as_str() == of);
        self.rows.iter().filter(is_of).any(|row| is_it(&row.entry.body))
    }

    fn is_completed(&self, step: &str) -> bool {
        self.has(step, |body| matches!(body, EntryBody::Completed { .. }))
    }

    fn is_claimed(&self, step: &str) -> bool {
        self.has(step, |body| matches!(body, EntryBody::Dispatched { key: Some(_), .. }))
    }

    /// No call is made twice but under the same key of an op that takes keys; none is made that was not claimed.
    fn each_write_is_made_once(&self, log: &Path) {
        for line in &self.log {
            let calls = self.calls(&line.step);
            let most = if line.op.ends_with("keyed") { 2 } else { 1 };
            assert!(calls.len() <= most, "{}: {} in {}", self.what, line.step, log.display());
            assert!(calls.iter().all(|call| call.key == line.key), "{}: {calls:?}", self.what);
            assert!(self.is_claimed(&line.step), "{}: {} was not claimed", self.what, line.step);
        }
        let unknown = &self.outcome.end.exit.unknown_writes;
        for step in STEPS {
            let is_unknown = unknown.iter().any(|listed| listed.as_str() == step);
            let is_left = self.is_claimed(step) && !self.is_completed(step);
            assert_eq!(is_unknown, is_left, "{}: {step}", self.what);
        }
    }
}

#[test]
fn a_run_that_writes_goes_on_after_any_commit() {
    for side in [Side::Before, Side::After] {
        let recorded = abort_everywhere(Scenario::Writes, side, |broken| {
            assert_eq!(broken.outcome.status, RunStatus::Succeeded, "{}", broken.what);
            for step in STEPS {
                assert!(broken.is_claimed(step), "{}: {step} is left out", broken.what);
            }
            assert!(broken.log.iter().all(|line| !line.op.starts_with("undo")), "{}", broken.what);
        });
        assert!(recorded >= 6, "{side:?}: only {recorded} commits");
    }
}

#[test]
fn a_run_that_is_cancelled_undoes_once_after_any_commit() {
    for side in [Side::Before, Side::After] {
        let recorded = abort_everywhere(Scenario::Undone, side, |broken| {
            let what = &broken.what;
            assert_eq!(broken.outcome.status, RunStatus::Cancelled, "{what}");
            for step in STEPS {
                let compensation = format!("{step}/compensation");
                let undone = usize::from(broken.is_completed(&compensation));
                let listed = &broken.outcome.end.exit.not_undone;
                let listed = listed.iter().filter(|left| left.step.as_str() == step).count();
                assert_eq!(undone + listed, usize::from(broken.is_claimed(step)), "{what}: {step}");
                let was_called = !broken.calls(&compensation).is_empty();
                assert!(!was_called || broken.is_completed(step), "{what}: {step} was not done");
            }
        });
        assert!(recorded >= 10, "{side:?}: only {recorded} commits");
    }
}
