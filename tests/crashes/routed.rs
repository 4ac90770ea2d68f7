//! The process aborts before and after every commit of a run whose calls are held, fail over to another model, and cost
//! something; then the run goes on: the route where it was, nothing that was committed once more, no second reservation
//! but for what was in flight.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use deepgraph_graph::build::*;
use deepgraph_model::{ChatModel, ModelSettings, Preview};
use deepgraph_protocol::{
    EntryBody, ErrorKind, Fee, Map, ModelReply, ModelRequest, RunStatus, StepError, StepId, Value,
};
use deepgraph_runtime::{CallContext, CustomOp, Host, Outcome, Running};
use deepgraph_store::{RunId, Store, Stored};
use deepgraph_testkit::says;

use super::abort::Side;
use super::child::{self, Scenario};
use super::place::Place;
use super::rows::repeated;
use super::world::calls;

/// The signal of an abort.
const SIGABRT: i32 = 6;

const SPARE: &str = "spare::x";
const MOST: Fee = Fee { micro_usd: 10_000, unknown: 0 };
const PAID: Fee = Fee { micro_usd: 4_000, unknown: 0 };

/// A search that costs something, then a question to a model, twice.
fn graph() -> Graph {
    Graph::new("routed")
        .channel("found", Type::list(Type::string()).reduce(Reducer::Append))
        .channel("said", Type::list(Type::string()).reduce(Reducer::Append))
        .output(["found", "said"])
        .limit("rounds", Limit::count(["find"]).max(2).exit("step_limit"))
        .start("find")
        .node("find", Node::call("find").update("found", "[result.text]").next("ask"))
        .node(
            "ask",
            Node::model("main")
                .prompt("{{ found | length }}")
                .retry(Retry::times(2).backoff("10ms"))
                .update("said", "[result.text]")
                .next("find"),
        )
}

/// Each call adds a line to a file.
fn note(log: &Path, line: &str) {
    let mut log = OpenOptions::new().append(true).create(true).open(log).expect("the log can be opened");
    log.write_all(format!("{line}\n").as_bytes()).expect("the log can be written");
}

/// The configured model is never there. The other one is not at its first call either, so that both are asked again
/// after a wait.
struct Logged {
    name: &'static str,
    log: PathBuf,
}

#[async_trait]
impl ChatModel for Logged {
    async fn reply(&self, _: &ModelRequest, _: Preview<'_>) -> Result<ModelReply, StepError> {
        let asked = std::fs::read_to_string(&self.log).unwrap_or_default();
        let is_first = !asked.lines().any(|line| line == self.name);
        note(&self.log, self.name);
        match self.name == "main" || is_first {
            true => Err(StepError::new(ErrorKind::Unavailable, "not now")),
            false => Ok(says("yes")),
        }
    }
}

/// What drives the run.
pub struct Routed(Host);

impl Routed {
    pub fn new(store: Arc<dyn Store>, log: &Path) -> Routed {
        let of = |name| Logged { name, log: log.to_owned() };
        let calls = log.to_owned();
        let find = CustomOp::new("find").reads().costs(MOST).run_with(move |_: Map, context: CallContext| {
            note(&calls, "find");
            context.charge(PAID);
            async { Ok(Value::from("found")) }
        });
        let settings = ModelSettings { fallbacks: vec![SPARE.into()], ..ModelSettings::default() };
        let host = Host::builder().shared_store(store).models(settings).op(find);
        let host = host.model("main", of("main")).model("spare", of("spare"));
        Routed(host.build().expect("it is sound"))
    }

    /// Records the run and drives it to its end.
    pub fn begin(&self) -> Outcome {
        let bundle = self.0.load(&graph()).unwrap_or_else(|mistakes| panic!("{mistakes}"));
        threads().block_on(async { over(self.0.run(&bundle).start().await.expect("it starts")).await })
    }

    fn go_on(&self, run: &RunId) -> Outcome {
        threads().block_on(async {
            let resumption = self.0.resume(run).await.expect("it is there");
            over(resumption.start().await.expect("it goes on")).await
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

/// How often each attempt was sent.
fn sent(rows: &[Stored]) -> BTreeMap<(StepId, u32), usize> {
    let mut sent = BTreeMap::new();
    for row in rows {
        if let EntryBody::Dispatched { step, attempt, .. } = &row.entry.body {
            *sent.entry((step.clone(), *attempt)).or_insert(0) += 1;
        }
    }
    sent
}

/// Where an attempt failed over, the next asks the other model, whatever happened in between. How many did.
fn followed_routes(rows: &[Stored], what: &str) -> usize {
    let mut followed = 0;
    for row in rows {
        let EntryBody::AttemptFailed { step, attempt, fail_over: true, .. } = &row.entry.body else {
            continue;
        };
        for next in rows {
            if let EntryBody::Dispatched { step: of, attempt: number, model, .. } = &next.entry.body
                && (of, *number) == (step, attempt + 1)
            {
                assert_eq!(model.as_deref(), Some(SPARE), "{what}: {step}, attempt {number}");
                followed += 1;
            }
        }
    }
    followed
}

/// One position. None where the run came to its end.
fn abort_at(side: Side, at: u64, log: &Path) -> Option<()> {
    let (what, place) = (format!("{side:?} commit {at}"), Place::sqlite());
    let status = child::run(Scenario::Routed, &place, side, at, log);
    if status.success() {
        return None;
    }
    assert_eq!(status.signal(), Some(SIGABRT), "{what}: {status}");
    let store = place.open();
    let Ok(record) = store.find_run("last") else {
        assert_eq!(calls(log), 0, "{what}: something was paid for a run that is not recorded");
        return Some(());
    };
    let rows = || store.entries(&record.run_id, 0).expect("the journal can be read");
    let (before, called) = (rows(), calls(log));
    let outcome = Routed::new(store.clone(), log).go_on(&record.run_id);
    let after = rows();
    assert_eq!(after[..before.len()], before[..], "{what}: what was committed stays");
    assert_eq!(repeated(&after), [], "{what}: a committed step was sent out again");
    assert_eq!((outcome.status, &outcome.end.output), (RunStatus::Succeeded, &output()), "{what}");
    let was_sent = sent(&before);
    for (attempt, times) in sent(&after).into_iter().filter(|(_, times)| *times > 1) {
        assert!(times == 2 && was_sent.contains_key(&attempt), "{what}: {attempt:?} was sent {times} times");
    }
    let since: usize = sent(&after[before.len()..]).values().sum();
    assert_eq!(calls(log) - called, since, "{what}: calls are those of the journal, and no more");
    // A call that was lost in flight stays charged with what was reserved for it, beside the second one.
    let lost =
        sent(&after).iter().filter(|((step, _), n)| step.as_str().starts_with("find") && **n > 1).count();
    let charged = 2 * PAID.micro_usd + lost as u64 * MOST.micro_usd;
    assert_eq!(outcome.end.settled.cost_micro_usd, charged, "{what}");
    assert!(followed_routes(&after, &what) >= 1, "{what}");
    Some(())
}

fn output() -> Map {
    let two = |text: &str| Value::from(vec![Value::from(text), Value::from(text)]);
    Map::from([("found".into(), two("found")), ("said".into(), two("yes"))])
}

#[test]
fn a_run_that_is_held_fails_over_and_pays_goes_on_where_it_was() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let store = Place::sqlite();
    let outcome = Routed::new(store.open(), &folder.path().join("whole.log")).begin();
    assert_eq!((outcome.status, &outcome.end.output), (RunStatus::Succeeded, &output()), "{:?}", outcome.end);
    let record = store.open().find_run("last").expect("it was recorded");
    let rows = store.open().entries(&record.run_id, 0).expect("the journal can be read");
    let has = |is_it: fn(&EntryBody) -> bool| rows.iter().any(|row| is_it(&row.entry.body));
    assert!(has(|body| matches!(body, EntryBody::Held { .. })), "a call is held");
    let is_priced =
        |body: &EntryBody| matches!(body, EntryBody::Dispatched { reserve_micro_usd: Some(10_000), .. });
    assert!(has(is_priced) && followed_routes(&rows, "the whole run") > 0);
    for side in [Side::Before, Side::After] {
        let log = |at: u64| folder.path().join(format!("{side:?}-{at}.log"));
        let positions = (1..).map_while(|at| abort_at(side, at, &log(at))).count();
        assert!(positions >= 10, "{side:?}: only {positions} commits");
    }
}
