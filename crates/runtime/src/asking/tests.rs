mod charged;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use deepgraph_graph::build::*;
use deepgraph_model::{ChatModel, ModelSettings, Preview};
use deepgraph_protocol::{
    ErrorKind, FinishReason, Hidden, Map, ModelReply, ModelRequest, StepError, ToolCall, Usage, Value,
};
use deepgraph_trace::Recording;

use crate::{CustomOp, Host, HostBuilder, Outcome, async_trait};

/// Answers as a function says of the number of the call, from 0, and notes by which name it was asked.
struct Says<F> {
    asked: Arc<Mutex<Vec<String>>>,
    says: F,
}

#[async_trait]
impl<F> ChatModel for Says<F>
where
    F: Fn(&ModelRequest) -> Result<ModelReply, StepError> + Send + Sync,
{
    async fn reply(&self, request: &ModelRequest, _: Preview<'_>) -> Result<ModelReply, StepError> {
        self.asked.lock().unwrap().push(request.model.clone());
        tokio::time::sleep(Duration::from_secs(1)).await;
        (self.says)(request)
    }
}

fn reply(text: &str, calls: Vec<ToolCall>) -> ModelReply {
    ModelReply {
        text: text.into(),
        finish: if calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls },
        tool_calls: calls,
        data: Value::Null,
        usage: Usage { input_tokens: 3, output_tokens: 2, ..Usage::default() },
        cost_micro_usd: Some(7),
        model: "m".into(),
        mended: Vec::new(),
        guess: Default::default(),
    }
}

fn down(kind: ErrorKind, after_ms: Option<u64>) -> Result<ModelReply, StepError> {
    Err(StepError { retry_after_ms: after_ms, ..StepError::new(kind, "down") })
}

async fn recorded(host: &Host, graph: &Graph) -> (Outcome, Recording) {
    let bundle = host.load(graph).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let running = host.run(&bundle).start().await.unwrap();
    let run = running.id().clone();
    let outcome = running.ended().await.unwrap().outcome().expect("it is over");
    (outcome, host.recording(&run, &Hidden::default()).await.unwrap())
}

fn with_fallback(host: HostBuilder) -> HostBuilder {
    host.models(ModelSettings { fallbacks: vec!["spare::x".into()], ..ModelSettings::default() })
}

/// Two steps, one after the other.
fn two_steps() -> Graph {
    let ask = |prompt: &str| {
        Node::model("main").prompt(prompt).retry(Retry::times(1)).update("said", "result.text")
    };
    Graph::new("two")
        .channel("said", Type::list(Type::string()).reduce(Reducer::Append))
        .output(["said"])
        .start(to("first"))
        .node("first", ask("a").next(to("second")))
        .node("second", ask("b"))
}

#[tokio::test(start_paused = true)]
async fn the_next_of_the_route_is_asked_and_what_is_in_trouble_is_passed_over_for_a_while() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let main = Says { asked: asked.clone(), says: |_: &ModelRequest| down(ErrorKind::Unavailable, None) };
    let spare = Says { asked: asked.clone(), says: |_: &ModelRequest| Ok(reply("yes", Vec::new())) };
    let host = with_fallback(Host::builder()).model("main", main).model("spare", spare).build().unwrap();
    let (outcome, recording) = recorded(&host, &two_steps()).await;
    assert_eq!(outcome.end.output["said"].to_json_text(), r#"["yes","yes"]"#);
    assert_eq!(*asked.lock().unwrap(), ["main", "spare::x", "spare::x"]);
    let told: Vec<(String, u32, Option<&str>, bool)> = recording
        .exchanges
        .iter()
        .map(|one| (one.step.to_string(), one.attempt, one.model.as_deref(), one.fail_over))
        .collect();
    let expected = [
        ("first.1".to_owned(), 1, None, true),
        ("first.1".to_owned(), 2, Some("spare::x"), false),
        ("second.1".to_owned(), 1, Some("spare::x"), false),
    ];
    assert_eq!(told, expected);

    // A replay asks nobody, not even for the route.
    let replaying = Host::builder().replay(recording.clone()).build().unwrap();
    let (again, once_more) = recorded(&replaying, &two_steps()).await;
    assert_eq!(again.end.output, outcome.end.output);
    assert_eq!(once_more.exchanges, recording.exchanges);
}

#[tokio::test(start_paused = true)]
async fn a_fallback_that_is_no_help_is_not_asked_again_and_ends_nothing() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let calls = asked.clone();
    let says = move |_: &ModelRequest| match calls.lock().unwrap().len() {
        1 => down(ErrorKind::RateLimited, Some(20_000)),
        4 => down(ErrorKind::Unavailable, None),
        _ => Ok(reply("yes", Vec::new())),
    };
    let main = Says { asked: asked.clone(), says };
    let spare = Says { asked: asked.clone(), says: |_: &ModelRequest| down(ErrorKind::Unauthorized, None) };
    let ask = |prompt: &str| {
        let retry = Retry::times(2).backoff("1s");
        Node::model("main").prompt(prompt).retry(retry).update("said", "result.text")
    };
    let graph = Graph::new("two")
        .channel("said", Type::list(Type::string()).reduce(Reducer::Append))
        .output(["said"])
        .start(to("first"))
        .node("first", ask("a").next(to("second")))
        .node("second", ask("b"));
    let host = with_fallback(Host::builder()).model("main", main).model("spare", spare).build().unwrap();
    let (outcome, _) = recorded(&host, &graph).await;
    assert_eq!(outcome.end.output["said"].to_json_text(), r#"["yes","yes"]"#);
    // The third is asked of the one that will be there first.
    assert_eq!(asked.lock().unwrap()[..3], ["main", "spare::x", "main"]);
    assert_eq!(asked.lock().unwrap()[3], "main", "it has answered, the other is passed over");
}

#[tokio::test(start_paused = true)]
async fn waiting_before_another_attempt_is_no_active_time_and_never_less_than_was_asked_for() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let calls = asked.clone();
    let says = move |_: &ModelRequest| match calls.lock().unwrap().len() {
        1 => down(ErrorKind::RateLimited, Some(40_000)),
        _ => Ok(reply("yes", Vec::new())),
    };
    let graph = Graph::new("one").channel("said", Type::string()).output(["said"]).start(to("ask")).node(
        "ask",
        Node::model("main").prompt("a").retry(Retry::times(2).backoff("1s")).update("said", "result.text"),
    );
    let clock = crate::clock::TokioClock::starting_at(1_000);
    let host = Host::builder().clock(clock).model("main", Says { asked, says }).build().unwrap();
    let (outcome, recording) = recorded(&host, &graph).await;
    let clocks = outcome.end.exit.clocks;
    assert!((2000..2100).contains(&clocks.active_ms), "{clocks:?}");
    assert!((40_000..=50_100).contains(&clocks.backoff_ms), "{clocks:?}");
    assert_eq!(clocks.wall_ms, clocks.active_ms + clocks.backoff_ms);
    let held: Vec<bool> = recording.exchanges.iter().map(|exchange| exchange.held).collect();
    assert_eq!(held, [false, true]);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_can_not_be_had_is_taken_for_one_that_is_not_there() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let spare = Says { asked: asked.clone(), says: |_: &ModelRequest| Ok(reply("yes", Vec::new())) };
    let settings = ModelSettings { fallbacks: vec!["spare::x".into()], ..ModelSettings::default() };
    let graph = Graph::new("one").channel("said", Type::string()).output(["said"]).start(to("ask")).node(
        "ask",
        Node::model("openai::").prompt("a").retry(Retry::times(1)).update("said", "result.text"),
    );
    let host = Host::builder().models(settings).model("spare", spare).build().unwrap();
    let bundle = host.load(&graph).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let running = host.run(&bundle).start().await.unwrap();
    let outcome = running.ended().await.unwrap().outcome().expect("it is over");
    // A name without a model is asked of nobody; whether there is a next one says the route.
    let has_route = host.runtime().models.route("openai::").len() > 1;
    assert_eq!(outcome.text("said") == "yes", has_route);
    assert_eq!(asked.lock().unwrap().len(), usize::from(has_route));
}

#[tokio::test(start_paused = true)]
async fn a_long_answer_is_read_on_from_what_the_run_keeps() {
    let long: String = (1..=400).map(|n| format!("line {n} of the answer\n")).collect();
    let op = CustomOp::new("dump").reads().result("text", Type::string());
    let op = op.run(move |_: Map| {
        let long = long.clone();
        async move { Ok(Value::record([("text", Value::from(long))])) }
    });
    let seen = Arc::new(Mutex::new(Vec::<String>::new()));
    let notes = seen.clone();
    let says = move |request: &ModelRequest| {
        let last = request.messages.last().map(|message| message.content.to_string()).unwrap_or_default();
        notes.lock().unwrap().push(last.clone());
        let call = |name: &str, arguments: String| {
            let call = ToolCall {
                id: format!("c{}", request.messages.len()).into(),
                name: name.into(),
                arguments: arguments.into(),
            };
            Ok(reply("", vec![call]))
        };
        let next =
            last.rsplit_once("read on with read ").map(|(_, behind)| behind.trim_end_matches(']').to_owned());
        match (request.messages.len(), next) {
            (1, _) => call("dump", "{}".into()),
            (_, Some(arguments)) => call("read", arguments),
            (_, None) if last.contains("of this answer") => {
                call("read", r#"{"source": "ref:act.9/nothing.1", "from": 2}"#.into())
            }
            _ => Ok(reply("done", Vec::new())),
        }
    };
    let graph = "deepgraph: 1\nname: long\nstate: {messages: messages, text: string}\noutput: [text]\ntools:\n  dump: {call: dump, answer_max: 700}\n  read: {call: read}\nlimits: {turns: {count: turns, max: 20, exit: step_limit}}\nstart: open\nnodes:\n  open: {update: {messages: [{user: \"'go'\"}]}, next: agent}\n  agent: {model: main, messages: messages, tools: [dump, read], update: {text: result.text}, next: [{if: result.tool_calls, to: act}, {exit: no_tool_calls}]}\n  act: {run_tools: agent, next: agent}\n";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("graph.yaml");
    std::fs::write(&file, graph).unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let host = Host::builder().op(op).model("main", Says { asked, says }).build().unwrap();
    let bundle = host.load_file(&file).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let running = host.run(&bundle).start().await.unwrap();
    let outcome = running.ended().await.unwrap().outcome().expect("it is over");
    assert_eq!(outcome.text("text"), "done");
    let seen = seen.lock().unwrap();
    let parts: String =
        seen.iter().filter_map(|answer| answer.split_once("\n[part ")).map(|(part, _)| part).collect();
    let whole: String = (1..=400).map(|n| format!("line {n} of the answer\n")).collect();
    assert_eq!(parts, whole, "all parts together are the answer");
    assert!(seen.iter().all(|answer| answer.len() < 2900), "none is longer than `answer_max`");
    assert!(seen.last().is_some_and(|last| last.contains("no answer \"ref:act.9/nothing.1\"")), "{seen:?}");
}
