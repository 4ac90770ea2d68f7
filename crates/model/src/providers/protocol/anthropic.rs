//! Anthropic's Messages API: <https://docs.anthropic.com/en/api/messages>, and its events:
//! <https://docs.anthropic.com/en/docs/build-with-claude/streaming>. Thinking is passed over.

use serde_json::Value as Json;

use super::super::counts::{Counts, count};
use super::super::reply::{Draft, Piece, Stop};
use super::{arguments, items, text};

/// Takes a whole message in.
pub(super) fn take_whole(draft: &mut Draft, body: &Json) {
    draft.model(body.get("model").and_then(Json::as_str));
    take_usage(draft, body.get("usage"));
    for (index, block) in items(body, "/content").enumerate() {
        draft.begun = true;
        match text(block, "/type") {
            "text" => draft.say(text(block, "/text")),
            "tool_use" => draft.call(Piece {
                index: Some(index as u64),
                id: text(block, "/id"),
                name: text(block, "/name"),
                arguments: arguments(block.get("input")),
            }),
            "thinking" => draft.think(text(block, "/thinking")),
            _ => {}
        }
    }
    take_stop(draft, text(body, "/stop_reason"));
}

/// Takes an event of a streamed message in, and gives the text that it added.
pub(super) fn take_piece(draft: &mut Draft, event: &Json) -> String {
    let index = event.get("index").and_then(Json::as_u64);
    match text(event, "/type") {
        "message_start" => {
            draft.model(event.pointer("/message/model").and_then(Json::as_str));
            take_usage(draft, event.pointer("/message/usage"));
        }
        "content_block_start" => match text(event, "/content_block/type") {
            "text" => return say(draft, text(event, "/content_block/text")),
            // Its arguments come in the pieces that follow; here stands an empty record.
            "tool_use" => draft.piece(Piece {
                index,
                id: text(event, "/content_block/id"),
                name: text(event, "/content_block/name"),
                arguments: String::new(),
            }),
            _ => draft.begun = true,
        },
        "content_block_delta" => match text(event, "/delta/type") {
            "text_delta" => return say(draft, text(event, "/delta/text")),
            "thinking_delta" => draft.think(text(event, "/delta/thinking")),
            "input_json_delta" => draft.piece(Piece {
                index,
                arguments: text(event, "/delta/partial_json").to_owned(),
                ..Piece::default()
            }),
            _ => {}
        },
        "message_delta" => {
            take_usage(draft, event.get("usage"));
            take_stop(draft, text(event, "/delta/stop_reason"));
        }
        _ => {}
    }
    String::new()
}

fn say(draft: &mut Draft, added: &str) -> String {
    draft.say(added);
    added.to_owned()
}

fn take_stop(draft: &mut Draft, why: &str) {
    match why {
        "" => {}
        "end_turn" | "stop_sequence" | "tool_use" => draft.stop(Stop::Done),
        "max_tokens" | "model_context_window_exceeded" => draft.stop(Stop::Length),
        "refusal" => draft.stop(Stop::Withheld("it declined for reasons of content".to_owned())),
        _ => draft.stop(Stop::Other),
    }
}

/// The input that is reported leaves out what came from the cache and what was put into it.
fn take_usage(draft: &mut Draft, usage: Option<&Json>) {
    let Some(usage) = usage else { return };
    let cached = count(usage, "/cache_read_input_tokens");
    let written = count(usage, "/cache_creation_input_tokens");
    let rest = count(usage, "/input_tokens");
    draft.counts.take(Counts {
        input: rest.map(|rest| rest + cached.unwrap_or(0) + written.unwrap_or(0)),
        output: count(usage, "/output_tokens"),
        cached,
        written,
        reasoning: count(usage, "/output_tokens_details/thinking_tokens"),
    });
}
