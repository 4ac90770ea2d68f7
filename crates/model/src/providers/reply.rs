//! What has come of a reply so far, whatever the protocol, and the [`ModelReply`] that it becomes.

use std::collections::BTreeSet;
use std::sync::Arc;

use deepgraph_protocol::{
    ErrorKind, FinishReason, ModelReply, ModelRequest, StepError, ToolCall, Usage, Value,
};
use sha2::{Digest, Sha256};

use super::counts::Counts;
use super::failure::Place;
use super::names::ToolNames;
use crate::estimate::estimated_usage;

/// Longest reply that is taken, in bytes: far beyond what models write, small enough for any machine.
const LONGEST: usize = 64 << 20;

/// Why a model stopped, as far as it matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// It said all, or called tools.
    Done,
    /// It ran into its bound.
    Length,
    /// The provider withheld content, for a reason.
    Withheld(String),
    /// It wrote what can not be read, as the provider says.
    Unreadable(String),
    /// Anything else.
    Other,
}

/// What has come of a reply so far.
#[derive(Default)]
pub(super) struct Draft {
    text: String,
    refusal: String,
    calls: Vec<DraftCall>,
    stop: Option<Stop>,
    /// The tokens that were reported.
    pub(super) counts: Counts,
    /// What the provider says that the call cost, in micro-dollars.
    pub(super) cost: Option<u64>,
    model: Option<String>,
    /// Whether anything was said at all.
    pub(super) begun: bool,
    /// What was written since it was last looked at but is not shown: thoughts, and arguments of calls.
    unseen: String,
    bytes: usize,
    /// Whether the model repeated itself endlessly and was stopped.
    pub(super) repeats: bool,
}

#[derive(Default)]
struct DraftCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

/// A call, or a piece of one.
#[derive(Default)]
pub(super) struct Piece<'a> {
    /// By what pieces of one call are told from those of others.
    pub(super) index: Option<u64>,
    pub(super) id: &'a str,
    pub(super) name: &'a str,
    pub(super) arguments: String,
}

/// A reply with what has no place in it.
pub(super) struct Finished {
    pub(super) reply: ModelReply,
    /// Tokens of the request that were put into the provider's cache.
    pub(super) cache_writes: u64,
}

impl Draft {
    /// Whether the model has said why it stopped, so that nothing but the usage is missing.
    pub(super) fn is_finished(&self) -> bool {
        self.stop.is_some()
    }

    /// Whether it was cut off at its longest length before anything was said that can be shown.
    pub(super) fn is_cut_off_unsaid(&self) -> bool {
        self.stop == Some(Stop::Length) && !self.has_content()
    }

    /// Whether it holds more than any model writes.
    pub(super) fn is_too_long(&self) -> bool {
        self.bytes > LONGEST
    }

    /// How much has come, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The text so far.
    pub(super) fn so_far(&self) -> &str {
        &self.text
    }

    /// Whether there is text or a call.
    pub(super) fn has_content(&self) -> bool {
        !self.text.is_empty() || !self.calls.is_empty() || !self.refusal.is_empty()
    }

    /// Adds text.
    pub(super) fn say(&mut self, text: &str) {
        self.begun = true;
        self.text.push_str(text);
        self.bytes += text.len();
    }

    /// Takes note of thoughts, which are kept out of the reply.
    pub(super) fn think(&mut self, thoughts: &str) {
        self.unseen.push_str(thoughts);
        self.bytes += thoughts.len();
    }

    /// What was written since it was last asked for but is not shown.
    pub(super) fn take_unseen(&mut self) -> String {
        std::mem::take(&mut self.unseen)
    }

    /// Adds words of refusal.
    pub(super) fn refuse(&mut self, words: &str) {
        self.begun = true;
        self.refusal.push_str(words);
        self.bytes += words.len();
    }

    /// Notes why the model stopped.
    pub(super) fn stop(&mut self, why: Stop) {
        self.begun = true;
        self.stop = Some(why);
    }

    /// Notes how the model calls itself.
    pub(super) fn model(&mut self, name: Option<&str>) {
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            self.model = Some(name.to_owned());
        }
    }

    /// Adds a whole call.
    pub(super) fn call(&mut self, piece: Piece<'_>) {
        self.begun = true;
        self.bytes += piece.arguments.len() + piece.name.len() + piece.id.len();
        self.unseen.push_str(&piece.arguments);
        let Piece { index, id, name, arguments } = piece;
        self.calls.push(DraftCall { index, id: id.to_owned(), name: name.to_owned(), arguments });
    }

    /// Adds a piece of a call. Pieces are told apart by their index; a piece without one goes on with the last call.
    /// A new id beside a name is a new call even under a known index, as some servers number all calls 0.
    pub(super) fn piece(&mut self, piece: Piece<'_>) {
        let known = match piece.index {
            Some(_) => self.calls.iter_mut().rev().find(|call| call.index == piece.index),
            None => self.calls.last_mut(),
        };
        let (id, name) = (piece.id, piece.name);
        match known {
            Some(call) if id.is_empty() || name.is_empty() || call.id.is_empty() || call.id == id => {
                self.begun = true;
                self.bytes += piece.arguments.len() + name.len() + id.len();
                if call.id.is_empty() {
                    call.id = id.to_owned();
                }
                if call.name.is_empty() {
                    call.name = name.to_owned();
                }
                call.arguments.push_str(&piece.arguments);
                self.unseen.push_str(&piece.arguments);
            }
            _ => self.call(piece),
        }
    }

    /// Puts the arguments of the call of that index, said once more as a whole, in the place of what has come of them.
    pub(super) fn whole_arguments(&mut self, piece: Piece<'_>) {
        let known = self.calls.iter_mut().rev().find(|call| call.index == piece.index);
        match known {
            Some(call) => {
                if !piece.arguments.is_empty() {
                    self.bytes += piece.arguments.len();
                    call.arguments = piece.arguments;
                }
            }
            None => self.call(piece),
        }
    }

    /// The finished reply to a request.
    ///
    /// # Errors
    ///
    /// `refusal` where content was withheld; `invalid_output` where there is no answer or it can not be read.
    pub(super) fn finish(
        mut self,
        request: &ModelRequest,
        names: &ToolNames,
        place: &Place<'_>,
    ) -> Result<Finished, StepError> {
        if !self.begun {
            let problem =
                format!("{place} gave an answer without any content; check that it is a chat model");
            return Err(StepError::new(ErrorKind::InvalidOutput, problem));
        }
        if let Some(refused) = self.refused() {
            let problem = format!(
                "{} refused to answer: {}; change the prompt or the model",
                request.model,
                place.quote(refused)
            );
            return Err(StepError::new(ErrorKind::Refusal, problem));
        }
        if let Some(Stop::Unreadable(what)) = &self.stop {
            let problem =
                format!("{} wrote something that can not be read: {}", request.model, place.quote(what));
            return Err(StepError::new(ErrorKind::InvalidOutput, problem));
        }
        if self.calls.iter().all(|call| call.index.is_some()) {
            self.calls.sort_by_key(|call| call.index);
        }
        let estimate = estimated_usage(request, self.bytes);
        let usage = match self.counts.usage() {
            // It was stopped before the server had counted all of it.
            Some(said) if self.repeats && self.stop.is_none() => Usage {
                output_tokens: said.output_tokens.max(estimate.output_tokens),
                estimated: true,
                ..said
            },
            said => said.unwrap_or(estimate),
        };
        let tool_calls = calls(self.calls, request, names);
        let finish = match self.repeats {
            true => FinishReason::Repetition,
            false => finish_reason(self.stop.as_ref(), !tool_calls.is_empty()),
        };
        let reply = ModelReply {
            text: self.text.into(),
            tool_calls,
            // It is read from the text when the reply is mended.
            data: Value::Null,
            finish,
            usage,
            cost_micro_usd: self.cost,
            model: self.model.unwrap_or_else(|| request.model.clone()),
            mended: Vec::new(),
            guess: Value::Null,
        };
        Ok(Finished { reply, cache_writes: self.counts.written.unwrap_or(0) })
    }

    /// Why content was withheld, if it was.
    fn refused(&self) -> Option<&str> {
        match &self.stop {
            _ if !self.refusal.trim().is_empty() => Some(self.refusal.trim()),
            Some(Stop::Withheld(why)) => Some(why),
            _ => None,
        }
    }
}

fn finish_reason(stop: Option<&Stop>, calls: bool) -> FinishReason {
    match stop {
        Some(Stop::Length) => FinishReason::Length,
        // Some servers say "stop" or nothing beside calls.
        _ if calls => FinishReason::ToolCalls,
        Some(Stop::Done) => FinishReason::Stop,
        _ => FinishReason::Other,
    }
}

/// The calls with the tools' own names and with ids that are unique in the conversation.
fn calls(drafts: Vec<DraftCall>, request: &ModelRequest, names: &ToolNames) -> Vec<ToolCall> {
    let mut taken: BTreeSet<Arc<str>> =
        request.messages.iter().flat_map(|m| m.tool_calls.iter().map(|call| call.id.clone())).collect();
    let mut digest = None;
    let mut calls = Vec::with_capacity(drafts.len());
    for (position, draft) in drafts.into_iter().enumerate() {
        let mut id: Arc<str> = draft.id.into();
        let mut again = 0;
        while id.is_empty() || taken.contains(&id) {
            // From the request's content: the same whenever the same request gets the same reply.
            let digest = digest.get_or_insert_with(|| conversation_digest(request));
            id = format!("call_{digest}_{}", position + again).into();
            again += 1;
        }
        taken.insert(id.clone());
        // Models that call a tool without parameters often send no arguments at all.
        let arguments = if draft.arguments.trim().is_empty() { "{}".into() } else { draft.arguments.into() };
        calls.push(ToolCall { id, name: names.tool(&draft.name), arguments });
    }
    calls
}

fn conversation_digest(request: &ModelRequest) -> String {
    let text = serde_json::to_vec(&request.messages).unwrap_or_default();
    Sha256::digest(text).iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}
