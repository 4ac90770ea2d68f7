//! Two hundred runs at once in one process: none is lost, none is mixed up with another.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use deepgraph_graph::Bundle;
use deepgraph_model::{ChatModel, Preview};
use deepgraph_protocol::{ModelReply, ModelRequest, StepError, StepId, Value};
use deepgraph_runtime::Host;
use deepgraph_store::{PostgresStore, RunRecord, SqliteStore, Store};
use deepgraph_testkit::{calls, data, says};

use super::world::stage;
use crate::engine::supervised::{self, complete, conduct, turn};
use crate::support;
use crate::support::postgres::Postgres;

const RUNS: usize = 200;

/// Answers every stage with the name that stands in what it is asked, after 50 ms.
struct Echo;

/// What stands in the question of one run, and in no other's.
fn name(run: usize) -> String {
    format!("vessel-{run:04}.")
}

fn named(request: &ModelRequest) -> String {
    let found =
        request.messages.iter().find_map(|m| m.content.find("vessel-").map(|at| &m.content[at..at + 12]));
    found.unwrap_or("nothing").to_owned()
}

#[async_trait]
impl ChatModel for Echo {
    async fn reply(&self, request: &ModelRequest, _: Preview<'_>) -> Result<ModelReply, StepError> {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let name = named(request);
        Ok(match stage(request) {
            "brief" => data(Value::record([("research_brief", Value::from(format!("All about {name}")))])),
            "supervisor" if turn(request) == 0 => {
                calls((0..3).map(|i| conduct(&format!("part {i} of {name}"))))
            }
            "supervisor" => calls([complete()]),
            "compress" => says(&format!("{name} was measured. [abcdef-1]")),
            "report" => says(&format!("The report on {name} [abcdef-1]")),
            other => supervised::answer(&Vec::new(), &StepId::new(format!("{other}.1")), request)?,
        })
    }
}

/// No other run is told of.
fn assert_only(text: &str, run: usize) {
    let own = name(run).trim_end_matches('.').to_owned();
    assert_eq!(
        text.matches("vessel-").count(),
        text.matches(&own).count(),
        "run {run} tells of another: {text}"
    );
}

async fn all_at_once(store: Arc<dyn Store>) {
    let host = Host::builder().shared_store(store.clone()).model("echo", Echo).build().expect("a host");
    let bundle: Arc<Bundle> = support::stock("deep_research");
    let start = |run: usize| {
        let mut launch = host.run(&bundle).input("question", format!("What of {}?", name(run)));
        for key in ["brief_model", "research_model", "compression_model", "final_report_model"] {
            launch = launch.config(key, "echo");
        }
        tokio::spawn(launch.start())
    };
    let starts: Vec<_> = (0..RUNS).map(start).collect();
    let mut running = Vec::new();
    for start in starts {
        running.push(start.await.expect("it does not panic").expect("it starts"));
    }
    let ids: Vec<_> = running.iter().map(|run| run.id().clone()).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), RUNS);
    for (run, running) in running.into_iter().enumerate() {
        let ended = running.ended().await.expect("it is driven to its end");
        let outcome = ended.outcome().expect("nothing is asked");
        let report = outcome.text("report");
        assert!(report.contains(&name(run)), "run {run}: {report}");
        assert_only(report, run);
    }
    for (run, id) in ids.iter().enumerate() {
        let record: RunRecord = store.run(id).expect("it can be read").expect("it is there");
        assert!(record.status.is_terminal() && record.question.contains(&name(run)), "run {run}");
        let rows = store.entries(id, 0).expect("its journal is whole");
        assert_only(&format!("{rows:?}"), run);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_runs_in_sqlite() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let store = SqliteStore::open(folder.path().join("runs.sqlite")).expect("the file can be opened");
    all_at_once(Arc::new(store)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_runs_in_postgresql() {
    let store = PostgresStore::connect(&Postgres::shared().database()).expect("the server answers");
    all_at_once(Arc::new(store)).await;
}
