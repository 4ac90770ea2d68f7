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

/// Bytes of UTF-8 that stand for one token. English prose has about four to a token; other scripts and code
/// have fewer, so an estimate can be off by a factor of two either way.
const BYTES_PER_TOKEN: u64 = 4;

/// The tokens of so many bytes of text: an estimate, rounded up.
pub fn tokens_of_bytes(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(BYTES_PER_TOKEN)
}

impl ModelRequest {
    /// The tokens of the request: an estimate, bytes / 4 rounded up over all messages, calls, tools and the output's
    /// schema. It is made without a tokenizer, so that it is the same everywhere and costs nothing.
    pub fn estimate_tokens(&self) -> u64 {
        tokens_of_bytes(self.bytes())
    }

    /// The bytes of the request that are sent as text: of all messages, calls, tools and the output's schema.
    pub fn bytes(&self) -> usize {
        let mut bytes = 0;
        for message in &self.messages {
            bytes += message.content.len();
            for call in &message.tool_calls {
                bytes += call.id.len() + call.name.len() + call.arguments.len();
            }
            bytes += message.tool_call_id.as_ref().map_or(0, |id| id.len());
        }
        for tool in &self.tools {
            bytes += tool.name.len() + tool.description.len() + tool.parameters.to_json_text().len();
        }
        if let Some(output) = &self.output {
            bytes += output.name.len() + output.schema.to_json_text().len();
        }
        bytes
    }
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
    /// What had to be mended in the reply before it could be read, for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mended: Vec<Arc<str>>,
    /// What the reply may be taken for although it does not answer the request as it stands: structured output read by
    /// guessing (an answer that was cut off, closed; fields filled with nothing), or the text before an endless repetition.
    /// It counts only once the model was shown its mistake. Null: nothing.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub guess: Value,
}

impl ModelReply {
    /// A text that a model said when it was done, without calls, of unknown price and with no tokens counted. A reply with
    /// more than that is made from it: `ModelReply { usage, ..ModelReply::saying("m", "Yes.") }` stays valid when replies
    /// get another field.
    pub fn saying(model: impl Into<String>, text: impl Into<Arc<str>>) -> ModelReply {
        ModelReply {
            text: text.into(),
            tool_calls: Vec::new(),
            data: Value::Null,
            finish: FinishReason::Stop,
            usage: Usage::default(),
            cost_micro_usd: None,
            model: model.into(),
            mended: Vec::new(),
            guess: Value::Null,
        }
    }

    /// The reply, marked as [`FinishReason::Empty`] where it does not answer the request: a text was all that was asked
    /// for (no tools, no shape), and it has none. It is marked where it comes in, so that the journal says it: replies
    /// of older journals and recordings stay what they were.
    pub fn answering(mut self, request: &ModelRequest) -> ModelReply {
        let wants_text = request.tools.is_empty() && request.output.is_none();
        let says_nothing = self.text.trim().is_empty() && self.tool_calls.is_empty();
        let is_told = matches!(self.finish, FinishReason::Refusal | FinishReason::Repetition);
        if wants_text && says_nothing && !is_told {
            self.finish = FinishReason::Empty;
        }
        self
    }
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
    /// It said nothing where a text was all that was asked for; see [`ModelReply::answering`].
    Empty,
    /// It said the same over and over: the text is cut behind the first time.
    Repetition,
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
            FinishReason::Empty => "empty",
            FinishReason::Repetition => "repetition",
            FinishReason::Other => "other",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(messages: Vec<Message>) -> ModelRequest {
        ModelRequest {
            model: "m".into(),
            messages,
            tools: Vec::new(),
            output: None,
            max_output: None,
            options: Map::new(),
            context: Map::new(),
        }
    }

    #[test]
    fn bytes_are_rounded_up_to_whole_tokens() {
        assert_eq!(request(vec![]).estimate_tokens(), 0);
        assert_eq!(request(vec![Message::user("a")]).estimate_tokens(), 1);
        assert_eq!(request(vec![Message::user("abcd")]).estimate_tokens(), 1);
        assert_eq!(request(vec![Message::user("abcde")]).estimate_tokens(), 2);
        assert_eq!(request(vec![Message::user("日本")]).estimate_tokens(), 2);
    }

    #[test]
    fn tools_and_output_count_as_they_are_sent_too() {
        let mut with = request(vec![Message::user("abcd")]);
        with.tools.push(ToolSpec {
            name: "find".into(),
            description: "looks".into(),
            parameters: Value::empty_map(),
            role: ToolRole::State,
        });
        assert_eq!(with.estimate_tokens(), 4);
        with.output = Some(OutputShape { name: "Plan".into(), schema: Value::empty_map() });
        assert_eq!(with.estimate_tokens(), 6);
    }
}
