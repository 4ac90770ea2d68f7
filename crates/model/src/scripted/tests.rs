use deepgraph_protocol::{Map, Message, OutputShape, ToolRole, ToolSpec, Usage};
use serde_json::json;

use super::*;

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        model: "scripted".into(),
        messages,
        tools: Vec::new(),
        output: None,
        max_output: None,
        options: Map::new(),
        context: Map::new(),
    }
}

fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: "".into(),
        parameters: Value::empty_map(),
        role: ToolRole::Graph,
    }
}

fn scripted(script: serde_json::Value) -> Scripted {
    Scripted::new(serde_json::from_value(script).unwrap()).unwrap()
}

async fn ask(model: &Scripted, request: &ModelRequest) -> Result<ModelReply, StepError> {
    model.reply(request, &|_| {}).await
}

async fn text(model: &Scripted, request: &ModelRequest) -> String {
    ask(model, request).await.unwrap().text.to_string()
}

#[tokio::test]
async fn the_first_rule_that_fits_answers() {
    let model = scripted(json!({"rules": [
        {"when": {"output": "Plan"}, "reply": {"data": {"a": 1}}},
        {"when": {"model": "scripted::other"}, "reply": {"text": "other"}},
        {"when": {"tools": ["search", "read"], "turn": 1}, "reply": {"text": "second turn"}},
        {"when": {"tools": ["search"]}, "reply": {"text": "has search"}},
        {"when": {"system": "writer", "tools": []}, "reply": {"text": "writer"}},
        {"when": {"user": "tides"}, "reply": {"text": "tides"}},
        {"when": {"text": "moon"}, "reply": {"text": "moon"}},
        {"reply": {"text": "rest"}},
    ]}));
    let mut asking = request(vec![Message::system("You are a writer."), Message::user("tides")]);
    assert_eq!(text(&model, &asking).await, "writer");
    asking.tools = vec![tool("read"), tool("search")];
    assert_eq!(text(&model, &asking).await, "has search");
    asking.messages.push(Message::assistant("hm", Vec::new()));
    assert_eq!(text(&model, &asking).await, "second turn");
    asking.model = "scripted::other".into();
    assert_eq!(text(&model, &asking).await, "other");
    asking.output = Some(OutputShape { name: "Plan".into(), schema: Value::empty_map() });
    let reply = ask(&model, &asking).await.unwrap();
    assert_eq!((&*reply.text, reply.data.to_json_text().as_str()), (r#"{"a":1}"#, r#"{"a":1}"#));
    // Only the last user message counts for `user`, any message for `text`.
    let moved_on = request(vec![Message::user("tides"), Message::user("moon")]);
    assert_eq!(text(&model, &moved_on).await, "moon");
    assert_eq!(text(&model, &request(vec![])).await, "rest");
}

#[tokio::test]
async fn calls_are_made_as_written() {
    let model = scripted(json!({"rules": [{"reply": {"calls": [
        {"name": "search", "arguments": {"query": "x"}},
        {"name": "search", "arguments": "{\"query\": \"unfini"},
        {"name": "stop"},
        {"name": "stop", "id": "mine"},
    ]}}]}));
    let reply = ask(&model, &request(vec![])).await.unwrap();
    let made: Vec<(&str, &str, &str)> =
        reply.tool_calls.iter().map(|call| (&*call.id, &*call.name, &*call.arguments)).collect();
    let expected = [
        ("call_0_0", "search", r#"{"query":"x"}"#),
        ("call_0_1", "search", r#"{"query": "unfini"#),
        ("call_0_2", "stop", "{}"),
        ("mine", "stop", "{}"),
    ];
    assert_eq!(made, expected);
    assert_eq!(reply.finish, FinishReason::ToolCalls);
    assert_eq!(reply.cost_micro_usd, Some(0));
    // The next turn has ids of its own, also after its turn number was used before.
    let next = request(vec![Message::assistant("", reply.tool_calls.clone())]);
    let next = ask(&model, &next).await.unwrap();
    assert_eq!(&*next.tool_calls[0].id, "call_1_0");
    let mut odd = reply.tool_calls.clone();
    odd[0].id = "call_1_0".into();
    let odd = ask(&model, &request(vec![Message::assistant("", odd)])).await.unwrap();
    assert_eq!(&*odd.tool_calls[0].id, "call_1_0x");
}

#[tokio::test]
async fn usage_finish_and_data_can_be_given_or_are_worked_out() {
    let model = scripted(json!({"rules": [
        {"when": {"user": "given"}, "reply": {"text": "cut", "finish": "length",
            "usage": {"input_tokens": 7, "output_tokens": 2}}},
        {"reply": {"text": "```json\n{\"a\": 1}\n```"}},
    ]}));
    let given = ask(&model, &request(vec![Message::user("given")])).await.unwrap();
    assert_eq!(given.finish, FinishReason::Length);
    assert_eq!(given.usage, Usage { input_tokens: 7, output_tokens: 2, ..Usage::default() });
    let mut asking = request(vec![Message::user("eight by")]);
    asking.output = Some(OutputShape { name: "P".into(), schema: Value::empty_map() });
    let read = ask(&model, &asking).await.unwrap();
    assert_eq!(read.data.to_json_text(), r#"{"a":1}"#);
    assert_eq!(read.finish, FinishReason::Stop);
    assert_eq!((read.usage.input_tokens, read.usage.output_tokens, read.usage.estimated), (3, 5, true));
}

#[tokio::test]
async fn times_count_equal_requests_apart_from_others() {
    let model = scripted(json!({"rules": [
        {"when": {"user": "tides"}, "times": 2, "error":
            {"kind": "rate_limited", "message": "slow down", "retry_after_ms": 5}},
        {"when": {"user": "tides"}, "times": 1, "reply": {"text": "once"}},
        {"when": {"user": "ebb"}, "reply": {"text": "always"}},
    ]}));
    let one = request(vec![Message::user("tides and ebb")]);
    let other = request(vec![Message::user("tides, but ebb")]);
    for _ in 0..2 {
        for asking in [&one, &other] {
            let error = ask(&model, asking).await.unwrap_err();
            assert_eq!((error.kind, error.retry_after_ms), (ErrorKind::RateLimited, Some(5)));
        }
    }
    for asking in [&other, &one] {
        assert_eq!(text(&model, asking).await, "once");
        assert_eq!(text(&model, asking).await, "always");
        assert_eq!(text(&model, asking).await, "always");
    }
    let only = request(vec![Message::user("tides")]);
    for _ in 0..3 {
        let _ = ask(&model, &only).await;
    }
    let spent = ask(&model, &only).await.unwrap_err();
    assert!(spent.message.contains("rule 1 has answered this request as often"), "{spent}");
}

#[tokio::test]
async fn a_request_without_a_rule_is_described() {
    let model = scripted(json!({"rules": [
        {"when": {"output": "Plan", "turn": 3, "user": "x"}, "reply": {"text": "a"}},
        {"when": {"tools": ["read"], "turn": 0}, "reply": {"text": "b"}},
        {"when": {"system": "editor"}, "reply": {"text": "c"}},
        {"when": {"turn": 9, "user": "y"}, "reply": {"text": "d"}},
    ]}));
    let mut asking =
        request(vec![Message::system("You are a\nwriter."), Message::user("\u{1f30a}".repeat(200))]);
    asking.tools = vec![tool("search")];
    asking.output = Some(OutputShape { name: "Answer".into(), schema: Value::empty_map() });
    let error = ask(&model, &asking).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::InvalidRequest);
    for part in [
        "turn 0 of scripted, system \"You are a writer.\", user \"\u{1f30a}",
        "tools [search], output Answer",
        "rule 2 wants tools: [read]; rule 3 wants system: editor; rule 4 wants user: y, turn: 9; add a rule",
    ] {
        assert!(error.message.contains(part), "{part} is not in {error}");
    }
    let empty = ask(&scripted(json!({"rules": []})), &asking).await.unwrap_err();
    assert!(empty.message.contains("the script has no rules"), "{empty}");
}

#[test]
fn rules_need_one_answer_and_known_fields() {
    let neither = Scripted::new(Script::of([Rule::text("a"), Rule::default()]));
    assert_eq!(
        neither.err().map(|e| e.to_string()).unwrap_or_default(),
        "rule 2 of the script has no answer: give it a reply or an error"
    );
    let both = Rule { error: Some(StepError::new(ErrorKind::Tool, "x")), ..Rule::text("a") };
    assert!(Scripted::new(Script::of([both])).is_err());
    for wrong in [
        json!({"rules": [{"reply": {"txt": "a"}}]}),
        json!({"rules": [{"wen": {}, "reply": {}}]}),
        json!({"rules": [{"when": {"turn": -1}, "reply": {}}]}),
        json!({"rules": [{"error": {"kind": "boom", "message": ""}}]}),
        json!({}),
    ] {
        assert!(serde_json::from_value::<Script>(wrong.clone()).is_err(), "{wrong}");
    }
}

#[test]
fn scripts_survive_being_written_down() {
    let script = Script {
        latency_ms: 3,
        ..Script::of([
            Rule::text("a").when(When { turn: Some(0), ..When::default() }).times(2),
            Rule::data(Value::from(vec![Value::Int(1)])),
            Rule::calls([("search", Value::record([("query", Value::from("x"))]))]),
            Rule::error(StepError::new(ErrorKind::Unavailable, "down")),
        ])
    };
    let text = serde_json::to_string(&script).unwrap();
    assert_eq!(serde_json::from_str::<Script>(&text).unwrap(), script);
}

#[tokio::test(start_paused = true)]
async fn answers_take_the_time_that_they_are_given() {
    let model = scripted(json!({"latency_ms": 1000, "rules": [
        {"when": {"user": "slow"}, "latency_ms": 5000, "reply": {"text": "a"}}, {"reply": {"text": "b"}}]}));
    let begin = tokio::time::Instant::now();
    text(&model, &request(vec![])).await;
    assert_eq!(begin.elapsed(), Duration::from_millis(1000));
    text(&model, &request(vec![Message::user("slow")])).await;
    assert_eq!(begin.elapsed(), Duration::from_millis(6000));
}

#[tokio::test]
async fn the_text_is_previewed() {
    let seen = Mutex::new(String::new());
    let model = scripted(json!({"rules": [{"reply": {"text": "abc"}}]}));
    model.reply(&request(vec![]), &|piece| seen.lock().unwrap().push_str(piece)).await.unwrap();
    assert_eq!(*seen.lock().unwrap(), "abc");
}
