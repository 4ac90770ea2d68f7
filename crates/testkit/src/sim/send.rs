//! Sending attempts out in a simulated run, and giving steps up.

use std::sync::Arc;

use deepgraph_protocol::{
    CALLER_ENDED, Effect, EntryBody, ErrorKind, ExitReason, Millis, ScopePath, StepError, StepId,
};

use super::Sent;
use super::faults::{Fate, Fault};
use super::queue::{Item, What};
use super::world::World;

impl World<'_> {
    /// Sends an attempt of a model call or an op out, if it is still wanted.
    pub(crate) fn send(&mut self, scope: ScopePath, effect: Effect) {
        if !effect.step().is_some_and(|step| self.is_open(&scope, step)) {
            return;
        }
        match effect {
            Effect::CallModel { step, attempt, timeout_ms, .. } => {
                self.send_model(scope, step, attempt, timeout_ms);
            }
            Effect::RunOp { step, attempt, timeout_ms, op, input, writes, .. } => {
                self.note_out(&step);
                if writes && !self.claim(&scope, &step, attempt, &op, &input) {
                    return;
                }
                let takes = self.sim.outside().takes(&step, Some(&op), attempt);
                self.wait_for(scope, (&step, attempt), takes, timeout_ms, |late| {
                    let (op, input) = (op.clone(), input.clone());
                    What::Op { step: step.clone(), attempt, op, input, late }
                });
            }
            _ => {}
        }
    }

    fn send_model(&mut self, scope: ScopePath, step: StepId, attempt: u32, timeout_ms: Option<u64>) {
        let Some(machine) = self.machines.get(&scope) else { return };
        let request = match machine.model_request(&step) {
            Ok(request) => Arc::new(request),
            Err(error) => return self.commit(scope, EntryBody::Failed { step, error }),
        };
        let (tokens, price) = self.sim.outside().reserves(&step, attempt, &request);
        self.note_out(&step);
        let dispatched = EntryBody::Dispatched {
            step: step.clone(),
            attempt,
            request: None,
            reserve_tokens: tokens,
            reserve_micro_usd: price,
            key: None,
            takes_key: false,
            model: None,
            window: None,
            cut: None,
        };
        self.commit(scope.clone(), dispatched);
        // The Machine closes a step that does not fit a limit. A driver that crashes now has not sent it.
        if self.is_open(&scope, &step) && !self.down {
            self.run.sent.push(Sent { step: step.clone(), request: request.clone() });
            let takes = self.sim.outside().takes(&step, None, attempt);
            self.wait_for(scope, (&step, attempt), takes, timeout_ms, |late| What::Model {
                step: step.clone(),
                attempt,
                request: request.clone(),
                late,
            });
        }
    }

    /// An attempt comes back when its time has passed. One that takes longer than its timeout is given up then, and
    /// what it brings comes late.
    fn wait_for(
        &mut self,
        scope: ScopePath,
        (step, attempt): (&StepId, u32),
        takes: Millis,
        timeout_ms: Option<u64>,
        what: impl Fn(bool) -> What,
    ) {
        let timeout = timeout_ms.and_then(|ms| Millis::try_from(ms).ok());
        let fate = self.sim.chances.fate(step, attempt, timeout_ms);
        let takes = match (fate, timeout) {
            (Fate::Late(after), Some(ms)) => ms.saturating_add(after),
            _ => takes,
        };
        let timeout = timeout.filter(|ms| takes > *ms || fate == Fate::Lost);
        if let Some(ms) = timeout {
            let timed_out = What::TimedOut { step: step.clone(), attempt, ms };
            self.queue.push(Item { at: self.now.saturating_add(ms), scope: scope.clone(), what: timed_out });
        }
        if fate == Fate::Lost {
            return self.note(Fault::Lost);
        }
        self.queue.push(Item { at: self.now.saturating_add(takes), scope, what: what(timeout.is_some()) });
    }

    pub(crate) fn abandon(
        &mut self,
        scope: ScopePath,
        step: StepId,
        grace_ms: u64,
        reason: Option<ExitReason>,
    ) {
        let child = step.scope();
        if let Some(machine) = self.machines.get(&child) {
            if machine.end().is_none() {
                self.commit(
                    child,
                    EntryBody::CancelRequested {
                        detail: Some(CALLER_ENDED.to_owned()),
                        reason,
                        at_once: false,
                    },
                );
            }
            return;
        }
        if !self.is_open(&scope, &step) {
            return;
        }
        let until = self.now.saturating_add(Millis::try_from(grace_ms).unwrap_or(Millis::MAX));
        match self.queue.comes_back(&step) {
            Some(at) if grace_ms > 0 && at <= until => {}
            Some(_) if grace_ms > 0 => {
                self.queue.push(Item { at: until, scope, what: What::GiveUp { step } });
            }
            _ => self.give_up(scope, step),
        }
    }

    pub(crate) fn give_up(&mut self, scope: ScopePath, step: StepId) {
        if self.sim.chances.comes_late(&step) {
            self.queue.let_come_late(&step);
        } else {
            self.queue.drop_step(&step);
        }
        if self.is_open(&scope, &step) {
            let error = StepError::new(ErrorKind::Cancelled, "given up");
            self.commit(scope, EntryBody::Failed { step, error });
        }
    }
}
