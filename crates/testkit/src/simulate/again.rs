//! Runs that were over and go on: with raised limits, or with their report alone.

use deepgraph_graph::Setting;
use deepgraph_protocol::{Map, ResumeFrom, Value};

use super::{MOST_ENTRIES, Simulation, caught, is_left};
use crate::dice::Dice;
use crate::invariants::{self, Violation};
use crate::{Manner, RandomWorld, Sim, SimRun};

/// How many attempts a run has at most.
const MOST_ATTEMPTS: u32 = 3;

impl Simulation {
    /// Lets a run that is over go on, now with its work and now with its report alone, each attempt under all faults
    /// and held against the invariants. Gives how many attempts there were beside the first.
    pub(super) fn attempts(&self, seed: u64, first: SimRun, found: &mut Vec<Violation>) -> usize {
        let mut before = first;
        for attempt in 2..=MOST_ATTEMPTS {
            if before.end.is_none() || is_left(&before) {
                return attempt as usize - 2;
            }
            let mut dice = Dice::of(seed, "attempt", attempt);
            let from = if dice.below(4) == 0 { ResumeFrom::Report } else { ResumeFrom::Research };
            let config = self.raised(&before, &mut dice);
            match caught(|| self.again(seed, attempt, &before, config, from)) {
                Ok(Some(run)) => before = run,
                Ok(None) => return attempt as usize - 2,
                Err(panicked) => {
                    found.push(panicked);
                    return attempt as usize - 2;
                }
            }
            match caught(|| invariants::check(&self.bundle, &before)) {
                Ok(violations) => found.extend(violations),
                Err(panicked) => found.push(panicked),
            }
        }
        MOST_ATTEMPTS as usize - 1
    }

    /// The next attempt; none where the run can not go on.
    fn again(
        &self,
        seed: u64,
        attempt: u32,
        before: &SimRun,
        config: Map,
        from: ResumeFrom,
    ) -> Option<SimRun> {
        let order = seed.wrapping_mul(31).wrapping_add(u64::from(attempt));
        let mut world = RandomWorld::new(&self.bundle, order, Manner::Wild, self.faults).latencies(order);
        let sim = Sim::in_world(&self.bundle, &mut world).seed(order).faults(order, self.faults);
        sim.stop_at(MOST_ENTRIES).again(before, config, from).ok()
    }

    /// The configuration of the run with every bound of a limit raised, by at least one and up to three times.
    fn raised(&self, before: &SimRun, dice: &mut Dice) -> Map {
        let mut config = before.config();
        let limits = self.bundle.graphs.iter().flat_map(|graph| &graph.limits);
        for limit in limits {
            let Some(Setting::Config(key)) = &limit.max else { continue };
            let raised = match config.get(key) {
                Some(Value::Int(n)) => {
                    Value::Int(n.saturating_mul(2).saturating_add(1 + dice.below(3) as i64))
                }
                Some(Value::Float(n)) => Value::from(n * 2.0 + 1.0),
                _ => continue,
            };
            let fits = self.bundle.config.get(key).is_some_and(|field| field.check(&raised).is_ok());
            if fits {
                config.insert(key.clone(), raised);
            }
        }
        config
    }
}
