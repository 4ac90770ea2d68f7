//! Carrying out one effect.

use std::sync::Arc;
use std::time::Duration;

use deepgraph_protocol::{
    CALLER_ENDED, Effect, EntryBody, ErrorKind, ExitReason, ScopePath, StepError, StepId, Value,
};
use deepgraph_trace::request_hash;

use crate::ask::{Question, Unattended};
use crate::begun::Begun;
use crate::driver::{Driver, Prepared};
use crate::replay::lost_dispatch;
use crate::tasks::{Done, bounded};
use crate::writes::OpCall;

/// Output tokens that are reserved for a call whose node does not bound them.
const UNBOUNDED_OUTPUT: u64 = 4096;

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
            Effect::CallModel { step, attempt, timeout_ms, .. } => {
                self.prepare_model(scope, step, attempt, timeout_ms);
            }
            Effect::RunOp { step, attempt, timeout_ms, op, input, writes, cache_ms, .. } => {
                let call = OpCall { step, attempt, timeout_ms, op, input, cache_ms };
                match writes {
                    true => self.claim_op(scope, call),
                    false => self.run_op(scope, call),
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

    fn wait_for_attempt(&mut self, scope: &ScopePath, mut effect: Effect, wait: u64) {
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

    /// Renders a model request and commits that it is sent; it is sent once that is durable.
    fn prepare_model(&mut self, scope: &ScopePath, step: StepId, attempt: u32, timeout_ms: Option<u64>) {
        let Some(live) = self.machines.get(scope) else { return };
        let request = match live.machine.model_request(&step) {
            Ok(request) => request,
            Err(error) => return self.commit_later(scope, EntryBody::Failed { step, error }),
        };
        let price = self.runtime.models.price(&request.model);
        let output = request.max_output.unwrap_or(UNBOUNDED_OUTPUT);
        let estimate = request.estimate_tokens();
        let usage =
            deepgraph_protocol::Usage { input_tokens: estimate, output_tokens: output, ..Default::default() };
        let free = price == Some(deepgraph_model::Price::FREE);
        let entry = EntryBody::Dispatched {
            step: step.clone(),
            attempt,
            request: Some(request_hash(&request)),
            reserve_tokens: if free { 0 } else { estimate + output },
            reserve_micro_usd: price.map(|p| p.cost(&usage)),
            key: None,
            takes_key: false,
            model: None,
            window: None,
            cut: None,
        };
        let lost =
            self.replay.as_ref().map(|replay| replay.lost(&step, attempt, &request)).unwrap_or_default();
        for reserved in &lost {
            self.commit_later(scope, lost_dispatch(&entry, *reserved));
        }
        let lost = lost.len();
        self.prepared.insert(step, Prepared { request: Arc::new(request), attempt, timeout_ms, lost });
        self.commit_later(scope, entry);
    }

    /// Sends a model request whose dispatch is durable, if the Machine still wants it.
    pub(crate) fn send_model(&mut self, scope: &ScopePath, step: &StepId) {
        if let Some(prepared) = self.prepared.get_mut(step).filter(|prepared| prepared.lost > 0) {
            prepared.lost -= 1;
            return;
        }
        let Some(prepared) = self.prepared.remove(step) else { return };
        if !self.machines.get(scope).is_some_and(|live| live.machine.is_open(step)) {
            return;
        }
        let Prepared { request, attempt, timeout_ms, .. } = prepared;
        if self.replay.is_some() {
            let request = Arc::unwrap_or_clone(request);
            return self.replay_model(scope, step.clone(), attempt, request);
        }
        let model = match self.runtime.models.get(&request.model) {
            Ok(model) => model,
            Err(error) => {
                let error = StepError::new(ErrorKind::NotFound, error.to_string());
                return self.commit_later(scope, EntryBody::Failed { step: step.clone(), error });
            }
        };
        let price = self.runtime.models.price(&request.model);
        let (scope, step) = (scope.clone(), step.clone());
        let (key, key_step) = (scope.clone(), step.clone());
        let previews = self.previews.clone();
        let place = self.model_places.clone();
        let begun = Begun::default();
        self.begun.insert(step.clone(), begun.clone());
        self.tasks.spawn(&key, &key_step, async move {
            let preview_step = step.clone();
            let preview = move |piece: &str| drop(previews.send((preview_step.clone(), piece.to_owned())));
            let call = begun.unless_withdrawn(model.reply(&request, &preview));
            let result = bounded(place, timeout_ms, call).await.map(|reply| {
                let mut reply = reply.answering(&request);
                let priced = price.map(|p| p.cost(&reply.usage));
                reply.cost_micro_usd = reply.cost_micro_usd.or(priced);
                Box::new(reply)
            });
            Done::Model { scope, step, attempt, result }
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
        self.prepared.remove(&step);
        let error = StepError::new(ErrorKind::Cancelled, "given up");
        let error = if never_sent { error.unsent() } else { error };
        self.commit_later(scope, EntryBody::Failed { step, error });
    }
}
