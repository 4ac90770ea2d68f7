//! The body of a request to Ollama: <https://github.com/ollama/ollama/blob/main/docs/api.md>. Without a size of the
//! context Ollama takes a small one and cuts off the beginning of what does not fit in.

use serde_json::{Map, Value as Json, json};

use super::messages::Turn;
use super::{Asked, put, record};

/// The body, made of the fields that the options have set.
pub(super) fn body(
    asked: &Asked<'_>,
    turns: Vec<Turn>,
    tools: Option<Json>,
    mut body: Map<String, Json>,
) -> Map<String, Json> {
    put(&mut body, "model", asked.name);
    put(&mut body, "stream", asked.connection.endpoint.stream);
    put(&mut body, "messages", turns.into_iter().flat_map(messages).collect::<Vec<Json>>());
    if let Some(tools) = tools {
        put(&mut body, "tools", tools);
    }
    // What does not fit in is to be told.
    body.entry("truncate").or_insert(json!(false));
    let mut options = record(body.remove("options"));
    if let Some(window) = asked.facts.context_window {
        options.entry("num_ctx").or_insert(json!(window));
    }
    if !options.is_empty() {
        put(&mut body, "options", options);
    }
    body
}

fn messages(turn: Turn) -> Vec<Json> {
    match turn {
        Turn::System(text) => vec![json!({"role": "system", "content": text})],
        Turn::User(text) => vec![json!({"role": "user", "content": text})],
        Turn::Model(text, calls) if calls.is_empty() => vec![json!({"role": "assistant", "content": text})],
        Turn::Model(text, calls) => {
            let calls = calls.into_iter();
            let calls: Vec<Json> = calls
                .map(|call| json!({"function": {"name": call.name, "arguments": call.arguments}}))
                .collect();
            vec![json!({"role": "assistant", "content": text, "tool_calls": calls})]
        }
        Turn::Answers(answers) => {
            let answers = answers.into_iter();
            let message = answers
                .map(|answer| json!({"role": "tool", "content": answer.text, "tool_name": answer.name}));
            message.collect()
        }
    }
}
