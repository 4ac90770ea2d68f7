//! A run with five researchers whose model writes down that it was called.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use deepgraph_graph::Bundle;
use deepgraph_model::{ChatModel, ModelSettings, Models, Preview};
use deepgraph_protocol::{Map, ModelReply, ModelRequest, ResumeFrom, StepError, StepId, Value};
use deepgraph_runtime::{
    Again, Control, Ended, NewRun, Ops, Outcome, Quiet, Runtime, SystemClock, Unattended, Work,
};
use deepgraph_store::{RunRecord, Store};
use serde_json::json;

use crate::engine::supervised::{self, complete, conduct};
use crate::runs::world::{Fixed, stage};
use crate::support;

/// The model: it answers as every stage of the stock graph should, and adds a line to a file for each call.
struct Logged(PathBuf);

#[async_trait]
impl ChatModel for Logged {
    async fn reply(&self, request: &ModelRequest, _: Preview<'_>) -> Result<ModelReply, StepError> {
        let stage = stage(request);
        let mut log =
            OpenOptions::new().append(true).create(true).open(&self.0).expect("the log can be opened");
        writeln!(log, "{stage}").expect("the log can be written");
        // Long enough for other steps to be in flight when this one comes back.
        tokio::time::sleep(Duration::from_millis(2)).await;
        let turns = vec![(0..5).map(|i| conduct(&format!("topic {i}"))).collect(), vec![complete()]];
        supervised::answer(&turns, &StepId::new(format!("{stage}.1")), request)
    }
}

/// How many calls a log has.
pub fn calls(log: &Path) -> usize {
    std::fs::read_to_string(log).unwrap_or_default().lines().count()
}

/// What drives the run.
pub struct World {
    bundle: Arc<Bundle>,
    runtime: Runtime,
}

impl World {
    pub fn new(store: Arc<dyn Store>, log: &Path) -> World {
        let mut models = Models::new(ModelSettings::default());
        models.register("extractive", Arc::new(Logged(log.to_owned())));
        let mut ops = Ops::default();
        for name in ["search", "read", "think", "handoff", "assemble", "cite"] {
            ops.add(name, Arc::new(Fixed(name)));
        }
        let runtime = Runtime {
            store,
            models: Arc::new(models),
            ops,
            clock: Arc::new(SystemClock),
            asker: None,
            unattended: Unattended::Wait,
            replay: None,
        };
        World { bundle: support::stock("deep_research"), runtime }
    }

    /// Records the run and drives it to its end.
    pub fn begin(&self) -> Outcome {
        self.record(support::config(&self.bundle, &[]))
    }

    /// The same with a limit on how often the supervisor delegates.
    pub fn begin_with(&self, max_researcher_iterations: i64) -> Outcome {
        let set = [("max_researcher_iterations", Value::Int(max_researcher_iterations))];
        self.record(support::config(&self.bundle, &set))
    }

    fn record(&self, config: Map) -> Outcome {
        let input = support::question("a question");
        let settings = json!({"input": input, "config": config});
        let new = NewRun {
            thread: None,
            question: "a question".into(),
            graph: "deep_research".into(),
            bundle: self.bundle.clone(),
            input,
            config,
            settings,
        };
        let run = self.runtime.record(&new).expect("the store takes it");
        self.drive(&run, Work::Start(Box::new(new)))
    }

    /// Goes on with a run of the store.
    pub fn go_on(&self, record: &RunRecord) -> Outcome {
        let work = Work::of(record, self.bundle.clone(), Vec::new()).expect("the run can go on");
        self.drive(&record.run_id, work)
    }

    /// Lets a run that is over go on under another such limit.
    pub fn raise(&self, record: &RunRecord, max_researcher_iterations: i64) -> Outcome {
        let name = "max_researcher_iterations".to_owned();
        let set = BTreeMap::from([(name, Value::Int(max_researcher_iterations))]);
        let again = Again::of(&*self.runtime.store, record, self.bundle.clone(), &set, ResumeFrom::Research);
        self.drive(&record.run_id, Work::Again(Box::new(again.expect("the limit fits"))))
    }

    fn drive(&self, run: &deepgraph_store::RunId, work: Work) -> Outcome {
        let threads = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let (_canceller, control) = Control::new();
        let mut quiet = Quiet;
        let driving = self.runtime.drive(run, work, control, &mut quiet);
        match threads.expect("there are threads").block_on(driving) {
            Ok(Ended::Over(outcome)) => *outcome,
            other => panic!("the run did not end: {other:?}"),
        }
    }
}
