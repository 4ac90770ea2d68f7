//! Answers of tools that are longer than `answer_max`. The model is given the first part and a reference, and reads on
//! with a tool that calls the op `read`, where it is offered one: `source: "ref:act.1/look.1", from: 2`. The whole answer
//! stays outside its conversation: it follows from the journal, and the Machine gives the op the part that is asked for.

use std::sync::Arc;

use deepgraph_graph::{Callee, NodeIx, Tool, Verb};
use deepgraph_protocol::{Map, StepId, Value};

use crate::machine::Machine;

/// The op that reads on.
const READ: &str = "read";

/// What its `source` begins with where it reads an answer on.
const PREFIX: &str = "ref:";

/// The field of its input in which it is given the part.
const ANSWER: &str = "answer";

/// Bytes that stand for a token of `answer_max`.
const BYTES_PER_TOKEN: u64 = 4;

/// Room for the note behind a part, in bytes.
const NOTE_ROOM: usize = 200;

/// The smallest part, in bytes: where `answer_max` leaves less, the answer is cut and not kept.
const SMALLEST: usize = 200;

/// An answer that was too long for the conversation.
#[derive(Clone, Debug)]
pub(crate) struct Oversized {
    text: Arc<str>,
    /// Bytes of a part, at most.
    part: usize,
    /// The tool that reads on.
    reader: Arc<str>,
}

impl Machine {
    /// What the model gets of a call's answer: all of it, or, where it is longer than the tool's `answer_max`, its
    /// beginning.
    pub(crate) fn fit_answer(&mut self, text: String, tool: &Tool, step: &StepId, model: NodeIx) -> Arc<str> {
        let max = tool.answer_max.count(&self.config).unwrap_or(8000);
        let bytes = usize::try_from(max.saturating_mul(BYTES_PER_TOKEN)).unwrap_or(usize::MAX);
        if text.len() <= bytes {
            return text.into();
        }
        let reader = self.reader_of(model).filter(|_| self.reads_on);
        // What is read on passes through the answer of the tool that reads it.
        let part = reader.as_ref().map_or(0, |(_, most)| bytes.min(*most).saturating_sub(NOTE_ROOM));
        match reader.filter(|_| part >= SMALLEST) {
            Some((reader, _)) => {
                let oversized = Oversized { text: text.into(), part, reader };
                let reference = self.reference(step);
                let shown = oversized.shown(&reference, 1).unwrap_or_default();
                self.oversized.insert(reference, oversized);
                shown.into()
            }
            None => cut(&text, bytes).into(),
        }
    }

    /// The input of an op, with the part of an answer that it reads on, if it does.
    pub(crate) fn with_answer(&self, op: &str, mut input: Map) -> Map {
        if op != READ || !self.reads_on {
            return input;
        }
        let source = input.get("source").and_then(Value::as_str).filter(|source| source.starts_with(PREFIX));
        let from = input.get("from").and_then(Value::as_int).unwrap_or(1).max(1);
        let part = source.and_then(|source| {
            let nth = usize::try_from(from).ok()?;
            self.oversized.get(source)?.shown(source, nth)
        });
        if let Some(part) = part {
            input.insert(ANSWER.into(), Value::from(part));
        }
        input
    }

    /// The tool of a model node that reads on, and the most bytes of its answer.
    fn reader_of(&self, model: NodeIx) -> Option<(Arc<str>, usize)> {
        let plan = self.plan();
        let Verb::Model(model) = &plan.nodes.get(model.0)?.verb else { return None };
        let reads = |tool: &&Tool| {
            tool.call.as_ref().is_some_and(|call| matches!(&call.callee, Callee::Op(op) if &**op == READ))
        };
        let tool = model.tools.iter().filter_map(|ix| plan.tools.get(ix.0)).find(reads)?;
        let max = tool.answer_max.count(&self.config).unwrap_or(8000);
        let bytes = usize::try_from(max.saturating_mul(BYTES_PER_TOKEN)).unwrap_or(usize::MAX);
        Some((tool.name.clone(), bytes))
    }

    /// How the answer of a call is named: its place in this instance.
    fn reference(&self, step: &StepId) -> Arc<str> {
        let own = self.scope.step().and_then(|above| step.below(&above).map(str::to_owned));
        format!("{PREFIX}{}", own.as_deref().unwrap_or(step.as_str())).into()
    }
}

impl Oversized {
    /// A part, from 1, with a note of how to read on; none behind the last.
    fn shown(&self, reference: &str, nth: usize) -> Option<String> {
        let parts = parts(&self.text, self.part);
        let text = parts.get(nth.checked_sub(1)?)?;
        let then = match nth < parts.len() {
            true => {
                let next =
                    Value::record([("from", Value::Int(nth as i64 + 1)), ("source", reference.into())]);
                format!("; read on with {} {next}", self.reader)
            }
            false => String::new(),
        };
        Some(format!(
            "{text}\n[part {nth} of {} of this answer, {} bytes{then}]",
            parts.len(),
            self.text.len()
        ))
    }
}

/// A text in parts of so many bytes at most, cut behind a line where that makes no part much smaller.
fn parts(text: &str, bytes: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while rest.len() > bytes.max(4) {
        let most = head(rest, bytes.max(4));
        let line = most.rfind('\n').map(|at| at + 1).filter(|at| *at > most.len() / 2);
        let (part, behind) = rest.split_at(line.unwrap_or(most.len()));
        parts.push(part);
        rest = behind;
    }
    parts.push(rest);
    parts
}

/// The beginning of a text, of so many bytes at most.
fn head(text: &str, bytes: usize) -> &str {
    (0..=bytes).rev().find_map(|end| text.get(..end)).unwrap_or_default()
}

/// The text, cut at a character's end, saying so.
fn cut(text: &str, bytes: usize) -> String {
    let head = head(text, bytes);
    format!("{head}\n[cut here: {} of {} bytes shown]", head.len(), text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_all_of_the_text_and_none_is_too_long() {
        let lines = "one line of text\n".repeat(100);
        for text in ["", "é", &"é".repeat(500), &lines] {
            for bytes in [4, 5, 30, 64] {
                let parts = parts(text, bytes);
                assert_eq!(parts.concat(), text);
                assert!(parts.iter().all(|part| part.len() <= bytes), "{bytes}: {parts:?}");
            }
        }
        assert!(parts(&lines, 64)[0].ends_with("text\n"));
    }

    #[test]
    fn each_part_says_how_to_read_on_and_the_last_that_it_is_the_last() {
        let all = Oversized { text: "abcdefghij".into(), part: 4, reader: "read".into() };
        let first = all.shown("ref:act.1/look.1", 1).unwrap();
        assert_eq!(
            first,
            "abcd\n[part 1 of 3 of this answer, 10 bytes; read on with read \
             {\"from\":2,\"source\":\"ref:act.1/look.1\"}]"
        );
        assert_eq!(all.shown("r", 3).unwrap(), "ij\n[part 3 of 3 of this answer, 10 bytes]");
        assert_eq!((all.shown("r", 0), all.shown("r", 4)), (None, None));
    }
}
