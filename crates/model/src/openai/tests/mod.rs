//! The provider against a small server of our own.

mod failures;
mod replies;
mod requests;
mod server;

use std::sync::Mutex;

use deepgraph_protocol::{
    Map, Message, ModelReply, ModelRequest, OutputShape, StepError, ToolRole, ToolSpec, Value,
};
use serde_json::{Value as Json, json};

use self::server::{Answer, TestServer};
use super::Server;
use crate::ChatModel;

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

async fn ask(server: &TestServer, stream: bool, request: &ModelRequest) -> Outcome {
    let preview = Mutex::new(Vec::new());
    let result = match Server::new(Some(&server.base_url()), UNSET, stream) {
        Ok(client) => {
            let model = client.model("test-model");
            model.reply(request, &|piece| preview.lock().unwrap().push(piece.to_owned())).await
        }
        Err(error) => panic!("{error}"),
    };
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
