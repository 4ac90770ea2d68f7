//! Runs of the stock graph against a server, and what was seen of them.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use deepgraph_graph::Bundle;
use deepgraph_model::ModelSettings;
use deepgraph_protocol::ReportOutcome;
use deepgraph_runtime::tools::Corpus;
use deepgraph_runtime::{Host, Outcome};
use deepgraph_store::{RunRecord, Stored};
use deepgraph_trace::{Row, Trace};
use tokio::sync::Semaphore;

use super::server::{Server, sentence};
use crate::support;

/// The variable with the key: cargo sets it for every test, to [`KEY`].
pub const KEY_VARIABLE: &str = "CARGO_PKG_NAME";

/// The key. It stands nowhere else, so whatever holds it has leaked it.
pub const KEY: &str = env!("CARGO_PKG_NAME");

/// The longest that a run may take, whatever goes wrong.
const BOUND: Duration = Duration::from_secs(60);

/// The stock graph with short waits between tries.
static BUNDLE: LazyLock<Arc<Bundle>> = LazyLock::new(|| support::stock_with("deep_research", &QUICK));

/// The same with short timeouts of its model calls.
static IMPATIENT: LazyLock<Arc<Bundle>> = LazyLock::new(|| {
    let shorter = [("timeout: 120s", "timeout: 1500ms"), ("timeout: 300s", "timeout: 1500ms")];
    support::stock_with("deep_research", &[&QUICK[..], &shorter].concat())
});

const QUICK: [(&str, &str); 3] = [
    ("        timeout: 120s\n", "        timeout: 120s\n        retry: {max: 3, backoff: 10ms}\n"),
    ("backoff: 1s", "backoff: 10ms"),
    ("backoff: 2s", "backoff: 10ms"),
];

/// The model that is asked where another can not serve.
pub const SPARE: &str = "spare";

/// How a run is driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manner {
    /// Whether replies are asked for in pieces.
    pub stream: bool,
    /// Whether model calls get little time.
    pub impatient: bool,
    /// Whether there is another model to ask.
    pub fallback: bool,
}

/// A run that is over.
pub struct Seen {
    pub outcome: Outcome,
    pub trace: Trace,
    /// The record of the run.
    pub recorded: RunRecord,
    /// Its entries, in order.
    pub entries: Vec<Stored>,
    /// All that was kept and told of the run.
    pub everything: String,
}

impl Seen {
    /// The name of the root's exit.
    pub fn exit(&self) -> &str {
        self.outcome.end.exit.reason.name()
    }

    /// The report.
    pub fn report(&self) -> &str {
        self.outcome.text("report")
    }

    /// How the report went.
    pub fn report_outcome(&self) -> &'static str {
        self.outcome.end.report.map_or("none", ReportOutcome::name)
    }

    /// How many replies of this model the trace has.
    pub fn replies_of(&self, model: &str) -> usize {
        let steps = self.trace.root.all_steps();
        steps
            .iter()
            .filter(|step| step.outcome.is_some() && step.sent.model.as_deref() == Some(model))
            .count()
    }

    /// The steps of all instances, as their exits count them.
    pub fn steps(&self) -> u64 {
        self.outcome.exits().filter_map(|exit| exit.counters.get("steps")).sum()
    }

    /// Which of these towers the report knows.
    pub fn reported(&self, topics: &[&'static str]) -> Vec<&'static str> {
        let is_told = |topic: &&&'static str| self.report().contains(sentence(topic).trim_end_matches('.'));
        topics.iter().filter(is_told).copied().collect()
    }
}

/// Runs the stock graph against a server, over a document for each of these towers.
pub async fn run(server: &Server, topics: &[&'static str], manner: Manner) -> Result<Seen, String> {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    for topic in topics {
        let text = format!("# The {topic} tower\n\n{}\n", sentence(topic));
        std::fs::write(folder.path().join(format!("{topic}.md")), text).expect("it can be written");
    }
    let index = tempfile::tempdir().expect("there is room for a folder");
    let (corpus, _) =
        Corpus::open(&[folder.path().to_path_buf()], index.path(), &mut |_| {}).expect("they can be read");
    let settings = ModelSettings {
        base_url: Some(server.base_url()),
        stream: manner.stream,
        key_variable: KEY_VARIABLE.into(),
        fallbacks: if manner.fallback { vec![format!("openai::{SPARE}")] } else { Vec::new() },
        ..ModelSettings::default()
    };
    let host = Host::builder().documents(corpus).models(settings).build().expect("a host");
    let bundle = if manner.impatient { &*IMPATIENT } else { &*BUNDLE };
    let mut launch = host.run(bundle).input("question", "How high are the towers?");
    for (key, model) in MODELS {
        launch = launch.config(key, model);
    }
    let mut running = launch.start().await.map_err(|why| why.to_string())?;
    let id = running.id().clone();
    let mut told = Vec::new();
    let over = tokio::time::timeout(BOUND, async {
        while let Some(event) = running.next_event().await {
            told.push(format!("{event:?}"));
        }
        running.ended().await
    });
    let ended = over.await.map_err(|_| format!("it does not end within {BOUND:?}"))?;
    let outcome = ended.map_err(|why| why.to_string())?.outcome().ok_or("it waits for an answer")?;
    let rows = host.store().entries(&id, 0).map_err(|why| why.to_string())?;
    let record = host.store().run(&id).map_err(|why| why.to_string())?.ok_or("it has no record")?;
    let journal = serde_json::to_string(&rows.iter().map(|row| &row.entry).collect::<Vec<_>>());
    let everything = format!("{}\n{record:?}\n{outcome:?}\n{told:?}", journal.expect("entries are JSON"));
    let folded = rows.iter().map(|row| Row { scope: &row.scope, entry: &row.entry });
    let trace = deepgraph_trace::fold(bundle, folded).map_err(|why| why.to_string())?;
    let everything = format!("{everything}\n{}", trace.to_text(deepgraph_trace::Detail::Full));
    Ok(Seen { outcome, trace, recorded: record, entries: rows, everything })
}

/// A model for each stage, all of one server.
const MODELS: [(&str, &str); 4] = [
    ("brief_model", "openai::planner"),
    ("research_model", "openai::searcher"),
    ("compression_model", "openai::squeezer"),
    ("final_report_model", "openai::writer"),
];

/// How many runs are at work at once.
const AT_ONCE: usize = 16;

/// Plays all of these, several at once; what came of each, in order.
pub async fn at_once<C, P, F>(cases: Vec<C>, play: impl Fn(C) -> F) -> Vec<P>
where
    P: Send + 'static,
    F: Future<Output = P> + Send + 'static,
{
    let room = Arc::new(Semaphore::new(AT_ONCE));
    let runs: Vec<_> = cases
        .into_iter()
        .map(|case| {
            let (room, run) = (room.clone(), play(case));
            tokio::spawn(async move {
                let _place = room.acquire_owned().await;
                run.await
            })
        })
        .collect();
    let mut played = Vec::new();
    for run in runs {
        played.push(run.await.expect("no run panics"));
    }
    played
}
