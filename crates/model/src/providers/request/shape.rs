//! How output of a given shape is asked for.

use deepgraph_protocol::ModelRequest;
use serde_json::{Map, Value as Json, json};

use super::super::schema;
use super::{put, record};
use crate::learnt::OutputMode;
use crate::settings::Protocol;

/// The way of asking that this request can use: the known one, or a weaker one where the protocol lacks it.
pub(super) fn mode(
    request: &ModelRequest,
    name: &str,
    protocol: Protocol,
    learnt: OutputMode,
) -> Option<OutputMode> {
    let shape = request.output.as_ref()?;
    let calls_tools = !request.tools.is_empty();
    Some(match (protocol, learnt) {
        // What holds a reply to JSON there would keep the model from calling tools.
        (Protocol::Ollama, _) if calls_tools => OutputMode::Words,
        (Protocol::Gemini, _) if calls_tools && !name.starts_with("gemini-3") => OutputMode::Words,
        (Protocol::Anthropic, OutputMode::Schema) if schema::closed(shape).is_none() => OutputMode::Words,
        (Protocol::Anthropic, OutputMode::JsonObject) => OutputMode::Words,
        (_, learnt) => learnt,
    })
}

/// What has to stand in the prompt.
pub(super) fn words(request: &ModelRequest, mode: Option<OutputMode>) -> Option<String> {
    let shape = request.output.as_ref()?;
    if mode? == OutputMode::Schema {
        return None;
    }
    let unless = if request.tools.is_empty() { "Answer" } else { "When you call no tool, answer" };
    Some(format!(
        "{unless} with one JSON value and nothing else: no words before or behind it, no Markdown. It has to fit this \
         JSON Schema:\n{}",
        schema::wrapped(shape)
    ))
}

/// Puts what the protocol has for it into the body.
pub(super) fn set(
    request: &ModelRequest,
    mode: Option<OutputMode>,
    protocol: Protocol,
    body: &mut Map<String, Json>,
) {
    let (Some(shape), Some(mode)) = (&request.output, mode) else { return };
    match (protocol, mode) {
        (_, OutputMode::Words) => {}
        (Protocol::OpenAi, OutputMode::Schema) => {
            put(body, "response_format", schema::response_format(shape));
        }
        (Protocol::OpenAi, OutputMode::JsonObject) => {
            put(body, "response_format", json!({"type": "json_object"}));
        }
        (Protocol::OpenAiResp, _) => {
            let mut text = record(body.remove("text"));
            let format = match mode {
                OutputMode::Schema => schema::text_format(shape),
                _ => json!({"type": "json_object"}),
            };
            put(&mut text, "format", format);
            put(body, "text", text);
        }
        (Protocol::Anthropic, _) => {
            if let Some(schema) = schema::closed(shape) {
                let mut config = record(body.remove("output_config"));
                put(&mut config, "format", json!({"type": "json_schema", "schema": schema}));
                put(body, "output_config", config);
            }
        }
        (Protocol::Gemini, _) => {
            let mut config = record(body.remove("generationConfig"));
            put(&mut config, "responseMimeType", "application/json");
            if mode == OutputMode::Schema {
                put(&mut config, "responseJsonSchema", schema::wrapped(shape));
            }
            put(body, "generationConfig", config);
        }
        (Protocol::Ollama, OutputMode::Schema) => put(body, "format", schema::wrapped(shape)),
        (Protocol::Ollama, OutputMode::JsonObject) => put(body, "format", "json"),
    }
}
