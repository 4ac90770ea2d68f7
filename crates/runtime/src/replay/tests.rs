use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use deepgraph_graph::build::*;
use deepgraph_model::{ChatModel, Preview};
use deepgraph_protocol::{
    ErrorKind, FinishReason, Hidden, Map, ModelReply, ModelRequest, StepError, Usage, Value,
};
use deepgraph_trace::Recording;
use deepgraph_trace::recording::Came;

use crate::{Asker, CustomOp, Host, HostBuilder, Outcome, Question, RunError, async_trait};

/// Three equal requests side by side, then an op that fails at first, then a question.
fn graph(prompt: &str) -> Graph {
    let draw = || Node::model("mine").prompt(prompt).update("cards", "result.text").next(to("look"));
    let look = Node::call("measure")
        .retry(Retry::times(3).backoff("20s"))
        .update("level", "result.level")
        .after(["a", "b", "c"])
        .next(to("ask"));
    Graph::new("cards")
        .channel("cards", Type::list(Type::string()).reduce(Reducer::Append))
        .channel("level", Type::integer().optional())
        .channel("answer", Type::string().optional())
        .output(["cards", "level", "answer"])
        .start(to_all(["a", "b", "c"]))
        .node("a", draw())
        .node("b", draw())
        .node("c", draw())
        .node("look", look)
        .node("ask", Node::ask("Is {{ level }} right?").update("answer", "result.text"))
}

/// Counts what it is asked, and answers with another card each time; the first is the slowest.
struct Cards(AtomicUsize);

#[async_trait]
impl ChatModel for Cards {
    async fn reply(&self, request: &ModelRequest, _: Preview<'_>) -> Result<ModelReply, StepError> {
        let number = self.0.fetch_add(1, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_secs(9 - number as u64)).await;
        Ok(ModelReply {
            text: format!("card {number}").into(),
            tool_calls: Vec::new(),
            data: Value::Null,
            finish: FinishReason::Stop,
            usage: Usage { input_tokens: 3, output_tokens: 2, ..Usage::default() },
            cost_micro_usd: Some(7),
            model: request.model.clone(),
        })
    }
}

struct Says(&'static str);

#[async_trait]
impl Asker for Says {
    async fn ask(&self, _: &Question) -> Option<Value> {
        Some(Value::from(self.0))
    }
}

/// Fails once.
fn host(calls: &Arc<AtomicUsize>) -> HostBuilder {
    let calls = calls.clone();
    let measure = CustomOp::new("measure").reads().result("level", Type::integer());
    let measure = measure.run(move |_: Map| {
        let number = calls.fetch_add(1, Ordering::SeqCst);
        async move {
            match number {
                0 => Err(StepError::new(ErrorKind::Unavailable, "token sk-0123456789abc is old")),
                level => Ok(Value::record([("level", Value::Int(level as i64))])),
            }
        }
    });
    Host::builder().op(measure)
}

async fn run(host: &Host, prompt: &str) -> (deepgraph_store::RunId, Result<Outcome, RunError>) {
    let bundle = host.load(&graph(prompt)).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let running = host.run(&bundle).start().unwrap();
    let run = running.id().clone();
    (run, running.ended().await.map(|ended| ended.outcome().expect("it is over")))
}

async fn recorded() -> (Recording, Outcome) {
    let calls = Arc::default();
    let host = host(&calls).model("mine", Cards(AtomicUsize::new(0))).asker(Says("yes")).build().unwrap();
    let (id, outcome) = run(&host, "Draw a card.").await;
    (host.recording(&id, &Hidden::default()).unwrap(), outcome.unwrap())
}

#[tokio::test(start_paused = true)]
async fn equal_requests_are_told_apart_by_their_steps_and_nothing_is_asked_or_waited_for() {
    let (recording, outcome) = recorded().await;
    assert_eq!(outcome.text("answer"), "yes");
    assert_eq!(recording.exchanges.len(), 6);
    let text = recording.to_text();
    assert_eq!(Recording::read(&text), Ok(recording.clone()));
    assert!(text.contains("token *** is old") && !text.contains("sk-0123"), "{text}");

    let (calls, begun) = (Arc::default(), tokio::time::Instant::now());
    let replaying = host(&calls).asker(Says("no")).replay(recording.clone()).build().unwrap();
    for _ in 0..2 {
        let (id, again) = run(&replaying, "Draw a card.").await;
        assert_eq!(again.unwrap(), outcome, "each run has all answers");
        let again = replaying.recording(&id, &Hidden::default()).unwrap();
        assert_eq!(again.exchanges, recording.exchanges);
        assert_eq!(again.started_ms, recording.started_ms, "the clock begins when it began");
    }
    assert_eq!(calls.load(Ordering::SeqCst), 0);
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn what_was_not_recorded_fails_the_run_without_another_attempt() {
    let (recording, _) = recorded().await;
    let calls = Arc::default();
    let replaying = host(&calls).replay(recording.clone()).build().unwrap();
    let (id, outcome) = run(&replaying, "Draw two cards.").await;
    let Err(RunError::NotRecorded { run: named, what }) = outcome else { panic!("{outcome:?}") };
    assert_eq!(named, id.to_string());
    for part in
        ["`a.1` (attempt 1)", "nearest in the recording is `a.1`", "- user: Draw a card.", "+ user: Draw two"]
    {
        assert!(what.contains(part), "{part}: {what}");
    }

    let mut short = recording;
    short.exchanges.retain(|exchange| !matches!(exchange.came, Came::Result(_)));
    let replaying = host(&calls).replay(short).build().unwrap();
    let (_, outcome) = run(&replaying, "Draw a card.").await;
    // The failed attempt asked for the same: what was used is not used again.
    let what = outcome.unwrap_err().to_string();
    assert!(what.contains("`look.1` (attempt 2) makes a call of the op measure"), "{what}");
    assert_eq!(calls.load(Ordering::SeqCst), 0);
}
