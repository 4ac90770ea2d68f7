//! Many runs of the stock graph at once in one process.
//!
//! ```text
//! peers many RUNS STORE [BASE_URL]
//! ```
//!
//! STORE: `memory`, `sqlite:FOLDER`, or `postgres://...` (with the feature `postgres`). Every run has a question of its
//! own; its supervisor sends three researchers twice, each of which searches the sample documents twice. The model
//! answers in 50 ms from what it is asked, or is that of the server at BASE_URL. Checks that every run ended with its own
//! question in its own report and no other, then prints seconds, runs and steps in a second, and the most memory.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use deepgraph_graph::Bundle;
use deepgraph_model::{ChatModel, ModelSettings, Preview};
use deepgraph_protocol::{
    FinishReason, Map, ModelReply, ModelRequest, Role, StepError, ToolCall, Usage, Value,
};
use deepgraph_runtime::{Host, Outcome};
use deepgraph_store::{MemoryStore, SqliteStore, Store};
use deepgraph_tools::Corpus;

use crate::live;

const ROUNDS: usize = 2;
const PARALLEL: usize = 3;
const SEARCHES: usize = 2;
const LATENCY: Duration = Duration::from_millis(50);

/// Plays every stage of the stock graph, from what it is asked alone.
struct Plays;

/// Measures what the arguments say, and prints it.
pub fn main(args: &[String]) {
    let [runs, store, rest @ ..] = args else { panic!("usage: peers many RUNS STORE [BASE_URL]") };
    let runs: usize = runs.parse().unwrap_or_else(|e| panic!("RUNS: {e}"));
    let base_url = rest.first().cloned();
    let (store, kept) = open(store);
    let host = host(store, base_url.clone());
    let graph = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../graphs/deep_research/graph.yaml");
    let bundle = host.load_file(graph).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let model = if base_url.is_some() { "openai::fake" } else { "plays" };
    let threads = live::threads();
    let began = Instant::now();
    let outcomes = threads.block_on(all(&host, &bundle, model, runs));
    let seconds = began.elapsed().as_secs_f64();
    let (mut steps, mut calls) = (0, 0);
    for (number, outcome) in outcomes.iter().enumerate() {
        if base_url.is_none() {
            check(number, runs, outcome);
        }
        calls += outcome.end.settled.model_calls;
        steps += outcome.exits().filter_map(|exit| exit.counters.get("steps")).sum::<u64>();
    }
    println!(
        "{runs} runs in {seconds:.2} s: {:.1} runs and {:.0} steps in a second, {} model calls in all, {:.0} MB at most, \
         {:.1} MB kept",
        runs as f64 / seconds,
        steps as f64 / seconds,
        calls,
        crate::peak_kb() as f64 / 1000.0,
        kept.map_or(0.0, |folder| crate::bytes_in(&folder) as f64 / 1e6),
    );
}

fn open(name: &str) -> (Box<dyn Store>, Option<PathBuf>) {
    if name == "memory" {
        return (Box::new(MemoryStore::new()), None);
    }
    if let Some(folder) = name.strip_prefix("sqlite:") {
        let file = Path::new(folder).join("runs.sqlite");
        let store = SqliteStore::open(file).unwrap_or_else(|e| panic!("no store: {e}"));
        return (Box::new(store), Some(folder.into()));
    }
    #[cfg(feature = "postgres")]
    return (
        Box::new(deepgraph_store::PostgresStore::connect(name).unwrap_or_else(|e| panic!("no store: {e}"))),
        None,
    );
    #[cfg(not(feature = "postgres"))]
    panic!(
        "there is no store {name}: `memory`, `sqlite:FOLDER`, or, with the feature `postgres`, `postgres://...`"
    )
}

fn host(store: Box<dyn Store>, base_url: Option<String>) -> Host {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/harbour");
    let index = std::env::temp_dir().join(format!("deepgraph-many-{}", std::process::id()));
    let corpus = Corpus::open(&[docs], &index, &mut |_| {}).unwrap_or_else(|e| panic!("no documents: {e}")).0;
    let builder = Host::builder()
        .shared_store(store.into())
        .models(ModelSettings { base_url, ..ModelSettings::default() })
        .model("plays", Plays)
        .documents(corpus);
    builder.build().unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

async fn all(host: &Host, bundle: &Arc<Bundle>, model: &str, runs: usize) -> Vec<Outcome> {
    let started = (0..runs).map(|number| {
        let mut launch =
            host.run(bundle).input("question", format!("What is the range of {}?", token(number)));
        for key in ["brief_model", "research_model", "compression_model", "final_report_model"] {
            launch = launch.config(key, model);
        }
        tokio::spawn(launch.start())
    });
    let mut running = Vec::new();
    for (number, start) in started.collect::<Vec<_>>().into_iter().enumerate() {
        match start.await {
            Ok(Ok(started)) => running.push(started),
            other => panic!("run {number} was not started: {other:?}"),
        }
    }
    let mut outcomes = Vec::new();
    for running in running {
        match running.ended().await.map(deepgraph_runtime::Ended::outcome) {
            Ok(Some(outcome)) => outcomes.push(outcome),
            other => panic!("a run was lost: {other:?}"),
        }
    }
    outcomes
}

/// What stands in the question of one run and in no other's. In letters: a figure would have to stand in a source.
fn token(number: usize) -> String {
    let letter = |place: u32| char::from(b'a' + (number / 10_usize.pow(place) % 10) as u8);
    format!("vessel-{}", (0..4).rev().map(letter).collect::<String>())
}

fn check(number: usize, runs: usize, outcome: &Outcome) {
    assert_eq!(outcome.status.name(), "succeeded", "run {number}: {:?}", outcome.end.exit);
    let report = outcome.text("report");
    for other in 0..runs {
        assert_eq!(
            report.contains(&token(other)),
            other == number,
            "run {number} tells of {other}: {report}"
        );
    }
}

#[async_trait]
impl ChatModel for Plays {
    async fn reply(&self, request: &ModelRequest, _: Preview<'_>) -> Result<ModelReply, StepError> {
        tokio::time::sleep(LATENCY).await;
        Ok(answer(request))
    }
}

fn answer(request: &ModelRequest) -> ModelReply {
    let offers = |name: &str| request.tools.iter().any(|tool| &*tool.name == name);
    let turn = request.messages.iter().filter(|m| m.role == Role::Assistant).count();
    let subject = subject(request);
    match request.output.as_ref().map(|output| &*output.name) {
        Some("ClarifyWithUser") => return data(Value::record([("need_clarification", Value::from(false))])),
        Some("ResearchQuestion") => {
            return data(Value::record([(
                "research_brief",
                Value::from(format!("The range of {subject}.")),
            )]));
        }
        _ => {}
    }
    if offers("ConductResearch") {
        let topic = |i: usize| {
            Value::record([(
                "research_topic",
                Value::from(format!("The range of {subject} in view {turn}-{i}.")),
            )])
        };
        let none = Value::Map(Arc::new(Map::new()));
        return match turn {
            turn if turn < ROUNDS => calls((0..PARALLEL).map(|i| ("ConductResearch", topic(i)))),
            _ => calls([("ResearchComplete", none)]),
        };
    }
    if offers("search") {
        let query = Value::record([("query", Value::from(format!("range of a vessel {turn}")))]);
        return if turn < SEARCHES {
            calls([("search", query)])
        } else {
            says(&format!("Enough of {subject}."))
        };
    }
    let source = source(request);
    says(&format!("# {subject}\n\nThe range was measured. {source}"))
}

/// The token in what was asked.
fn subject(request: &ModelRequest) -> String {
    let texts = request.messages.iter().map(|m| &*m.content);
    let found = texts.filter_map(|text| text.find("vessel-").map(|at| text[at..].chars().take(11).collect()));
    found.into_iter().next().unwrap_or_default()
}

/// The first citation that stands in what was read. The system prompts show one as an example.
fn source(request: &ModelRequest) -> String {
    let texts = request.messages.iter().filter(|m| m.role != Role::System).map(|m| &*m.content);
    let marks = texts.flat_map(|text| text.split('[').skip(1)).filter_map(|rest| rest.split_once(']'));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let is_id = |id: &str| {
        id.split_once('-').is_some_and(|(document, passage)| document.len() == 6 && digits(passage))
    };
    marks.map(|(id, _)| id).find(|id| is_id(id)).map_or_else(String::new, |id| format!("[{id}]"))
}

fn data(value: Value) -> ModelReply {
    ModelReply { text: value.to_json_text().into(), data: value, ..says("") }
}

fn says(text: &str) -> ModelReply {
    ModelReply {
        text: text.into(),
        tool_calls: Vec::new(),
        data: Value::Null,
        finish: FinishReason::Stop,
        usage: Usage { input_tokens: 100, output_tokens: 10, ..Usage::default() },
        cost_micro_usd: Some(0),
        model: "plays".into(),
        mended: Vec::new(),
        guess: Default::default(),
    }
}

fn calls(calls: impl IntoIterator<Item = (&'static str, Value)>) -> ModelReply {
    let call = |(i, (name, arguments)): (usize, (&'static str, Value))| ToolCall {
        id: format!("call_{i}").into(),
        name: name.into(),
        arguments: arguments.to_json_text().into(),
    };
    let tool_calls = calls.into_iter().enumerate().map(call).collect();
    ModelReply { tool_calls, finish: FinishReason::ToolCalls, ..says("") }
}
