//! What limits do when they are reached.

use deepgraph_graph::OnReach;
use deepgraph_protocol::{Event, LimitHit, Meter};

use crate::exit::Candidate;
use crate::limits::{Active, Counts};
use crate::machine::Machine;

impl Machine {
    /// Tells that a limit was reached.
    pub(crate) fn tell_limit(&mut self, hit: &LimitHit) {
        self.tell(Event::LimitReached {
            scope: self.scope.clone(),
            limit: hit.name.clone(),
            value: hit.value,
            bound: hit.bound,
        });
    }

    /// Keeps what a limit does for the end of the super-step: its exit, or the node that it leads to.
    pub(crate) fn act(&mut self, hit: LimitHit, on_reach: OnReach) {
        match on_reach {
            OnReach::Exit(reason, class) => self.candidates.push(Candidate::limit(reason, class, hit)),
            OnReach::To(node) => self.detour = Some(node),
            OnReach::Refuse => {}
        }
    }

    /// Tells a warning mark that was crossed. Clocks tell theirs when its time comes.
    fn warn(&mut self) {
        let at = self.reading();
        let is_clock = |limit: &Active| matches!(limit.counts, Counts::Meter(meter) if meter.is_clock());
        let crossed: Vec<(usize, u64)> = self
            .limits
            .iter()
            .enumerate()
            .filter(|(_, limit)| !limit.warned && !is_clock(limit))
            .map(|(index, limit)| (index, limit, limit.used(&at)))
            .filter(|(_, limit, used)| limit.mark.is_some_and(|mark| *used >= mark))
            .map(|(index, _, used)| (index, used))
            .collect();
        crossed.into_iter().for_each(|(index, used)| self.tell_warning(index, used));
    }

    /// Tells that the warning mark of a limit was crossed, once.
    pub(crate) fn tell_warning(&mut self, index: usize, value: u64) {
        let scope = self.scope.clone();
        let Some(limit) = self.limits.get_mut(index) else { return };
        let (Some(mark), Some(bound)) = (limit.mark, limit.max) else { return };
        if !std::mem::replace(&mut limit.warned, true) {
            let limit = limit.name.clone();
            self.tell(Event::LimitWarned { scope, limit, value, mark, bound });
        }
    }

    /// Limits that act at the end of a super-step: named calls, failures and repeats of calls, overshoots, gain.
    pub(crate) fn check_boundary(&mut self) {
        self.warn();
        let in_finally = self.in_finally();
        let at = self.reading();
        let mut acting = Vec::new();
        for limit in self.limits.iter().filter(|_| !in_finally) {
            let used = limit.used(&at);
            let overshot = limit.bound(false).is_some_and(|bound| match limit.counts {
                Counts::Meter(Meter::Tokens | Meter::CostUsd) => used > bound,
                // Calls of children come in when they end; at the bound no further call is admitted.
                Counts::Meter(Meter::ToolCalls) => used >= bound,
                _ => false,
            });
            let hit = match limit.saturated() {
                Some(hit) => Some(hit),
                // A success behind the failures has set their count back.
                None if limit.reached_now && limit.measures(Meter::ToolFailures) => {
                    Some(limit.hit(used.max(limit.bound(false).unwrap_or(0))))
                }
                None => (limit.reached_now || overshot).then(|| limit.hit(used)),
            };
            // Calls are told when they reach the bound; what stays over its bound acts once.
            if let Some(hit) = hit.filter(|_| limit.reached_now || !limit.acted) {
                acting.push((hit, limit.on_reach.clone(), limit.reached_now));
            }
        }
        for (hit, on_reach, told) in acting {
            if !told {
                self.tell_limit(&hit);
            }
            for limit in self.limits.iter_mut().filter(|l| l.name == hit.name) {
                limit.acted = true;
            }
            self.act(hit, on_reach);
        }
        self.limits.iter_mut().for_each(|l| l.reached_now = false);
    }
}
