//! Answers as bytes: whole and in pieces.

use serde_json::{Value as Json, json};

use super::http::response;
use super::quota::with_headers;

/// What comes of a request.
pub enum Answer {
    /// A message of the model.
    Reply(Json),
    /// One that runs into its longest length.
    Endless(Json),
    /// Half of a message, then the end of the connection.
    Cut(Json),
    /// The filter withheld it.
    Filtered,
    /// Something else than a reply.
    Bytes(Vec<u8>),
    /// The connection is torn down.
    Reset,
    /// Nothing, for ever.
    Hang,
}

impl Answer {
    /// A failure in the words of the provider.
    pub fn error(status: u16, headers: &[(&str, &str)], code: &str, message: &str) -> Answer {
        let kind = if status >= 500 { "server_error" } else { "invalid_request_error" };
        let body =
            json!({"error": {"message": message, "type": kind, "code": code, "param": null}}).to_string();
        let mut all = vec![("Content-Type", "application/json")];
        all.extend(headers);
        Answer::Bytes(response(status, &all, &body, body.len()))
    }

    /// The same, where it is a good reply with more headers.
    pub fn told(self, headers: &str, stream: bool) -> Answer {
        match self {
            Answer::Reply(reply) if !headers.is_empty() => {
                Answer::Bytes(with_headers(whole(&reply, stream), headers))
            }
            other => other,
        }
    }

    /// A page where JSON was to come.
    pub fn page(html: &str) -> Answer {
        Answer::Bytes(response(200, &[("Content-Type", "text/html")], html, html.len()))
    }
}

/// A reply as one body, or as events.
pub fn whole(message: &Json, stream: bool) -> Vec<u8> {
    finished(message, stream, if message["tool_calls"].is_array() { "tool_calls" } else { "stop" })
}

/// A reply that ran into its longest length.
pub fn cut_off(message: &Json, stream: bool) -> Vec<u8> {
    finished(message, stream, "length")
}

/// A reply that the filter withheld.
pub fn filtered(stream: bool) -> Vec<u8> {
    finished(&json!({"role": "assistant", "content": "Well, "}), stream, "content_filter")
}

fn finished(message: &Json, stream: bool, finish: &str) -> Vec<u8> {
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110});
    let (kind, body) = if stream {
        ("text/event-stream", events(message, finish, &usage))
    } else {
        let choice = json!({"index": 0, "message": message, "finish_reason": finish});
        let body = json!({"id": "chat-1", "object": "chat.completion", "created": 1, "choices": [choice], "usage": usage});
        ("application/json", body.to_string())
    };
    response(200, &[("Content-Type", kind)], &body, body.len())
}

/// The events of a reply, as servers send them: the role, the text in pieces, each call's head and then its arguments in
/// pieces, the reason of the end, the usage.
fn events(message: &Json, finish: &str, usage: &Json) -> String {
    let mut deltas = vec![json!({"role": "assistant", "content": ""})];
    let text = message["content"].as_str().unwrap_or_default();
    deltas.extend(pieces(text).map(|piece| json!({"content": piece})));
    if let Some(refusal) = message["refusal"].as_str() {
        deltas.push(json!({"refusal": refusal}));
    }
    for (i, call) in message["tool_calls"].as_array().into_iter().flatten().enumerate() {
        let (id, name) = (&call["id"], &call["function"]["name"]);
        let head =
            json!({"index": i, "id": id, "type": "function", "function": {"name": name, "arguments": ""}});
        deltas.push(json!({"tool_calls": [head]}));
        let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
        deltas.extend(
            pieces(arguments)
                .map(|piece| json!({"tool_calls": [{"index": i, "function": {"arguments": piece}}]})),
        );
    }
    let chunk = |choices: Json| json!({"id": "chat-1", "object": "chat.completion.chunk", "created": 1, "choices": choices});
    let mut chunks: Vec<Json> = deltas
        .iter()
        .map(|delta| chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}])))
        .collect();
    chunks.push(chunk(json!([{"index": 0, "delta": {}, "finish_reason": finish}])));
    let mut last = chunk(json!([]));
    last["usage"] = usage.clone();
    chunks.push(last);
    let events: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    format!("{events}data: [DONE]\n\n")
}

/// A text in pieces of about fifty bytes.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.char_indices().map(|(at, _)| at).find(|at| *at >= 50).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// The middle of the body of a response.
pub fn middle(bytes: &[u8]) -> usize {
    let head = bytes.windows(4).position(|w| w == b"\r\n\r\n").map_or(0, |at| at + 4);
    head + (bytes.len() - head) / 2
}
