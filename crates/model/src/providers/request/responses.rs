//! The body of a request to the Responses API: <https://platform.openai.com/docs/api-reference/responses/create>.

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
    put(&mut body, "model", asked.name);
    put(&mut body, "stream", asked.connection.endpoint.stream);
    // The conversation is kept here, not there.
    body.entry("store").or_insert(json!(false));
    if let Some(tools) = tools {
        put(&mut body, "tools", tools);
    }
    put(&mut body, "input", turns.into_iter().flat_map(items).collect::<Vec<Json>>());
    body
}

/// A message as items; calls and their answers are items of their own.
fn items(turn: Turn) -> Vec<Json> {
    match turn {
        Turn::System(text) => vec![json!({"role": "system", "content": text})],
        Turn::User(text) => vec![json!({"role": "user", "content": text})],
        Turn::Model(text, calls) => {
            let said = (!text.is_empty() || calls.is_empty()).then(|| {
                json!({"type": "message", "role": "assistant",
                    "content": [{"type": "output_text", "text": text}]})
            });
            let calls = calls.into_iter().map(|call| {
                json!({"type": "function_call", "call_id": call.id, "name": call.name,
                    "arguments": call.arguments.to_string()})
            });
            said.into_iter().chain(calls).collect()
        }
        Turn::Answers(answers) => {
            let output = answers.into_iter().map(
                |answer| json!({"type": "function_call_output", "call_id": answer.id, "output": answer.text}),
            );
            output.collect()
        }
    }
}
