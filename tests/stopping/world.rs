//! Documents, a model that reads them one after the other, and what came of it.

use std::fmt::Write as _;

use async_trait::async_trait;
use deepgraph_model::{ChatModel, Preview};
use deepgraph_protocol::{Exit, ModelReply, ModelRequest, Role, StepError, StepId, Value};
use deepgraph_runtime::tools::Corpus;
use deepgraph_runtime::{HashedFacts, Host, Scorer};
use deepgraph_testkit::{call, calls};
use deepgraph_trace::{Row, ScopeTrace, Trace};

use crate::engine::supervised::{self, complete, conduct, turn};
use crate::runs::world::stage;
use crate::support;

/// Delegates as it is told, a turn after the other; its researchers read the documents that stand in their topic.
struct Reader {
    turns: Vec<Vec<String>>,
}

#[async_trait]
impl ChatModel for Reader {
    async fn reply(&self, request: &ModelRequest, _: Preview<'_>) -> Result<ModelReply, StepError> {
        let stage = stage(request);
        Ok(match stage {
            "supervisor" => match self.turns.get(turn(request)) {
                Some(topics) => calls(topics.iter().map(|topic| conduct(topic))),
                None => calls([complete()]),
            },
            "researcher" => {
                let topic = request
                    .messages
                    .iter()
                    .find(|m| m.role == Role::User)
                    .map(|m| m.content.to_string())
                    .unwrap_or_default();
                match topic.split_whitespace().nth(turn(request)) {
                    Some(document) => calls([call("read", &format!("{{\"source\": \"{document}\"}}"))]),
                    None => supervised::answer(&Vec::new(), &StepId::new("compress.1"), request)?,
                }
            }
            other => supervised::answer(&Vec::new(), &StepId::new(format!("{other}.1")), request)?,
        })
    }
}

/// A run that is over.
pub struct Stopped {
    pub trace: Trace,
}

impl Stopped {
    pub fn supervisor(&self) -> &ScopeTrace {
        self.scope("supervisor")
    }

    /// The first researcher.
    pub fn researcher(&self) -> &ScopeTrace {
        self.scope("researcher")
    }

    fn scope(&self, graph: &str) -> &ScopeTrace {
        let found = self.trace.root.instances().into_iter().find(|scope| scope.graph.ends_with(graph));
        found.unwrap_or_else(|| panic!("there is a {graph}"))
    }
}

/// The gains of an instance, step by step.
pub fn gains(scope: &ScopeTrace) -> Vec<f64> {
    scope.gains.iter().map(|gain| gain.share()).collect()
}

pub fn exit(scope: &ScopeTrace) -> &Exit {
    scope.exit.as_ref().expect("it has ended")
}

/// The limits that stand in no way of these tests.
const WIDE: [(&str, i64); 3] =
    [("max_react_tool_calls", 40), ("max_researcher_turns", 40), ("max_researcher_iterations", 40)];

/// Runs the stock graph over documents, given by name and text.
pub async fn run(documents: &[(String, String)], turns: &[&[String]], config: &[(&str, Value)]) -> Stopped {
    run_scored(documents, turns, config, HashedFacts).await
}

/// Runs it with a scorer.
pub async fn run_scored(
    documents: &[(String, String)],
    turns: &[&[String]],
    config: &[(&str, Value)],
    scorer: impl Scorer + 'static,
) -> Stopped {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    for (name, text) in documents {
        std::fs::write(folder.path().join(name), text).expect("it can be written");
    }
    let index = tempfile::tempdir().expect("there is room for a folder");
    let (corpus, _) =
        Corpus::open(&[folder.path().to_path_buf()], index.path(), &mut |_| {}).expect("they can be read");
    let reader = Reader { turns: turns.iter().map(|topics| topics.to_vec()).collect() };
    let host =
        Host::builder().documents(corpus).scorer(scorer).model("reader", reader).build().expect("a host");
    let bundle = support::stock("deep_research");
    let mut launch = host.run(&bundle).input("question", "What is known?").config("clarify", "never");
    for key in ["brief_model", "research_model", "compression_model", "final_report_model"] {
        launch = launch.config(key, "reader");
    }
    for (key, value) in WIDE {
        launch = launch.config(key, value);
    }
    for (key, value) in config {
        launch = launch.config(key, value.clone());
    }
    let running = launch.start().await.expect("it starts");
    let id = running.id().clone();
    running.ended().await.expect("it is driven to its end").outcome().expect("nothing is asked");
    let rows = host.store().entries(&id, 0).expect("its journal can be read");
    let rows = rows.iter().map(|row| Row { scope: &row.scope, entry: &row.entry });
    Stopped { trace: deepgraph_trace::fold(&bundle, rows).expect("it folds") }
}

/// A topic that makes a researcher read these documents, one a turn.
pub fn reading(documents: &[(String, String)]) -> String {
    documents.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(" ")
}

const SHIPS: [&str; 12] = [
    "Alder", "Birch", "Cedar", "Dogwood", "Elder", "Ferngale", "Gorse", "Hazel", "Ivyline", "Juniper",
    "Kestrel", "Larch",
];
const PORTS: [&str; 7] = ["Aldmoor", "Brinsea", "Corrowick", "Dunhaven", "Eskerby", "Farlough", "Garth"];

/// A document of `count` statements that no other document with another `number` has.
pub fn document(number: usize, count: usize) -> (String, String) {
    let mut text = format!("# Landings {number}\n");
    for i in 0..count {
        let (ship, port) = (SHIPS[(number + i) % SHIPS.len()], PORTS[i % PORTS.len()]);
        let tonnes = 1_000 + number * 997 + i * 31;
        let _ =
            write!(text, "\nThe {ship} landed {tonnes} tonnes at {port} in week {} of the season.\n", 1 + i);
    }
    (format!("landings-{number:02}.md"), text)
}
