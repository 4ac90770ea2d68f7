//! What is scripted, from replies, failures and plain values.

use deepgraph_graph::yaml::{Mapping, Tree};
use deepgraph_protocol::{Map, ModelReply, StepError, Value};

use super::super::said::{self, Json};
use super::super::tree::Node;
use super::super::words;

/// One scripted answer: of a model, an op, a person.
///
/// A text, a value or a record is what a case file would have there. A [`ModelReply`] is what the model answers
/// (made by [`says`](crate::says), [`calls`](crate::calls), [`data`](crate::data)), a [`StepError`] is a failure
/// (made by [`fails`](crate::fails)).
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    said: Value,
    /// What else is said of it: `takes`, `expect`.
    more: Map,
}

/// One answer, or one for each attempt or visit.
#[derive(Clone, Debug, PartialEq)]
pub struct Answers(Said);

#[derive(Clone, Debug, PartialEq)]
enum Said {
    One(Answer),
    Each(Vec<Answer>),
}

/// Who answers: a section of a case file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Model,
    Op,
    Person,
}

impl By {
    /// The key of the section.
    pub(super) fn section(self) -> &'static str {
        match self {
            By::Model => "models",
            By::Op => "ops",
            By::Person => "answers",
        }
    }

    /// The key under which a value stands beside others.
    fn key(self, value: &Value) -> &'static str {
        match (self, value) {
            (By::Model, _) | (By::Op, Value::Text(_)) => "text",
            (By::Op, _) => "result",
            (By::Person, _) => "answer",
        }
    }

    /// Whether a record is one of the format: it has keys of what is answered, not fields of its own.
    fn is_written_out(self, fields: &Map) -> bool {
        let words: &[&str] = match self {
            By::Model => return true,
            By::Op => &words::OP,
            By::Person => &words::PERSON,
        };
        words.iter().any(|word| fields.contains_key(*word))
    }
}

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

    fn with(mut self, key: &str, value: impl Into<Value>) -> Answer {
        self.more.insert(key.into(), value.into());
        self
    }

    /// What a case file has there.
    fn value(&self, by: By) -> Value {
        if self.more.is_empty() {
            return self.said.clone();
        }
        let mut fields = match &self.said {
            Value::Map(fields) if by.is_written_out(fields) => (**fields).clone(),
            value => Map::from([(by.key(value).into(), value.clone())]),
        };
        fields.extend(self.more.clone());
        Value::from(fields)
    }
}

impl Answers {
    pub(super) fn node(&self, by: By) -> Node {
        Node::unplaced(&match &self.0 {
            Said::One(answer) => answer.value(by),
            Said::Each(answers) => answers.iter().map(|answer| answer.value(by)).collect(),
        })
    }
}

impl From<&str> for Answer {
    fn from(text: &str) -> Answer {
        Answer::from(Value::from(text))
    }
}

impl From<String> for Answer {
    fn from(text: String) -> Answer {
        Answer::from(Value::from(text))
    }
}

impl From<Value> for Answer {
    fn from(said: Value) -> Answer {
        Answer { said, more: Map::new() }
    }
}

impl From<ModelReply> for Answer {
    fn from(reply: ModelReply) -> Answer {
        Answer::from(value(Tree::Map(said::by_model(&reply, Json::AsWritten, None))))
    }
}

impl From<StepError> for Answer {
    fn from(error: StepError) -> Answer {
        Answer::from(value(Tree::Map(Mapping::default().with("error", said::failure(&error)))))
    }
}

/// What is to be written, as a value.
fn value(tree: Tree) -> Value {
    match tree {
        Tree::Null => Value::Null,
        Tree::Bool(b) => Value::Bool(b),
        Tree::Int(n) => Value::Int(n),
        Tree::Float(n) => Value::from(n),
        Tree::Text(text) => Value::from(text),
        Tree::List(items) => items.into_iter().map(value).collect(),
        Tree::Map(entries) => {
            Value::record(entries.entries().iter().map(|(name, tree)| (name.as_str(), value(tree.clone()))))
        }
    }
}

impl<T: Into<Answer>> From<T> for Answers {
    fn from(answer: T) -> Answers {
        Answers(Said::One(answer.into()))
    }
}

impl<const N: usize> From<[Answer; N]> for Answers {
    fn from(answers: [Answer; N]) -> Answers {
        Answers(Said::Each(answers.into()))
    }
}

impl From<Vec<Answer>> for Answers {
    fn from(answers: Vec<Answer>) -> Answers {
        Answers(Said::Each(answers))
    }
}

#[cfg(test)]
mod tests {
    use deepgraph_protocol::ErrorKind;

    use super::*;
    use crate::{fails, says};

    #[test]
    fn what_else_is_said_stands_beside_the_answer_by_who_gives_it() {
        let record = || Value::record([("city", Value::from("Oslo"))]);
        let listed = || -> Value { [Value::from("a")].into_iter().collect() };
        for (by, said, written) in [
            (By::Model, Answer::from("yes"), r#"{"takes":"5s","text":"yes"}"#),
            (By::Model, Answer::from(says("yes")), r#"{"takes":"5s","text":"yes"}"#),
            (By::Op, Answer::from("yes"), r#"{"takes":"5s","text":"yes"}"#),
            (By::Op, Answer::from(record()), r#"{"result":{"city":"Oslo"},"takes":"5s"}"#),
            (
                By::Op,
                Answer::from(Value::record([("result", record())])),
                r#"{"result":{"city":"Oslo"},"takes":"5s"}"#,
            ),
            (By::Person, Answer::from("yes"), r#"{"answer":"yes","takes":"5s"}"#),
            (By::Person, Answer::from(record()), r#"{"answer":{"city":"Oslo"},"takes":"5s"}"#),
            (By::Person, Answer::from(listed()), r#"{"answer":["a"],"takes":"5s"}"#),
            (
                By::Person,
                Answer::from(fails(ErrorKind::Unanswered, "no")),
                r#"{"error":{"kind":"unanswered","message":"no"},"takes":"5s"}"#,
            ),
        ] {
            assert_eq!(said.takes("5s").value(by).to_json_text(), written);
        }
        assert_eq!(Answer::from("yes").value(By::Person), Value::from("yes"), "alone it is itself");
    }
}
