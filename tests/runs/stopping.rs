//! Cancelling what is at work: a model that streams, an attempt that waits for its time, a call that waits for a place.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use deepgraph_graph::build::{Graph, Node, Retry, Type};
use deepgraph_model::{ChatModel, Preview};
use deepgraph_protocol::{EntryBody, ErrorKind, ModelReply, ModelRequest, RunStatus, StepError};
use deepgraph_runtime::{Cancelled, Host, Running};
use deepgraph_store::{RunId, SqliteStore, Store};
use deepgraph_testkit::says;

use super::shop::over;

/// A model that goes on streaming until the record says that the run is being cancelled.
struct Streams(Arc<dyn Store>);

#[async_trait]
impl ChatModel for Streams {
    async fn reply(&self, _: &ModelRequest, preview: Preview<'_>) -> Result<ModelReply, StepError> {
        // Longer than anybody waits who cancels the run before he takes it over.
        for _ in 0..1000 {
            preview("a word ");
            tokio::time::sleep(Duration::from_millis(20)).await;
            let record = self.0.find_run("last").expect("it is there");
            if record.status == RunStatus::Cancelling {
                return Ok(says("all of it"));
            }
        }
        Err(StepError::new(ErrorKind::Tool, "nobody stopped it"))
    }
}

/// A model that asks to be asked later, and counts how often it was asked.
#[derive(Clone, Default)]
struct Later(Arc<AtomicUsize>);

#[async_trait]
impl ChatModel for Later {
    async fn reply(&self, _: &ModelRequest, _: Preview<'_>) -> Result<ModelReply, StepError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Err(StepError::new(ErrorKind::RateLimited, "slow down"))
    }
}

/// A model that does not answer, and counts how often it was asked.
#[derive(Clone, Default)]
struct Silent(Arc<AtomicUsize>);

#[async_trait]
impl ChatModel for Silent {
    async fn reply(&self, _: &ModelRequest, _: Preview<'_>) -> Result<ModelReply, StepError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_secs(1)).await;
        Ok(says("done"))
    }
}

fn graph() -> Graph {
    Graph::new("stops")
        .channel("text", Type::string())
        .output(["text"])
        .start("think")
        .node("think", Node::model("m").prompt("Think.").retry(Retry::times(5).backoff("2s")))
}

async fn until(what: impl Fn() -> bool) {
    for _ in 0..4000 {
        if what() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("it did not come");
}

fn is_back(host: &Host, run: &RunId) -> bool {
    let rows = host.store().entries(run, 0).expect("the journal can be read");
    rows.iter().any(|row| matches!(row.entry.body, EntryBody::AttemptFailed { .. }))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_streams_is_asked_to_stop_and_may_come_to_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Arc::new(SqliteStore::open(folder.path().join("runs.db")).unwrap());
    let host = Host::builder().shared_store(open()).model("m", Streams(open())).build().unwrap();
    let running: Running = host.run(&host.load(&graph()).unwrap()).start().await.unwrap();
    let run = running.id().clone();
    let other = Host::builder().shared_store(open()).build().unwrap();
    let came = other.cancel(&run, false, Duration::from_secs(60)).await.unwrap();
    assert_eq!(came, Cancelled::Over(RunStatus::Cancelled));
    // Its driver noticed by itself: it was not taken over from, and the call was let come to its end.
    assert_eq!(over(running.ended().await.unwrap()).status, RunStatus::Cancelled);
    let rows = other.store().entries(&run, 0).unwrap();
    assert!(rows.iter().any(|row| matches!(row.entry.body, EntryBody::Completed { .. })), "{rows:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attempt_that_waits_for_its_time_is_not_made() {
    let model = Later::default();
    let host = Host::builder().model("m", model.clone()).build().unwrap();
    let running = host.run(&host.load(&graph()).unwrap()).start().await.unwrap();
    let run = running.id().clone();
    until(|| is_back(&host, &run)).await;
    running.cancel();
    let outcome = over(running.ended().await.unwrap());
    assert_eq!(outcome.status, RunStatus::Cancelled);
    assert_eq!(model.0.load(Ordering::SeqCst), 1, "a call was paid after the run was cancelled");
    let rows = host.store().entries(&run, 0).unwrap();
    let unsent = |body: &EntryBody| matches!(body, EntryBody::Failed { error, .. } if error.unsent);
    assert!(rows.iter().any(|row| unsent(&row.entry.body)), "{rows:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_waits_for_a_place_is_not_made() {
    let text = "deepgraph: 1\nconcurrency: {model_calls: 1}\nstate: {said: {type: [string], reduce: append}}\n\
                start: open\nnodes:\n  open: {next: {to: [one, two, three]}}\n  \
                one: {model: m, prompt: a}\n  two: {model: m, prompt: b}\n  three: {model: m, prompt: c}\n";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("graph.yaml");
    std::fs::write(&file, text).unwrap();
    let model = Silent::default();
    let host = Host::builder().model("m", model.clone()).build().unwrap();
    let bundle = host.load_file(&file).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let running = host.run(&bundle).start().await.unwrap();
    until(|| model.0.load(Ordering::SeqCst) == 1).await;
    running.cancel();
    let outcome = over(running.ended().await.unwrap());
    assert_eq!(outcome.status, RunStatus::Cancelled);
    assert_eq!(model.0.load(Ordering::SeqCst), 1, "a call was paid after the run was cancelled");
    assert_eq!(outcome.end.settled.model_calls, 1, "{:?}", outcome.end);
}
