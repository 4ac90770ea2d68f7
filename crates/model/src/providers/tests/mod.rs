//! Providers against a small server of our own.

mod anthropic;
mod failures;
mod gemini;
mod in_vain;
mod ollama;
mod otherwise;
mod providers;
mod replies;
mod requests;
mod responses;
mod server;
mod told;
mod weak;

use std::collections::BTreeMap;
use std::sync::Mutex;

use deepgraph_protocol::{
    Map, Message, ModelReply, ModelRequest, OutputShape, StepError, ToolCall, ToolRole, ToolSpec, Value,
};
use serde_json::{Value as Json, json};

use self::server::{Answer, TestServer};
use crate::{ModelSettings, Models, Protocol, ProviderSettings};

/// A variable that no environment sets: models of a server with a base URL get on without a key.
const UNSET: &str = "DEEPGRAPH_TEST_KEY_THAT_IS_NEVER_SET";

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        model: "openai::test-model".into(),
        messages,
        tools: Vec::new(),
        output: None,
        max_output: None,
        options: Map::new(),
        context: Map::new(),
    }
}

fn plain() -> ModelRequest {
    request(vec![Message::system("Be brief."), Message::user("Hello?")])
}

fn shape() -> OutputShape {
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]});
    OutputShape { name: "Plan".into(), schema: Value::from_json(&schema) }
}

fn tool(name: &str) -> ToolSpec {
    let parameters =
        json!({"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]});
    ToolSpec {
        name: name.into(),
        description: "Finds things.".into(),
        parameters: Value::from_json(&parameters),
        role: ToolRole::Op("search".into()),
    }
}

/// What came of a call, with the pieces of its preview.
struct Outcome {
    result: Result<ModelReply, StepError>,
    preview: Vec<String>,
}

/// The models of a server of chat completions.
fn client(base_url: Option<&str>, key_variable: &str, stream: bool) -> Models {
    Models::new(ModelSettings {
        base_url: base_url.map(str::to_owned),
        stream,
        key_variable: key_variable.into(),
        ..ModelSettings::default()
    })
}

async fn ask(server: &TestServer, stream: bool, request: &ModelRequest) -> Outcome {
    ask_model(&client(Some(&server.base_url()), UNSET, stream), request).await
}

/// A server of one's own that speaks a protocol. Its key is what cargo sets for every test: `deepgraph-model`.
fn speaking(protocol: Protocol, server: &TestServer) -> ProviderSettings {
    ProviderSettings {
        protocol: Some(protocol),
        base_url: Some(server.base_url()),
        key_env: Some("CARGO_PKG_NAME".into()),
        ..ProviderSettings::default()
    }
}

/// The models of one provider of one's own, `mine`.
fn mine(provider: ProviderSettings, stream: bool) -> Models {
    let providers = BTreeMap::from([("mine".to_owned(), provider)]);
    Models::new(ModelSettings { stream, providers, ..ModelSettings::default() })
}

/// What comes of asking a server that speaks a protocol and gives one answer.
async fn spoken(protocol: Protocol, answer: Answer, stream: bool, request: &ModelRequest) -> Outcome {
    let server = TestServer::start(vec![answer]).await;
    let asking = ModelRequest { model: "mine::test-model".into(), ..request.clone() };
    ask_model(&mine(speaking(protocol, &server), stream), &asking).await
}

/// The reply that is the same at once and in pieces.
async fn same(protocol: Protocol, at_once: Answer, in_pieces: Answer, request: &ModelRequest) -> ModelReply {
    let at_once = spoken(protocol, at_once, false, request).await.result.unwrap();
    let in_pieces = spoken(protocol, in_pieces, true, request).await;
    assert_eq!(in_pieces.preview.concat(), &*at_once.text);
    assert_eq!(at_once, in_pieces.result.unwrap());
    at_once
}

/// Head and body of what a model of `mine` is sent.
async fn sent_to(
    provider: impl Fn(&TestServer) -> ProviderSettings,
    name: &str,
    request: &ModelRequest,
) -> (String, Json) {
    let server = TestServer::start(vec![Answer::error(500, &json!({}))]).await;
    let asking = ModelRequest { model: format!("mine::{name}"), ..request.clone() };
    ask_model(&mine(provider(&server), false), &asking).await;
    server.asked().remove(0)
}

/// A conversation with two calls, one with arguments that are no JSON, and their answers.
fn conversation() -> ModelRequest {
    let call = |id: &str, arguments: &str| ToolCall {
        id: id.into(),
        name: "web.search".into(),
        arguments: arguments.into(),
    };
    let calls = vec![call("c1", r#"{"query":"tides"}"#), call("c/2", r#"{"query": "unfini"#)];
    let mut history = request(vec![
        Message::system("Be brief."),
        Message::user("Tides?"),
        Message::assistant("", calls.clone()),
        Message::tool(&calls[0], "Twice a day."),
        Message::tool(&calls[1], "not JSON"),
    ]);
    history.tools.push(tool("web.search"));
    history
}

fn options(options: Json) -> Map {
    Value::from_json(&options).as_map().cloned().unwrap_or_default()
}

fn made(reply: &ModelReply) -> Vec<(&str, &str, &str)> {
    reply.tool_calls.iter().map(|call| (&*call.id, &*call.name, &*call.arguments)).collect()
}

/// Asks the model that the request names.
async fn ask_model(models: &Models, request: &ModelRequest) -> Outcome {
    let preview = Mutex::new(Vec::new());
    let model = models.get(&request.model).unwrap();
    let result = model.reply(request, &|piece| preview.lock().unwrap().push(piece.to_owned())).await;
    Outcome { result, preview: preview.into_inner().unwrap() }
}

/// Asks a server that gives one answer.
async fn ask_once(answer: Answer, stream: bool, request: &ModelRequest) -> Outcome {
    ask(&TestServer::start(vec![answer]).await, stream, request).await
}

/// The chunks of a streamed reply: one for each delta, then the reason it stopped, the usage and the end.
fn chunks(deltas: &[Json], finish: &str, usage: Json) -> Vec<String> {
    let chunk = |choices: Json, usage: &Json| {
        json!({"model": "served", "choices": choices, "usage": usage}).to_string()
    };
    let mut chunks: Vec<String> =
        deltas.iter().map(|delta| chunk(json!([{"index": 0, "delta": delta}]), &Json::Null)).collect();
    chunks.push(chunk(json!([{"index": 0, "delta": {}, "finish_reason": finish}]), &Json::Null));
    if !usage.is_null() {
        chunks.push(chunk(json!([]), &usage));
    }
    chunks.push("[DONE]".into());
    chunks
}

/// A whole reply.
fn whole(message: Json, finish: &str, usage: Json) -> Json {
    json!({"model": "served", "choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": usage})
}
