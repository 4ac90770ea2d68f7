//! A runtime whose model answers as scripted, after a time that differs from run to run.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use deepgraph_graph::Bundle;
use deepgraph_model::{ChatModel, ModelSettings, Models, Preview};
use deepgraph_protocol::{Map, ModelReply, ModelRequest, StepError, StepId, Value};
use deepgraph_runtime::{
    CallContext, Control, Ended, NewRun, Observer, Op, Ops, Outcome, Runtime, SystemClock, Told, Unattended,
    Work,
};
use deepgraph_store::{MemoryStore, RunId, Store};
use deepgraph_trace::{Row, Trace};

use crate::engine::supervised::{self, Turns};
use crate::support;

/// The node of the stock graph that a request comes from.
pub fn stage(request: &ModelRequest) -> &'static str {
    let offers = |name: &str| request.tools.iter().any(|t| &*t.name == name);
    match request.output.as_ref().map(|o| &*o.name) {
        Some("ClarifyWithUser") => return "clarify",
        Some("ResearchQuestion") => return "brief",
        _ => {}
    }
    if offers("ConductResearch") {
        return "supervisor";
    }
    if offers("search") {
        return "researcher";
    }
    let last = request.messages.last().map_or("", |m| &*m.content);
    if last.starts_with("Clean up") { "compress" } else { "report" }
}

/// A model that is in no hurry, and counts how many of its calls are in flight.
pub struct Slow {
    turns: Turns,
    seed: u64,
    calls: AtomicUsize,
    /// Calls in flight now, and the most there were, by stage.
    flights: std::sync::Mutex<BTreeMap<&'static str, (usize, usize)>>,
    longest: Duration,
}

impl Slow {
    pub fn new(turns: Turns, seed: u64, longest: Duration) -> Arc<Slow> {
        Arc::new(Slow { turns, seed, calls: AtomicUsize::new(0), flights: Default::default(), longest })
    }

    /// The most calls of a stage that were in flight at once.
    pub fn most(&self, stage: &str) -> usize {
        self.flights.lock().expect("no test panics while it counts").get(stage).map_or(0, |f| f.1)
    }

    /// All calls.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    fn take_off(&self, stage: &'static str) {
        let mut flights = self.flights.lock().expect("no test panics while it counts");
        let flight = flights.entry(stage).or_default();
        flight.0 += 1;
        flight.1 = flight.1.max(flight.0);
    }

    fn land(&self, stage: &'static str) {
        self.flights.lock().expect("no test panics while it counts").entry(stage).or_default().0 -= 1;
    }
}

#[async_trait]
impl ChatModel for Slow {
    async fn reply(&self, request: &ModelRequest, _: Preview<'_>) -> Result<ModelReply, StepError> {
        let stage = stage(request);
        let n = self.calls.fetch_add(1, Ordering::SeqCst) as u64;
        // A multiplicative hash of the call's number: neither order nor time of arrival is the same twice.
        let mixed = (n + 1).wrapping_mul(self.seed.wrapping_mul(2) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let share = (mixed >> 40) as f64 / (1u64 << 24) as f64;
        self.take_off(stage);
        tokio::time::sleep(self.longest.mul_f64(0.5 + share / 2.0)).await;
        self.land(stage);
        supervised::answer(&self.turns, &StepId::new(format!("{stage}.1")), request)
    }
}

/// The ops of the simulated runs.
pub struct Fixed(pub &'static str);

#[async_trait]
impl Op for Fixed {
    async fn call(&self, input: Map, _: &CallContext) -> Result<Value, StepError> {
        supervised::ops(&StepId::new("op.1"), self.0, &input)
    }
}

/// Remembers what it was told.
#[derive(Default)]
pub struct Memory(pub Vec<Told>);

impl Observer for Memory {
    fn told(&mut self, told: &Told) {
        self.0.push(told.clone());
    }
}

/// Everything that a run needs.
pub struct World {
    pub bundle: Arc<Bundle>,
    pub store: Arc<dyn Store>,
    pub model: Arc<Slow>,
    pub runtime: Runtime,
}

impl World {
    pub fn new(bundle: &Arc<Bundle>, model: Arc<Slow>) -> World {
        let mut models = Models::new(ModelSettings::default());
        models.register("extractive", model.clone());
        let mut ops = Ops::default();
        for name in ["search", "read", "think", "handoff", "assemble", "cite"] {
            ops.add(name, Arc::new(Fixed(name)));
        }
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let runtime = Runtime {
            store: store.clone(),
            models: Arc::new(models),
            ops,
            clock: Arc::new(SystemClock),
            asker: None,
            unattended: Unattended::Wait,
            replay: None,
        };
        World { bundle: bundle.clone(), store, model, runtime }
    }

    pub fn new_run(&self, config: &[(&str, Value)]) -> NewRun {
        NewRun {
            thread: None,
            question: "a question".into(),
            graph: "deep_research".into(),
            bundle: self.bundle.clone(),
            input: support::question("a question"),
            config: support::config(&self.bundle, config),
            settings: serde_json::Value::Null,
        }
    }

    /// Runs to the end.
    pub async fn run(&self, config: &[(&str, Value)]) -> (RunId, Outcome, Memory) {
        let (_canceller, control) = Control::new();
        self.run_under(config, control).await
    }

    pub async fn run_under(&self, config: &[(&str, Value)], control: Control) -> (RunId, Outcome, Memory) {
        let new = self.new_run(config);
        let run = self.runtime.record(&new).expect("the store takes it");
        let mut memory = Memory::default();
        let work = Work::Start(Box::new(new));
        match self.runtime.drive(&run, work, control, &mut memory).await {
            Ok(Ended::Over(outcome)) => (run, *outcome, memory),
            other => panic!("the run did not end: {other:?}"),
        }
    }

    /// The canonical trace, with the date taken out.
    pub fn trace(&self, run: &RunId) -> Trace {
        let rows = self.store.entries(run, 0).expect("the journal can be read");
        let trace = deepgraph_trace::fold(
            &self.bundle,
            rows.iter().map(|r| Row { scope: &r.scope, entry: &r.entry }),
        );
        let date = deepgraph_trace::date_of(rows.iter().map(|r| &r.entry));
        trace.expect("the journal folds").redact(&date)
    }
}
