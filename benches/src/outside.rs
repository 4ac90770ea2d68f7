//! What answers while a workload runs.

use deepgraph_protocol::{FinishReason, Map, ModelReply, ModelRequest, Role, ToolCall, Usage, Value};

/// A model and an op that answer at once, always the same to the same question.
#[derive(Clone, Copy, Debug)]
pub struct Outside {
    /// Turns in which the model calls a tool before it answers.
    pub turns: usize,
    /// Bytes of what the op gives.
    pub bytes: usize,
}

impl Outside {
    /// An op that gives eight bytes.
    pub const SHORT: Outside = Outside { turns: 0, bytes: 8 };

    /// The record that the op gives for an input: a text that no other input gets.
    pub fn fetch(&self, input: &Map) -> Value {
        let number = input.get("n").and_then(Value::as_int).unwrap_or(0).to_string();
        let text = "0".repeat(self.bytes.saturating_sub(number.len())) + &number;
        Value::record([("text", Value::from(text))])
    }

    /// The model's reply: a call while the conversation has fewer answers of tools than turns are wanted.
    pub fn reply(&self, request: &ModelRequest) -> ModelReply {
        let turn = request.messages.iter().filter(|m| m.role == Role::Tool).count();
        let done = turn >= self.turns;
        let call = ToolCall {
            id: format!("call_{turn}").into(),
            name: "fetch".into(),
            arguments: format!("{{\"n\":{turn}}}").into(),
        };
        ModelReply {
            text: if done { "Done.".into() } else { "".into() },
            tool_calls: if done { Vec::new() } else { vec![call] },
            data: Value::Null,
            finish: if done { FinishReason::Stop } else { FinishReason::ToolCalls },
            usage: Usage { input_tokens: 100, output_tokens: 10, ..Usage::default() },
            cost_micro_usd: Some(0),
            model: "scripted".into(),
            mended: Vec::new(),
            guess: Default::default(),
        }
    }
}
