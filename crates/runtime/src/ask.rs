//! Questions to a person.

use std::sync::Arc;

use async_trait::async_trait;
use deepgraph_protocol::{OutputShape, StepId, Value};

/// A question that a run asks.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Its id: the step that asks.
    pub id: StepId,
    /// The question.
    pub text: Arc<str>,
    /// The shape of the answer.
    pub shape: OutputShape,
    /// Why an earlier answer was not taken.
    pub complaint: Option<String>,
}

/// Somebody who can be asked.
#[async_trait]
pub trait Asker: Send + Sync {
    /// The answer; none where nobody wants to give one.
    async fn ask(&self, question: &Question) -> Option<Value>;
}

/// What becomes of a question when there is no [`Asker`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unattended {
    /// The run waits: driving it ends with the open questions, and a resume can bring the answers.
    #[default]
    Wait,
    /// The question fails as unanswered, and the graph goes on from there.
    Refuse,
}

/// Reads an answer that a person typed: JSON where it is JSON, else text; for a record with exactly one
/// required field, the text stands for that field.
pub fn read_answer(text: &str, shape: &OutputShape) -> Value {
    let text = text.trim();
    let kind = shape.schema.text("type");
    if kind == "string" {
        return Value::from(text);
    }
    if let Ok(json) = serde_json::from_str::<Value>(text)
        && (kind != "object" || json.as_map().is_some())
    {
        return json;
    }
    let required = shape.schema.get("required").and_then(Value::as_list).unwrap_or_default();
    match required {
        [Value::Text(field)] if kind == "object" => Value::record([(field.clone(), Value::from(text))]),
        _ => Value::from(text),
    }
}
