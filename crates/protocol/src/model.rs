//! What is asked of a chat model and what it answers, whatever the provider.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Map, Message, ToolCall, Usage, Value};

/// One request to a chat model, rendered from a model node and the state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelRequest {
    /// The configured model: `PROVIDER::NAME`, or a bare name such as `extractive`.
    pub model: String,
    /// System message first (if any), then the conversation, then the prompt as the last user message.
    pub messages: Vec<Message>,
    /// The tools that are offered.
    pub tools: Vec<ToolSpec>,
    /// The shape that a reply without tool calls must have.
    pub output: Option<OutputShape>,
    /// Upper bound of the reply, in tokens.
    pub max_output: Option<u64>,
    /// Provider options (temperature, reasoning effort, ...), passed through.
    pub options: Map,
    /// The channels that the node's templates read, by name, as typed values. Models that understand
    /// language ignore it; the extractive model works from it instead of taking prose apart.
    pub context: Map,
}

/// A tool as it is offered to a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Its name.
    pub name: Arc<str>,
    /// What it does and when to use it, for the model.
    pub description: Arc<str>,
    /// JSON Schema of its arguments: an object.
    pub parameters: Value,
    /// What stands behind the name. Not sent to providers.
    pub role: ToolRole,
}

/// What a tool does when it is called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolRole {
    /// Starts a child graph.
    Graph,
    /// Runs an op.
    Op(Arc<str>),
    /// Ends the instance: a way out.
    Exit,
    /// Asks a person.
    Ask,
    /// Only writes state or leads to a node.
    State,
}

/// A structured output: its name and JSON Schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputShape {
    /// The record type's name, or the node's.
    pub name: Arc<str>,
    /// JSON Schema.
    pub schema: Value,
}

/// What a model answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelReply {
    /// The text; empty when there are only calls.
    pub text: Arc<str>,
    /// The calls it made, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// The structured output, where one was asked for and the reply could be read as JSON.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
    /// Why it stopped.
    pub finish: FinishReason,
    /// What it used.
    pub usage: Usage,
    /// Price of the call in micro-dollars; none where no price is known. Never 0 for "unknown".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micro_usd: Option<u64>,
    /// The model that answered, as it names itself.
    pub model: String,
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// It was done.
    Stop,
    /// It made tool calls.
    ToolCalls,
    /// It ran into its output limit: the text is cut.
    Length,
    /// The provider withheld content.
    Refusal,
    /// Anything else, or not said.
    Other,
}

impl FinishReason {
    /// The name that graphs and traces use.
    pub fn name(self) -> &'static str {
        match self {
            FinishReason::Stop => "stop",
            FinishReason::ToolCalls => "tool_calls",
            FinishReason::Length => "length",
            FinishReason::Refusal => "refusal",
            FinishReason::Other => "other",
        }
    }
}
