use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use deepgraph_graph::build::*;
use deepgraph_graph::{Bundle, BundleSource, OpTable};
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
            mended: Vec::new(),
            guess: Default::default(),
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
    let running = host.run(&bundle).start().await.unwrap();
    let run = running.id().clone();
    (run, running.ended().await.map(|ended| ended.outcome().expect("it is over")))
}

/// An outcome without its clocks: they ran in the recorded run.
fn timeless(mut outcome: Outcome) -> Outcome {
    outcome.end.exit.clocks = Default::default();
    outcome
}

async fn recorded() -> (Recording, Outcome) {
    let calls = Arc::default();
    let host = host(&calls).model("mine", Cards(AtomicUsize::new(0))).asker(Says("yes")).build().unwrap();
    let (id, outcome) = run(&host, "Draw a card.").await;
    (host.recording(&id, &Hidden::default()).await.unwrap(), outcome.unwrap())
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
        assert_eq!(timeless(again.unwrap()), timeless(outcome.clone()), "each run has all answers");
        let again = replaying.recording(&id, &Hidden::default()).await.unwrap();
        assert_eq!(again.exchanges, recording.exchanges);
        assert_eq!(again.started_ms, recording.started_ms, "the clock begins when it began");
    }
    assert_eq!(calls.load(Ordering::SeqCst), 0);
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn what_a_failed_attempt_used_is_used_again() {
    let (mut recording, _) = recorded().await;
    assert!(!recording.to_text().contains("\"used\""), "nothing was");
    let failed = recording.exchanges.iter_mut().find(|exchange| matches!(exchange.came, Came::Failed(_)));
    failed.unwrap().used = Usage { input_tokens: 11, output_tokens: 4, ..Usage::default() };
    let recording = Recording::read(&recording.to_text()).unwrap();
    let replaying = host(&Arc::default()).replay(recording.clone()).build().unwrap();
    let (id, again) = run(&replaying, "Draw a card.").await;
    assert!(again.is_ok(), "{again:?}");
    assert_eq!(replaying.recording(&id, &Hidden::default()).await.unwrap().exchanges, recording.exchanges);
}

/// A graph whose prompts show the time that is left, before and after an op of ours and within a child graph.
const LATE: &str = "\
deepgraph: 1
name: late
state: {question: string, texts: {type: [string], reduce: append}, gathered: {type: [string], optional: true}}
input: [question]
output: [texts]
limits: {late: {count: wall_time, max: 1m, exit: deadline}, busy: {count: active_time, max: 50s, exit: active_time}}
start: first
nodes:
  first: {model: mine, prompt: 'First {{ limits.late.left }} {{ question }}', update: {texts: result.text}, next: inner}
  inner: {call: inner, input: {question: question}, update: {texts: result.text}, next: last}
  last: {model: mine, prompt: 'Last {{ limits.late.left }}, {{ limits.busy.left }}', update: {texts: result.text}}
graphs:
  inner:
    state: {question: string, text: {type: string, optional: true}}
    input: [question]
    output: [text]
    limits: {own: {count: wall_time, max: 30s, exit: deadline}}
    start: look
    nodes:
      look: {model: mine, prompt: '{{ question }}', update: {text: result.text}, next: again}
      again: {model: mine, prompt: 'Again {{ limits.own.left }}', update: {text: result.text}}
";

fn compiled(text: &str) -> Arc<Bundle> {
    let files = [("graph.yaml".to_owned(), text.to_owned())].into();
    let source = BundleSource { entry: "graph.yaml".to_owned(), files, ..BundleSource::default() };
    Arc::new(Bundle::from_source(&source, &OpTable::stock()).unwrap_or_else(|mistakes| panic!("{mistakes}")))
}

/// Repeats what it was asked, after a real while, in which its thread does nothing else.
struct Slow;

#[async_trait]
impl ChatModel for Slow {
    async fn reply(&self, request: &ModelRequest, _: Preview<'_>) -> Result<ModelReply, StepError> {
        std::thread::sleep(Duration::from_micros(3700));
        tokio::time::sleep(Duration::from_millis(5)).await;
        let asked = request.messages.last().map(|message| message.content.clone()).unwrap_or_default();
        Ok(ModelReply {
            text: asked,
            tool_calls: Vec::new(),
            data: Value::Null,
            finish: FinishReason::Stop,
            usage: Usage::default(),
            cost_micro_usd: None,
            model: request.model.clone(),
            mended: Vec::new(),
            guess: Default::default(),
        })
    }
}

#[test]
fn prompts_that_show_the_time_that_is_left_are_the_same_in_a_replay() {
    let (recording, outcome) = {
        let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let host = Host::builder().model("mine", Slow).build().unwrap();
        let bundle = compiled(LATE);
        let running =
            tokio.block_on(async { host.run(&bundle).input("question", "x").start().await.unwrap() });
        let run = running.id().clone();
        let outcome = tokio.block_on(running.ended()).unwrap().outcome().unwrap();
        (tokio.block_on(host.recording(&run, &Hidden::default())).unwrap(), outcome)
    };
    let texts = outcome.end.output["texts"].to_json_text();
    assert!(texts.contains("First 60 x") && texts.contains("Last 59."), "{texts}");
    assert!(recording.exchanges.iter().all(|exchange| exchange.after_ms.is_some()), "{recording:?}");

    let tokio =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let host = Host::builder().replay(recording.clone()).build().unwrap();
    let bundle = compiled(LATE);
    let running = tokio.block_on(async { host.run(&bundle).input("question", "x").start().await.unwrap() });
    let run = running.id().clone();
    let again = tokio.block_on(running.ended()).unwrap().outcome().unwrap();
    assert_eq!(again.end.output, outcome.end.output);
    let once_more = tokio.block_on(host.recording(&run, &Hidden::default())).unwrap();
    assert_eq!(once_more, recording, "moments and all");
}

#[test]
fn where_no_prompt_shows_the_time_no_moment_is_kept() {
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let host = Host::builder().model("mine", Slow).build().unwrap();
    let text = ["late", "busy", "own"]
        .iter()
        .fold(LATE.to_owned(), |text, name| text.replace(&format!("{{{{ limits.{name}.left }}}}"), "x"));
    let bundle = compiled(&text);
    let running = tokio.block_on(async { host.run(&bundle).input("question", "x").start().await.unwrap() });
    let run = running.id().clone();
    tokio.block_on(running.ended()).unwrap();
    let recording = tokio.block_on(host.recording(&run, &Hidden::default())).unwrap();
    assert!(recording.moments.is_empty());
    assert!(recording.exchanges.iter().all(|exchange| exchange.after_ms.is_none()), "{recording:?}");
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
