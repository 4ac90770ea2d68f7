//! Replies, whole or in pieces, as a [`ModelReply`].
//!
//! The server's own JSON is read here, in both modes, rather than the types of `genai`: those want arguments
//! that are JSON, and lose refusals, ids and large numbers.

use std::collections::BTreeSet;
use std::sync::Arc;

use deepgraph_protocol::{
    ErrorKind, FinishReason, ModelReply, ModelRequest, StepError, ToolCall, Usage, Value,
};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use super::names::ToolNames;
use super::schema;
use super::usage::read_usage;
use crate::estimate::estimated_usage;
use crate::structured::read_json;

/// Longest reply that is taken, in bytes: far beyond what models write, small enough for any machine.
const LONGEST: usize = 64 << 20;

/// What has come of a reply so far.
#[derive(Default)]
pub(super) struct Draft {
    text: String,
    refusal: String,
    calls: Vec<DraftCall>,
    finish: Option<String>,
    usage: Option<Usage>,
    model: Option<String>,
    /// Whether anything was said at all.
    begun: bool,
    bytes: usize,
}

#[derive(Default)]
struct DraftCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

impl Draft {
    /// Whether the model has said why it stopped, so that nothing but the usage is missing.
    pub(super) fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    /// Takes a whole reply in.
    pub(super) fn take_body(&mut self, body: &Json) -> Result<(), StepError> {
        self.take(body, "message").map(|_| ())
    }

    /// Takes a piece of a streamed reply in and gives the text that it added.
    pub(super) fn take_chunk(&mut self, chunk: &Json) -> Result<String, StepError> {
        self.take(chunk, "delta")
    }

    fn take(&mut self, body: &Json, part: &str) -> Result<String, StepError> {
        if let Some(model) = body.get("model").and_then(Json::as_str).filter(|model| !model.is_empty()) {
            self.model = Some(model.to_owned());
        }
        if let Some(usage) = body.get("usage").and_then(read_usage) {
            self.usage = Some(usage);
        }
        let Some(choice) = body.get("choices").and_then(|choices| choices.get(0)) else {
            return Ok(String::new());
        };
        self.begun = true;
        let said = choice.get(part).unwrap_or(&Json::Null);
        let text = text_of(said.get("content"));
        self.text.push_str(&text);
        self.refusal.push_str(said.get("refusal").and_then(Json::as_str).unwrap_or_default());
        for call in said.get("tool_calls").and_then(Json::as_array).into_iter().flatten() {
            self.take_call(call, part == "message");
        }
        if let Some(finish) = choice.get("finish_reason").and_then(Json::as_str) {
            self.finish = Some(finish.to_owned());
        }
        self.bytes += text.len();
        if self.bytes > LONGEST {
            let problem =
                format!("the reply is longer than {} MiB and was cut off; set max_output", LONGEST >> 20);
            return Err(StepError::new(ErrorKind::InvalidOutput, problem));
        }
        Ok(text)
    }

    /// A call, or a piece of one. Pieces are told apart by their index; a piece without one goes on with the
    /// last call. A new id beside a name is a new call even under a known index, as some servers number all
    /// calls 0.
    fn take_call(&mut self, piece: &Json, whole: bool) {
        let function = piece.get("function").unwrap_or(&Json::Null);
        let index = piece.get("index").and_then(Json::as_u64);
        let id = piece.get("id").and_then(Json::as_str).unwrap_or_default();
        let name = function.get("name").and_then(Json::as_str).unwrap_or_default();
        let arguments = match function.get("arguments") {
            None | Some(Json::Null) => String::new(),
            Some(Json::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        self.bytes += arguments.len() + name.len() + id.len();
        let known = match index {
            _ if whole => None,
            Some(_) => self.calls.iter_mut().rev().find(|call| call.index == index),
            None => self.calls.last_mut(),
        };
        match known {
            Some(call) if id.is_empty() || name.is_empty() || call.id.is_empty() || call.id == id => {
                if call.id.is_empty() {
                    call.id = id.to_owned();
                }
                if call.name.is_empty() {
                    call.name = name.to_owned();
                }
                call.arguments.push_str(&arguments);
            }
            _ => self.calls.push(DraftCall { index, id: id.to_owned(), name: name.to_owned(), arguments }),
        }
    }

    /// The finished reply to a request.
    pub(super) fn finish(
        mut self,
        request: &ModelRequest,
        names: &ToolNames,
        host: &str,
    ) -> Result<ModelReply, StepError> {
        if !self.begun {
            let problem = format!(
                "{host} answered {} without any choice; check that it is a chat model",
                request.model
            );
            return Err(StepError::new(ErrorKind::InvalidOutput, problem));
        }
        if let Some(refused) = self.refused() {
            let problem =
                format!("{} refused to answer: {refused}; change the prompt or the model", request.model);
            return Err(StepError::new(ErrorKind::Refusal, problem));
        }
        if self.calls.iter().all(|call| call.index.is_some()) {
            self.calls.sort_by_key(|call| call.index);
        }
        let usage = self.usage.unwrap_or_else(|| estimated_usage(request, self.bytes));
        let tool_calls = calls(self.calls, request, names);
        let finish = finish_reason(self.finish.as_deref(), !tool_calls.is_empty());
        let data = match &request.output {
            Some(shape) if !self.text.is_empty() => schema::unwrap(read_json(&self.text, shape), shape),
            _ => Value::Null,
        };
        Ok(ModelReply {
            text: self.text.into(),
            tool_calls,
            data,
            finish,
            usage,
            cost_micro_usd: None,
            model: self.model.unwrap_or_else(|| request.model.clone()),
            mended: Vec::new(),
        })
    }

    /// Why content was withheld, if it was.
    fn refused(&self) -> Option<&str> {
        if !self.refusal.trim().is_empty() {
            return Some(self.refusal.trim());
        }
        matches!(self.finish.as_deref(), Some("content_filter" | "refusal"))
            .then_some("its content filter withheld the reply")
    }
}

/// Content is a text, or a list of parts of which the texts count.
fn text_of(content: Option<&Json>) -> String {
    match content {
        Some(Json::String(text)) => text.clone(),
        Some(Json::Array(parts)) => {
            parts.iter().filter_map(|part| part.get("text").and_then(Json::as_str)).collect()
        }
        _ => String::new(),
    }
}

fn finish_reason(said: Option<&str>, calls: bool) -> FinishReason {
    match said {
        Some("length" | "max_tokens" | "model_length") => FinishReason::Length,
        // Some servers say "stop" or nothing beside calls.
        _ if calls => FinishReason::ToolCalls,
        Some("stop" | "stop_sequence" | "end_turn" | "eos") => FinishReason::Stop,
        _ => FinishReason::Other,
    }
}

/// The calls with the tools' own names and with ids that are unique in the conversation.
fn calls(drafts: Vec<DraftCall>, request: &ModelRequest, names: &ToolNames) -> Vec<ToolCall> {
    let mut taken: BTreeSet<Arc<str>> =
        request.messages.iter().flat_map(|m| m.tool_calls.iter().map(|call| call.id.clone())).collect();
    let mut digest = None;
    let mut calls = Vec::with_capacity(drafts.len());
    for (position, draft) in drafts.into_iter().enumerate() {
        let mut id: Arc<str> = draft.id.into();
        let mut again = 0;
        while id.is_empty() || taken.contains(&id) {
            // From the request's content: the same whenever the same request gets the same reply.
            let digest = digest.get_or_insert_with(|| conversation_digest(request));
            id = format!("call_{digest}_{}", position + again).into();
            again += 1;
        }
        taken.insert(id.clone());
        // Models that call a tool without parameters often send no arguments at all.
        let arguments = if draft.arguments.trim().is_empty() { "{}".into() } else { draft.arguments.into() };
        calls.push(ToolCall { id, name: names.tool(&draft.name), arguments });
    }
    calls
}

fn conversation_digest(request: &ModelRequest) -> String {
    let text = serde_json::to_vec(&request.messages).unwrap_or_default();
    Sha256::digest(text).iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}
