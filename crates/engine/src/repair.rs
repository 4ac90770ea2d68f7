//! The repair turn: a model whose reply can not be taken is shown it once, with what is wrong with it.
//!
//! A reply can not be taken where its structured output does not fit `returns`, where it is empty although a text was all
//! that was asked for, and where it repeats itself endlessly. Its attempt has failed then (`invalid_output`), and if
//! `retry` allows another one, that is the repair turn: the same request with two more messages, the reply and what is
//! wrong with it, which are kept nowhere else. Every attempt is the repair turn until one brings a reply, so a connection
//! that breaks does not use it up; there is one in a step. What it adds is shortened before anything else where the
//! request is too long ([`Shown`]). From its reply on, what a reply may be taken for by guessing
//! counts ([`ModelReply::guess`]): that of the newest first, then that of the first. All of it follows from the journal.

use std::sync::Arc;

use deepgraph_graph::{Returns, Verb};
use deepgraph_protocol::{ErrorKind, FinishReason, ModelReply, StepError, StepId, Value};

use crate::machine::Machine;
use crate::place::{Part, Place};
use crate::run::{Outcome, Progress};
use crate::shown::{Shown, tail};

/// The longest JSON Schema that is written out for the model, in bytes. Every provider is sent it as well, but not every
/// one shows it to the model.
const LONGEST_SCHEMA: usize = 4000;

/// The first reply of a step that could not be taken.
#[derive(Clone, Debug)]
pub(crate) struct Repair {
    reply: ModelReply,
    wrong: Wrong,
    /// How many requests of the step had been too long before it.
    before: u32,
    /// Whether the model was shown it, and has replied to that.
    is_over: bool,
}

/// Why a reply can not be taken.
struct Misfit {
    error: StepError,
    /// For the model; none where there is nothing that it could repair.
    wrong: Option<Wrong>,
}

/// What is wrong with a reply, for the model.
#[derive(Clone, Debug)]
struct Wrong {
    problem: Arc<str>,
    /// The JSON Schema of what was asked for, in a sentence behind the problem; empty: none.
    schema: Arc<str>,
}

impl Machine {
    /// Takes a model's reply: as it is, as what it is guessed to mean once the repair turn is over, or not.
    pub(crate) fn judge_reply(&mut self, step: &StepId, place: Place, attempt: u32, reply: &ModelReply) {
        let misfit = match self.check_reply(place, reply) {
            Ok(reply) => return self.finish(step, place, Outcome::Reply(Box::new(reply))),
            Err(misfit) => misfit,
        };
        let can_be_repaired = misfit.wrong.is_some();
        if can_be_repaired && let Some(reply) = self.guessed(place, reply) {
            return self.finish(step, place, Outcome::Reply(Box::new(reply)));
        }
        if let (Some(wrong), Some(Progress::Open(open))) = (misfit.wrong, self.progress(place)) {
            match &mut open.repair {
                Some(repair) => repair.is_over = true,
                none => {
                    let (reply, before) = (reply.clone(), open.attempts.overflows);
                    *none = Some(Box::new(Repair { reply, wrong, before, is_over: false }));
                }
            }
        }
        // Other failures have used the attempts up: there is no repair turn to wait for.
        if can_be_repaired
            && self.is_last_of_several(step, place, &misfit.error)
            && let Some(reply) = self.guessed(place, reply)
        {
            return self.finish(step, place, Outcome::Reply(Box::new(reply)));
        }
        self.try_again(step, place, attempt, misfit.error);
    }

    /// Checks a reply against what the node wants: no refusal, a text, structured output that fits.
    fn check_reply(&self, place: Place, reply: &ModelReply) -> Result<ModelReply, Misfit> {
        match reply.finish {
            FinishReason::Refusal => {
                let error = StepError::new(ErrorKind::Refusal, format!("the model refused: {}", reply.text));
                return Err(Misfit { error, wrong: None });
            }
            FinishReason::Empty => {
                let message = "empty answer: the model gave no text, and a text was asked for";
                let problem = "Your reply was empty, and a text was asked for. Answer now, in plain text; thoughts do \
                               not count, so keep them short.";
                return Err(Misfit::new(message.into(), problem, ""));
            }
            FinishReason::Repetition => {
                let tail = tail(&reply.text, 200).trim();
                let message =
                    format!("the model repeated itself endlessly and was stopped; it came to: {tail}");
                let problem = "Your reply repeated the same words over and over and was stopped. Answer again: say \
                               everything once, and stop when you are done.";
                return Err(Misfit::new(message, problem, ""));
            }
            _ if !reply.tool_calls.is_empty() => return Ok(reply.clone()),
            _ => {}
        }
        let Some(Returns { field, shape }) = self.returns_at(place) else { return Ok(reply.clone()) };
        match field.check(&reply.data) {
            Ok(data) => Ok(ModelReply { data, ..reply.clone() }),
            Err(e) => {
                let message =
                    format!("the structured output does not fit: {e}; the reply was: {}", short(&reply.text));
                let wrong = match (reply.data.is_null(), reply.finish) {
                    (true, FinishReason::Length) => {
                        "it was cut off at the longest length of a reply; make it shorter".to_owned()
                    }
                    (true, _) => "it holds no complete JSON value".to_owned(),
                    (false, _) => e.to_string(),
                };
                let schema = shape.schema.to_json_text();
                let schema = if schema.len() > LONGEST_SCHEMA {
                    String::new()
                } else {
                    format!(" The JSON Schema is: {schema}")
                };
                let problem = format!(
                    "Your reply can not be used as `{}`: {wrong}. Answer again with one JSON value of the shape that was \
                     asked for, and nothing else: no explanation, no code fence.",
                    shape.name
                );
                Err(Misfit::new(message, &problem, &schema))
            }
        }
    }

    /// What a reply is taken for by guessing, which is allowed from the reply to the repair turn on: the guess at it, else
    /// the guess at the first reply.
    fn guessed(&self, place: Place, reply: &ModelReply) -> Option<ModelReply> {
        let first = &self.open_at(place)?.repair.as_ref()?.reply;
        let field = self.returns_at(place).map(|returns| &returns.field);
        [reply, first].into_iter().find_map(|said| match (field, &said.guess) {
            (_, Value::Null) => None,
            (Some(field), guess) => {
                Some(ModelReply { text: said.text.clone(), data: field.check(guess).ok()?, ..reply.clone() })
            }
            (None, Value::Text(text)) => Some(ModelReply { text: text.clone(), ..reply.clone() }),
            (None, _) => None,
        })
    }

    fn returns_at(&self, place: Place) -> Option<&Returns> {
        match &self.plan().nodes[self.current.get(place.node)?.node.0].verb {
            Verb::Model(model) if matches!(place.part, Part::Whole | Part::Item(_)) => model.returns.as_ref(),
            _ => None,
        }
    }

    /// What the repair turn adds to the request of an open model step, where it is one.
    pub(crate) fn shown_again(&self, step: &StepId) -> Shown {
        let open = self.place(step).and_then(|place| self.open_at(place));
        let repair = open.and_then(|open| Some((open.repair.as_deref()?, open.attempts.overflows)));
        match repair.filter(|(repair, _)| !repair.is_over) {
            Some((Repair { reply, wrong, before, .. }, overflows)) => {
                Shown::new(reply, &wrong.problem, &wrong.schema, overflows.saturating_sub(*before))
            }
            None => Shown::default(),
        }
    }
}

impl Misfit {
    fn new(message: String, problem: &str, schema: &str) -> Misfit {
        let wrong = Wrong { problem: problem.into(), schema: schema.into() };
        Misfit { error: StepError::new(ErrorKind::InvalidOutput, message), wrong: Some(wrong) }
    }
}

fn short(text: &str) -> String {
    let cut: String = text.chars().take(200).collect();
    if cut.len() < text.len() { format!("{cut}…") } else { cut }
}
