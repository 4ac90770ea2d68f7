//! Replies of weak and odd models: what is done so that they can be used, or are known to be of no use.
//!
//! All of it works on texts and replies, whatever the protocol: [`Guard`] on the pieces of a reply while it comes, and
//! [`mend`] on the reply once it is whole. In that order: an endless repetition is cut, thoughts are taken out, calls are
//! found in the text, arguments and structured output are read. What is clear is done at once and told in
//! [`ModelReply::mended`]; guesses go to [`ModelReply::guess`], which counts only after the model was shown its mistake.

pub(crate) mod by_schema;
mod calls;
pub(crate) mod json;
mod repeat;
pub(crate) mod shape;
#[cfg(test)]
mod tests;
mod think;

use std::collections::BTreeSet;
use std::sync::Arc;

use deepgraph_protocol::{FinishReason, ModelReply, ModelRequest, ToolCall, Value};
use sha2::{Digest, Sha256};

use self::think::{Thoughts, without_thoughts};
use crate::structured::{self, Structured};

/// From how many bytes on the text before an endless repetition may stand for the answer.
const LEAST_BEFORE_REPETITION: usize = 400;

/// What a reply is watched for while it comes in pieces.
#[derive(Default)]
pub(crate) struct Guard {
    thoughts: Thoughts,
    said: repeat::Watch,
    unseen: repeat::Watch,
    /// Whether the last piece, of either, was one more of the same.
    repeats: bool,
}

impl Guard {
    /// Takes a piece of the text in, and gives what of it can be shown: no thoughts.
    pub(crate) fn text(&mut self, piece: &str) -> &str {
        if !piece.is_empty() {
            self.repeats = self.said.push(piece);
        }
        self.thoughts.push(piece)
    }

    /// Takes in a piece of what is not shown: arguments of calls, thoughts in a field of their own.
    pub(crate) fn unseen(&mut self, piece: &str) {
        if !piece.is_empty() {
            self.repeats = self.unseen.push(piece);
        }
    }

    /// Whether the model repeats itself endlessly, so that nothing more need be waited for.
    pub(crate) fn repeats(&self) -> bool {
        self.repeats
    }

    /// Whether what is not shown of a reply that was cut off at its longest length ends in the same over and over.
    pub(crate) fn hides_repetition(&self) -> bool {
        self.unseen.repeats_where_cut_off()
    }
}

/// The reply as it can be used. Its text is what the model wrote, its arguments are as the model wrote them; its
/// structured output is read here. A reply that is mended again stays what it is.
pub(crate) fn mend(mut reply: ModelReply, request: &ModelRequest) -> ModelReply {
    let mut notes = Notes(std::mem::take(&mut reply.mended));
    let before = cut_repetition(&mut reply);
    if reply.finish == FinishReason::Repetition {
        notes.add("an endless repetition, cut");
    }
    if let Some(text) = thoughtless_text(&reply.text) {
        reply.text = text.into();
        notes.add("thoughts in the text, taken out");
    }
    let repeats = reply.finish == FinishReason::Repetition;
    if reply.tool_calls.is_empty() && !request.tools.is_empty() && !repeats {
        take_calls(&mut reply, request, &mut notes);
    }
    for call in &mut reply.tool_calls {
        if let Some(arguments) = read_arguments(call, &mut notes) {
            call.arguments = arguments.into();
        }
    }
    match &request.output {
        Some(shape) if reply.tool_calls.is_empty() => {
            let Structured { data, guess, mended } = if reply.text.trim().is_empty() {
                structured::of_value(std::mem::take(&mut reply.data), shape)
            } else {
                structured::read(&reply.text, shape)
            };
            (reply.data, reply.guess) = (thoughtless(&data).unwrap_or(data), guess);
            if let Some(mended) = mended {
                notes.add(&mended);
            }
            if repeats && reply.guess.is_null() {
                reply.guess = std::mem::take(&mut reply.data);
            }
        }
        None if before.is_some_and(|before| before >= LEAST_BEFORE_REPETITION) => {
            reply.guess = Value::Text(reply.text.clone());
        }
        _ => {}
    }
    reply.mended = notes.0;
    reply
}

/// What was mended, each once.
struct Notes(Vec<Arc<str>>);

impl Notes {
    fn add(&mut self, note: &str) {
        if !self.0.iter().any(|known| **known == *note) {
            self.0.push(note.into());
        }
    }
}

/// Cuts text and arguments that repeat themselves endlessly, and marks the reply so. Gives the bytes of answer that stand
/// before the repetition in the text. A reply that the model ended by itself is whole, however often it says the same.
fn cut_repetition(reply: &mut ModelReply) -> Option<usize> {
    if !matches!(reply.finish, FinishReason::Length | FinishReason::Repetition) {
        return None;
    }
    let mut before = None;
    if let Some(cut) = repeat::cut(&reply.text) {
        before = Some(without_thoughts(cut.before).map_or(cut.before.trim().len(), |text| text.len()));
        let keep: Arc<str> = cut.keep.into();
        reply.text = keep;
        reply.finish = FinishReason::Repetition;
    }
    for call in &mut reply.tool_calls {
        let keep: Option<Arc<str>> = repeat::cut(&call.arguments).map(|cut| cut.keep.into());
        if let Some(keep) = keep {
            call.arguments = keep;
            reply.finish = FinishReason::Repetition;
        }
    }
    before
}

/// Takes calls out of the text.
fn take_calls(reply: &mut ModelReply, request: &ModelRequest, notes: &mut Notes) {
    let Some((written, left)) = calls::find(&reply.text, &request.tools) else { return };
    let taken: BTreeSet<&str> =
        request.messages.iter().flat_map(|m| m.tool_calls.iter().map(|call| &*call.id)).collect();
    // From what was asked and written: the same whenever the same request gets the same reply.
    let mut asked = serde_json::to_vec(&request.messages).unwrap_or_default();
    asked.extend(reply.text.bytes());
    let digest: String = Sha256::digest(asked).iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    let ids = (0..).map(|nth| format!("call_{digest}_{nth}")).filter(|id| !taken.contains(id.as_str()));
    let calls = ids.zip(written).map(|(id, call)| ToolCall {
        id: id.into(),
        name: call.name,
        arguments: call.arguments.into(),
    });
    reply.tool_calls = calls.collect();
    reply.text = left.into();
    if reply.finish != FinishReason::Length {
        reply.finish = FinishReason::ToolCalls;
    }
    notes.add("tool calls in the text");
}

/// The arguments of a call where they have to be changed to be read: mended, and without thoughts.
fn read_arguments(call: &ToolCall, notes: &mut Notes) -> Option<String> {
    let mended = calls::mended_arguments(&call.arguments);
    if let Some((_, words)) = &mended {
        notes.add(&format!("arguments of `{}`: {words}", call.name));
    }
    let mended = mended.map(|(text, _)| text);
    let text = mended.as_deref().unwrap_or(&call.arguments);
    let value = serde_json::from_str(text).ok().and_then(|value: Value| thoughtless(&value));
    if value.is_some() {
        notes.add("thoughts in the text, taken out");
    }
    value.map(|value| value.to_json_text()).or(mended)
}

/// A text without thoughts; none where it has none. One that is JSON as a whole stays so.
fn thoughtless_text(text: &str) -> Option<String> {
    match serde_json::from_str(text.trim()) {
        Ok(value @ (Value::Map(_) | Value::List(_))) => thoughtless(&value).map(|value| value.to_json_text()),
        _ => without_thoughts(text),
    }
}

/// A value without thoughts in its texts; none where it has none.
fn thoughtless(value: &Value) -> Option<Value> {
    match value {
        Value::Text(text) => without_thoughts(text).map(Value::from),
        Value::List(items) => {
            let clean: Vec<Option<Value>> = items.iter().map(thoughtless).collect();
            clean.iter().any(Option::is_some).then(|| {
                clean
                    .into_iter()
                    .zip(items.iter())
                    .map(|(new, old)| new.unwrap_or_else(|| old.clone()))
                    .collect()
            })
        }
        Value::Map(fields) => {
            let clean: Vec<Option<Value>> = fields.values().map(thoughtless).collect();
            clean.iter().any(Option::is_some).then(|| {
                let pairs = clean.into_iter().zip(fields.iter());
                Value::record(
                    pairs.map(|(new, (name, old))| (name.clone(), new.unwrap_or_else(|| old.clone()))),
                )
            })
        }
        _ => None,
    }
}
