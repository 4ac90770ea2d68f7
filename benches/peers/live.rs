//! A workload under the runtime: tokio, a store, every entry committed before it is applied.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use deepgraph_benches::{Outside, Workload};
use deepgraph_model::{ChatModel, ModelSettings, Models, Preview};
use deepgraph_protocol::{Map, ModelReply, ModelRequest, StepError, Value};
use deepgraph_runtime::{
    Control, Ended, NewRun, Op, Ops, Outcome, Quiet, Runtime, SystemClock, Unattended, Work,
};
use deepgraph_store::{MemoryStore, SqliteStore, Store};

/// The op and the model, answering at once.
struct Answers(Outside);

#[async_trait]
impl Op for Answers {
    async fn call(&self, input: Map) -> Result<Value, StepError> {
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
    let mut models = Models::new(ModelSettings::default());
    models.register("scripted", Arc::new(Answers(workload.outside)));
    let mut ops = Ops::default();
    ops.add("fetch", Arc::new(Answers(workload.outside)));
    let runtime = Runtime {
        store,
        models: Arc::new(models),
        ops,
        clock: Arc::new(SystemClock),
        asker: None,
        unattended: Unattended::Wait,
        replay: None,
    };
    let new = NewRun {
        question: workload.name.into(),
        graph: workload.name.into(),
        bundle: workload.bundle.clone(),
        input: workload.input.clone(),
        config: Map::new(),
        settings: serde_json::Value::Null,
        thread: None,
    };
    // As the command does it.
    let threads = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(threads) => threads,
        Err(e) => panic!("no threads: {e}"),
    };
    let began = Instant::now();
    let outcome = threads.block_on(drive(&runtime, &new));
    let time = began.elapsed();
    workload.verify(&outcome.end);
    time
}

async fn drive(runtime: &Runtime, new: &NewRun) -> Outcome {
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
