//! Limits of time: waking up when a stage is over, and the clock that stands still while a person is asked.

use std::sync::Arc;

use deepgraph_graph::OnReach;
use deepgraph_protocol::{ErrorKind, ExitReason, Meter, Millis, StepError, StepId};

use crate::clock::Clock;
use crate::limits::{Active, Counts};
use crate::machine::{Machine, Phase};
use crate::settle::Giving;

/// The stage of timers for warning marks.
const WARN: &str = "warn";

/// What a limit shows when a timer of a stage is due.
fn until(limit: &Active, stage: &str) -> Option<u64> {
    if stage == WARN { limit.mark } else { limit.bound(stage == "finally") }
}

impl Machine {
    /// Asks to be woken when the time of this stage is up.
    pub(crate) fn set_timers(&mut self) {
        let in_finally = self.in_finally();
        let stage = if in_finally { "finally" } else { "main" };
        let bounds = self.limits.iter().filter_map(|l| {
            Some((format!("{stage}:{}", l.name).into(), self.moment_of(l, l.bound(in_finally)?)?))
        });
        let unwarned = self.limits.iter().filter(|l| !l.warned);
        let marks =
            unwarned.filter_map(|l| Some((format!("{WARN}:{}", l.name).into(), self.moment_of(l, l.mark?)?)));
        let timers: Vec<(Arc<str>, Millis)> = bounds.chain(marks).collect();
        for (timer, at) in timers {
            self.wake(timer, at);
        }
    }

    /// The earliest moment at which a limit of time can show `bound`; none for other limits.
    fn moment_of(&self, limit: &Active, bound: u64) -> Option<Millis> {
        match limit.counts {
            Counts::Meter(Meter::WallTime) => Some(self.clock.moment_of(bound)),
            Counts::Meter(Meter::TurnTime) => Some(self.clock.moment_of_turn(bound)),
            Counts::Meter(Meter::ActiveTime) => {
                let left = i64::try_from(bound).unwrap_or(i64::MAX).saturating_sub(self.clock.active());
                Some(self.clock.works_from(self.now)?.saturating_add(left.max(0)))
            }
            _ => None,
        }
    }

    /// Notes whether nothing but questions to a person is open: then the clock stands still. Where it goes on, and where a
    /// step works again after all of them were held, timers that were paused are set anew.
    pub(crate) fn watch_clock(&mut self) {
        let was_waiting = self.clock.note_waiting(self.now);
        let works = |clock: &Clock| !clock.is_waiting() && clock.works_from(self.now).is_some();
        if was_waiting || !self.paused.is_empty() && works(&self.clock) {
            for timer in std::mem::take(&mut self.paused) {
                self.rearm(timer);
            }
        }
    }

    /// Sets a timer again for when its time is really up.
    fn rearm(&mut self, timer: Arc<str>) {
        let Some((stage, name)) = timer.split_once(':') else { return };
        let Some(limit) = self.limits.iter().find(|l| &*l.name == name) else { return };
        let Some(until) = until(limit, stage).filter(|_| self.phase != Phase::Ended) else { return };
        match self.moment_of(limit, until) {
            Some(at) => self.wake(timer, at),
            // All that is out is held: its time goes on when something works again.
            None => self.paused.push(timer),
        }
    }

    /// A model call waits until its provider's account may send again: until then its step rests.
    pub(crate) fn held(&mut self, step: &StepId, attempt: u32) {
        if self.place_of_attempt(step, attempt).is_some_and(|place| self.is_model(place)) {
            self.clock.hold(step);
        }
    }

    /// A step is told to be sent out: it is held no more.
    pub(crate) fn let_go_of(&mut self, step: &StepId) {
        self.clock.let_go(step);
    }

    pub(crate) fn timer_fired(&mut self, timer: &Arc<str>) {
        if self.timers.remove(timer).is_none() {
            return;
        }
        if self.clock.is_waiting() {
            self.paused.push(timer.clone());
            return;
        }
        let Some((stage, name)) = timer.split_once(':') else { return };
        let at = self.reading();
        let Some(index) = self.limits.iter().position(|l| &*l.name == name) else { return };
        let Some(limit) = self.limits.get(index) else { return };
        let used = limit.used(&at);
        if until(limit, stage).is_some_and(|until| used < until) {
            return self.rearm(timer.clone());
        }
        if stage == WARN {
            return self.tell_warning(index, used);
        }
        let (hit, on_reach) = (limit.hit(limit.used(&at)), limit.on_reach.clone());
        let stop = match limit.counts {
            Counts::Meter(Meter::ActiveTime) => Some(ExitReason::ActiveTime),
            _ => Some(ExitReason::Deadline),
        };
        match (stage, self.phase) {
            ("main", Phase::Main) => {
                self.tell_limit(&hit);
                let ends = matches!(on_reach, OnReach::Exit(..));
                self.act(hit, on_reach);
                if ends {
                    self.stopping = true;
                    self.abandon_all(Giving { grace_ms: 0, reason: stop }, "the time is up");
                }
            }
            ("finally", Phase::Finally) => {
                // The way that a failed step has still leads somewhere: a report can be put together without a model.
                let message = format!("the time of the limit `{name}` is up");
                self.tell_limit(&hit);
                self.overtime = Some(StepError::new(ErrorKind::StepTimeout, message));
                self.abandon_all(Giving { grace_ms: 0, reason: stop }, "the time is up");
            }
            _ => {}
        }
    }
}
