//! The built-in model that needs no language model.
//!
//! It does classical retrieval work: it takes questions apart, searches, reads, and selects the sentences and figures
//! that answer, with their sources. It writes nothing of its own beyond headings, labels and "not found". What a
//! request wants is read from its shape (the tools offered, the output asked for, the state that its templates
//! read), never from prose, so it plays its part in any graph. It is a pure function of the request.

mod answer;
mod calls;
mod compress;
mod fill;
mod history;
mod material;
mod research;
mod role;
mod supervise;

use std::sync::Arc;

use async_trait::async_trait;
use deepgraph_protocol::{FinishReason, ModelReply, ModelRequest, StepError, ToolCall, Usage, Value};

use crate::{ChatModel, Preview};
use role::Role;

/// The name under which it answers.
pub const NAME: &str = "extractive";

/// Stands in reports that it puts together.
pub const NOTE: &str = "This report was put together by the extractive model: its sentences were selected from the \
                        sources, not written by a language model.";

/// The extractive model. It never fails, and costs nothing: it uses no tokens.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extractive;

#[async_trait]
impl ChatModel for Extractive {
    async fn reply(&self, request: &ModelRequest, preview: Preview<'_>) -> Result<ModelReply, StepError> {
        let reply = answer(request);
        if !reply.text.is_empty() {
            preview(&reply.text);
        }
        Ok(reply)
    }
}

/// What a role makes of a request.
enum Made {
    /// Tool calls.
    Calls(Vec<ToolCall>),
    /// Text.
    Text(String),
    /// Structured output.
    Data(serde_json::Value),
}

/// The reply to a request.
fn answer(request: &ModelRequest) -> ModelReply {
    let made = match Role::of(request) {
        Role::Supervisor(supervisor) => supervisor.next(request),
        Role::Researcher(researcher) => researcher.next(request),
        Role::Structured(shape) => Made::Data(fill::fill(shape, request)),
        Role::Writer(handoffs) => Made::Text(answer::report(request, &handoffs)),
        Role::Compressor => Made::Text(compress::findings(request)),
        Role::Answerer(material) => Made::Text(answer::from_material(request, &material)),
        Role::Brief => Made::Text(answer::brief(request)),
    };
    // The end of a loop that is to give structured output gives that.
    let made = match (made, &request.output) {
        (Made::Text(text), Some(shape)) => Made::Data(fill::fill_with(shape, request, &text)),
        (made, _) => made,
    };
    reply(made)
}

fn reply(made: Made) -> ModelReply {
    let (text, tool_calls, data): (Arc<str>, _, _) = match made {
        Made::Calls(calls) => ("".into(), calls, Value::Null),
        Made::Text(text) => (text.into(), Vec::new(), Value::Null),
        Made::Data(data) => (calls::canonical(&data).into(), Vec::new(), Value::from_json(&data)),
    };
    let finish = if tool_calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
    let usage = Usage::default();
    ModelReply {
        text,
        tool_calls,
        data,
        finish,
        usage,
        cost_micro_usd: Some(0),
        model: NAME.to_owned(),
        mended: Vec::new(),
        guess: Default::default(),
    }
}

#[cfg(test)]
mod tests;
