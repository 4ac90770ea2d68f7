//! Model replies in few words.

use deepgraph_protocol::{ErrorKind, FinishReason, ModelReply, StepError, ToolCall, Usage, Value};

/// Tokens of a model call of which nothing is said: of its request and of its reply.
pub(crate) const USUAL_TOKENS: (u64, u64) = (100, 10);

fn reply(text: &str, tool_calls: Vec<ToolCall>, data: Value) -> ModelReply {
    let (input_tokens, output_tokens) = USUAL_TOKENS;
    let finish = if tool_calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
    let usage = Usage { input_tokens, output_tokens, ..Usage::default() };
    let said = ModelReply::saying("scripted", text);
    ModelReply { tool_calls, data, finish, usage, cost_micro_usd: Some(0), ..said }
}

/// A reply with text only.
pub fn says(text: &str) -> ModelReply {
    reply(text, Vec::new(), Value::Null)
}

/// A reply with structured output.
pub fn data(value: Value) -> ModelReply {
    reply(&value.to_json_text(), Vec::new(), value)
}

/// A reply that makes these calls.
pub fn calls(calls: impl IntoIterator<Item = ToolCall>) -> ModelReply {
    let mut calls: Vec<ToolCall> = calls.into_iter().collect();
    for (i, call) in calls.iter_mut().enumerate() {
        call.id = format!("call_{i}").into();
    }
    reply("", calls, Value::Null)
}

/// One call, with its arguments as the model writes them.
pub fn call(name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: "call".into(), name: name.into(), arguments: arguments.into() }
}

/// A failure.
pub fn fails(kind: ErrorKind, message: &str) -> StepError {
    StepError::new(kind, message)
}
