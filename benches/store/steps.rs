//! Steps of runs, committed one by one.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use deepgraph_protocol::{Entry, EntryBody, RunStatus, ScopePath, StepId, StepOutput, Value};
use deepgraph_store::{Append, RunId, RunRecord, RunUpdate, SqliteStore, Store};

/// Bytes of a step's answer.
const ANSWER: usize = 600;

/// Writes so many pages of 4 kB, each synchronised before the next: what no store on this disk can beat alone.
pub fn plain_writes(folder: &Path, count: u64) -> Duration {
    let mut file = File::create(folder.join("plain")).unwrap_or_else(|e| panic!("no file: {e}"));
    let began = Instant::now();
    for _ in 0..count {
        let done = file.write_all(&[0x5a; 4096]).and_then(|()| file.sync_data());
        done.unwrap_or_else(|e| panic!("not written: {e}"));
    }
    began.elapsed()
}

/// The time of so many runs with so many steps each, all at once: every run sends its next step when the last one is
/// committed.
pub fn runs(store: &SqliteStore, runs: usize, steps: u64) -> Duration {
    let owned: Vec<_> = (0..runs).map(|_| begun(store)).collect();
    let (sender, committed) = channel();
    let send = |run: usize, step: u64| {
        let (id, epoch) = &owned[run];
        let told = sender.clone();
        let done = Box::new(move |result: Result<_, _>| drop(told.send((run, step, result.map(drop)))));
        store.append_then(id, *epoch, &[entry(step)], Some(&update(step)), done);
    };
    let began = Instant::now();
    (0..runs).for_each(|run| send(run, 0));
    for _ in 0..runs as u64 * steps {
        let Ok((run, step, result)) = committed.recv() else { panic!("the store is gone") };
        result.unwrap_or_else(|e| panic!("not committed: {e}"));
        if step + 1 < steps {
            send(run, step + 1);
        }
    }
    began.elapsed()
}

/// By how much the file of a store grows when a run of so many steps is written to it.
pub fn bytes(folder: &Path, steps: u64) -> u64 {
    let path = folder.join("runs.sqlite");
    let open = || SqliteStore::open(&path).unwrap_or_else(|e| panic!("no store: {e}"));
    let size = || std::fs::metadata(&path).map_or(0, |file| file.len());
    // One run before it, so that no page is only just begun.
    let store = open();
    runs(&store, 1, 50);
    drop(store);
    let before = size();
    let store = open();
    runs(&store, 1, steps);
    drop(store);
    size() - before
}

/// A new run with its owner.
pub fn begun(store: &dyn Store) -> (RunId, u64) {
    let id = RunId::new();
    let null = serde_json::Value::Null;
    let record = RunRecord::queued(id.clone(), "What is the range?", "bench", 1, null.clone(), null);
    let epoch = store.create_run(&record).and_then(|()| store.claim(&id));
    (id, epoch.unwrap_or_else(|e| panic!("no run: {e}")))
}

fn entry(step: u64) -> Append {
    let output = StepOutput::Op(Value::record([("text", Value::from(text(step)))]));
    let id = StepId::new(format!("research.1/act.{step}/search.1"));
    let body = EntryBody::Completed { step: id, attempt: 1, output, fee: deepgraph_protocol::Fee::NONE };
    let scope = ScopePath::new("research.1/supervise.1/researcher.1");
    Append { scope, expected_position: step, entry: Entry { at: step as i64, body } }
}

fn text(step: u64) -> String {
    let mut text = format!("{step} ");
    while text.len() < ANSWER {
        text.push_str("The ferry crosses the sound in an hour. ");
    }
    text.truncate(ANSWER);
    text
}

fn update(step: u64) -> RunUpdate {
    RunUpdate {
        status: Some(RunStatus::Running),
        current_step: Some(Some(StepId::new(format!("research.1/act.{step}")))),
        completed_steps: Some(step + 1),
        cost_cents: Some(Some(step)),
        ..RunUpdate::default()
    }
}
