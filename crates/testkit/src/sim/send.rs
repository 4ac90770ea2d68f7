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
            Effect::CallModel { step, attempt, timeout_ms, route, .. } => {
                self.send_model(scope, (step, attempt, route), timeout_ms);
            }
            Effect::RunOp { step, attempt, timeout_ms, op, input, writes, .. } => {
                self.note_out(&step);
                let is_sent = match writes {
                    true => self.claim(&scope, &step, attempt, &op, &input),
                    false => self.reserve(&scope, &step, attempt, &op, &input),
                };
                if !is_sent {
                    return;
                }
                let takes = self.sim.outside().takes(&step, Some(&op), attempt);
                self.wait_for(scope, (&step, attempt, false), takes, timeout_ms, |late| {
                    let (op, input) = (op.clone(), input.clone());
                    What::Op { step: step.clone(), attempt, op, input, late }
                });
            }
            _ => {}
        }
    }

    /// A model call that waits for the limiter of its account is told to be held. For how long, in milliseconds.
    pub(crate) fn hold(&mut self, scope: &ScopePath, effect: &Effect) -> u64 {
        let Effect::CallModel { step, attempt, .. } = effect else { return 0 };
        if !self.is_open(scope, step) {
            return 0;
        }
        let held = u64::try_from(self.sim.outside().held(step, *attempt)).unwrap_or(0);
        if held > 0 && self.let_out.insert((step.clone(), *attempt)) {
            self.commit(scope.clone(), EntryBody::Held { step: step.clone(), attempt: *attempt });
            return held;
        }
        0
    }

    fn send_model(
        &mut self,
        scope: ScopePath,
        (step, attempt, route): (StepId, u32, u32),
        timeout_ms: Option<u64>,
    ) {
        let Some(machine) = self.machines.get(&scope) else { return };
        let configured = machine.model_of(&step);
        let models = configured.as_deref().map(|model| self.sim.outside().route(model)).unwrap_or_default();
        let nth = usize::try_from(route).unwrap_or(usize::MAX).min(models.len().saturating_sub(1));
        let asked = models.get(nth).filter(|_| nth > 0).map(|model| Arc::<str>::from(model.as_str()));
        let has_next = nth + 1 < models.len();
        self.run.longest_route = self.run.longest_route.max(models.len());
        let window = models.get(nth).and_then(|model| self.sim.outside().window(model));
        let Some(machine) = self.machines.get(&scope) else { return };
        let fitted = match machine.fitted_request(&step, window) {
            Ok(fitted) => fitted,
            Err(error) => return self.commit(scope, EntryBody::Failed { step, error }),
        };
        let mut request = fitted.request;
        if let Some(asked) = &asked {
            request.model = asked.to_string();
        }
        let request = Arc::new(request);
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
            model: asked,
            window: fitted.window,
            cut: fitted.cut,
        };
        self.commit(scope.clone(), dispatched);
        // The Machine closes a step that does not fit a limit. A driver that crashes now has not sent it.
        if self.is_open(&scope, &step) && !self.down {
            self.run.sent.push(Sent { step: step.clone(), request: request.clone() });
            let takes = self.sim.outside().takes(&step, None, attempt);
            self.wait_for(scope, (&step, attempt, has_next), takes, timeout_ms, |late| What::Model {
                step: step.clone(),
                attempt,
                request: request.clone(),
                has_next,
                late,
            });
        }
    }

    /// An attempt comes back when its time has passed. One that takes longer than its timeout is given up then, and
    /// what it brings comes late.
    fn wait_for(
        &mut self,
        scope: ScopePath,
        (step, attempt, has_next): (&StepId, u32, bool),
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
            let timed_out = What::TimedOut { step: step.clone(), attempt, has_next, ms };
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
