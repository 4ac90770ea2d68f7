//! What comes back becomes entries.

use deepgraph_protocol::{Effect, EntryBody, ErrorKind, ScopePath, StepError, StepId, StepOutput};

use crate::control::Cancel;
use crate::driver::Driver;
use crate::tasks::Done;

impl Driver<'_> {
    /// Commits what came back.
    pub(crate) fn take(&mut self, done: Done) {
        match done {
            Done::Model { scope, step, attempt, result } => {
                self.begun.remove(&step);
                let body = match result {
                    Ok(reply) if reply.data.depth() > DEEPEST => failure(step, attempt, too_deep()),
                    Ok(reply) => EntryBody::Completed {
                        step,
                        attempt,
                        output: StepOutput::Model(*reply),
                        fee: deepgraph_protocol::Fee::NONE,
                    },
                    Err(error) => failure(step, attempt, error),
                };
                self.commit_later(&scope, body);
            }
            Done::Op { scope, step, attempt, cache, result } => {
                self.begun.remove(&step);
                let body = match result {
                    Ok(value) if value.depth() > DEEPEST => failure(step, attempt, too_deep()),
                    Ok(value) => {
                        if let Some((key, brought)) = cache {
                            self.cache.insert(key, (self.now(), brought));
                        }
                        EntryBody::Completed {
                            step,
                            attempt,
                            output: StepOutput::Op(value),
                            fee: deepgraph_protocol::Fee::NONE,
                        }
                    }
                    Err(error) => failure(step, attempt, error),
                };
                self.commit_later(&scope, body);
            }
            Done::Failed { scope, step, attempt, error, used } => {
                self.begun.remove(&step);
                let body = match attempt {
                    Some(attempt) => {
                        EntryBody::AttemptFailed { step, attempt, error, usage: used, fail_over: false }
                    }
                    None => EntryBody::Failed { step, error },
                };
                self.commit_later(&scope, body);
            }
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

fn failure(step: StepId, attempt: u32, error: StepError) -> EntryBody {
    EntryBody::AttemptFailed { step, attempt, error, usage: Default::default(), fail_over: false }
}
