//! Limits of time: waking up when a stage is over, and the clock that stands still while a person is asked.

use std::sync::Arc;

use deepgraph_graph::OnReach;
use deepgraph_protocol::{Effect, ErrorKind, Meter, Millis, StepError};

use crate::limits::What;
use crate::machine::{EffectKey, Machine, Phase};

impl Machine {
    /// The moment at which the clock of the instance shows `bound` milliseconds, if nobody is asked until then.
    pub(crate) fn time_of(&self, bound: u64) -> Millis {
        let bound = i64::try_from(bound).unwrap_or(i64::MAX);
        self.started.saturating_add(self.waited).saturating_add(bound)
    }

    /// Asks to be woken when the time of this stage is up.
    pub(crate) fn set_timers(&mut self) {
        let in_finally = self.in_finally();
        let stage = if in_finally { "finally" } else { "main" };
        let timers: Vec<(Arc<str>, u64)> = self
            .limits
            .iter()
            .filter(|l| matches!(l.what, What::Meter(Meter::WallTime)))
            .filter_map(|l| Some((format!("{stage}:{}", l.name).into(), l.bound(in_finally)?)))
            .collect();
        for (timer, bound) in timers {
            let at = self.time_of(bound);
            self.open(Effect::WakeAt { timer, at });
        }
    }

    /// Notes whether nothing but questions to a person is open: then the clock stands still.
    pub(crate) fn watch_waiting(&mut self) {
        let mut steps = self.effects.values().filter(|e| !matches!(e, Effect::WakeAt { .. })).peekable();
        let waiting = steps.peek().is_some() && steps.all(|e| matches!(e, Effect::Ask { .. }));
        match (waiting, self.waiting_since) {
            (true, None) => self.waiting_since = Some(self.now),
            (false, Some(since)) => {
                self.waited += self.now - since;
                self.waiting_since = None;
                for timer in std::mem::take(&mut self.paused) {
                    self.rearm(timer);
                }
            }
            _ => {}
        }
    }

    /// Sets a timer again for when its time is really up.
    fn rearm(&mut self, timer: Arc<str>) {
        let Some((stage, name)) = timer.split_once(':') else { return };
        let bound = self.limits.iter().find(|l| &*l.name == name).and_then(|l| l.bound(stage == "finally"));
        if let (Some(bound), true) = (bound, self.phase != Phase::Ended) {
            let at = self.time_of(bound);
            self.open(Effect::WakeAt { timer, at });
        }
    }

    pub(crate) fn timer_fired(&mut self, timer: &Arc<str>) {
        if self.effects.remove(&EffectKey::Timer(timer.clone())).is_none() {
            return;
        }
        if self.waiting_since.is_some() {
            self.paused.push(timer.clone());
            return;
        }
        let Some((stage, name)) = timer.split_once(':') else { return };
        let at = self.reading();
        let Some(limit) = self.limits.iter().find(|l| &*l.name == name) else { return };
        if limit.bound(stage == "finally").is_some_and(|bound| limit.used(&at) < bound) {
            return self.rearm(timer.clone());
        }
        let (hit, on_reach) = (limit.hit(limit.used(&at)), limit.on_reach.clone());
        match (stage, self.phase) {
            ("main", Phase::Main) => {
                self.tell_limit(&hit);
                let ends = matches!(on_reach, OnReach::Exit(..));
                self.act(hit, on_reach);
                if ends {
                    self.stopping = true;
                    self.abandon_all(0, "the deadline has passed");
                }
            }
            ("finally", Phase::Finally) => {
                // The way that a failed step has still leads somewhere: a report can be put together without a model.
                let message = format!("the time of the limit `{name}` is up");
                self.overtime = Some(StepError::new(ErrorKind::StepTimeout, message));
                self.abandon_all(0, "the deadline has passed");
            }
            _ => {}
        }
    }
}
