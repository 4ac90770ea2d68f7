//! The body of a request for chat completions: <https://platform.openai.com/docs/api-reference/chat/create>.

use serde_json::{Map, Value as Json, json};

use super::messages::Turn;
use super::{Asked, put};

/// The body, made of the fields that the options have set.
pub(super) fn body(
    asked: &Asked<'_>,
    turns: Vec<Turn>,
    tools: Option<Json>,
    mut body: Map<String, Json>,
) -> Map<String, Json> {
    let endpoint = &asked.connection.endpoint;
    put(&mut body, "model", asked.name);
    put(&mut body, "stream", endpoint.stream);
    // Mistral refuses the option by which others are asked for the usage of a stream, and reports it anyway.
    if endpoint.stream && !endpoint.is_mistral() {
        put(&mut body, "stream_options", json!({"include_usage": true}));
    }
    if let Some(tools) = tools {
        put(&mut body, "tools", tools);
    }
    put(&mut body, "messages", turns.into_iter().flat_map(messages).collect::<Vec<Json>>());
    body
}

fn messages(turn: Turn) -> Vec<Json> {
    match turn {
        Turn::System(text) => vec![json!({"role": "system", "content": text})],
        Turn::User(text) => vec![json!({"role": "user", "content": text})],
        Turn::Model(text, calls) => {
            let mut said = Map::from_iter([
                ("role".to_owned(), json!("assistant")),
                ("content".to_owned(), json!(text)),
            ]);
            let calls = calls.into_iter().map(|call| {
                json!({"type": "function", "id": call.id, "function": {
                    "name": call.name, "arguments": call.arguments.to_string(),
                }})
            });
            let calls: Vec<Json> = calls.collect();
            if !calls.is_empty() {
                put(&mut said, "tool_calls", calls);
            }
            vec![Json::Object(said)]
        }
        Turn::Answers(answers) => {
            let answers = answers.into_iter();
            let message = answers
                .map(|answer| json!({"role": "tool", "tool_call_id": answer.id, "content": answer.text}));
            message.collect()
        }
    }
}
