//! Cases, played side by side.

use std::any::Any;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use deepgraph_testkit::suite::{CaseFile, Outcome, Verdict, Writes};

use super::Timed;
use super::interrupt::Stop;
use crate::error::CliError;
use crate::graphs::Stock;
use crate::threads;

/// How cases are played.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// What may be written.
    pub writes: Writes,
    /// How many at once; none: as many as there are processors.
    pub jobs: Option<NonZeroUsize>,
    /// Whether no other is begun when one has failed.
    pub fail_fast: bool,
}

/// Plays cases on threads of their own, as long as `stop` lets them begin. `each` is told of every one that was played, in their order,
/// as soon as those before it are over.
///
/// # Errors
///
/// That of `each`, or threads can not be started.
pub fn play(
    cases: &[CaseFile],
    manner: Manner,
    stop: &Stop,
    mut each: impl FnMut(&Timed) -> Result<(), CliError>,
) -> Result<Vec<Timed>, CliError> {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    let work = |sender: mpsc::Sender<(usize, Timed)>| {
        while stop.goes_on() {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = cases.get(number) else { break };
            let timed = play_one(case, manner.writes);
            if manner.fail_fast && !timed.outcome.verdict.passed() {
                stop.begin_no_more();
            }
            if sender.send((number, timed)).is_err() {
                break;
            }
        }
    };
    let work = &work;
    let mut waiting: BTreeMap<usize, Timed> = BTreeMap::new();
    let mut told: Vec<Timed> = Vec::new();
    thread::scope(|scope| {
        for _ in 0..threads::count(manner.jobs, cases.len() as u64) {
            let sender = sender.clone();
            if let Err(error) = threads::start(scope, move || work(sender)) {
                stop.begin_no_more();
                return Err(error);
            }
        }
        drop(sender);
        let mut told_all = Ok(());
        for (number, timed) in receiver {
            waiting.insert(number, timed);
            while told_all.is_ok()
                && let Some(timed) = waiting.remove(&told.len())
            {
                told_all = each(&timed);
                told.push(timed);
            }
            if told_all.is_err() {
                stop.begin_no_more();
            }
        }
        told_all
    })?;
    // Behind a case that was not begun any more.
    for timed in waiting.into_values() {
        each(&timed)?;
        told.push(timed);
    }
    stop.all_played();
    Ok(told)
}

fn play_one(case: &CaseFile, writes: Writes) -> Timed {
    let began = Instant::now();
    // Nothing is shared with the case but its files, which are written whole.
    let played = catch_unwind(AssertUnwindSafe(|| case.play(writes, Some(&Stock))));
    let outcome = played.unwrap_or_else(|panic| Outcome {
        name: case.name.clone(),
        file: case.path.clone(),
        sentence: None,
        verdict: Verdict::Failed,
        text: format!("playing it broke off, which is a fault of this program: {}", message(&*panic)),
        keeps_snapshot: None,
    });
    Timed { outcome, took: began.elapsed() }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
