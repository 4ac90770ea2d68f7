//! How output of a given shape is asked for.

use deepgraph_protocol::ModelRequest;
use genai::chat::{ChatOptions, JsonSpec};
use serde_json::{Map, Value as Json, json};

use super::super::schema;
use super::record;
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

/// Puts what the protocol has for it into the body or the options.
pub(super) fn put(
    request: &ModelRequest,
    mode: Option<OutputMode>,
    protocol: Protocol,
    body: &mut Map<String, Json>,
    options: ChatOptions,
) -> ChatOptions {
    let (Some(shape), Some(mode)) = (&request.output, mode) else { return options };
    let format = |key: &str, value: Json, body: &mut Map<String, Json>| {
        body.insert(key.to_owned(), value);
    };
    match (protocol, mode) {
        (_, OutputMode::Words) => {}
        (Protocol::OpenAi, OutputMode::Schema) => {
            format("response_format", schema::response_format(shape), body);
        }
        (Protocol::OpenAi, OutputMode::JsonObject) => {
            format("response_format", json!({"type": "json_object"}), body);
        }
        (Protocol::OpenAiResp, _) => {
            let mut text = record(body.remove("text"));
            text.insert(
                "format".to_owned(),
                match mode {
                    OutputMode::Schema => schema::text_format(shape),
                    _ => json!({"type": "json_object"}),
                },
            );
            format("text", Json::Object(text), body);
        }
        (Protocol::Anthropic, _) => {
            if let Some(schema) = schema::closed(shape) {
                return options.with_response_format(JsonSpec::new(schema::name(shape), schema));
            }
        }
        (Protocol::Gemini, _) => {
            let mut config = record(body.remove("generationConfig"));
            config.insert("responseMimeType".to_owned(), json!("application/json"));
            if mode == OutputMode::Schema {
                config.insert("responseJsonSchema".to_owned(), schema::wrapped(shape));
            }
            format("generationConfig", Json::Object(config), body);
        }
        (Protocol::Ollama, OutputMode::Schema) => format("format", schema::wrapped(shape), body),
        (Protocol::Ollama, OutputMode::JsonObject) => format("format", json!("json"), body),
    }
    options
}
