//! What comes back: dispatches, completions, failures and attempts, answers, timers, cancellation.
//!
//! An entry about a step that is not open is late or a duplicate: it changes nothing. The driver sees to it
//! that what it used is settled with the entry that closed the step.

use deepgraph_graph::{Returns, Verb};
use deepgraph_protocol::{
    Effect, ErrorKind, ExitClass, ExitReason, Fee, Meter, Millis, ScopeEnd, Spent, StepError, StepId,
    StepOutput, Usage, Value,
};

use crate::exit::{Came, Candidate};
use crate::fee::paid;
use crate::limits::Counts;
use crate::machine::{Machine, Phase};
use crate::place::{Part, Place, opens};
use crate::run::{ItemStage, Outcome, Progress, Stage, Work};

/// Milliseconds that a step may still take once the run is cancelled.
pub(crate) const CANCEL_GRACE_MS: u64 = 10_000;

impl Machine {
    /// A step is about to be sent out: its reservation is taken, or the limit that has no room for it acts.
    pub(crate) fn dispatched(
        &mut self,
        step: &StepId,
        attempt: u32,
        tokens: u64,
        price: Option<u64>,
        is_claim: bool,
    ) {
        let Some(place) = self.place(step) else { return };
        let Some(attempts) = self.attempts(place) else { return };
        if attempts.number != attempt {
            return;
        }
        let first = !std::mem::replace(&mut attempts.dispatched, true);
        if !self.is_model(place) {
            // A claim without a price is that of a call that costs nothing.
            if !is_claim || price.is_some() {
                self.reserve_fee(step, attempt, place, price);
            }
            return;
        }
        self.coming = self.coming.saturating_sub(u64::from(first));
        if let Some(full) = self.no_reservation(tokens, price) {
            // Sent out before a crash, it does not fit a second time: what it cost then was never learnt.
            self.ledger.lose(step);
            self.stop_at_limit(step, place, full);
            return;
        }
        let amount = Spent {
            tokens,
            cost_micro_usd: price.unwrap_or(0),
            cost_unknown: u64::from(price.is_none()),
            model_calls: 1,
            tool_calls: 0,
        };
        self.counters.model_calls += 1;
        self.ledger.reserve(step, attempt, amount);
    }

    /// The limit that a reservation does not fit, by its index, or why it can not be judged.
    fn no_reservation(&self, tokens: u64, price: Option<u64>) -> Option<Result<usize, String>> {
        let in_finally = self.in_finally();
        let at = self.reading();
        self.limits.iter().enumerate().find_map(|(i, limit)| {
            let bound = limit.bound(in_finally)?;
            let wanted = match limit.counts {
                // A first attempt was let start; one more has to find room here.
                Counts::Meter(Meter::ModelCalls) => 1,
                Counts::Meter(Meter::Tokens) => tokens,
                Counts::Meter(Meter::CostUsd) => match price {
                    Some(price) => price,
                    None => {
                        return Some(Err(format!(
                            "the limit `{}` needs a price, and none is known for this model; give the model a \
                             price or take the limit off",
                            limit.name
                        )));
                    }
                },
                _ => return None,
            };
            (limit.taken(&at).saturating_add(wanted) > bound).then_some(Ok(i))
        })
    }

    pub(crate) fn stop_at_limit(&mut self, step: &StepId, place: Place, full: Result<usize, String>) {
        let error = match full {
            Err(why) => StepError::new(ErrorKind::Refused, why),
            Ok(i) => {
                let (hit, on_reach) = {
                    let at = self.reading();
                    let limit = &self.limits[i];
                    (limit.hit(limit.taken(&at)), limit.on_reach.clone())
                };
                self.tell_limit(&hit);
                let message =
                    format!("the call does not fit what is left of the limit `{}` ({})", hit.name, hit.bound);
                if !self.in_finally() {
                    self.act(hit, on_reach);
                }
                StepError::new(ErrorKind::Refused, message)
            }
        };
        self.finish(step, place, Outcome::Failed(error));
    }

    pub(crate) fn is_model(&self, place: Place) -> bool {
        matches!(place.part, Part::Whole | Part::Item(_))
            && self
                .current
                .get(place.node)
                .is_some_and(|run| matches!(self.plan().nodes[run.node.0].verb, Verb::Model(_)))
    }

    pub(crate) fn completed(&mut self, step: &StepId, attempt: u32, output: &StepOutput, fee: Fee) {
        let Some(place) = self.place_of_attempt(step, attempt) else {
            // It was given up: what it used is known now, and nothing else changes.
            match output {
                StepOutput::Model(reply) => {
                    self.ledger.late(step, attempt, spent(reply.usage, reply.cost_micro_usd));
                }
                StepOutput::Op(record) => {
                    self.ledger.late(step, attempt, paid(fee));
                    self.learnt_late(step, attempt, Some(record));
                }
            }
            return;
        };
        match output {
            StepOutput::Model(reply) => {
                self.ledger.settle(step, attempt, spent(reply.usage, reply.cost_micro_usd));
                self.judge_reply(step, place, attempt, reply);
            }
            StepOutput::Op(record) => {
                self.ledger.settle(step, attempt, paid(fee));
                self.note_written(step, place, record);
                self.finish(step, place, Outcome::Record(record.clone()));
            }
        }
    }

    pub(crate) fn attempt_failed(
        &mut self,
        step: &StepId,
        attempt: u32,
        error: &StepError,
        (usage, fee): (Usage, Fee),
        fail_over: bool,
    ) {
        let Some(place) = self.place_of_attempt(step, attempt) else {
            // Of an attempt that was taken for lost it may be known now what it used; else it stays charged.
            if usage.tokens() > 0 {
                self.ledger.late(step, attempt, spent_in_vain(usage, fee));
            } else if !fee.is_none() {
                self.ledger.late(step, attempt, paid(fee));
            }
            if !error.leaves_open() {
                self.learnt_late(step, attempt, None);
            }
            return;
        };
        if self.is_model(place) {
            // The provider may have worked for an answer that never came: that stays charged.
            let lost = matches!(error.kind, ErrorKind::StepTimeout | ErrorKind::Network) && !error.unsent;
            if lost && usage.tokens() == 0 {
                self.ledger.lose(step);
            } else {
                self.ledger.settle(step, attempt, spent_in_vain(usage, fee));
            }
        } else {
            self.settle_failed_fee(step, attempt, error, fee);
        }
        if !fail_over || !self.ask_next(step, place, error) {
            self.try_again(step, place, attempt, error.clone());
        }
    }

    /// Where a step stands whose attempt of this number is out.
    pub(crate) fn place_of_attempt(&self, step: &StepId, attempt: u32) -> Option<Place> {
        let place = self.place(step)?;
        (self.open_at(place)?.attempts.number == attempt).then_some(place)
    }

    pub(crate) fn failed(&mut self, step: &StepId, error: &StepError) {
        let Some(place) = self.place(step) else { return };
        if matches!(place.part, Part::Approval(_)) {
            return self.not_approved(place, error);
        }
        // What was sent out and given up stays charged; what was not sent has used nothing.
        match self.open_at(place).map(|open| open.attempts.number).filter(|_| error.unsent) {
            Some(attempt) => self.ledger.settle(step, attempt, Spent::default()),
            None => self.ledger.lose(step),
        }
        self.ledger.settle_child(step, Spent::default());
        let error = match &self.overtime {
            Some(why) if error.kind == ErrorKind::Cancelled && self.cancelling.is_none() => why.clone(),
            _ => error.clone(),
        };
        let error = self.given_up_write(step, place, error);
        self.finish(step, place, Outcome::Failed(error));
    }

    pub(crate) fn child_ended(&mut self, step: &StepId, end: &ScopeEnd) {
        let Some(place) = self.place(step) else { return };
        self.ledger.settle_child(step, end.settled);
        // A child that went on tells all of its writes again.
        self.writes.retain(|known| end.writes.iter().all(|written| written.step != known.step));
        self.writes.extend(end.writes.iter().cloned());
        self.finish(step, place, Outcome::Child(Box::new(end.clone())));
    }

    pub(crate) fn answered(&mut self, step: &StepId, answer: &Value) {
        let Some(place) = self.place(step) else { return };
        if matches!(place.part, Part::Approval(_)) {
            return self.approved(place, answer);
        }
        let Some(returns) = self.returns_of(place) else { return };
        // An answer that does not fit leaves the question open.
        let Ok(data) = returns.field.check(answer) else { return };
        let text = data.as_str().map_or_else(|| data.to_json_text(), str::to_owned);
        let record = Value::record([("text", Value::from(text)), ("data", data)]);
        self.clock.begin_turn(self.now);
        self.finish(step, place, Outcome::Record(record));
    }

    pub(crate) fn cancel_requested(&mut self, detail: Option<String>, reason: Option<&ExitReason>) {
        if self.phase == Phase::Ended || self.cancelling.is_some() {
            return;
        }
        match reason {
            None => {
                self.cancelling = Some(detail);
                let grace_ms = if self.undoing.at_once { 0 } else { CANCEL_GRACE_MS };
                self.abandon_all(Giving { grace_ms, reason: None }, "cancelled");
            }
            // The parent's time is up: this instance ends as if it were its own.
            Some(reason) if self.phase == Phase::Main && !self.stopping => {
                let class = reason.class().unwrap_or(ExitClass::Budget);
                self.candidates.push(Candidate {
                    detail,
                    came: Came::Above,
                    ..Candidate::route(reason.clone(), class)
                });
                self.stopping = true;
                self.abandon_all(Giving { grace_ms: 0, reason: Some(reason.clone()) }, "the time is up");
            }
            Some(_) => {}
        }
    }

    /// Gives up every step that is out, within a grace; calls and items that wait for a place do not start any
    /// more.
    pub(crate) fn abandon_all(&mut self, giving: Giving, why: &str) {
        let given_up = || Progress::Done(Outcome::Failed(StepError::new(ErrorKind::Cancelled, why)));
        let bundle = self.bundle.clone();
        let plan = bundle.graph(self.graph);
        for run in &mut self.current {
            let is_model = matches!(plan.nodes[run.node.0].verb, Verb::Model(_));
            match &mut run.work {
                Work::Step(_) => {}
                Work::Turn(turn) => {
                    for call in turn.calls.iter_mut().filter(|c| matches!(c.stage, Stage::Queued(_))) {
                        self.ledger.settle_child(&call.step, Spent::default());
                        call.stage = Stage::Admitted(given_up());
                        self.unfinished = self.unfinished.saturating_sub(1);
                    }
                }
                Work::Each(items) => {
                    for (index, item) in items.items.iter_mut().enumerate() {
                        let ItemStage::Waiting(waiting) = &mut item.stage else { continue };
                        let outcome = std::mem::take(waiting).given_up(why);
                        self.ledger.settle_child(&run.step.item(index + 1), Spent::default());
                        item.stage = ItemStage::Started(Progress::Done(outcome));
                        self.coming = self.coming.saturating_sub(u64::from(is_model));
                        self.unfinished = self.unfinished.saturating_sub(1);
                    }
                }
            }
        }
        let abandoned: Vec<Effect> = self.abandons(&giving).collect();
        self.out.extend(abandoned.into_iter().map(Effect::into));
        self.giving = Some(giving);
    }

    /// What gives up the steps that are out. A child whose deadline is ours ends by itself.
    pub(crate) fn abandons(&self, giving: &Giving) -> impl Iterator<Item = Effect> {
        let by_itself = giving.reason == Some(ExitReason::Deadline);
        let now = self.now;
        let effects = self.current.iter().flat_map(opens).filter_map(|open| open.effect.as_ref());
        effects
            .filter(move |e| !(by_itself && deadline(e).is_some_and(|at| at <= now)))
            .filter_map(Effect::step)
            .map(move |step| Effect::Abandon {
                step: step.clone(),
                grace_ms: giving.grace_ms,
                reason: giving.reason.clone(),
            })
    }
}

/// The deadline of the child that an effect lets work; none where it has none, or where no child does.
fn deadline(effect: &Effect) -> Option<Millis> {
    match effect {
        Effect::Spawn { grant, .. } | Effect::Reopen { grant, .. } => grant.deadline,
        _ => None,
    }
}

/// How steps are given up.
#[derive(Clone, Debug)]
pub(crate) struct Giving {
    /// Milliseconds that a step may still take.
    pub(crate) grace_ms: u64,
    /// By which exit children end; none: cancelled.
    pub(crate) reason: Option<ExitReason>,
}

/// What a model call used that failed.
fn spent_in_vain(usage: Usage, fee: Fee) -> Spent {
    Spent { tokens: usage.tokens(), model_calls: 1, ..paid(fee) }
}

fn spent(usage: Usage, price: Option<u64>) -> Spent {
    Spent {
        tokens: usage.tokens(),
        cost_micro_usd: price.unwrap_or(0),
        cost_unknown: u64::from(price.is_none()),
        model_calls: 1,
        tool_calls: 0,
    }
}

impl Machine {
    /// Whether an answer fits the question of a step.
    ///
    /// # Errors
    ///
    /// What does not fit, for the person who answered.
    pub fn check_answer(&self, step: &StepId, answer: &Value) -> Result<Value, String> {
        let place = self.place(step);
        if let Some(place) = place.filter(|p| matches!(p.part, Part::Approval(_))) {
            return self.read_decision(place, answer).map(|_| answer.clone());
        }
        let returns = place.and_then(|place| self.returns_of(place));
        let returns = returns.ok_or_else(|| format!("`{step}` is no open question"))?;
        returns.field.check(answer).map_err(|e| e.to_string())
    }

    fn returns_of(&self, place: Place) -> Option<&Returns> {
        let run = self.current.get(place.node)?;
        match (&run.work, place.part) {
            (Work::Turn(turn), Part::Call(call)) => {
                let tool = turn.calls.get(call)?.tool?;
                self.plan().tools[tool.0].ask.as_ref().map(|ask| &ask.returns)
            }
            _ => match &self.plan().nodes[run.node.0].verb {
                Verb::Ask(ask) => Some(&ask.returns),
                _ => None,
            },
        }
    }
}
