//! What is known grows with each read; what a read leaves in journal, trace and recording does not, and a document that
//! was read is not read again because more is known.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use deepgraph_graph::Bundle;
use deepgraph_protocol::{Hidden, Map, StepError, Value};
use deepgraph_runtime::tools::Corpus;
use deepgraph_runtime::{CallContext, Control, Ended, Op, Ops, RunError, Work, recording};
use deepgraph_store::{RunId, Stored};
use deepgraph_trace::recording::{Asked, Came};
use deepgraph_trace::{Detail, Node, NodeKind, Recording, Row, Trace};

use super::world::{document, reading, run};
use crate::runs::world::{Memory, Slow, World};
use crate::support;

/// An op that counts its calls.
struct Counted {
    op: Arc<dyn Op>,
    calls: Arc<AtomicUsize>,
}

#[async_trait]
impl Op for Counted {
    async fn call(&self, input: Map, context: &CallContext) -> Result<Value, StepError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.op.call(input, context).await
    }

    fn finishes(&self) -> bool {
        self.op.finishes()
    }

    async fn finish(&self, brought: Value, given: Map) -> Result<Value, StepError> {
        self.op.finish(brought, given).await
    }
}

/// A graph that reads these documents, one after the other.
fn graph(read: &[usize], cache: bool) -> Arc<Bundle> {
    let mut text = "\
deepgraph: 1
name: reads
state:
  question: string
  facts: {type: [fact], reduce: union}
  pages: {type: {string: string}, reduce: merge}
input: [question]
output: [question]
start: read_1
nodes:
"
    .to_owned();
    for (at, number) in read.iter().enumerate() {
        let (own, next) = (at + 1, at + 2);
        let cache = if cache { ", cache: 1h" } else { "" };
        let next = if own < read.len() { format!(", next: read_{next}") } else { String::new() };
        let _ = writeln!(
            text,
            "  read_{own}: {{call: read, input: {{source: \"'landings-{number:02}.md'\", known: facts, pages: pages}}, \
             update: {{facts: result.facts, pages: result.pages}}{cache}{next}}}"
        );
    }
    support::graph(&text)
}

/// A run over twenty documents of one size, and what it left.
struct Reads {
    world: World,
    run: RunId,
    rows: Vec<Stored>,
    calls: usize,
}

impl Reads {
    async fn of(bundle: &Arc<Bundle>) -> Reads {
        let (folder, index) =
            (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        for (name, text) in (1..=20).map(|number| document(number, 40)) {
            std::fs::write(folder.path().join(name), text).expect("it can be written");
        }
        let corpus = Corpus::open(&[folder.path().to_path_buf()], index.path(), &mut |_| {});
        let mut world = World::new(bundle, Slow::new(Vec::new(), 1, Duration::ZERO));
        let mut ops = Ops::stock(Some(Arc::new(corpus.expect("they can be read").0)));
        let calls = Arc::new(AtomicUsize::new(0));
        let op = ops.get("read").expect("a stock op").clone();
        ops.add("read", Arc::new(Counted { op, calls: calls.clone() }));
        world.runtime.ops = ops;
        let (run, _, _) = world.run(&[]).await;
        let rows = world.store.entries(&run, 0).expect("its journal can be read");
        Reads { world, run, rows, calls: calls.load(Ordering::SeqCst) }
    }

    fn recording(&self) -> Recording {
        let record = self.world.store.run(&self.run).expect("the store answers").expect("it is recorded");
        recording(&self.world.bundle, &record, &self.rows, &Hidden::default()).expect("it folds")
    }

    fn trace(&self) -> Trace {
        fold(&self.world.bundle, &self.rows)
    }

    /// Bytes a read of journal, JSON trace and recording.
    fn bytes(&self, reads: usize) -> [usize; 3] {
        let entry = |row: &Stored| serde_json::to_string(&row.entry).expect("it is JSON").len();
        let journal: usize = self.rows.iter().map(entry).sum();
        [journal, self.trace().to_json().len(), self.recording().to_text().len()].map(|all| all / reads)
    }
}

fn fold(bundle: &Arc<Bundle>, rows: &[Stored]) -> Trace {
    let date = deepgraph_trace::date_of(rows.iter().map(|row| &row.entry));
    let rows = rows.iter().map(|row| Row { scope: &row.scope, entry: &row.entry });
    deepgraph_trace::fold(bundle, rows).expect("it folds").redact(&date)
}

/// The trace of a run that is answered from a recording and from nothing else.
async fn replayed(bundle: &Arc<Bundle>, recording: Recording) -> Result<Trace, RunError> {
    let mut world = World::new(bundle, Slow::new(Vec::new(), 1, Duration::ZERO));
    world.runtime.ops = Ops::stock(None);
    world.runtime.replay = Some(Arc::new(recording));
    let new = world.new_run(&[]);
    let run = world.runtime.record(&new).expect("the store takes it");
    let (_canceller, control) = Control::new();
    match world.runtime.drive(&run, Work::Start(Box::new(new)), control, &mut Memory::default()).await? {
        Ended::Over(_) => Ok(fold(bundle, &world.store.entries(&run, 0).expect("its journal can be read"))),
        other => panic!("the run did not end: {other:?}"),
    }
}

fn nodes(trace: &Trace) -> impl Iterator<Item = &Node> {
    trace.root.super_steps.iter().flat_map(|super_step| &super_step.nodes)
}

fn facts(node: &Node) -> usize {
    let deepgraph_trace::Outcome::Value(value) = node.outcome.as_ref().expect("it has ended") else {
        return 0;
    };
    value.get("facts").and_then(Value::as_list).map_or(0, <[Value]>::len)
}

/// Whether the larger is at most a tenth more than the smaller.
fn about_equal(a: usize, b: usize) -> bool {
    a.max(b) * 10 <= a.min(b) * 11
}

#[tokio::test]
async fn a_read_leaves_as_much_whatever_is_known() {
    let mut before: Option<[usize; 3]> = None;
    for reads in [5, 10, 20] {
        let numbers: Vec<usize> = (1..=reads).collect();
        let left = Reads::of(&graph(&numbers, false)).await;
        assert!(nodes(&left.trace()).all(|node| facts(node) >= 40), "each read finds new facts");
        let bytes = left.bytes(reads);
        let equal = |before: [usize; 3]| before.iter().zip(bytes).all(|(a, b)| about_equal(*a, b));
        assert!(before.is_none_or(equal), "{before:?}, then {bytes:?} with {reads} reads");
        before = Some(bytes);
    }
}

#[tokio::test]
async fn so_does_a_read_of_the_stock_researcher() {
    let documents: Vec<_> = (1..=20).map(|number| document(number, 40)).collect();
    let stopped = run(&documents, &[&[reading(&documents)]], &[]).await;
    let turns = stopped.researcher().super_steps.iter().flat_map(|super_step| &super_step.nodes);
    let reads: Vec<&Node> =
        turns.flat_map(|turn| &turn.calls).filter(|call| matches!(call.kind, NodeKind::Op { .. })).collect();
    assert_eq!(reads.len(), 20);
    let bytes = |node: &Node| Value::of(node).to_json_text().len();
    assert!(about_equal(bytes(reads[0]), bytes(reads[19])), "{} and {}", bytes(reads[0]), bytes(reads[19]));
    let given = Value::of(reads[19]).to_json_text();
    assert!(given.contains(r#""given":{"known":{"bytes":"#), "{given}");
}

#[tokio::test]
async fn a_document_is_read_once_and_scored_each_time() {
    let [kept, anew] = [true, false].map(|cache| graph(&[1, 2, 1, 2, 3], cache));
    let (kept, anew) = (Reads::of(&kept).await, Reads::of(&anew).await);
    assert_eq!((kept.calls, anew.calls), (3, 5));
    let found: Vec<bool> = nodes(&kept.trace()).map(|node| facts(node) > 0).collect();
    assert_eq!(found, [true, true, false, false, true]);
    assert_eq!(kept.trace().to_text(Detail::Full), anew.trace().to_text(Detail::Full));
}

#[tokio::test]
async fn a_replay_takes_the_score_from_the_recording_also_where_that_is_of_form_1() {
    let bundle = graph(&[1, 2, 3, 1], true);
    let reads = Reads::of(&bundle).await;
    let (trace, recording) = (reads.trace(), reads.recording());
    let again = replayed(&bundle, recording.clone()).await.expect("all is recorded");
    assert_eq!(
        (again.to_json(), again.to_text(Detail::Full)),
        (trace.to_json(), trace.to_text(Detail::Full))
    );

    let mut old = recording.clone();
    let mut known = 0;
    for (exchange, node) in old.exchanges.iter_mut().zip(nodes(&trace)) {
        assert!(exchange.step == node.step && matches!(exchange.came, Came::Result(_)));
        let (Asked::Op { input, given, .. }, NodeKind::Op { given: whole, .. }) =
            (&mut exchange.asked, &node.kind)
        else {
            panic!("{exchange:?}")
        };
        given.clear();
        input.extend(whole.clone());
        known += whole["known"].as_list().map_or(0, <[Value]>::len);
    }
    assert!(known > 80, "{known}");
    let text = old.to_text().replace("\"deepgraph_recording\": 2", "\"deepgraph_recording\": 1");
    let again = replayed(&bundle, Recording::read(&text).expect("it is one")).await.expect("all is recorded");
    assert_eq!(again.to_json(), trace.to_json());

    let text = recording.to_text();
    let Asked::Op { given, .. } = &recording.exchanges[2].asked else { panic!("{recording:?}") };
    let other = Recording::read(&text.replace(&given["known"], "0123456789abcdef")).expect("it is one");
    let told = replayed(&bundle, other).await.expect_err("that was not recorded").to_string();
    assert!(told.contains("- known, sha256 0123456789abcdef"), "{told}");
}
