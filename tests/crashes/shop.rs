//! A run that changes something outside: each op that writes adds a line to a file when it is called.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use deepgraph_graph::build::Type;
use deepgraph_protocol::{Map, Value};
use deepgraph_runtime::{CallContext, Canceller, CustomOp, Host, OpDeclaration, Outcome, Running};
use deepgraph_store::{RunId, Store};
use tokio::sync::Mutex;

use crate::support::repo;

/// A line of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub op: String,
    pub step: String,
    pub key: String,
}

pub fn lines(log: &Path) -> Vec<Line> {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let line = |line: &str| {
        let mut words = line.split(' ').map(str::to_owned);
        let mut word = || words.next().expect("a line has three words");
        Line { op: word(), step: word(), key: word() }
    };
    text.lines().map(line).collect()
}

/// What drives the run.
pub struct Shop {
    host: Host,
    /// What the op `stop` cancels the run with, if it does.
    canceller: Arc<Mutex<Option<Canceller>>>,
    cancels: bool,
}

impl Shop {
    pub fn new(store: Arc<dyn Store>, log: &Path, cancels: bool) -> Shop {
        let canceller: Arc<Mutex<Option<Canceller>>> = Arc::default();
        let stops = canceller.clone();
        let stop = declared("stop").reads().run_with(move |_: Map, _: CallContext| {
            let stops = stops.clone();
            async move {
                if let Some(canceller) = stops.lock().await.take() {
                    canceller.cancel();
                }
                // The run is cancelled before this comes back.
                tokio::time::sleep(Duration::from_millis(30)).await;
                Ok(result("stop"))
            }
        });
        let host = Host::builder()
            .shared_store(store)
            .op(writes("plain", log, false))
            .op(writes("keyed", log, true))
            .op(writes("undo_plain", log, false))
            .op(writes("undo_keyed", log, true))
            .op(stop);
        Shop { host: host.build().expect("the ops are sound"), canceller, cancels }
    }

    /// Records the run and drives it to its end.
    pub fn begin(&self) -> Outcome {
        let graph = self.host.load_file(repo().join("tests/crashes/writes.yaml"));
        let bundle = graph.unwrap_or_else(|mistakes| panic!("{mistakes}"));
        threads().block_on(async {
            // The op waits for it.
            let mut canceller = self.canceller.lock().await;
            let running = self.host.run(&bundle).start().await.expect("it starts");
            *canceller = self.cancels.then(|| running.canceller());
            drop(canceller);
            over(running).await
        })
    }

    /// Goes on with the run.
    pub fn go_on(&self, run: &RunId) -> Outcome {
        threads().block_on(async {
            let mut canceller = self.canceller.lock().await;
            let resumption = self.host.resume(run).await.expect("it is there");
            let running = resumption.start().await.expect("it goes on");
            *canceller = self.cancels.then(|| running.canceller());
            drop(canceller);
            over(running).await
        })
    }
}

fn threads() -> tokio::runtime::Runtime {
    let threads = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    threads.expect("there are threads")
}

async fn over(running: Running) -> Outcome {
    running.ended().await.expect("it can be driven").outcome().expect("it is over")
}

fn declared(op: &'static str) -> OpDeclaration {
    CustomOp::new(op).input("what", Type::string()).result("number", Type::string())
}

fn result(op: &str) -> Value {
    Value::record([("number", Value::from(format!("{op} 7")))])
}

fn writes(op: &'static str, log: &Path, takes_key: bool) -> CustomOp {
    let declared = declared(op).writes();
    let declared = if takes_key { declared.takes_key() } else { declared };
    let log: PathBuf = log.to_owned();
    declared.run_with(move |_: Map, context: CallContext| {
        let log = log.clone();
        async move {
            let mut log =
                OpenOptions::new().append(true).create(true).open(&log).expect("the log can be opened");
            // In one piece: two calls may write at once.
            let line = format!("{op} {} {}\n", context.step(), context.idempotency_key());
            log.write_all(line.as_bytes()).expect("the log can be written");
            tokio::time::sleep(Duration::from_millis(2)).await;
            Ok(result(op))
        }
    })
}
