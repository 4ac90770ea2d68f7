//! A place where runs change something: ops that write, with what they were called for.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use deepgraph_graph::Bundle;
use deepgraph_graph::build::{Compensation, Graph, Node, Type};
use deepgraph_protocol::{ErrorKind, Exit, Map, StepError, Value};
use deepgraph_runtime::{CallContext, CustomOp, Ended, Host, Outcome};
use deepgraph_store::{RunId, SqliteStore};
use tokio::runtime::{Builder, Runtime};

/// A call that was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    pub op: &'static str,
    pub step: String,
    pub key: String,
    pub input: String,
}

/// What the ops of a test do, and what they were called for. Clones are the same shop.
#[derive(Clone, Default)]
pub struct Shop {
    made: Arc<Mutex<Vec<Made>>>,
    /// Ops that do not answer now.
    hang: Arc<Mutex<BTreeSet<&'static str>>>,
    /// Ops that say that they failed.
    fail: Arc<Mutex<BTreeSet<&'static str>>>,
    /// Whether the ops that write take keys.
    takes_key: bool,
}

impl Shop {
    /// One whose ops that write take keys, or do not.
    pub fn keyed(takes_key: bool) -> Shop {
        Shop { takes_key, ..Shop::default() }
    }

    pub fn hang(self, op: &'static str) -> Shop {
        self.hang.lock().unwrap().insert(op);
        self
    }

    pub fn fail(self, op: &'static str) -> Shop {
        self.fail.lock().unwrap().insert(op);
        self
    }

    /// From now on an op answers; calls that wait do so as well.
    pub fn answer(&self, op: &'static str) {
        self.hang.lock().unwrap().remove(op);
    }

    pub fn made(&self, op: &str) -> Vec<Made> {
        self.made.lock().unwrap().iter().filter(|made| made.op == op).cloned().collect()
    }

    /// The ops in the order in which they were called.
    pub fn ops(&self) -> Vec<&'static str> {
        self.made.lock().unwrap().iter().map(|made| made.op).collect()
    }

    /// Waits until an op was called so often.
    pub async fn until(&self, op: &str, times: usize) {
        for _ in 0..4000 {
            if self.made(op).len() >= times {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("`{op}` was not called {times} times: {:?}", self.ops());
    }

    fn op(&self, op: &'static str, writes: bool) -> CustomOp {
        let declared = CustomOp::new(op).input("what", Type::string()).result("number", Type::string());
        let declared = if writes { declared.writes() } else { declared.reads() };
        let declared = if writes && self.takes_key { declared.takes_key() } else { declared };
        let shop = self.clone();
        declared.run_with(move |input: Map, context: CallContext| {
            let shop = shop.clone();
            async move { shop.call(op, &input, &context).await }
        })
    }

    async fn call(&self, op: &'static str, input: &Map, context: &CallContext) -> Result<Value, StepError> {
        let input = Value::from(input.clone()).to_json_text();
        let (step, key) = (context.step().to_string(), context.idempotency_key().to_owned());
        self.made.lock().unwrap().push(Made { op, step, key, input });
        while self.hang.lock().unwrap().contains(op) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        if self.fail.lock().unwrap().contains(op) {
            return Err(StepError::new(ErrorKind::Tool, "it is closed"));
        }
        Ok(Value::record([("number", Value::from(format!("{op} 7")))]))
    }

    /// A program that has these ops and keeps its runs in a file of the folder.
    pub fn host(&self, folder: &Path) -> Host {
        let store = SqliteStore::open(folder.join("runs.db")).expect("the store can be opened");
        let builder = Host::builder().store(store);
        let builder = builder.op(self.op("book", true)).op(self.op("pay", true)).op(self.op("unbook", true));
        builder.op(self.op("look", false)).build().expect("the ops are sound")
    }
}

/// `book`, undone by `unbook`; `pay`, which nothing undoes; `look`, which reads.
pub fn graph(host: &Host) -> Arc<Bundle> {
    let undo = Compensation::call("unbook").input("what", "result.number");
    let call = |op: &str| Node::call(op).input("what", format!("'{op}'"));
    let graph = Graph::new("shop")
        .channel("number", Type::string())
        .output(["number"])
        .start("book")
        .node("book", call("book").compensate(undo).update("number", "result.number").next("pay"))
        .node("pay", call("pay").next("look"))
        .node("look", call("look"));
    host.load(&graph).unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

/// A process of its own: what is in it ends with it.
pub fn process() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("there are threads")
}

/// Starts a run and kills its process when an op was called for the first time.
pub fn killed_in(shop: &Shop, folder: &Path, op: &str) -> RunId {
    let process = process();
    let run = process.block_on(async {
        let host = shop.host(folder);
        let running = host.run(&graph(&host)).start().await.expect("it starts");
        shop.until(op, 1).await;
        running.id().clone()
    });
    process.shutdown_timeout(Duration::from_secs(20));
    run
}

/// Goes on with a run in another process, until it is over.
pub fn resumed(shop: &Shop, folder: &Path, run: &RunId) -> Outcome {
    process().block_on(async {
        let resumption = shop.host(folder).resume(run).await.expect("it is there");
        let ended = resumption.start().await.expect("it goes on").ended();
        over(ended.await.expect("it can be driven"))
    })
}

/// How a run ended that is over.
pub fn over(ended: Ended) -> Outcome {
    ended.outcome().expect("it is over")
}

/// What was not undone, each with why.
pub fn not_undone(exit: &Exit) -> Vec<String> {
    exit.not_undone.iter().map(|left| format!("{} {}: {}", left.step, left.op, left.why)).collect()
}
