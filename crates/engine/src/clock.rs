//! The clocks of an instance: wall time, active time, back-off, and the time in which it only waited for a person.
//!
//! Active time is the union of the intervals in which a step works: no wait before a further attempt, no waiting
//! for a person. A child that is out counts as working.

use std::collections::BTreeMap;

use deepgraph_protocol::{Clocks, Effect, Millis, StepId};

/// Until when a step rests that waits for its provider's account: nobody knows.
const HELD: Millis = Millis::MAX;

/// What is out, and the time that has passed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    started: Millis,
    /// When a person last said something: the start, or an answer that was taken.
    turn_from: Millis,
    /// Time since then in which nothing but questions to a person was open.
    turn_waited: Millis,
    /// Time in which nothing but questions to a person was open.
    waited: Millis,
    /// Since when nothing but questions is open.
    waiting_since: Option<Millis>,
    /// Time in which a step worked.
    active: Millis,
    /// Time in which all that was out rested.
    backoff: Millis,
    /// Model calls, ops and children that are out.
    working: usize,
    /// Those of them that are children.
    children: usize,
    /// Questions that are open.
    asking: usize,
    /// Steps that wait for their next attempt, until when; [`HELD`]: until they are told to be sent out.
    resting: BTreeMap<StepId, Millis>,
    /// Since when the instance is over: no clock goes then.
    over_since: Option<Millis>,
}

impl Clock {
    pub(crate) fn start(&mut self, now: Millis) {
        self.started = now;
        self.turn_from = now;
    }

    /// A person said something: a turn begins.
    pub(crate) fn begin_turn(&mut self, now: Millis) {
        (self.turn_from, self.turn_waited) = (now, 0);
    }

    /// The instance is over.
    pub(crate) fn stop(&mut self, now: Millis) {
        self.over_since = Some(now);
    }

    /// The instance goes on. The time in which it was over is no time of it.
    pub(crate) fn go_on(&mut self, now: Millis) {
        if let Some(since) = self.over_since.take() {
            self.started += now - since;
            self.turn_from += now - since;
        }
    }

    /// Time passes that is no time of the instance.
    pub(crate) fn skip(&mut self, from: Millis, to: Millis) {
        if self.over_since.is_none() {
            self.started += to - from;
            self.turn_from += to - from;
            self.waiting_since = self.waiting_since.map(|since| since + (to - from));
        }
    }

    /// Time goes on while what is out stays as it is.
    pub(crate) fn pass(&mut self, from: Millis, to: Millis) {
        if self.working == 0 || to <= from {
            return;
        }
        let works_from = self.works_from(from).map_or(to, |works_from| works_from.min(to));
        self.active += to - works_from;
        self.backoff += works_from - from;
    }

    /// From when on a step works, if nothing changes: now, or, where all of them rest, when the first is through; none
    /// where nobody knows when that is.
    pub(crate) fn works_from(&self, now: Millis) -> Option<Millis> {
        if self.resting.is_empty() || self.resting.len() < self.working {
            return Some(now);
        }
        let first = self.resting.values().min().map_or(now, |until| (*until).max(now));
        (first != HELD).then_some(first)
    }

    /// A step goes out.
    pub(crate) fn sent(&mut self, effect: &Effect) {
        self.children += usize::from(effect.is_child());
        match effect {
            Effect::CallModel { .. }
            | Effect::RunOp { .. }
            | Effect::Spawn { .. }
            | Effect::Reopen { .. } => self.working += 1,
            Effect::Ask { .. } => self.asking += 1,
            Effect::WakeAt { .. } | Effect::Abandon { .. } => {}
        }
    }

    /// A step is back.
    pub(crate) fn back(&mut self, step: &StepId, effect: &Effect) {
        self.children -= usize::from(effect.is_child()).min(self.children);
        match effect {
            Effect::CallModel { .. }
            | Effect::RunOp { .. }
            | Effect::Spawn { .. }
            | Effect::Reopen { .. } => {
                self.working = self.working.saturating_sub(1);
                if !self.resting.is_empty() {
                    self.resting.remove(step);
                }
            }
            Effect::Ask { .. } => self.asking = self.asking.saturating_sub(1),
            Effect::WakeAt { .. } | Effect::Abandon { .. } => {}
        }
    }

    /// A step waits for its next attempt.
    pub(crate) fn rest(&mut self, step: &StepId, until: Millis) {
        self.resting.insert(step.clone(), until);
    }

    /// A step waits until it is told to be sent out.
    pub(crate) fn hold(&mut self, step: &StepId) {
        self.rest(step, HELD);
    }

    /// A step is told to be sent out: it is held no more.
    pub(crate) fn let_go(&mut self, step: &StepId) {
        if self.resting.get(step) == Some(&HELD) {
            self.resting.remove(step);
        }
    }

    /// Notes whether nothing but questions is open. True when such a wait has just ended.
    pub(crate) fn note_waiting(&mut self, now: Millis) -> bool {
        let waiting = self.working == 0 && self.asking > 0;
        match (waiting, self.waiting_since) {
            (true, None) => self.waiting_since = Some(now),
            (false, Some(since)) => {
                self.waited += now - since;
                self.turn_waited += now - since.max(self.turn_from);
                self.waiting_since = None;
                return true;
            }
            _ => {}
        }
        false
    }

    /// Whether only a person is waited for.
    pub(crate) fn is_waiting(&self) -> bool {
        self.waiting_since.is_some()
    }

    /// Whether children are out and nothing else.
    pub(crate) fn only_children(&self) -> bool {
        self.children > 0 && self.children == self.working && self.asking == 0
    }

    /// Milliseconds since the start, without those in which it only waited for a person.
    pub(crate) fn elapsed(&self, now: Millis) -> Millis {
        self.over_since.or(self.waiting_since).unwrap_or(now) - self.started - self.waited
    }

    /// The moment at which `elapsed` shows `bound`, if nobody is asked until then.
    pub(crate) fn moment_of(&self, bound: u64) -> Millis {
        let bound = i64::try_from(bound).unwrap_or(i64::MAX);
        self.started.saturating_add(self.waited).saturating_add(bound)
    }

    /// Milliseconds since a person last said something, without those in which it only waited for one.
    pub(crate) fn turn(&self, now: Millis) -> Millis {
        let until = self.waiting_since.map_or(now, |since| since.max(self.turn_from));
        until - self.turn_from - self.turn_waited
    }

    /// The moment at which `turn` shows `bound`, if nobody says anything and nobody is asked until then.
    pub(crate) fn moment_of_turn(&self, bound: u64) -> Millis {
        let bound = i64::try_from(bound).unwrap_or(i64::MAX);
        self.turn_from.saturating_add(self.turn_waited).saturating_add(bound)
    }

    /// All clocks at a moment.
    pub(crate) fn clocks(&self, now: Millis) -> Clocks {
        let ms = |time: Millis| u64::try_from(time).unwrap_or(0);
        Clocks {
            wall_ms: ms(now - self.started),
            active_ms: ms(self.active),
            backoff_ms: ms(self.backoff),
            human_ms: ms(self.waited + self.waiting_since.map_or(0, |since| now - since)),
        }
    }

    /// Milliseconds in which a step worked.
    pub(crate) fn active(&self) -> Millis {
        self.active
    }
}
