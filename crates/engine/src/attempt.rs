//! Attempts: which failures are repeated, how often, and after what wait.

use deepgraph_graph::{Retry, Verb};
use deepgraph_protocol::{Effect, ErrorKind, Event, Map, StepError, StepId, Value};

use crate::machine::{EffectKey, Machine};
use crate::run::{Attempts, Outcome, Work};
use crate::settle::Place;

/// The longest wait between two attempts, in milliseconds.
const LONGEST_BACKOFF_MS: u64 = 300_000;

impl Machine {
    /// Sends a step out again if its policy allows, else fails it.
    pub(crate) fn try_again(&mut self, step: &StepId, place: Place, attempt: u32, error: StepError) {
        let Some(attempts) = self.attempts(place).map(|a| *a) else { return };
        if attempts.number != attempt {
            return;
        }
        match self.next_attempt(place, attempts, &error) {
            Some((next, delay_ms)) => {
                self.tell(Event::AttemptFailed { step: step.clone(), attempt, error, delay_ms });
                if let Some(slot) = self.attempts(place) {
                    *slot = next;
                }
                self.send_again(step, next.number, delay_ms);
            }
            None => self.finish(step, place, Outcome::Failed(error)),
        }
    }

    fn next_attempt(&self, place: Place, before: Attempts, error: &StepError) -> Option<(Attempts, u64)> {
        if self.cancelling.is_some() || self.stopping || self.overtime.is_some() {
            return None;
        }
        let run = self.current.get(place.node)?;
        let node = &self.plan().nodes[run.node.0];
        let mut next = Attempts { number: before.number + 1, ..before };
        if error.kind == ErrorKind::ContextOverflow
            && let Verb::Model(model) = &node.verb
        {
            next.overflows += 1;
            return (next.overflows < model.truncate.tries).then_some((next, 0));
        }
        next.failed += 1;
        let retry = match (&run.work, place.call) {
            (Work::Turn(turn), Some(call)) => &self.plan().tools[turn.calls.get(call)?.tool?.0].retry,
            _ => &node.retry,
        };
        let max = retry.max.count(&self.config).unwrap_or(1);
        (u64::from(next.failed) < max && self.is_repeatable(retry, error))
            .then(|| (next, backoff(retry, &self.config, next.failed, error.retry_after_ms)))
    }

    fn is_repeatable(&self, retry: &Retry, error: &StepError) -> bool {
        match &retry.condition {
            None => error.kind.is_transient(),
            Some(condition) => {
                let names = self.names().with_error(Value::of(error));
                self.evaluate(condition, &names).is_ok_and(|v| v.is_true())
            }
        }
    }

    fn send_again(&mut self, step: &StepId, number: u32, delay: u64) {
        let key = EffectKey::Step(step.clone());
        let Some(mut effect) = self.effects.get(&key).cloned() else { return };
        if let Effect::CallModel { attempt, delay_ms, .. } | Effect::RunOp { attempt, delay_ms, .. } =
            &mut effect
        {
            *attempt = number;
            *delay_ms = delay;
        }
        self.open(effect);
    }
}

/// The wait before the attempt after `failed` failures: backoff · factor^(failed − 1), at least what the
/// provider asks for.
fn backoff(retry: &Retry, config: &Map, failed: u32, asked: Option<u64>) -> u64 {
    let first = retry.backoff.millis(config).unwrap_or(0) as f64;
    let grown = first * retry.factor.max(1.0).powi(i32::try_from(failed.saturating_sub(1)).unwrap_or(30));
    (grown as u64).max(asked.unwrap_or(0)).min(LONGEST_BACKOFF_MS)
}
