//! What is scripted, from replies, failures and plain values.

use deepgraph_protocol::{FinishReason, ModelReply, StepError, Value};

use super::super::tree::Node;

/// Tokens and money of a reply of which a case says nothing.
const USUAL: (u64, u64, Option<u64>) = (100, 10, Some(0));

/// One scripted answer: of a model, an op, a person.
///
/// A text, a value or a record is what a case file would have there. A [`ModelReply`] is what the model answers
/// (made by [`says`](crate::says), [`calls`](crate::calls), [`data`](crate::data)), a [`StepError`] is a failure
/// (made by [`fails`](crate::fails)).
#[derive(Clone, Debug, PartialEq)]
pub struct Answer(Value);

/// One answer, or one for each attempt or visit.
#[derive(Clone, Debug, PartialEq)]
pub struct Answers(Value);

impl Answer {
    /// It takes so long, in virtual time: `"90s"`.
    pub fn takes(self, duration: &str) -> Answer {
        self.with("takes", duration)
    }

    /// The request must hold this text.
    pub fn expects(self, text: &str) -> Answer {
        self.with("expect", text)
    }

    /// The request must be so: keys of a request as case files have them (`contains`, `lacks`, `system`, `last`,
    /// `messages`, `tools`, `model`); of an op, its input.
    pub fn expecting<K: Into<std::sync::Arc<str>>>(
        self,
        request: impl IntoIterator<Item = (K, Value)>,
    ) -> Answer {
        self.with("expect", Value::record(request))
    }

    fn with(self, key: &str, value: impl Into<Value>) -> Answer {
        let mut fields = match self.0 {
            Value::Map(fields) => (*fields).clone(),
            text => [("text".into(), text)].into(),
        };
        fields.insert(key.into(), value.into());
        Answer(Value::from(fields))
    }
}

impl Answers {
    pub(super) fn node(&self) -> Node {
        Node::unplaced(&self.0)
    }
}

impl From<&str> for Answer {
    fn from(text: &str) -> Answer {
        Answer(Value::from(text))
    }
}

impl From<String> for Answer {
    fn from(text: String) -> Answer {
        Answer(Value::from(text))
    }
}

impl From<Value> for Answer {
    fn from(value: Value) -> Answer {
        Answer(value)
    }
}

impl From<ModelReply> for Answer {
    fn from(reply: ModelReply) -> Answer {
        let mut fields = Vec::new();
        // The text of structured output is its JSON where nothing else is said.
        let has_own_text = reply.data.is_null() || *reply.text != *reply.data.to_json_text();
        if has_own_text && (!reply.text.is_empty() || reply.tool_calls.is_empty()) {
            fields.push(("text", Value::from(reply.text.clone())));
        }
        if !reply.data.is_null() {
            fields.push(("data", reply.data.clone()));
        }
        if !reply.tool_calls.is_empty() {
            let call = |call: &deepgraph_protocol::ToolCall| {
                Value::record([(call.name.clone(), Value::from(call.arguments.clone()))])
            };
            fields.push(("calls", reply.tool_calls.iter().map(call).collect()));
        }
        let usual = if reply.tool_calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
        if reply.finish != usual {
            fields.push(("finish", Value::from(reply.finish.name())));
        }
        let (input, output) = (reply.usage.input_tokens, reply.usage.output_tokens);
        if (input, output) != (USUAL.0, USUAL.1) {
            fields.push(("tokens", Value::record([("input", count(input)), ("output", count(output))])));
        }
        if reply.cost_micro_usd != USUAL.2 {
            let dollars = |micro: u64| Value::from(micro as f64 / 1_000_000.0);
            fields.push(("cost", reply.cost_micro_usd.map_or(Value::from("unknown"), dollars)));
        }
        Answer(Value::record(fields))
    }
}

impl From<StepError> for Answer {
    fn from(error: StepError) -> Answer {
        let mut fields = vec![("kind", Value::from(error.kind.name())), ("message", error.message.into())];
        if let Some(ms) = error.retry_after_ms {
            fields.push(("after", Value::from(format!("{ms}ms"))));
        }
        if error.unsent {
            fields.push(("unsent", Value::from(true)));
        }
        Answer(Value::record([("error", Value::record(fields))]))
    }
}

fn count(n: u64) -> Value {
    Value::Int(i64::try_from(n).unwrap_or(i64::MAX))
}

impl<T: Into<Answer>> From<T> for Answers {
    fn from(answer: T) -> Answers {
        Answers(answer.into().0)
    }
}

impl<const N: usize> From<[Answer; N]> for Answers {
    fn from(answers: [Answer; N]) -> Answers {
        Answers(answers.into_iter().map(|answer| answer.0).collect())
    }
}

impl From<Vec<Answer>> for Answers {
    fn from(answers: Vec<Answer>) -> Answers {
        Answers(answers.into_iter().map(|answer| answer.0).collect())
    }
}
