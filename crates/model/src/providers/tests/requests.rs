//! What is sent.

use std::sync::Arc;

use super::super::connection::Connection;
use super::super::request::{Ways, render};
use super::*;
use crate::endpoint::Endpoint;

fn hello() -> Answer {
    Answer::json(&whole(json!({"content": "Hi."}), "stop", Json::Null))
}

/// The head and body that a request is sent as.
async fn sent(request: &ModelRequest) -> (String, Json) {
    let server = TestServer::start(vec![hello()]).await;
    let outcome = ask(&server, false, request).await;
    assert!(outcome.result.is_ok(), "{:?}", outcome.result);
    server.asked().remove(0)
}

#[tokio::test]
async fn messages_calls_and_answers_keep_their_order_and_raw_arguments_do_no_harm() {
    let call = |id: &str, arguments: &str| ToolCall {
        id: id.into(),
        name: "search".into(),
        arguments: arguments.into(),
    };
    let calls = vec![call("c1", r#"{"query":"tides"}"#), call("c2", r#"{"query": "unfini"#)];
    let mut history = request(vec![
        Message::system("Be brief."),
        Message::user("Tides?"),
        Message::assistant("", calls.clone()),
        Message::tool(&calls[0], "Twice a day."),
        Message::tool(&calls[1], "not JSON"),
        Message::user("日本 \u{0} \"quoted\""),
    ]);
    history.tools.push(tool("search"));
    let (head, body) = sent(&history).await;
    assert!(head.starts_with("post /v1/chat/completions http/1.1"), "{head}");
    assert!(!head.contains("authorization"), "{head}");
    let messages = &body["messages"];
    let roles: Vec<&str> = messages.as_array().unwrap().iter().filter_map(|m| m["role"].as_str()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool", "user"]);
    assert_eq!(messages[2]["tool_calls"][0]["function"]["arguments"], r#"{"query":"tides"}"#);
    assert_eq!(messages[2]["tool_calls"][1]["function"]["arguments"], r#""{\"query\": \"unfini""#);
    assert_eq!(messages[3], json!({"role": "tool", "tool_call_id": "c1", "content": "Twice a day."}));
    assert_eq!(messages[5]["content"], "日本 \u{0} \"quoted\"");
    let function = &body["tools"][0]["function"];
    assert_eq!(function["name"], "search");
    assert_eq!(function["description"], "Finds things.");
    assert_eq!(function["parameters"]["required"], json!(["query"]));
    assert!(!body.to_string().contains("role\":\"op"), "the tool's role is not sent: {body}");
}

#[tokio::test]
async fn options_go_through_and_names_are_not_read_into() {
    let server = TestServer::start(vec![hello()]).await;
    let mut asking = plain();
    asking.options =
        options(json!({"temperature": 0.2, "top_p": 1, "seed": 7, "reasoning_effort": "low", "x": [1]}));
    asking.max_output = Some(500);
    let models = client(Some(&server.base_url()), UNSET, false);
    for name in ["some-model-max", "vendor::some-low", "gpt-5-mini"] {
        models.get(&format!("openai::{name}")).unwrap().reply(&asking, &|_| {}).await.unwrap();
    }
    let asked = server.asked();
    for ((_, body), name) in asked.iter().zip(["some-model-max", "vendor::some-low", "gpt-5-mini"]) {
        assert_eq!(body["model"], name);
        assert_eq!(body["temperature"], 0.2);
        assert_eq!(body["top_p"], 1);
        assert_eq!(body["seed"], 7);
        assert_eq!(body["reasoning_effort"], "low");
        assert_eq!(body["x"], json!([1]));
    }
    assert_eq!(asked[0].1["max_tokens"], 500);
    assert_eq!(asked[2].1["max_completion_tokens"], 500, "newer models of OpenAI want the other name");
    assert_eq!(server.connections(), 1, "connections are kept");
}

#[tokio::test]
async fn no_effort_is_sent_unless_it_is_asked_for() {
    let (_, body) = sent(&plain()).await;
    assert_eq!(body["model"], "test-model");
    for absent in ["reasoning_effort", "max_tokens", "tools", "response_format", "temperature"] {
        assert!(body.get(absent).is_none(), "{absent}: {body}");
    }
}

#[tokio::test]
async fn a_bound_among_the_options_is_never_above_the_reserved_one() {
    let mut asking = plain();
    asking.options = options(json!({"max_completion_tokens": 900}));
    asking.max_output = Some(500);
    let (_, body) = sent(&asking).await;
    assert_eq!(body["max_completion_tokens"], 500);
    assert!(body.get("max_tokens").is_none());
    asking.options = options(json!({}));
    asking.max_output = Some(u64::MAX);
    assert_eq!(sent(&asking).await.1["max_tokens"], u32::MAX);
}

#[tokio::test]
async fn options_that_the_request_decides_are_refused() {
    for key in ["messages", "model", "stream", "tools", "response_format", "n"] {
        let server = TestServer::start(vec![hello()]).await;
        let mut asking = plain();
        asking.options = options(json!({key: 2}));
        let error = ask(&server, true, &asking).await.result.unwrap_err();
        assert_eq!(error.kind, deepgraph_protocol::ErrorKind::InvalidRequest);
        assert!(error.message.contains(key), "{error}");
        assert!(server.asked().is_empty());
    }
    let error = ask_once(hello(), true, &request(vec![])).await.result.unwrap_err();
    assert_eq!(error.kind, deepgraph_protocol::ErrorKind::InvalidRequest);
}

#[tokio::test]
async fn output_is_asked_for_by_name_and_strict_schema() {
    let mut asking = plain();
    asking.output = Some(OutputShape { name: "Plan v2".into(), ..shape() });
    let (_, body) = sent(&asking).await;
    assert_eq!(
        body["response_format"],
        json!({"type": "json_schema", "json_schema": {"name": "Plan_v2", "strict": true, "schema": {
            "type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"],
            "additionalProperties": false,
        }}})
    );
}

#[tokio::test]
async fn streams_are_asked_for_with_their_usage() {
    let server =
        TestServer::start(vec![Answer::events(&chunks(&[json!({"content": "Hi."})], "stop", Json::Null))])
            .await;
    ask(&server, true, &plain()).await.result.unwrap();
    let (_, body) = server.asked().remove(0);
    assert_eq!(body["stream"], true);
    assert_eq!(body["stream_options"], json!({"include_usage": true}));
    let (_, body) = sent(&plain()).await;
    assert_eq!(body["stream"], false);
    assert!(body.get("stream_options").is_none());
}

#[tokio::test]
async fn a_key_is_sent_where_there_is_one_and_demanded_without_a_base_url() {
    // Set by cargo for every test.
    let server = TestServer::start(vec![hello()]).await;
    let models = client(Some(&server.base_url()), "CARGO_PKG_NAME", false);
    models.get("openai::m").unwrap().reply(&plain(), &|_| {}).await.unwrap();
    assert!(server.asked()[0].0.contains("authorization: bearer deepgraph-model\r\n"));

    let model = client(None, UNSET, true).get("openai::m").unwrap();
    let error = model.reply(&plain(), &|_| {}).await.unwrap_err();
    assert_eq!(error.kind, deepgraph_protocol::ErrorKind::Unauthorized);
    assert!(error.message.contains(UNSET) && error.message.contains("api.openai.com"), "{error}");
    // "A B" is no key.
    let model = client(None, "CARGO_PKG_DESCRIPTION", true).get("openai::m").unwrap();
    let error = model.reply(&plain(), &|_| {}).await.unwrap_err();
    assert_eq!(error.kind, deepgraph_protocol::ErrorKind::Unauthorized);
    assert!(!error.message.contains("Chat models"), "{error}");
}

#[tokio::test]
async fn caching_that_a_model_does_by_itself_is_left_on_where_the_conversation_comes_back() {
    let server = TestServer::start(vec![hello()]).await;
    let models = client(Some(&server.base_url()), UNSET, false);
    models.get("openai::gpt-6-x").unwrap().reply(&plain(), &|_| {}).await.unwrap();
    assert!(server.asked()[0].1.get("prompt_cache_options").is_none(), "other servers do not know it");

    let endpoint = Endpoint::of(&ModelSettings::default(), "openai").unwrap().unwrap();
    let account = Arc::new(crate::Account::new("openai", None, None));
    let connection = Connection::new(endpoint, account).unwrap();
    let switch = |asking: &ModelRequest| {
        let ways = Ways { output: Default::default(), tools: Default::default() };
        let call = render(asking, "gpt-6-x", &connection, ways, &Default::default()).unwrap();
        call.body.get("prompt_cache_options").cloned()
    };
    assert_eq!(switch(&conversation()), None);
    assert_eq!(switch(&plain()), Some(json!({"mode": "explicit"})));
}
