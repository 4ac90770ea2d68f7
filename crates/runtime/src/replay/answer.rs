//! The driver's side: steps that are answered from a recording.

use std::sync::Arc;
use std::time::Duration;

use deepgraph_protocol::{
    EntryBody, ErrorKind, Hidden, Map, ModelRequest, ScopePath, StepError, StepId, Usage,
};
use deepgraph_trace::recording::{Asked, Came, Exchange};
use tokio::time::{Instant, sleep_until};

use super::Replay;
use crate::ask::Question;
use crate::driver::Driver;
use crate::tasks::Done;

/// How long a step is waited for of which nothing came: longer than any limit on time.
const FOR_EVER: Duration = Duration::from_secs(365 * 24 * 60 * 60);

impl Driver<'_> {
    /// Answers a model call.
    pub(crate) fn replay_model(
        &mut self,
        scope: &ScopePath,
        step: StepId,
        attempt: u32,
        request: ModelRequest,
    ) {
        let asked = Replay::asked_model(request);
        self.replay_step(scope, step, attempt, asked);
    }

    /// Answers the call of an op that reaches outside.
    pub(crate) fn replay_op(
        &mut self,
        scope: &ScopePath,
        step: StepId,
        attempt: u32,
        name: &str,
        input: Arc<Map>,
    ) {
        // The secrets of the recording are out of all that came from it.
        let hidden = Hidden::default();
        let asked = Asked::op(name.into(), Arc::unwrap_or_clone(input), &self.bundle.ops, &hidden);
        self.replay_step(scope, step, attempt, asked);
    }

    fn replay_step(&mut self, scope: &ScopePath, step: StepId, attempt: u32, asked: Asked) {
        let Some(replay) = &mut self.replay else { return };
        let Some(exchange) = replay.find(&step, attempt, &asked) else {
            return replay.miss(&step, attempt, &asked);
        };
        let moment = replay.moment(&exchange);
        let (key, key_step, scope) = (scope.clone(), step.clone(), scope.clone());
        self.tasks.spawn(&key, &key_step, async move {
            come(moment, &exchange).await;
            let (attempt, error, used) = match exchange.came {
                Came::Reply(reply) => {
                    return Done::Model { scope, step, attempt, asked: None, price: None, result: Ok(reply) };
                }
                Came::Result(value) | Came::Answer(value) => {
                    let fee = exchange.fee;
                    return Done::Op { scope, step, attempt, cache: None, result: Ok(value), fee };
                }
                Came::Failed(error) => (Some(attempt), error, exchange.used),
                Came::GaveUp(error) => (None, error, Usage::default()),
                Came::Nothing => {
                    let nothing = "nothing came of it in the recording";
                    (None, StepError::new(ErrorKind::Cancelled, nothing), Usage::default())
                }
            };
            let fail_over = exchange.fail_over;
            Done::Failed { scope, step, attempt, error, used, fail_over, fee: exchange.fee }
        });
    }

    /// Answers a question, where the recording has an answer. Else false: nobody is there to ask.
    pub(crate) fn replay_question(
        &mut self,
        scope: &ScopePath,
        question: &Question,
        timeout_ms: Option<u64>,
    ) -> bool {
        let Some(replay) = &mut self.replay else { return false };
        // What did not fit was asked again until it did: one answer was recorded.
        if question.complaint.is_some() {
            return false;
        }
        let step = question.id.clone();
        let Some(exchange) = replay.find(&step, 1, &Asked::Person(question.text.clone())) else {
            return false;
        };
        let moment = replay.moment(&exchange);
        let (key, key_step, scope) = (scope.clone(), step.clone(), scope.clone());
        match exchange.came {
            Came::Answer(answer) => self.tasks.spawn(&key, &key_step, async move {
                wait_until(moment).await;
                Done::Answer { scope, step, answer: Some(answer) }
            }),
            // Its time was up.
            Came::GaveUp(_) if moment.is_some() && timeout_ms.is_some() => {
                self.tasks.spawn(&key, &key_step, async move {
                    wait_until(moment).await;
                    Done::Unanswered { scope, step }
                });
            }
            Came::GaveUp(error) => {
                self.commit_later(&scope, EntryBody::Failed { step, error });
                return true;
            }
            _ => return false,
        }
        self.questions.insert(key_step, (question.clone(), timeout_ms));
        true
    }
}

/// Waits until what came comes. Where nothing did, the step waits to be called off.
async fn come(moment: Option<Instant>, exchange: &Exchange) {
    match exchange.came {
        Came::Nothing => tokio::time::sleep(FOR_EVER).await,
        _ => wait_until(moment).await,
    }
}

async fn wait_until(moment: Option<Instant>) {
    if let Some(moment) = moment {
        sleep_until(moment).await;
    }
}
