//! The clocks of an instance: wall time, the time in which it only waited for a person, and active time.
//!
//! Active time is the union of the intervals in which a step works: no wait before a further attempt, no waiting
//! for a person. A child that is out counts as working.

use std::collections::BTreeMap;

use deepgraph_protocol::{Effect, Millis, StepId};

/// What is out, and the time that has passed.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    started: Millis,
    /// Time in which nothing but questions to a person was open.
    waited: Millis,
    /// Since when nothing but questions is open.
    waiting_since: Option<Millis>,
    /// Time in which a step worked.
    active: Millis,
    /// Model calls, ops and children that are out.
    working: usize,
    /// Those of them that are children.
    children: usize,
    /// Questions that are open.
    asking: usize,
    /// Steps that wait for their next attempt, until when.
    resting: BTreeMap<StepId, Millis>,
}

impl Clock {
    pub(crate) fn start(&mut self, now: Millis) {
        self.started = now;
    }

    /// Time goes on while what is out stays as it is.
    pub(crate) fn pass(&mut self, from: Millis, to: Millis) {
        if self.working == 0 || to <= from {
            return;
        }
        self.active += to - self.works_from(from).min(to);
    }

    /// From when on a step works, if nothing changes: now, or, where all of them rest, when the first is through.
    pub(crate) fn works_from(&self, now: Millis) -> Millis {
        if self.resting.is_empty() || self.resting.len() < self.working {
            return now;
        }
        self.resting.values().min().map_or(now, |until| (*until).max(now))
    }

    /// A step goes out.
    pub(crate) fn sent(&mut self, effect: &Effect) {
        self.children += usize::from(matches!(effect, Effect::Spawn { .. }));
        match effect {
            Effect::CallModel { .. } | Effect::RunOp { .. } | Effect::Spawn { .. } => self.working += 1,
            Effect::Ask { .. } => self.asking += 1,
            Effect::WakeAt { .. } | Effect::Abandon { .. } => {}
        }
    }

    /// A step is back.
    pub(crate) fn back(&mut self, step: &StepId, effect: &Effect) {
        self.children -= usize::from(matches!(effect, Effect::Spawn { .. })).min(self.children);
        match effect {
            Effect::CallModel { .. } | Effect::RunOp { .. } | Effect::Spawn { .. } => {
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

    /// Notes whether nothing but questions is open. True when such a wait has just ended.
    pub(crate) fn note_waiting(&mut self, now: Millis) -> bool {
        let waiting = self.working == 0 && self.asking > 0;
        match (waiting, self.waiting_since) {
            (true, None) => self.waiting_since = Some(now),
            (false, Some(since)) => {
                self.waited += now - since;
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
        self.waiting_since.unwrap_or(now) - self.started - self.waited
    }

    /// The moment at which `elapsed` shows `bound`, if nobody is asked until then.
    pub(crate) fn moment_of(&self, bound: u64) -> Millis {
        let bound = i64::try_from(bound).unwrap_or(i64::MAX);
        self.started.saturating_add(self.waited).saturating_add(bound)
    }

    /// Milliseconds in which a step worked.
    pub(crate) fn active(&self) -> Millis {
        self.active
    }
}
