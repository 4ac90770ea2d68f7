//! The body of a request to the Messages API: <https://docs.anthropic.com/en/api/messages>.

use serde_json::{Map, Value as Json, json};

use super::messages::{Answer, Call, Turn};
use super::{Asked, put};
use crate::settings::CacheMarks;

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
    if let Some(tools) = tools {
        put(&mut body, "tools", tools);
        // Those of earlier calls are only declared.
        if asked.request.tools.is_empty() {
            body.entry("tool_choice").or_insert(json!({"type": "none"}));
        }
    }
    let mut system = Vec::new();
    let mut messages = Vec::new();
    for turn in turns {
        match turn {
            Turn::System(text) => system.push(text),
            Turn::User(text) => messages.push(message("user", vec![part(&text)])),
            Turn::Model(text, calls) => messages.push(message("assistant", said(&text, calls))),
            Turn::Answers(answers) => {
                messages.push(message("user", answers.into_iter().map(result).collect()));
            }
        }
    }
    let instructions = system.join("\n\n");
    let instructions = if endpoint.cache == CacheMarks::Ephemeral && !asked.request.tools.is_empty() {
        // What the provider should keep in its cache: the instructions with the tools, and the conversation so far.
        let last = messages.last_mut().and_then(|last| last.get_mut("content")?.as_array_mut()?.last_mut());
        if let Some(last) = last {
            mark(last);
        }
        let mut instructions = part(&instructions);
        mark(&mut instructions);
        json!([instructions])
    } else {
        json!(instructions)
    };
    if !system.is_empty() {
        put(&mut body, "system", instructions);
    }
    put(&mut body, "messages", messages);
    body
}

fn mark(part: &mut Json) {
    if let Some(fields) = part.as_object_mut() {
        put(fields, "cache_control", json!({"type": "ephemeral"}));
    }
}

fn message(role: &str, parts: Vec<Json>) -> Json {
    json!({"role": role, "content": parts})
}

fn part(text: &str) -> Json {
    json!({"type": "text", "text": text})
}

fn said(text: &str, calls: Vec<Call>) -> Vec<Json> {
    let text = (!text.is_empty()).then(|| part(text));
    let calls = calls
        .into_iter()
        .map(|call| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}));
    text.into_iter().chain(calls).collect()
}

fn result(answer: Answer) -> Json {
    json!({"type": "tool_result", "tool_use_id": answer.id, "content": answer.text})
}
