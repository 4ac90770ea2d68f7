//! The body of a request to Ollama. `genai` can not be used for it: it sends no size of the context, without which
//! Ollama takes a small one and cuts off the beginning of what does not fit in.

use std::collections::BTreeMap;

use genai::chat::{ChatMessage, ChatRole};
use serde_json::{Map, Value as Json, json};

use super::{Asked, record};

/// The body, made of the fields that the options have set.
pub(super) fn body(
    asked: &Asked<'_>,
    messages: Vec<ChatMessage>,
    tools: Option<Json>,
    mut body: Map<String, Json>,
) -> Json {
    body.insert("model".to_owned(), json!(asked.name));
    body.insert("stream".to_owned(), json!(asked.connection.endpoint.stream));
    body.insert("messages".to_owned(), conversation(messages));
    if let Some(tools) = tools {
        body.insert("tools".to_owned(), tools);
    }
    // What does not fit in is to be told.
    body.entry("truncate").or_insert(json!(false));
    let mut options = record(body.remove("options"));
    if let Some(window) = asked.facts.context_window {
        options.entry("num_ctx").or_insert(json!(window));
    }
    if !options.is_empty() {
        body.insert("options".to_owned(), Json::Object(options));
    }
    Json::Object(body)
}

fn conversation(messages: Vec<ChatMessage>) -> Json {
    // The name of each call so far, for the answers.
    let mut called: BTreeMap<String, String> = BTreeMap::new();
    messages
        .into_iter()
        .map(|message| {
            let text = message.content.texts().concat();
            match message.role {
                ChatRole::System => json!({"role": "system", "content": text}),
                ChatRole::User => json!({"role": "user", "content": text}),
                ChatRole::Tool => {
                    let answers = message.content.tool_responses();
                    let text: Vec<&str> = answers.iter().map(|answer| answer.content.as_str()).collect();
                    let name = answers.first().and_then(|answer| called.get(&answer.call_id));
                    json!({"role": "tool", "content": text.concat(), "tool_name": name})
                }
                ChatRole::Assistant => {
                    let calls = message.content.tool_calls();
                    called.extend(calls.iter().map(|call| (call.call_id.clone(), call.fn_name.clone())));
                    let calls: Vec<Json> = calls
                        .iter()
                        .map(|call| json!({"function": {"name": call.fn_name, "arguments": call.fn_arguments}}))
                        .collect();
                    let mut said = json!({"role": "assistant", "content": text});
                    if let (false, Some(fields)) = (calls.is_empty(), said.as_object_mut()) {
                        fields.insert("tool_calls".to_owned(), Json::Array(calls));
                    }
                    said
                }
            }
        })
        .collect()
}
