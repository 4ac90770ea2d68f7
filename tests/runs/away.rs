//! A store that takes its time holds up no thread that runs are driven on.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use deepgraph_graph::Bundle;
use deepgraph_protocol::{Hidden, RunStatus, Value};
use deepgraph_runtime::{Cancelled, Host, Outcome, Running};
use deepgraph_store::{
    Append, Appended, Done, Freed, MemoryStore, RunId, RunRecord, RunUpdate, Store, StoreError, Stored,
};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::support;

/// Every call waits until a task has answered that runs on the one thread there is.
struct Waits {
    store: MemoryStore,
    beats: UnboundedSender<SyncSender<()>>,
    /// Calls that nobody answered: they were made on that thread.
    in_the_way: Arc<Mutex<Vec<&'static str>>>,
}

impl Waits {
    fn wait(&self, call: &'static str) {
        let (answer, answered) = sync_channel(1);
        let asked = self.beats.send(answer).is_ok();
        // Only where the thread is held up does it take this long.
        if !asked || answered.recv_timeout(Duration::from_secs(20)).is_err() {
            self.in_the_way.lock().expect("nobody panics with it").push(call);
        }
    }
}

impl Store for Waits {
    fn create_run(&self, record: &RunRecord) -> Result<(), StoreError> {
        self.wait("create_run");
        self.store.create_run(record)
    }

    fn claim(&self, run: &RunId) -> Result<u64, StoreError> {
        self.wait("claim");
        self.store.claim(run)
    }

    fn append(
        &self,
        run: &RunId,
        epoch: u64,
        batch: &[Append],
        update: Option<&RunUpdate>,
    ) -> Result<Appended, StoreError> {
        self.wait("append");
        self.store.append(run, epoch, batch, update)
    }

    // The form for those who do not wait.
    fn append_then(&self, run: &RunId, epoch: u64, batch: &[Append], update: Option<&RunUpdate>, done: Done) {
        self.store.append_then(run, epoch, batch, update, done);
    }

    fn update_run(&self, run: &RunId, epoch: u64, update: &RunUpdate) -> Result<(), StoreError> {
        self.wait("update_run");
        self.store.update_run(run, epoch, update)
    }

    fn request_cancel(&self, run: &RunId) -> Result<RunStatus, StoreError> {
        self.wait("request_cancel");
        self.store.request_cancel(run)
    }

    fn run(&self, run: &RunId) -> Result<Option<RunRecord>, StoreError> {
        self.wait("run");
        self.store.run(run)
    }

    fn runs(&self, limit: usize) -> Result<Vec<RunRecord>, StoreError> {
        self.wait("runs");
        self.store.runs(limit)
    }

    fn find_run(&self, prefix: &str) -> Result<RunRecord, StoreError> {
        self.wait("find_run");
        self.store.find_run(prefix)
    }

    fn kept(&self, key: &str) -> Result<Option<Value>, StoreError> {
        self.wait("kept");
        self.store.kept(key)
    }

    fn weigh(&self, runs: &[RunId]) -> Result<Freed, StoreError> {
        self.store.weigh(runs)
    }

    fn remove_run(&self, run: &RunId, epoch: u64) -> Result<Freed, StoreError> {
        self.store.remove_run(run, epoch)
    }

    fn sweep_texts(&self) -> Result<Freed, StoreError> {
        self.store.sweep_texts()
    }

    fn entries(&self, run: &RunId, after_seq: u64) -> Result<Vec<Stored>, StoreError> {
        self.wait("entries");
        self.store.entries(run, after_seq)
    }
}

/// The task that answers.
async fn beat(mut beats: UnboundedReceiver<SyncSender<()>>) {
    while let Some(waiting) = beats.recv().await {
        let _ = waiting.send(());
    }
}

/// Rounds up to a limit, then a question in a graph that asks.
fn graph(asks: bool) -> Arc<Bundle> {
    let next = if asks { "ask" } else { "look" };
    support::graph(&format!(
        "deepgraph: 1\nname: rounds\nconfig: {{most: {{type: integer, default: 2}}}}\nstate: {{question: string, seen: \
         {{type: integer, reduce: sum, persist: thread}}, answer: string}}\ninput: [question]\noutput: [seen]\nlimits: \
         {{rounds: {{count: [look], max: config.most, exit: iteration_limit}}}}\nstart: look\nnodes: {{look: {{update: \
         {{seen: 1}}, next: {next}}}{}}}\n",
        if asks { ", ask: {ask: Go on?, update: {answer: result.text}}" } else { "" }
    ))
}

async fn ended(running: Running) -> Outcome {
    running.ended().await.expect("it can be driven").outcome().expect("it is over")
}

#[tokio::test]
async fn every_call_of_the_store_is_waited_for_beside_the_thread() {
    let (sender, beats) = unbounded_channel();
    tokio::spawn(beat(beats));
    let in_the_way = Arc::default();
    let store = Waits { store: MemoryStore::new(), beats: sender, in_the_way: Arc::clone(&in_the_way) };
    let host = Host::builder().store(store).build().expect("a host");
    let start = |asks| host.run(&graph(asks)).input("question", "?").thread("talk").start();

    let running = start(false).await.expect("it starts");
    let run = running.id().clone();
    assert_eq!(ended(running).await.end.exit.reason.name(), "iteration_limit");
    assert_eq!(host.recording(&run, &Hidden::default()).await.expect("it folds").exchanges.len(), 0);
    let raised = host.resume(&run).await.expect("it is there").raise("most", 5).start().await;
    assert_eq!(ended(raised.expect("it goes on")).await.end.exit.attempt, 2);
    let again = host.resume(&run).await.expect("it is there").start().await;
    assert_eq!(ended(again.expect("it is over")).await.end.exit.attempt, 2);
    let over = host.cancel(&run, false, Duration::from_secs(60)).await.expect("the store answers");
    assert!(matches!(over, Cancelled::WasOver(_)), "{over:?}");

    let asking = start(true).await.expect("it starts");
    let run = asking.id().clone();
    assert_eq!(asking.ended().await.expect("it can be driven").questions().len(), 1);
    let answered = host.resume(&run).await.expect("it is there").answer("yes").start().await;
    ended(answered.expect("it goes on")).await;
    let asking = start(true).await.expect("it starts");
    let run = asking.id().clone();
    asking.ended().await.expect("it can be driven");
    let over = host.cancel(&run, false, Duration::from_secs(60)).await.expect("the store answers");
    assert_eq!(over, Cancelled::Over(RunStatus::Cancelled));

    assert_eq!(*in_the_way.lock().expect("nobody panics with it"), Vec::<&str>::new());
}
