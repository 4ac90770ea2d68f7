//! A workload under the runtime: tokio, a store, every entry committed before it is applied.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use deepgraph_benches::{Outside, Workload};
use deepgraph_model::{ChatModel, ModelSettings, Models, Preview};
use deepgraph_protocol::{Map, ModelReply, ModelRequest, StepError, Value};
use deepgraph_runtime::{
    CallContext, Control, Ended, NewRun, Op, Ops, Outcome, Quiet, Runtime, SystemClock, Unattended, Work,
};
use deepgraph_store::{MemoryStore, SqliteStore, Store};

/// The op and the model, answering at once.
pub struct Answers(pub Outside);

#[async_trait]
impl Op for Answers {
    async fn call(&self, input: Map, _: &CallContext) -> Result<Value, StepError> {
        Ok(self.0.fetch(&input))
    }
}

#[async_trait]
impl ChatModel for Answers {
    async fn reply(&self, request: &ModelRequest, _: Preview<'_>) -> Result<ModelReply, StepError> {
        Ok(self.0.reply(request))
    }
}

/// Runs a workload with a store in `folder`, or in memory. Gives the time from the run's record to its end.
pub fn run(workload: &Workload, folder: Option<&Path>) -> Duration {
    let store: Arc<dyn Store> = match folder {
        None => Arc::new(MemoryStore::new()),
        Some(folder) => match SqliteStore::open(folder.join("runs.sqlite")) {
            Ok(store) => Arc::new(store),
            Err(e) => panic!("no store: {e}"),
        },
    };
    let runtime = runtime(workload.outside, store);
    let new = new_run(workload);
    let threads = threads();
    let began = Instant::now();
    let outcome = threads.block_on(drive(&runtime, &new));
    let time = began.elapsed();
    workload.verify(&outcome.end);
    time
}

/// A runtime whose model and op answer at once.
pub fn runtime(outside: Outside, store: Arc<dyn Store>) -> Runtime {
    runtime_of(Arc::new(Answers(outside)), Arc::new(Answers(outside)), store)
}

/// A runtime of this model and this op `fetch`.
pub fn runtime_of(model: Arc<dyn ChatModel>, fetch: Arc<dyn Op>, store: Arc<dyn Store>) -> Runtime {
    let mut models = Models::new(ModelSettings::default());
    models.register("scripted", model);
    let mut ops = Ops::default();
    ops.add("fetch", fetch);
    Runtime {
        store,
        models: Arc::new(models),
        ops,
        clock: Arc::new(SystemClock),
        asker: None,
        unattended: Unattended::Wait,
        replay: None,
    }
}

/// A run of a workload that is to be started.
pub fn new_run(workload: &Workload) -> NewRun {
    NewRun {
        question: workload.name.into(),
        graph: workload.name.into(),
        bundle: workload.bundle.clone(),
        input: workload.input.clone(),
        config: Map::new(),
        settings: serde_json::Value::Null,
        thread: None,
    }
}

/// The threads of a run, as the command has them.
pub fn threads() -> tokio::runtime::Runtime {
    match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(threads) => threads,
        Err(e) => panic!("no threads: {e}"),
    }
}

/// Drives a run from its start to its end.
pub async fn drive(runtime: &Runtime, new: &NewRun) -> Outcome {
    let (_canceller, control) = Control::new();
    let run = match runtime.record(new) {
        Ok(run) => run,
        Err(e) => panic!("not recorded: {e}"),
    };
    let work = Work::Start(Box::new(new.clone()));
    match runtime.drive(&run, work, control, &mut Quiet).await {
        Ok(Ended::Over(outcome)) => *outcome,
        other => panic!("the run did not end: {other:?}"),
    }
}
