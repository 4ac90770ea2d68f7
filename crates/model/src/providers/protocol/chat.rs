//! OpenAI's chat completions: <https://platform.openai.com/docs/api-reference/chat>.

use serde_json::Value as Json;

use super::super::counts::{Counts, count};
use super::super::reply::{Draft, Piece, Stop};
use super::{arguments, items, text};

/// Which part of a choice holds what was said.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Whole,
    Delta,
}

/// Takes a reply or a chunk of one in, and gives the text that it added.
pub(super) fn take(draft: &mut Draft, body: &Json, part: Part) -> Result<String, Json> {
    draft.model(body.get("model").and_then(Json::as_str));
    if let Some(usage) = body.get("usage") {
        draft.counts.take(counts(usage));
        draft.cost = dollars(usage).or(draft.cost);
    }
    let Some(choice) = body.pointer("/choices/0") else {
        return Ok(String::new());
    };
    // Gateways tell the failure of the provider behind them inside the choice.
    if choice.get("error").is_some_and(|error| !error.is_null()) {
        return Err(choice.clone());
    }
    draft.begun = true;
    let said = choice.get(if part == Part::Whole { "message" } else { "delta" }).unwrap_or(&Json::Null);
    let added = content(said.get("content"));
    draft.say(&added);
    draft.refuse(text(said, "/refusal"));
    for thoughts in ["/reasoning_content", "/reasoning"] {
        draft.think(text(said, thoughts));
    }
    for call in items(said, "/tool_calls") {
        let piece = Piece {
            index: call.get("index").and_then(Json::as_u64),
            id: text(call, "/id"),
            name: text(call, "/function/name"),
            arguments: arguments(call.pointer("/function/arguments")),
        };
        if part == Part::Whole { draft.call(piece) } else { draft.piece(piece) }
    }
    if let Some(why) = choice.get("finish_reason").and_then(Json::as_str) {
        draft.stop(stop(why));
    }
    Ok(added)
}

/// Content is a text, or a list of parts of which the texts count (those of a part that is `thinking` are not under
/// `text`).
fn content(content: Option<&Json>) -> String {
    match content {
        Some(Json::String(text)) => text.clone(),
        Some(Json::Array(parts)) => {
            parts.iter().filter_map(|part| part.get("text").and_then(Json::as_str)).collect()
        }
        _ => String::new(),
    }
}

fn stop(why: &str) -> Stop {
    match why {
        "stop" | "stop_sequence" | "end_turn" | "eos" | "tool_calls" | "function_call" => Stop::Done,
        "length" | "max_tokens" | "model_length" => Stop::Length,
        "content_filter" | "refusal" => Stop::Withheld("its content filter withheld the reply".to_owned()),
        _ => Stop::Other,
    }
}

fn counts(usage: &Json) -> Counts {
    Counts {
        input: count(usage, "/prompt_tokens"),
        output: count(usage, "/completion_tokens"),
        cached: count(usage, "/prompt_tokens_details/cached_tokens")
            .or_else(|| count(usage, "/prompt_cache_hit_tokens")),
        written: count(usage, "/prompt_tokens_details/cache_write_tokens"),
        reasoning: count(usage, "/completion_tokens_details/reasoning_tokens"),
    }
}

/// What OpenRouter says that the call cost, in micro-dollars, rounded up.
fn dollars(usage: &Json) -> Option<u64> {
    let dollars = usage.get("cost").and_then(Json::as_f64).filter(|cost| (0.0..1e6).contains(cost))?;
    // Less than a millionth of a micro-dollar is the rounding of the number itself.
    Some((dollars * 1e6 - 1e-6).max(0.0).ceil() as u64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_cost_that_is_told_is_read() {
        assert_eq!(dollars(&json!({"cost": 0.0021})), Some(2100));
        assert_eq!(dollars(&json!({"cost": 0.000_000_4})), Some(1));
        assert_eq!(dollars(&json!({"cost": 0})), Some(0));
        for none in [json!({}), json!({"cost": null}), json!({"cost": -1}), json!({"cost": "1"})] {
            assert_eq!(dollars(&none), None, "{none}");
        }
    }
}
