//! Many simulated runs of a graph in random worlds, each held against all invariants.

mod again;
mod report;

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use deepgraph_graph::{Bundle, Mismatch};
use deepgraph_protocol::{Map, Value};
use deepgraph_trace::Detail;

use crate::invariants::{self, Violation};
use crate::{Faults, Manner, RandomWorld, Sim, SimRun};

pub use report::{Broken, Report};

/// Entries after which a run is left: a graph whose loops no limit cuts would go round for ever.
const MOST_ENTRIES: usize = 20_000;

/// What is simulated: a graph, what goes in, and what may go wrong.
#[derive(Clone, Debug)]
pub struct Simulation {
    bundle: Arc<Bundle>,
    /// The input of each run; none: drawn from its seed.
    input: Option<Map>,
    /// The keys of the configuration that are set.
    set: BTreeMap<String, Value>,
    /// The configuration where they alone are.
    config: Map,
    faults: Faults,
}

/// One of the two runs of a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    /// With all faults.
    Run,
    /// In another order, without crashes.
    Twin,
}

/// Simulates a run of a bundle for each seed.
///
/// # Errors
///
/// What of `config` does not fit the graph.
pub fn simulate(
    bundle: &Arc<Bundle>,
    input: Map,
    config: BTreeMap<String, Value>,
    seeds: impl IntoIterator<Item = u64>,
    faults: Faults,
) -> Result<Report, Vec<Mismatch>> {
    let simulation = Simulation::new(bundle, config, faults)?.with_input(input);
    let mut report = Report::default();
    seeds.into_iter().for_each(|seed| report.add(simulation.run(seed)));
    Ok(report)
}

impl Simulation {
    /// A simulation of a graph. `config` are the keys of its configuration that are set. The others are drawn from the
    /// seed of each run: half of them as their defaults say, the others small, so that limits are met. The input is
    /// drawn as well.
    ///
    /// # Errors
    ///
    /// What of `config` does not fit the graph.
    pub fn new(
        bundle: &Arc<Bundle>,
        config: BTreeMap<String, Value>,
        faults: Faults,
    ) -> Result<Simulation, Vec<Mismatch>> {
        let set = config.clone();
        Ok(Simulation { bundle: bundle.clone(), input: None, set, config: bundle.config_of(config)?, faults })
    }

    /// With this input for every run.
    #[must_use]
    pub fn with_input(self, input: Map) -> Simulation {
        Simulation { input: Some(input), ..self }
    }

    /// Runs one seed: once with all faults, and once more, its twin, in another order without crashes. Each is held
    /// against the invariants, and the first is compared with its twin. Whatever panics is a violation.
    pub fn run(&self, seed: u64) -> Report {
        let mut report = Report { runs: 1, ..Report::default() };
        let mut broken = Broken { seed, violations: Vec::new(), of_twin: Vec::new() };
        let run = self.checked(seed, Which::Run, &mut broken.violations);
        let twin = self.checked(seed, Which::Twin, &mut broken.of_twin);
        for (run, _) in run.iter().chain(&twin) {
            report.entries += run.rows.len();
        }
        if let Some((run, world)) = &run {
            report.note(run, world);
            report.left += usize::from(is_left(run));
        }
        if let (Some((run, _)), Some((twin, _))) = (&run, &twin)
            && !is_left(run)
            && !is_left(twin)
            && let Some(different) = caught(|| invariants::compare(&self.bundle, run, twin))
                .unwrap_or_else(|panicked| Some(vec![panicked]))
        {
            report.compared += 1;
            broken.violations.extend(different);
        }
        if let Some((run, _)) = run {
            report.further += self.attempts(seed, run, &mut broken.violations);
        }
        if !broken.is_clean() {
            report.broken.push(broken.sorted());
        }
        report
    }

    /// The trace of a seed's run, for people; where there is none, why.
    pub fn trace(&self, seed: u64) -> String {
        self.shown(seed, Which::Run)
    }

    /// The trace of the run that a seed's run is compared with, for people; where there is none, why.
    pub fn trace_of_twin(&self, seed: u64) -> String {
        self.shown(seed, Which::Twin)
    }

    fn shown(&self, seed: u64, which: Which) -> String {
        let folded = caught(|| self.play(seed, which).0.fold(&self.bundle));
        match folded {
            Ok(Ok(trace)) => trace.to_text(Detail::Full),
            Ok(Err(error)) => format!("there is no trace, since the journals do not fold: {error}\n"),
            Err(panicked) => format!("there is no trace: {}\n", panicked.what),
        }
    }

    /// A run that was held against the invariants; none where it panicked.
    fn checked(&self, seed: u64, which: Which, found: &mut Vec<Violation>) -> Option<(SimRun, RandomWorld)> {
        let played = caught(|| self.play(seed, which));
        let (run, world) = played.map_err(|panicked| found.push(panicked)).ok()?;
        match caught(|| invariants::check(&self.bundle, &run)) {
            Ok(violations) => found.extend(violations),
            Err(panicked) => found.push(panicked),
        }
        Some((run, world))
    }

    fn play(&self, seed: u64, which: Which) -> (SimRun, RandomWorld) {
        let mut wanted = RandomWorld::config(&self.bundle, seed);
        wanted.extend(self.set.clone());
        // Keys that fit one by one may still not fit together: then those that are set alone.
        let config = self.bundle.config_of(wanted).unwrap_or_else(|_| self.config.clone());
        let input = self.input.clone().unwrap_or_else(|| RandomWorld::input(&self.bundle, seed));
        let (order, faults) = match which {
            Which::Run => (seed.wrapping_add(1), self.faults),
            Which::Twin => (seed.wrapping_add(0x9e37_79b9), self.faults.of_the_outside()),
        };
        let mut world = RandomWorld::new(&self.bundle, seed, Manner::Wild, self.faults).latencies(order);
        let sim = Sim::in_world(&self.bundle, &mut world).seed(order).faults(seed, faults);
        let run = sim.stop_at(MOST_ENTRIES).run(input, config);
        (run, world)
    }
}

/// Whether a run went on for so long that it was left.
fn is_left(run: &SimRun) -> bool {
    run.rows.len() >= MOST_ENTRIES
}

/// What `work` gives; a panic is a violation. Nothing that it may have left half done is used again.
fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Violation> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| Violation::of_panic(message(&*panic)))
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_violation() {
        let number = 7;
        let panicked = caught(|| -> u8 { panic!("it broke at {number}") }).unwrap_err();
        assert_eq!(panicked.to_string(), "panics: in the root: panicked: it broke at 7");
        assert_eq!(caught(|| 3), Ok(3));
    }
}
