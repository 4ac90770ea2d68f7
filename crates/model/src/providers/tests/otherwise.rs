//! Ways of asking that a server does not take are given up for weaker ones.

use deepgraph_protocol::ErrorKind;

use super::*;
use crate::{ModelFacts, ToolMode};

fn refusal(words: &str) -> Answer {
    Answer::error(400, &json!({"error": {"message": words, "type": "invalid_request_error"}}))
}

fn hello(text: &str) -> Answer {
    Answer::json(&whole(json!({"content": text}), "stop", Json::Null))
}

fn shaped() -> ModelRequest {
    ModelRequest { model: "mine::m".into(), output: Some(shape()), ..plain() }
}

#[tokio::test]
async fn structured_output_steps_down_and_stays_there() {
    let refused = refusal(
        "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
    );
    let also = refusal("This response_format type is unavailable now");
    let server = TestServer::start(vec![refused, also, hello(r#"{"a": 1}"#)]).await;
    let models = mine(speaking(Protocol::OpenAi, &server), false);
    let reply = ask_model(&models, &shaped()).await.result.unwrap();
    assert_eq!(reply.data.to_json_text(), r#"{"a":1}"#);
    ask_model(&models, &shaped()).await.result.unwrap();
    let asked: Vec<Json> = server.asked().into_iter().map(|(_, body)| body).collect();
    assert_eq!(asked.len(), 4, "what was learnt is kept");
    assert_eq!(asked[0]["response_format"]["type"], "json_schema");
    assert_eq!(asked[1]["response_format"]["type"], "json_object");
    let says = |body: &Json| body["messages"][1]["content"].to_string().contains("JSON Schema");
    assert!(!says(&asked[0]) && says(&asked[1]));
    for last in &asked[2..] {
        assert!(last.get("response_format").is_none() && says(last), "{last}");
    }
}

#[tokio::test]
async fn refusals_without_another_way_are_failures() {
    let server = TestServer::start(vec![refusal("response_format is not supported")]).await;
    let models = mine(speaking(Protocol::OpenAi, &server), false);
    let error = ask_model(&models, &shaped()).await.result.unwrap_err();
    assert_eq!((error.kind, server.asked().len()), (ErrorKind::InvalidRequest, 3));
    let without = ModelRequest { output: None, ..shaped() };
    ask_model(&models, &without).await.result.unwrap_err();
    assert_eq!(server.asked().len(), 4, "nothing was asked for that could be asked otherwise");
    ask_model(&models, &shaped()).await.result.unwrap_err();
    let again = &server.asked()[4].1["response_format"]["type"];
    assert_eq!(again, "json_schema", "what did not help is not kept");
}

#[tokio::test]
async fn gemini_and_anthropic_step_down_in_their_own_ways() {
    let refused = Answer::error(
        400,
        &json!({"type": "error", "error": {"type": "invalid_request_error",
        "message": "output_config.format: structured outputs are not supported by this model"}}),
    );
    let text =
        json!({"content": [{"type": "text", "text": "```json\n{\"a\": 1}\n```"}], "stop_reason": "end_turn"});
    let server = TestServer::start(vec![refused, Answer::json(&text)]).await;
    let reply =
        ask_model(&mine(speaking(Protocol::Anthropic, &server), false), &shaped()).await.result.unwrap();
    assert_eq!(reply.data.to_json_text(), r#"{"a":1}"#);
    assert!(server.asked()[1].1.get("output_config").is_none());

    let refused = Answer::error(
        400,
        &json!({"error": {"code": 400, "status": "INVALID_ARGUMENT",
        "message": "Unknown name \"responseJsonSchema\""}}),
    );
    let text =
        json!({"candidates": [{"content": {"parts": [{"text": "{\"a\": 2}"}]}, "finishReason": "STOP"}]});
    let server = TestServer::start(vec![refused, Answer::json(&text)]).await;
    let reply = ask_model(&mine(speaking(Protocol::Gemini, &server), false), &shaped()).await.result.unwrap();
    assert_eq!(reply.data.to_json_text(), r#"{"a":2}"#);
    let config = server.asked()[1].1["generationConfig"].clone();
    assert_eq!(config, json!({"responseMimeType": "application/json"}));
}

#[tokio::test]
async fn models_that_know_no_tools_are_told_of_them_in_words() {
    let refused =
        Answer::error(400, &json!({"error": "registry.ollama.ai/library/m does not support tools"}));
    let called = r#"{"tool": "search", "with": {"query": "tides"}}"#;
    let body = json!({"model": "m", "message": {"role": "assistant", "content": called}, "done": true});
    let server = TestServer::start(vec![refused, Answer::json(&body)]).await;
    let models = mine(speaking(Protocol::Ollama, &server), false);
    let asking = ModelRequest { model: "mine::m".into(), tools: vec![tool("search")], ..plain() };
    for _ in 0..2 {
        let reply = ask_model(&models, &asking).await.result.unwrap();
        let call = &reply.tool_calls[0];
        assert_eq!((&*call.name, &*call.arguments), ("search", r#"{"query":"tides"}"#));
    }
    let asked: Vec<Json> = server.asked().into_iter().map(|(_, body)| body).collect();
    assert_eq!(asked.len(), 3, "what was learnt is kept");
    assert!(
        asked[0].get("tools").is_some() && asked[1].get("tools").is_none() && asked[2].get("tools").is_none()
    );
    assert!(asked[1]["format"].is_object(), "{}", asked[1]);
}

#[tokio::test]
async fn facts_say_how_a_model_is_told_of_tools() {
    let asking = ModelRequest { model: "mine::m".into(), tools: vec![tool("search")], ..plain() };
    for (mode, answer, requests) in [
        (ToolMode::Schema, hello(r#"{"answer": "42"}"#), 1),
        (ToolMode::Native, refusal("tool calling is not supported"), 1),
    ] {
        let server = TestServer::start(vec![answer]).await;
        let facts = ModelFacts { tools: Some(mode), ..ModelFacts::default() };
        let models = Models::new(ModelSettings {
            stream: false,
            providers: BTreeMap::from([("mine".to_owned(), speaking(Protocol::OpenAi, &server))]),
            models: BTreeMap::from([("mine::m".to_owned(), facts)]),
            ..ModelSettings::default()
        });
        let outcome = ask_model(&models, &asking).await.result;
        assert_eq!(server.asked().len(), requests);
        match mode {
            ToolMode::Schema => assert_eq!(&*outcome.unwrap().text, "42"),
            ToolMode::Native => assert!(outcome.unwrap_err().message.contains("tools: schema")),
        }
    }
}

#[tokio::test]
async fn a_window_that_is_told_is_kept() {
    let long =
        refusal("This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.");
    let server = TestServer::start(vec![long]).await;
    for stream in [false, true] {
        let models = mine(speaking(Protocol::OpenAi, &server), stream);
        assert_eq!(models.window("mine::m"), None);
        let error = ask_model(&models, &ModelRequest { model: "mine::m".into(), ..plain() })
            .await
            .result
            .unwrap_err();
        assert_eq!((error.kind, error.window), (ErrorKind::ContextOverflow, Some(8192)));
        assert_eq!(models.window("mine::m"), Some(8192));
        assert_eq!(models.window("mine::other"), None);
    }
}
