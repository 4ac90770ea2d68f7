//! Ollama's own chat: <https://github.com/ollama/ollama/blob/main/docs/api.md>. A streamed reply is a row of lines with
//! the next part of the message each. Thinking stands in a field of its own and is passed over.

use serde_json::Value as Json;

use super::super::counts::{Counts, count};
use super::super::reply::{Draft, Piece, Stop};
use super::{arguments, items, text};

/// Takes a reply or a line of one in, and gives the text that it added.
pub(super) fn take(draft: &mut Draft, body: &Json) -> String {
    draft.model(body.get("model").and_then(Json::as_str));
    let added = text(body, "/message/content").to_owned();
    if body.get("message").is_some() {
        draft.say(&added);
    }
    draft.think(text(body, "/message/thinking"));
    for call in items(body, "/message/tool_calls") {
        draft.call(Piece {
            index: None,
            id: text(call, "/id"),
            name: text(call, "/function/name"),
            arguments: arguments(call.pointer("/function/arguments")),
        });
    }
    if body.get("done").and_then(Json::as_bool) == Some(true) {
        draft.counts.take(Counts {
            input: count(body, "/prompt_eval_count"),
            output: count(body, "/eval_count"),
            cached: count(body, "/prompt_eval_cached_count"),
            ..Counts::default()
        });
        draft.stop(match text(body, "/done_reason") {
            "length" => Stop::Length,
            "stop" | "" => Stop::Done,
            _ => Stop::Other,
        });
    }
    added
}
