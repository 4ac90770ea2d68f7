//! OpenAI's Responses API: <https://platform.openai.com/docs/api-reference/responses>.

use serde_json::{Value as Json, json};

use super::super::counts::{Counts, count};
use super::super::reply::{Draft, Piece, Stop};
use super::{arguments, items, text};

/// Takes a whole response in.
pub(super) fn take_whole(draft: &mut Draft, body: &Json) -> Result<(), Json> {
    draft.model(body.get("model").and_then(Json::as_str));
    for (index, item) in items(body, "/output").enumerate() {
        draft.begun = true;
        match text(item, "/type") {
            "message" => take_message(draft, item),
            "function_call" => draft.call(piece(item, index as u64, true)),
            _ => {}
        }
    }
    end(draft, body)
}

/// Takes an event of a streamed response in, and gives the text that it added.
pub(super) fn take_piece(draft: &mut Draft, event: &Json) -> Result<String, Json> {
    let index = event.get("output_index").and_then(Json::as_u64).unwrap_or(0);
    match text(event, "/type") {
        "error" => return Err(event.clone()),
        "response.created" | "response.in_progress" => {
            draft.model(event.pointer("/response/model").and_then(Json::as_str));
        }
        "response.output_text.delta" => {
            let added = text(event, "/delta");
            draft.say(added);
            return Ok(added.to_owned());
        }
        "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
            draft.think(text(event, "/delta"));
        }
        "response.refusal.delta" => draft.refuse(text(event, "/delta")),
        "response.output_item.added" if text(event, "/item/type") == "function_call" => {
            draft.piece(piece(&event["item"], index, false));
        }
        "response.function_call_arguments.delta" => {
            let arguments = text(event, "/delta").to_owned();
            draft.piece(Piece { index: Some(index), arguments, ..Piece::default() });
        }
        "response.output_item.done" if text(event, "/item/type") == "function_call" => {
            draft.whole_arguments(piece(&event["item"], index, true));
        }
        "response.completed" | "response.incomplete" | "response.failed" => {
            let response = event.get("response").unwrap_or(&Json::Null);
            // Some servers send nothing before the end.
            return if draft.has_content() {
                draft.model(response.get("model").and_then(Json::as_str));
                end(draft, response).map(|()| String::new())
            } else {
                take_whole(draft, response).map(|()| draft.so_far().to_owned())
            };
        }
        _ => {}
    }
    Ok(String::new())
}

fn take_message(draft: &mut Draft, item: &Json) {
    for part in items(item, "/content") {
        match text(part, "/type") {
            "output_text" => draft.say(text(part, "/text")),
            "refusal" => draft.refuse(text(part, "/refusal")),
            _ => {}
        }
    }
}

fn piece(item: &Json, index: u64, with_arguments: bool) -> Piece<'_> {
    Piece {
        index: Some(index),
        id: text(item, "/call_id"),
        name: text(item, "/name"),
        arguments: if with_arguments { arguments(item.get("arguments")) } else { String::new() },
    }
}

/// How a response ended, and what it used.
fn end(draft: &mut Draft, response: &Json) -> Result<(), Json> {
    if let Some(usage) = response.get("usage") {
        draft.counts.take(Counts {
            input: count(usage, "/input_tokens"),
            output: count(usage, "/output_tokens"),
            cached: count(usage, "/input_tokens_details/cached_tokens"),
            written: count(usage, "/input_tokens_details/cache_write_tokens"),
            reasoning: count(usage, "/output_tokens_details/reasoning_tokens"),
        });
    }
    match (text(response, "/status"), text(response, "/incomplete_details/reason")) {
        ("failed", _) => {
            let error = response.get("error").filter(|error| !error.is_null());
            return Err(error.cloned().unwrap_or_else(|| json!({"message": "the response failed"})));
        }
        ("incomplete", "content_filter") => {
            draft.stop(Stop::Withheld("its content filter withheld the reply".to_owned()));
        }
        ("incomplete", _) => draft.stop(Stop::Length),
        ("completed", _) => draft.stop(Stop::Done),
        _ if draft.begun => draft.stop(Stop::Other),
        _ => {}
    }
    Ok(())
}
