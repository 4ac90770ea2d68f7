//! Google's `generateContent`: <https://ai.google.dev/api/generate-content>. A streamed reply is a row of such answers
//! with the next part of the content each. Thoughts are passed over.

use serde_json::Value as Json;

use super::super::counts::{Counts, count};
use super::super::reply::{Draft, Piece, Stop};
use super::{arguments, items, text};

/// Takes an answer in, and gives the text that it added.
pub(super) fn take(draft: &mut Draft, body: &Json) -> String {
    draft.model(body.get("modelVersion").and_then(Json::as_str));
    if let Some(usage) = body.get("usageMetadata") {
        draft.counts.take(counts(usage));
    }
    let blocked = text(body, "/promptFeedback/blockReason");
    if !blocked.is_empty() {
        draft.stop(Stop::Withheld(format!("the prompt was blocked ({blocked})")));
    }
    let mut added = String::new();
    let Some(candidate) = body.pointer("/candidates/0") else { return added };
    draft.begun = true;
    for part in items(candidate, "/content/parts") {
        let is_thought = part.get("thought").and_then(Json::as_bool).unwrap_or(false);
        if let Some(call) = part.get("functionCall") {
            let piece = Piece {
                index: None,
                id: text(call, "/id"),
                name: text(call, "/name"),
                arguments: arguments(call.get("args")),
            };
            draft.call(piece);
        } else if is_thought {
            draft.think(text(part, "/text"));
        } else {
            added.push_str(text(part, "/text"));
        }
    }
    draft.say(&added);
    if let Some(why) = candidate.get("finishReason").and_then(Json::as_str) {
        draft.stop(stop(why, text(candidate, "/finishMessage")));
    }
    added
}

fn stop(why: &str, message: &str) -> Stop {
    match why {
        "STOP" => Stop::Done,
        "MAX_TOKENS" => Stop::Length,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" => {
            Stop::Withheld(format!("the reply was blocked ({why}) {message}").trim_end().to_owned())
        }
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "MALFORMED_RESPONSE" => {
            Stop::Unreadable(format!("{why} {message}").trim_end().to_owned())
        }
        _ => Stop::Other,
    }
}

/// Thoughts are counted apart from the rest of the reply.
fn counts(usage: &Json) -> Counts {
    let reasoning = count(usage, "/thoughtsTokenCount");
    let said = count(usage, "/candidatesTokenCount");
    Counts {
        input: count(usage, "/promptTokenCount")
            .map(|prompt| prompt + count(usage, "/toolUsePromptTokenCount").unwrap_or(0)),
        output: said.or(reasoning).map(|_| said.unwrap_or(0) + reasoning.unwrap_or(0)),
        cached: count(usage, "/cachedContentTokenCount"),
        written: None,
        reasoning,
    }
}
