//! Carrying out one effect.

use std::time::Duration;

use deepgraph_protocol::{
    CALLER_ENDED, Effect, EntryBody, ErrorKind, ExitReason, ScopePath, StepError, StepId, Value,
};

use crate::ask::{Question, Unattended};
use crate::asking::{ModelCall, give_back};
use crate::begun::Begun;
use crate::driver::Driver;
use crate::jitter::with_jitter;
use crate::tasks::Done;
use crate::writes::OpCall;

impl Driver<'_> {
    /// Carries an effect of a scope out, or begins to.
    pub(crate) fn carry_out(&mut self, scope: &ScopePath, effect: Effect) {
        match effect {
            // A replay has no reason to wait.
            Effect::CallModel { delay_ms, .. } | Effect::RunOp { delay_ms, .. }
                if delay_ms > 0 && self.replay.is_none() =>
            {
                self.wait_for_attempt(scope, effect, delay_ms);
            }
            Effect::CallModel { step, attempt, timeout_ms, route, .. } => {
                self.prepare_model(scope, ModelCall { step, attempt, timeout_ms, route });
            }
            Effect::RunOp { step, attempt, timeout_ms, op, input, writes, cache_ms, .. } => {
                let call = OpCall { step, attempt, timeout_ms, op, input, cache_ms, writes };
                match writes {
                    true => self.claim_op(scope, call),
                    false => self.reserve_op(scope, call),
                }
            }
            Effect::Spawn { .. } | Effect::Reopen { .. } => self.open_child(scope, &effect),
            Effect::Ask { step, question, shape, timeout_ms } => {
                let question = Question { id: step, text: question, shape, complaint: None };
                self.put_question(scope, question, timeout_ms);
            }
            Effect::WakeAt { timer, at } => {
                let wait = u64::try_from(at - self.now()).unwrap_or(0);
                self.tasks.timer(scope.clone(), timer, Duration::from_millis(wait));
            }
            Effect::Abandon { step, grace_ms, reason } => self.abandon(scope, step, grace_ms, reason),
        }
    }

    fn wait_for_attempt(&mut self, scope: &ScopePath, mut effect: Effect, mut wait: u64) {
        if let Effect::CallModel { step, attempt, .. } = &effect {
            // How much longer it waits than its back-off is no active time either.
            self.hold(scope, step, *attempt);
            wait = with_jitter(&self.run, step, *attempt, wait);
        }
        if let Effect::CallModel { delay_ms, .. } | Effect::RunOp { delay_ms, .. } = &mut effect {
            *delay_ms = 0;
        }
        let Some(step) = effect.step().cloned() else { return };
        let scope = scope.clone();
        let key = scope.clone();
        self.tasks.wait(&key, &step, async move {
            tokio::time::sleep(Duration::from_millis(wait)).await;
            Done::Due { scope, effect }
        });
    }

    pub(crate) fn put_question(&mut self, scope: &ScopePath, question: Question, timeout_ms: Option<u64>) {
        let step = question.id.clone();
        if let Some(text) = self.answers.remove(&step) {
            let answer = Some(question.read(&text));
            self.questions.insert(step.clone(), (question, timeout_ms));
            return self.take_answer(scope, step, answer);
        }
        if self.replay_question(scope, &question, timeout_ms) {
            return;
        }
        self.questions.insert(step.clone(), (question.clone(), timeout_ms));
        let asker = self.runtime.asker.clone().filter(|_| self.replay.is_none());
        match (asker, self.runtime.unattended) {
            (Some(asker), _) => {
                let (scope, key) = (scope.clone(), scope.clone());
                let key_step = step.clone();
                self.tasks.spawn(&key, &key_step, async move {
                    let ask = asker.ask(&question);
                    let Some(ms) = timeout_ms else {
                        let answer = ask.await;
                        return Done::Answer { scope, step, answer };
                    };
                    match tokio::time::timeout(Duration::from_millis(ms), ask).await {
                        Ok(answer) => Done::Answer { scope, step, answer },
                        Err(_) => Done::Unanswered { scope, step },
                    }
                });
            }
            (None, Unattended::Wait) => {}
            (None, Unattended::Refuse) => {
                self.questions.remove(&step);
                let error = StepError::new(ErrorKind::Unanswered, "nobody can be asked in this run");
                self.commit_later(scope, EntryBody::Failed { step, error });
            }
        }
    }

    /// Takes an answer if it fits; else asks again, saying what was wrong.
    pub(crate) fn take_answer(&mut self, scope: &ScopePath, step: StepId, answer: Option<Value>) {
        let Some((mut question, timeout_ms)) = self.questions.remove(&step) else { return };
        let Some(live) = self.machines.get(scope) else { return };
        let Some(answer) = answer else {
            let error = StepError::new(ErrorKind::Unanswered, "the question was not answered");
            return self.commit_later(scope, EntryBody::Failed { step, error });
        };
        match live.machine.check_answer(&step, &answer) {
            Ok(answer) => self.commit_later(scope, EntryBody::Answered { step, answer }),
            Err(complaint) => {
                question.complaint = Some(complaint);
                self.put_question(scope, question, timeout_ms);
            }
        }
    }

    fn abandon(&mut self, scope: &ScopePath, step: StepId, grace_ms: u64, reason: Option<ExitReason>) {
        let child = step.scope();
        if self.slots.withdraw(&child) {
            return self.withdrawn(scope, step);
        }
        if self.machines.contains_key(&child) {
            let detail = Some(CALLER_ENDED.to_owned());
            let at_once = self.cancel == crate::Cancel::AtOnce;
            return self.commit_later(&child, EntryBody::CancelRequested { detail, reason, at_once });
        }
        let asked = self.questions.remove(&step).is_some();
        // There is nothing to wait for after a crash, and with what was not sent yet: that is not begun any more.
        let is_out = self.tasks.is_out(&step) && !self.withdraw(&step);
        if asked || !is_out || grace_ms == 0 || self.cancel == crate::Cancel::AtOnce {
            return self.give_up(scope, step);
        }
        self.tasks.grace(scope.clone(), step, Duration::from_millis(grace_ms));
    }

    /// Sees to it that a step is not sent that was not sent yet. False where it was, or is. In a replay it is as in the
    /// recorded run.
    fn withdraw(&self, step: &StepId) -> bool {
        if let Some(replay) = &self.replay {
            return replay.was_unsent(step);
        }
        let is_held = self.prepared.contains_key(step) || self.claims.contains_key(step);
        is_held || self.tasks.is_waiting(step) || self.begun.get(step).is_some_and(Begun::withdraw)
    }

    /// Stops the work for a step and commits that nothing comes of it.
    pub(crate) fn give_up(&mut self, scope: &ScopePath, step: StepId) {
        let never_sent = self.withdraw(&step);
        self.tasks.abort(&step);
        self.begun.remove(&step);
        self.claims.remove(&step);
        // It may have been let out already: then its place is given back.
        if let Some(prepared) = self.prepared.remove(&step).filter(|prepared| prepared.waits.is_none()) {
            give_back(&prepared.passed);
        }
        let error = StepError::new(ErrorKind::Cancelled, "given up");
        let error = if never_sent { error.unsent() } else { error };
        self.commit_later(scope, EntryBody::Failed { step, error });
    }
}
