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

impl Question {
    /// Whether it asks if a tool may be called.
    pub fn is_approval(&self) -> bool {
        self.id.last() == "approval"
    }

    /// Reads an answer that a person typed. To an approval, `yes` and `no` are answers too, and so are `no: REASON`
    /// and `edit {ARGUMENTS}`; all others are read by [`read_answer`].
    pub fn read(&self, text: &str) -> Value {
        let decision = if self.is_approval() { decision(text.trim()) } else { None };
        decision.unwrap_or_else(|| read_answer(text, &self.shape))
    }
}

/// A decision in words; none where the words are others.
fn decision(text: &str) -> Option<Value> {
    let action = |action: &str| Value::record([("action", Value::from(action))]);
    let (word, rest) = match text.find(|c: char| !c.is_alphabetic()) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let rest = rest.trim();
    match (word.to_lowercase().as_str(), rest) {
        ("y" | "yes" | "ok" | "approve" | "approved", "" | "." | "!") => Some(action("approve")),
        ("n" | "no" | "refuse" | "reject" | "deny", "" | "." | "!") => Some(action("refuse")),
        ("n" | "no" | "refuse" | "reject" | "deny", rest) => {
            // Without a sign between, it may be the beginning of any sentence.
            let reason = rest.strip_prefix([':', ',', ';', '-', '–', '—'])?.trim();
            Some(Value::record([("action", Value::from("refuse")), ("reason", Value::from(reason))]))
        }
        ("edit", rest) => {
            let args: Value = serde_json::from_str(rest.trim_start_matches(':')).ok()?;
            args.as_map()?;
            Some(Value::record([("action", Value::from("edit")), ("args", args)]))
        }
        _ => None,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(id: &str, text: &str) -> String {
        let schema = r#"{"type": "object", "properties": {"action": {}}, "required": ["action"]}"#;
        let schema: Value = serde_json::from_str(schema).unwrap();
        let shape = OutputShape { name: "approval".into(), schema };
        let question = Question { id: StepId::new(id), text: "May it?".into(), shape, complaint: None };
        question.read(text).to_json_text()
    }

    #[test]
    fn an_approval_is_decided_in_words() {
        for (text, expected) in [
            ("yes", r#"{"action":"approve"}"#),
            (" Y\n", r#"{"action":"approve"}"#),
            ("approve", r#"{"action":"approve"}"#),
            ("ok!", r#"{"action":"approve"}"#),
            ("no", r#"{"action":"refuse"}"#),
            ("No.", r#"{"action":"refuse"}"#),
            ("refuse: another customer", r#"{"action":"refuse","reason":"another customer"}"#),
            ("no, not today", r#"{"action":"refuse","reason":"not today"}"#),
            (r#"edit {"a": 1}"#, r#"{"action":"edit","args":{"a":1}}"#),
            (r#"{"action": "edit", "args": {"a": 2}}"#, r#"{"action":"edit","args":{"a":2}}"#),
        ] {
            assert_eq!(read("act.1/send.1/approval", text), expected, "{text}");
        }
    }

    #[test]
    fn other_words_decide_nothing() {
        for text in
            ["yes, but later", "no problem", "nobody", "perhaps", "edit a = 1", "edit [1]", "yesterday"]
        {
            let taken = read("act.1/send.1/approval", text);
            assert_eq!(taken, format!(r#"{{"action":"{text}"}}"#));
        }
    }

    #[test]
    fn only_approvals_are_answered_so() {
        assert_eq!(read("review.1", "yes"), r#"{"action":"yes"}"#);
        assert_eq!(read("approval.1", "no"), r#"{"action":"no"}"#);
    }
}
