use std::collections::BTreeSet;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use deepgraph_graph::build::*;
use deepgraph_protocol::{
    ErrorKind, Event, Map, Message, ModelReply, ModelRequest, RunStatus, StepError, StepId, Value,
};
use deepgraph_store::SqliteStore;

use super::*;
use crate::{Asker, CustomOp, Ended, Launch, Observer, TokioClock, Told, async_trait};

/// One call of the op `measure`, then a question.
fn graph() -> Graph {
    Graph::new("station")
        .config("factor", Type::integer().default(2).minimum(1))
        .channel("place", Type::string())
        .channel("note", Type::string().optional())
        .channel("level", Type::integer())
        .channel("answer", Type::string())
        .input(["place", "note"])
        .output(["level", "answer"])
        .start("look")
        .node(
            "look",
            Node::call("measure")
                .input("place", "place")
                .update("level", "result.level * config.factor")
                .next("ask"),
        )
        .node(
            "ask",
            Node::ask("Is {{ level }} right?").update("answer", "result.text").next(exit("completed")),
        )
}

/// Counts its calls; at the place `slow` it never comes back.
fn measure(calls: Arc<AtomicUsize>) -> CustomOp {
    let op = CustomOp::new("measure").reads().input("place", Type::string()).result("level", Type::integer());
    op.run(move |input: Map| {
        let calls = calls.clone();
        async move {
            calls.fetch_add(1, Ordering::SeqCst);
            match input["place"].as_str() {
                Some("slow") => std::future::pending().await,
                Some("none") => Err(StepError::new(ErrorKind::NotFound, "no such place")),
                other => Ok(Value::record([("level", Value::Int(other.unwrap_or_default().len() as i64))])),
            }
        }
    })
}

fn host() -> Host {
    Host::builder().op(measure(Arc::default())).build().unwrap()
}

async fn refused(launch: Launch) -> String {
    launch.start().await.map(|running| running.id().to_string()).unwrap_err().to_string()
}

#[tokio::test]
async fn a_run_waits_for_an_answer_and_goes_on_in_another_host() {
    let folder = tempfile::tempdir().unwrap();
    let calls: Arc<AtomicUsize> = Arc::default();
    let open = || {
        let store = SqliteStore::open(folder.path().join("runs.db")).unwrap();
        Host::builder().store(store).op(measure(calls.clone())).build().unwrap()
    };
    let host = open();
    let bundle = host.load(&graph()).unwrap();
    let running = host.run(&bundle).input("place", "Oslo").config("factor", "3").start().await.unwrap();
    let run = running.id().clone();
    let ended = running.ended().await.unwrap();
    assert_eq!(ended.questions().iter().map(|q| &*q.text).collect::<Vec<_>>(), ["Is 12 right?"]);
    assert_eq!(host.store().run(&run).unwrap().unwrap().question, "Oslo");
    drop(host);

    let resumed = open().resume(&run).await.unwrap();
    assert_eq!(resumed.bundle().hash, bundle.hash);
    let outcome = resumed.answer("yes").start().await.unwrap().ended().await.unwrap().outcome().unwrap();
    assert_eq!((outcome.status, outcome.text("answer")), (RunStatus::Succeeded, "yes"));
    assert_eq!(outcome.end.output.get("level"), Some(&Value::Int(12)));
    assert_eq!(calls.load(Ordering::SeqCst), 1, "what was done is not done again");

    let again = open().resume(&run).await.unwrap().start().await.unwrap().ended().await.unwrap();
    assert_eq!(again.outcome(), Some(outcome), "a run that is over ends as it did");
    let without =
        Host::builder().store(SqliteStore::open(folder.path().join("runs.db")).unwrap()).build().unwrap();
    let why = without.resume(&run).await.err().unwrap().to_string();
    assert!(why.contains("all the ops") && why.contains("there is no graph or op \"measure\""), "{why}");
    let nobody = RunId::new();
    assert!(without.resume(&nobody).await.err().unwrap().to_string().contains(nobody.as_str()));
}

#[tokio::test]
async fn a_run_that_was_recorded_and_never_started_starts() {
    let host = host();
    let bundle = host.load(&graph()).unwrap();
    let settings = serde_json::json!({"input": {"place": "Rome"}, "config": {"factor": 1}});
    let new = crate::NewRun {
        question: "Rome".into(),
        graph: "station".into(),
        bundle,
        input: Map::new(),
        config: Map::new(),
        settings,
        thread: None,
    };
    let run = host.runtime().record(&new).unwrap();
    let ended = host.resume(&run).await.unwrap().start().await.unwrap().ended().await.unwrap();
    assert_eq!(&*ended.questions()[0].text, "Is 4 right?");
}

#[tokio::test]
async fn a_set_up_that_can_not_be_read_is_told_and_nothing_is_started() {
    let host = host();
    let bundle = host.load(&graph()).unwrap();
    for settings in [
        serde_json::Value::Null,
        serde_json::json!({"input": {"place": "Rome"}}),
        serde_json::json!({"input": ["Rome"], "config": {}}),
    ] {
        let (question, graph) = ("Rome".into(), "station".into());
        let (input, config) = (Map::new(), Map::new());
        let bundle = bundle.clone();
        let new = crate::NewRun { question, graph, bundle, input, config, settings, thread: None };
        let run = host.runtime().record(&new).unwrap();
        let why = host.resume(&run).await.unwrap().start().await.map(|_| ()).unwrap_err();
        assert!(matches!(&why, RunError::NoSetUp { run: named, .. } if *named == run.to_string()), "{why}");
        assert_eq!(host.store().run(&run).unwrap().unwrap().last_event_seq, 0);
    }
}

#[tokio::test]
async fn an_answer_to_no_open_question_is_refused_and_changes_nothing() {
    let host = host();
    let bundle = host.load(&graph()).unwrap();
    let running = host.run(&bundle).input("place", "Oslo").start().await.unwrap();
    let run = running.id().clone();
    running.ended().await.unwrap();
    let before = host.store().run(&run).unwrap().unwrap();
    let resume = async || host.resume(&run).await.unwrap();
    let (other, ask) = (StepId::new("ask.2"), StepId::new("ask.1"));
    for (resumption, expected) in [
        (resume().await.answer_to(&other, "yes"), Some(&other)),
        (resume().await.answer_to(&ask, "yes").answer_to(&ask, "no"), Some(&ask)),
        (resume().await.answer("yes").answer("no"), None),
    ] {
        let why = resumption.start().await.unwrap().ended().await.unwrap_err();
        let RunError::NotAsked { step, open, .. } = &why else { panic!("{why}") };
        assert_eq!((step.as_ref(), &open[..]), (expected, &[ask.clone()][..]), "{why}");
    }
    assert_eq!(host.store().run(&run).unwrap().unwrap(), before, "whoever drives it goes on");
    let over = resume().await.answer_to(&ask, "yes").start().await.unwrap().ended().await.unwrap();
    assert_eq!(over.outcome().unwrap().text("answer"), "yes");
    let why = resume().await.answer("again").start().await.unwrap().ended().await.unwrap_err().to_string();
    assert!(why.contains("no question is open"), "{why}");
}

#[tokio::test]
async fn a_key_that_can_not_be_made_is_told_before_anything_is_recorded() {
    let graph = graph().channel("kept", Channel::from(Type::string()).persist_under("{{ note }}"));
    let host = host();
    let bundle = host.load(&graph).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let refused = refused(host.run(&bundle).input("place", "Oslo").input("note", " ")).await;
    assert!(refused.contains("channel `kept` can not be kept"), "{refused}");
    assert!(host.store().runs(9).unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn with_a_clock_of_tokio_the_time_of_a_run_is_virtual() {
    const HOUR: Duration = Duration::from_secs(3600);
    let slow =
        CustomOp::new("measure").reads().input("place", Type::string()).result("level", Type::integer());
    let slow = slow.run(|_: Map| async {
        tokio::time::sleep(HOUR).await;
        Ok(Value::record([("level", Value::Int(1))]))
    });
    let host = Host::builder().op(slow).clock(TokioClock::starting_at(1_000)).build().unwrap();
    let bundle = host.load(&graph()).unwrap();
    let mut running = host.run(&bundle).input("place", "Oslo").start().await.unwrap();
    let run = running.id().clone();
    let mut times = BTreeSet::new();
    while let Some(told) = running.next_event().await {
        times.insert(told.at);
    }
    assert_eq!(times.into_iter().collect::<Vec<_>>(), [1_000, 3_601_000]);
    assert_eq!(host.store().run(&run).unwrap().unwrap().created_at, 1_000);
}

#[tokio::test]
async fn events_are_told_and_a_failure_is_an_exit() {
    struct Steps(tokio::sync::mpsc::UnboundedSender<u64>);
    impl Observer for Steps {
        fn told(&mut self, told: &Told) {
            let _ = self.0.send(told.seq);
        }
    }
    let (sender, mut seen) = tokio::sync::mpsc::unbounded_channel();
    let host = host();
    let bundle = host.load(&graph()).unwrap();
    let mut running = host.run(&bundle).input("place", "none").observer(Steps(sender)).start().await.unwrap();
    let mut told = Vec::new();
    while let Some(one) = running.next_event().await {
        told.push(one);
    }
    let ended = running.ended().await.unwrap().outcome().unwrap();
    assert_eq!(ended.end.exit.reason.name(), "tool_error");
    assert_eq!(ended.exits().count(), 1);
    let failed = |told: &Told| matches!(&told.event, Event::StepFailed { error, .. } if error.message == "no such place");
    assert_eq!(told.iter().filter(|one| failed(one)).count(), 1);
    let mut seqs = Vec::new();
    while let Ok(seq) = seen.try_recv() {
        seqs.push(seq);
    }
    assert_eq!(seqs, told.iter().map(|one| one.seq).collect::<Vec<_>>(), "an observer is told the same");
}

#[tokio::test]
async fn several_runs_at_once_and_one_of_them_cancelled() {
    let host = host();
    let bundle = host.load(&graph()).unwrap();
    let start = async |place: &str| host.run(&bundle).input("place", place).start().await.unwrap();
    let mut slow = start("slow").await;
    let others = [start("a").await, start("bb").await, start("ccc").await];
    let ids: BTreeSet<_> = others.iter().map(|run| run.id().clone()).collect();
    assert_eq!(ids.len(), 3);
    let mut asked = Vec::new();
    for run in others {
        asked.push(run.ended().await.unwrap().questions()[0].text.to_string());
    }
    assert_eq!(asked, ["Is 2 right?", "Is 4 right?", "Is 6 right?"], "none waits for the slow one");
    while let Some(told) = slow.next_event().await {
        if matches!(told.event, Event::NodeStarted { .. }) {
            break;
        }
    }
    slow.cancel();
    slow.canceller().cancel();
    let outcome = slow.ended().await.unwrap().outcome().unwrap();
    assert_eq!((outcome.status, outcome.end.exit.reason.name()), (RunStatus::Cancelled, "cancelled"));
}

#[tokio::test]
async fn a_run_that_is_taken_over_stops_where_it_was() {
    let host = host();
    let bundle = host.load(&graph()).unwrap();
    let mut first = host.run(&bundle).input("place", "slow").start().await.unwrap();
    while first.next_event().await.is_some_and(|told| !matches!(told.event, Event::NodeStarted { .. })) {}
    let mut second = host.resume(first.id()).await.unwrap().start().await.unwrap();
    let replayed = second.next_event().await.unwrap();
    assert!(replayed.replayed, "what happened before is told first");
    first.cancel();
    let refused = first.ended().await.unwrap_err().to_string();
    assert!(refused.contains("has been taken over"), "{refused}");
    second.cancel();
    second.cancel();
    assert_eq!(second.ended().await.unwrap().outcome().unwrap().status, RunStatus::Cancelled);
}

#[tokio::test]
async fn input_and_configuration_are_checked_before_anything_is_recorded() {
    let host = host();
    let bundle = host.load(&graph()).unwrap();
    let run = || host.run(&bundle);
    assert_eq!(
        refused(run()).await,
        "the input does not fit the graph `station`: place: needs a value: a string"
    );
    assert_eq!(
        refused(run().input("plaice", "a").input("note", 3)).await,
        "the input does not fit the graph `station`: note: must be a string, is 3; the graph has no input `plaice`; did \
         you mean \"place\"?; place: needs a value: a string"
    );
    let config = refused(run().input("place", "a").config("factor", 0).config("fctor", 1)).await;
    assert!(config.contains("factor") && config.contains("did you mean \"factor\"?"), "{config}");
    assert!(host.store().runs(9).unwrap().is_empty());
    let null =
        run().input("place", "a").input("note", Value::Null).start().await.unwrap().ended().await.unwrap();
    assert!(matches!(null, Ended::Waiting(_)));
}

#[test]
fn without_tokio_a_run_is_refused() {
    let host = host();
    let bundle = host.load(&graph()).unwrap();
    let refused = pin!(refused(host.run(&bundle).input("place", "a")));
    let told = refused.poll(&mut Context::from_waker(Waker::noop()));
    assert!(matches!(&told, Poll::Ready(why) if why.contains("there is no tokio runtime here")), "{told:?}");
    assert!(host.store().runs(9).unwrap().is_empty());
}

#[tokio::test]
async fn own_models_and_askers_answer() {
    struct Echo;
    #[async_trait]
    impl ChatModel for Echo {
        async fn reply(
            &self,
            request: &ModelRequest,
            _: deepgraph_model::Preview<'_>,
        ) -> Result<ModelReply, StepError> {
            let last = request.messages.last().map(|message: &Message| message.content.clone());
            Ok(ModelReply {
                text: last.unwrap_or_default(),
                tool_calls: Vec::new(),
                data: Value::Null,
                finish: deepgraph_protocol::FinishReason::Stop,
                usage: Default::default(),
                cost_micro_usd: None,
                model: request.model.clone(),
                mended: Vec::new(),
                guess: Default::default(),
            })
        }
    }
    struct Yes;
    #[async_trait]
    impl Asker for Yes {
        async fn ask(&self, question: &crate::Question) -> Option<Value> {
            Some(Value::from(format!("yes, {}", question.text)))
        }
    }
    let host = Host::builder().model("echo", Echo).asker(Yes).build().unwrap();
    let graph = Graph::new("talk")
        .channel("answer", Type::string())
        .output(["answer"])
        .start("say")
        .node("say", Node::model("echo::loud").prompt("hello").update("answer", "result.text").next("ask"))
        .node("ask", Node::ask("{{ answer }}?").update("answer", "result.text"));
    let bundle = host.load(&graph).unwrap();
    let ended =
        tokio::time::timeout(Duration::from_secs(60), host.run(&bundle).start().await.unwrap().ended());
    assert_eq!(ended.await.unwrap().unwrap().outcome().unwrap().text("answer"), "yes, hello?");
}

#[test]
fn a_file_is_loaded_with_what_lies_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let host = host();
    let missing = host.load_file(folder.path().join("none.yaml")).unwrap_err();
    assert!(missing.to_string().contains("none.yaml can not be read"), "{missing}");
    let graph =
        graph().node("extra", Node::model("extractive").prompt("p.md")).start(to_all(["look", "extra"]));
    let graph = graph.file("p.md", "Say {{ place }}.");
    for (path, text) in graph.files() {
        std::fs::write(folder.path().join(path), text).unwrap();
    }
    let loaded = host.load_file(folder.path().join("station.yaml")).unwrap();
    assert_eq!(loaded.hash, host.load(&graph).unwrap().hash);
}

#[tokio::test]
async fn a_run_that_is_over_goes_on_with_a_higher_limit() {
    let calls = Arc::new(AtomicUsize::default());
    let host = Host::builder().op(measure(calls.clone())).build().unwrap();
    let graph = Graph::new("rounds")
        .config("most", Type::integer().default(2).minimum(1))
        .channel("place", Type::string())
        .channel("level", Type::integer())
        .channel("report", Type::string())
        .input(["place"])
        .output(["level", "report"])
        .limit("rounds", Limit::count(["look"]).max("config.most").exit("iteration_limit"))
        .start("look")
        .finally("report")
        .node(
            "look",
            Node::call("measure").input("place", "place").update("level", "result.level").next("look"),
        )
        .node("report", Node::pass().update("report", "place"));
    let bundle = host.load(&graph).unwrap();
    let running = host.run(&bundle).input("place", "bay").start().await.unwrap();
    let run = running.id().clone();
    let first = running.ended().await.unwrap().outcome().unwrap();
    assert_eq!((first.end.exit.reason.name(), calls.load(Ordering::SeqCst)), ("iteration_limit", 2));

    let low =
        host.resume(&run).await.unwrap().raise("most", 2).start().await.unwrap().ended().await.unwrap_err();
    assert!(low.to_string().contains("2 of 2 calls are used; raise the config value most"), "{low}");
    let raised = host.resume(&run).await.unwrap().raise("most", 5).start().await.unwrap();
    let second = raised.ended().await.unwrap().outcome().unwrap();
    assert_eq!((second.end.exit.attempt, calls.load(Ordering::SeqCst)), (2, 5), "three more, none again");
    let record = host.resume(&run).await.unwrap().record().clone();
    assert_eq!((record.attempt, record.settings["config"]["most"].as_i64()), (2, Some(5)));
    let attempts: Vec<u32> = record.exits.iter().map(|exit| exit.attempt).collect();
    assert_eq!(attempts, [2, 1], "the earlier exit is kept");

    let again = host.resume(&run).await.unwrap().report_again().start().await.unwrap();
    let third = again.ended().await.unwrap().outcome().unwrap();
    assert_eq!((third.end.exit.attempt, third.text("report")), (3, "bay"));
    assert_eq!((third.end.exit.reason.name(), calls.load(Ordering::SeqCst)), ("iteration_limit", 5));
}
