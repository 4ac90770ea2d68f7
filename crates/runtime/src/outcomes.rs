//! What comes back becomes entries.

use deepgraph_model::Price;
use deepgraph_protocol::{
    Effect, EntryBody, ErrorKind, Fee, ScopePath, StepError, StepId, StepOutput, UsedInVain,
};

use crate::asking::Asked;
use crate::control::Cancel;
use crate::driver::Driver;
use crate::tasks::Done;

impl Driver<'_> {
    /// Commits what came back.
    pub(crate) fn take(&mut self, done: Done) {
        match done {
            Done::Model { scope, step, attempt, asked, price, result } => {
                self.begun.remove(&step);
                let fail_over = self.note_trouble(asked.as_ref(), result.as_ref().err());
                let body = match result {
                    Ok(reply) if reply.data.depth() > DEEPEST => {
                        let used = UsedInVain { usage: reply.usage, cost_micro_usd: reply.cost_micro_usd };
                        failure(step, attempt, too_deep().having_used(used), price, false)
                    }
                    Ok(reply) => EntryBody::Completed {
                        step,
                        attempt,
                        output: StepOutput::Model(*reply),
                        fee: Fee::NONE,
                    },
                    Err(error) => failure(step, attempt, error, price, fail_over),
                };
                self.commit_later(&scope, body);
            }
            Done::Op { scope, step, attempt, cache, result, fee } => {
                self.begun.remove(&step);
                let body = match result {
                    Ok(value) if value.depth() > DEEPEST => failed_op(step, attempt, too_deep(), fee),
                    Ok(value) => {
                        if let Some((key, brought)) = cache {
                            self.cache.insert(key, (self.now(), brought));
                        }
                        EntryBody::Completed { step, attempt, output: StepOutput::Op(value), fee }
                    }
                    Err(error) => failed_op(step, attempt, error, fee),
                };
                self.commit_later(&scope, body);
            }
            Done::Failed { scope, step, attempt, error, used, fail_over, fee } => {
                self.begun.remove(&step);
                let body = match attempt {
                    Some(attempt) => {
                        EntryBody::AttemptFailed { step, attempt, error, usage: used, fail_over, fee }
                    }
                    None => EntryBody::Failed { step, error },
                };
                self.commit_later(&scope, body);
            }
            Done::Passed { scope, step } => self.passed(&scope, &step),
            Done::Due { scope, effect } => self.send_due(&scope, effect),
            Done::Timer { scope, timer } => self.commit_later(&scope, EntryBody::TimerFired { timer }),
            Done::Answer { scope, step, answer } => self.take_answer(&scope, step, answer),
            Done::Unanswered { scope, step } => {
                self.questions.remove(&step);
                let error = StepError::new(ErrorKind::Unanswered, "the question was not answered in time");
                self.commit_later(&scope, EntryBody::Failed { step, error });
            }
            Done::GraceOver { scope, step } => self.give_up(&scope, step),
            Done::Cancel => self.cancel_now(self.cancel.max(Cancel::Cooperative)),
        }
    }

    /// Notes whether the model that was asked could serve. True where the next of the route is asked.
    fn note_trouble(&mut self, asked: Option<&Asked>, error: Option<&StepError>) -> bool {
        let Some(asked) = asked else { return false };
        match error {
            None => {
                self.troubles.is_over(&asked.model);
                false
            }
            Some(error) => {
                self.troubles.note(&asked.model, asked.in_place, error);
                asked.has_next && error.kind.fails_over()
            }
        }
    }

    /// The wait before an attempt is over: it is sent, if its step is still wanted.
    fn send_due(&mut self, scope: &ScopePath, effect: Effect) {
        let machine = self.machines.get(scope).map(|live| &live.machine);
        if machine.is_some_and(|machine| effect.step().is_some_and(|step| machine.is_open(step))) {
            self.carry_out(scope, effect);
        }
    }
}

/// Levels of lists and records that a result may have: journals are read back by a parser that bounds them.
const DEEPEST: usize = 64;

fn too_deep() -> StepError {
    let message = format!("the result has lists and records more than {DEEPEST} levels deep");
    StepError::new(ErrorKind::InvalidOutput, message)
}

/// The call of a model failed, and used something nevertheless, at this price.
fn failure(
    step: StepId,
    attempt: u32,
    mut error: StepError,
    price: Option<Price>,
    fail_over: bool,
) -> EntryBody {
    let used = error.used.take();
    let used = used.map(|used| used.charged(|usage| price.map(|price| price.cost(usage))));
    let (usage, fee) = used.unwrap_or_default();
    EntryBody::AttemptFailed { step, attempt, error, usage, fail_over, fee }
}

/// The call of an op failed, and cost something nevertheless.
fn failed_op(step: StepId, attempt: u32, error: StepError, fee: Fee) -> EntryBody {
    EntryBody::AttemptFailed { step, attempt, error, usage: Default::default(), fail_over: false, fee }
}
