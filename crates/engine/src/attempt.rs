//! Attempts: which failures are repeated, how often, and after what wait.

use deepgraph_graph::{Retry, Verb};
use deepgraph_protocol::{Effect, ErrorKind, Event, MOST_FAIL_OVERS, Map, StepError, StepId};

use crate::machine::Machine;
use crate::names::Local;
use crate::place::{Part, Place};
use crate::run::{Attempts, Outcome, Progress, Room, Work};

/// The longest wait between two attempts, in milliseconds.
const LONGEST_BACKOFF_MS: u64 = 300_000;

impl Machine {
    /// Sends a step out again if its policy allows, else fails it.
    pub(crate) fn try_again(&mut self, step: &StepId, place: Place, attempt: u32, error: StepError) {
        let Some(attempts) = self.attempts(place).map(|a| *a) else { return };
        if attempts.number != attempt {
            return;
        }
        match self.next_attempt(step, place, attempts, &error) {
            Some((next, delay_ms)) => {
                self.note_open(step, place, &error);
                let fail_over = false;
                self.tell(Event::AttemptFailed { step: step.clone(), attempt, error, delay_ms, fail_over });
                self.send_again(place, next, delay_ms);
            }
            None => {
                let error = self.fails_unlearnt(step, place, error);
                self.finish(step, place, Outcome::Failed(error));
            }
        }
    }

    /// Asks the next model of the route, at once: the failure does not count. False where that can not be.
    pub(crate) fn ask_next(&mut self, step: &StepId, place: Place, error: &StepError) -> bool {
        let Some(before) = self.attempts(place).map(|a| *a) else { return false };
        let may_be_asked = error.kind.fails_over() && before.route < MOST_FAIL_OVERS;
        if !may_be_asked || !self.is_model(place) || self.gives_up() {
            return false;
        }
        let (attempt, error_kind, error) = (before.number, error.kind, error.clone());
        self.tell(Event::AttemptFailed { step: step.clone(), attempt, error, delay_ms: 0, fail_over: true });
        // The next model has a window of its own.
        let room = Room::default();
        let led = before.led.or(Some(error_kind));
        let next = Attempts { number: attempt + 1, route: before.route + 1, led, room, ..before };
        self.send_again(place, next, 0);
        true
    }

    /// Notes whether an attempt went to another model than the configured one.
    pub(crate) fn stands_in(&mut self, step: &StepId, attempt: u32, in_place: bool) {
        let Some(place) = self.place_of_attempt(step, attempt) else { return };
        if let Some(attempts) = self.attempts(place) {
            attempts.in_place = in_place;
        }
    }

    /// Whether an attempt that failed so is the last of several.
    pub(crate) fn is_last_of_several(&self, step: &StepId, place: Place, error: &StepError) -> bool {
        let attempts = self.open_at(place).map(|open| open.attempts);
        attempts.is_some_and(|attempts| {
            attempts.failed > 0 && self.next_attempt(step, place, attempts, error).is_none()
        })
    }

    /// Whether nothing is tried any more.
    fn gives_up(&self) -> bool {
        self.cancelling.is_some() || self.stopping || self.overtime.is_some()
    }

    fn next_attempt(
        &self,
        step: &StepId,
        place: Place,
        before: Attempts,
        error: &StepError,
    ) -> Option<(Attempts, u64)> {
        if self.gives_up() {
            return None;
        }
        let run = self.current.get(place.node)?;
        let node = &self.plan().nodes[run.node.0];
        let mut next = Attempts { number: before.number + 1, ..before };
        // A fallback that is no help counts as the trouble that led to it. Where that came to others before, it is like
        // theirs: no answer for now.
        let stands_in = before.route > 0 || before.in_place;
        let led = (stands_in && error.kind.spoils_fallback())
            .then(|| StepError::new(before.led.unwrap_or(ErrorKind::Unavailable), error.message.clone()));
        if error.kind == ErrorKind::ContextOverflow
            && let Verb::Model(model) = &node.verb
        {
            next.overflows += 1;
            next.room = self.room_after(step, before.room, error);
            if next.overflows < model.truncate.tries {
                return Some((next, 0));
            }
            led.as_ref()?;
        }
        next.failed += 1;
        if next.route > 0 || before.in_place {
            (next.route, next.led, next.in_place, next.room) = (0, None, false, Room::default());
        }
        if led.is_some() {
            // What another model could not hold says nothing of the configured one.
            next.overflows = 0;
        }
        let retry = match (&run.work, place.part) {
            (Work::Turn(turn), Part::Call(call)) => &self.plan().tools[turn.calls.get(call)?.tool?.0].retry,
            _ => &node.retry,
        };
        // Something that changes the outside is not done twice on the chance that it was not done: only where it is
        // known not to have been, where a second call under the same key does nothing, or where the graph says by `if`
        // which errors it may be repeated after.
        let keyed = before.claimed().is_some_and(|claim| claim.takes_key);
        let undone = keyed || error.unsent || error.kind == ErrorKind::RateLimited;
        if self.writes_at(place) && retry.condition.is_none() && !undone {
            return None;
        }
        let max = retry.max.count(&self.config).unwrap_or(1);
        let local = self.local_at(place);
        // A condition may name the failure as it came, or as what it leaves open.
        let as_unknown = self.unlearnt_as(place, error.clone());
        let is_repeatable = |error: &StepError| self.is_repeatable(retry, error, &local);
        let may_help =
            [Some(error), Some(&as_unknown), led.as_ref()].into_iter().flatten().any(is_repeatable);
        (u64::from(next.failed) < max && may_help)
            .then(|| (next, backoff(retry, &self.config, next.failed, error.retry_after_ms)))
    }

    fn is_repeatable(&self, retry: &Retry, error: &StepError, local: &Local) -> bool {
        match &retry.condition {
            None => error.kind.is_transient(),
            Some(condition) => {
                let local = local.clone().with_error(error);
                self.value(condition, &self.view(), &local).is_ok_and(|v| v.is_true())
            }
        }
    }

    /// Whether the step at a place changes anything outside.
    pub(crate) fn writes_at(&self, place: Place) -> bool {
        let effect = self.open_at(place).and_then(|open| open.effect.as_ref());
        matches!(effect, Some(Effect::RunOp { writes: true, .. }))
    }

    /// The names that are known at a step beside those of the graph.
    pub(crate) fn local_at(&self, place: Place) -> Local {
        match (self.current.get(place.node).map(|run| &run.work), place.part) {
            (Some(Work::Turn(turn)), Part::Call(call)) => {
                turn.calls.get(call).map(|c| Local::args(c.args.clone())).unwrap_or_default()
            }
            (Some(Work::Each(items)), Part::Item(index)) => {
                items.items.get(index).map(|i| Local::item(i.value.clone(), index)).unwrap_or_default()
            }
            _ => Local::default(),
        }
    }

    fn send_again(&mut self, place: Place, next: Attempts, delay: u64) {
        let Some(Progress::Open(open)) = self.progress(place) else { return };
        open.attempts = next;
        let Some(effect) = &mut open.effect else { return };
        if let Effect::CallModel { attempt, delay_ms, .. } | Effect::RunOp { attempt, delay_ms, .. } = effect
        {
            *attempt = next.number;
            *delay_ms = delay;
        }
        if let Effect::CallModel { route, .. } = effect {
            *route = next.route;
        }
        let again = effect.clone();
        if let (Some(step), true) = (again.step(), delay > 0) {
            let until = self.now.saturating_add(i64::try_from(delay).unwrap_or(i64::MAX));
            self.clock.rest(step, until);
        }
        self.out.push(again.into());
    }
}

/// The wait before the attempt after `failed` failures: backoff · factor^(failed − 1), at least what the
/// provider asks for.
fn backoff(retry: &Retry, config: &Map, failed: u32, asked: Option<u64>) -> u64 {
    let first = retry.backoff.millis(config).unwrap_or(0) as f64;
    let grown = first * retry.factor.max(1.0).powi(i32::try_from(failed.saturating_sub(1)).unwrap_or(30));
    (grown as u64).max(asked.unwrap_or(0)).min(LONGEST_BACKOFF_MS)
}
