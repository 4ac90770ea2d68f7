//! What durability costs: committed steps in a second, bytes that a step keeps, the time to go on with a long run.
//!
//! ```text
//! peers durable WHAT STEPS SYNCHRONOUS FOLDER
//! ```
//!
//! WHAT: `one` (one run of so many steps), `many` (50 runs at once of so many steps each), `leave` (one run, and the
//! process ends in its last step), `resume` (goes on with the run that was left). SYNCHRONOUS: `full` or `normal`, as
//! SQLite's pragma has it. A step calls an op whose 200 bytes are appended to a list, and is committed before the next
//! begins. Prints seconds (for `resume`, from opening the store to the end of the run) and bytes (files in FOLDER).

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use deepgraph_benches::{Outside, Workload};
use deepgraph_protocol::{Map, StepError, Value};
use deepgraph_runtime::{CallContext, Control, Ended, Op, Quiet, Work};
use deepgraph_store::{SqliteOptions, SqliteStore, Store, Synchronous};

use crate::live;

/// Runs at once.
const RUNS: usize = 50;
/// What a step appends.
const BYTES: usize = 200;

/// The op of a process that ends, as in a crash, when it is asked for this text.
struct EndsAt(Outside, i64);

#[async_trait]
impl Op for EndsAt {
    async fn call(&self, input: Map, _: &CallContext) -> Result<Value, StepError> {
        if input.get("n").and_then(Value::as_int) == Some(self.1) {
            std::process::exit(0);
        }
        Ok(self.0.fetch(&input))
    }
}

/// Measures what the arguments say, and prints it.
pub fn main(args: &[String]) {
    let [what, steps, synchronous, folder] = args else {
        panic!("usage: peers durable WHAT STEPS SYNCHRONOUS FOLDER")
    };
    let steps: usize = steps.parse().unwrap_or_else(|e| panic!("STEPS: {e}"));
    let workload = Workload::append(steps, BYTES);
    let folder = Path::new(folder);
    let began = Instant::now();
    let store = open(folder, synchronous);
    match what.as_str() {
        "one" => one(&workload, store),
        "many" => many(&workload, store),
        "leave" => leave(&workload, store, steps),
        "resume" => resume(&workload, store),
        other => panic!("there is no measurement {other}"),
    }
    let seconds = began.elapsed().as_secs_f64();
    println!("{{\"seconds\": {seconds}, \"bytes\": {}}}", crate::bytes_in(folder));
}

fn open(folder: &Path, synchronous: &str) -> Arc<dyn Store> {
    let mut options = SqliteOptions::default();
    if synchronous == "normal" {
        options.synchronous = Synchronous::Normal;
    }
    match SqliteStore::open_with(folder.join("runs.sqlite"), &options) {
        Ok(store) => Arc::new(store),
        Err(e) => panic!("no store: {e}"),
    }
}

fn one(workload: &Workload, store: Arc<dyn Store>) {
    let runtime = live::runtime(workload.outside, store);
    let outcome = live::threads().block_on(live::drive(&runtime, &live::new_run(workload)));
    workload.verify(&outcome.end);
}

fn many(workload: &Workload, store: Arc<dyn Store>) {
    let runtime = Arc::new(live::runtime(workload.outside, store));
    let threads = live::threads();
    let runs: Vec<_> = (0..RUNS)
        .map(|_| {
            let (runtime, new) = (runtime.clone(), live::new_run(workload));
            threads.spawn(async move { live::drive(&runtime, &new).await })
        })
        .collect();
    for run in runs {
        match threads.block_on(run) {
            Ok(outcome) => workload.verify(&outcome.end),
            Err(e) => panic!("a run broke off: {e}"),
        }
    }
}

/// Runs until the last step, and is not heard of again.
fn leave(workload: &Workload, store: Arc<dyn Store>, steps: usize) {
    let last = i64::try_from(steps).unwrap_or(i64::MAX) - 1;
    let op = Arc::new(EndsAt(workload.outside, last));
    let runtime = live::runtime_of(Arc::new(live::Answers(workload.outside)), op, store);
    live::threads().block_on(live::drive(&runtime, &live::new_run(workload)));
}

fn resume(workload: &Workload, store: Arc<dyn Store>) {
    let run = match store.find_run("last") {
        Ok(record) => record.run_id,
        Err(e) => panic!("no run was left: {e}"),
    };
    let runtime = live::runtime(workload.outside, store);
    let work = Work::Resume { bundle: workload.bundle.clone(), answers: Vec::new() };
    let (_canceller, control) = Control::new();
    match live::threads().block_on(runtime.drive(&run, work, control, &mut Quiet)) {
        Ok(Ended::Over(outcome)) => workload.verify(&outcome.end),
        other => panic!("the run did not end: {other:?}"),
    }
}
