//! How each protocol writes a reply, whole and in pieces.

mod anthropic;
mod chat;
mod gemini;
mod ollama;
mod responses;

use serde_json::Value as Json;

use super::reply::Draft;
use crate::settings::Protocol;

/// Takes a whole reply in.
///
/// # Errors
///
/// The failure that stands in the place of a reply, as the server told it.
pub(super) fn take_whole(protocol: Protocol, draft: &mut Draft, body: &Json) -> Result<(), Json> {
    if let Some(error) = failure(body) {
        return Err(error.clone());
    }
    match protocol {
        Protocol::OpenAi => chat::take(draft, body, chat::Part::Whole).map(drop),
        Protocol::OpenAiResp => responses::take_whole(draft, body),
        Protocol::Anthropic => {
            anthropic::take_whole(draft, body);
            Ok(())
        }
        Protocol::Gemini => {
            gemini::take(draft, body);
            Ok(())
        }
        Protocol::Ollama => {
            ollama::take(draft, body);
            Ok(())
        }
    }
}

/// Takes a piece of a streamed reply in and gives the text that it added.
///
/// # Errors
///
/// The failure that stands in the place of a piece, as the server told it.
pub(super) fn take_piece(protocol: Protocol, draft: &mut Draft, piece: &Json) -> Result<String, Json> {
    if let Some(error) = failure(piece) {
        return Err(error.clone());
    }
    match protocol {
        Protocol::OpenAi => chat::take(draft, piece, chat::Part::Delta),
        Protocol::OpenAiResp => responses::take_piece(draft, piece),
        Protocol::Anthropic => Ok(anthropic::take_piece(draft, piece)),
        Protocol::Gemini => Ok(gemini::take(draft, piece)),
        Protocol::Ollama => Ok(ollama::take(draft, piece)),
    }
}

/// The failure that an answer holds: `{error: ...}`, alone or as the first of a list.
fn failure(body: &Json) -> Option<&Json> {
    let body = body.get(0).unwrap_or(body);
    body.get("error").filter(|error| !error.is_null()).map(|_| body)
}

/// A text field; empty where it lacks or is no text.
fn text<'j>(body: &'j Json, pointer: &str) -> &'j str {
    body.pointer(pointer).and_then(Json::as_str).unwrap_or_default()
}

/// The items of a list field; none where it lacks or is no list.
fn items<'j>(body: &'j Json, pointer: &str) -> impl Iterator<Item = &'j Json> {
    body.pointer(pointer).and_then(Json::as_array).into_iter().flatten()
}

/// Arguments of a call as text, whether they came as text or as JSON.
fn arguments(value: Option<&Json>) -> String {
    match value {
        None | Some(Json::Null) => String::new(),
        Some(Json::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}
