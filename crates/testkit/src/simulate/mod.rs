//! Many simulated runs of a graph in random worlds, each held against all invariants.

mod report;

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_graph::{Bundle, Mismatch};
use deepgraph_protocol::{Event, Map, Output, Value};
use deepgraph_trace::Detail;

use crate::invariants::{self, Violation};
use crate::{Faults, Manner, RandomWorld, Sim, SimRun};

pub use report::{Broken, Report};

/// Entries after which a run is left: a graph whose loops no limit cuts would go round for ever.
const MOST_ENTRIES: usize = 20_000;

/// What is simulated: a graph, what goes in, and what may go wrong.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// The graph.
    pub bundle: Arc<Bundle>,
    /// The input of each run; none: drawn from its seed.
    pub input: Option<Map>,
    /// The keys of the configuration that are set. The others are drawn from the seed of each run: half of them as
    /// their defaults say, the others small, so that limits are met.
    pub config: BTreeMap<String, Value>,
    /// What may go wrong.
    pub faults: Faults,
}

/// Simulates a run of a bundle for each seed. Per seed there are two: one with all faults, and one in another order
/// without crashes, to which it is compared.
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
    let simulation = Simulation { bundle: bundle.clone(), input: Some(input), config, faults };
    simulation.check_config()?;
    let mut report = Report::default();
    seeds.into_iter().for_each(|seed| simulation.run(seed, &mut report));
    Ok(report)
}

impl Simulation {
    /// Whether the keys that are set fit the graph.
    ///
    /// # Errors
    ///
    /// What does not fit.
    pub fn check_config(&self) -> Result<(), Vec<Mismatch>> {
        self.bundle.config_of(self.config.clone()).map(drop)
    }

    /// Runs one seed and notes what came of it.
    pub fn run(&self, seed: u64, report: &mut Report) {
        let (run, world) = self.play(seed, false);
        let (twin, _) = self.play(seed, true);
        let mut broken = invariants::check(&self.bundle, &run);
        broken.extend(invariants::check(&self.bundle, &twin));
        report.runs += 1;
        report.entries += run.rows.len() + twin.rows.len();
        report.ended += usize::from(run.end.is_some());
        report.left += usize::from(run.rows.len() >= MOST_ENTRIES);
        for (fault, count) in &run.faults {
            *report.faults.entry((*fault).to_owned()).or_default() += count;
        }
        for (kind, count) in &world.failures {
            *report.faults.entry(kind.name().to_owned()).or_default() += count;
        }
        *report.faults.entry("misfit".to_owned()).or_default() += world.misfits;
        for output in run.outputs.iter().flatten() {
            match output {
                Output::Event(Event::Exited { exit }) => {
                    let exits = report.exits.entry(exit.graph.to_string()).or_default();
                    *exits.entry(exit.reason.name().to_owned()).or_default() += 1;
                }
                Output::Event(Event::CallAdmitted { .. }) => report.calls_admitted += 1,
                Output::Event(Event::CallRefused { .. } | Event::CallMalformed { .. }) => {
                    report.calls_refused += 1;
                }
                _ => {}
            }
        }
        let is_left = [&run, &twin].iter().any(|run| run.rows.len() >= MOST_ENTRIES);
        if !is_left && let Some(different) = invariants::compare(&self.bundle, &run, &twin) {
            report.compared += 1;
            broken.extend(different);
        }
        report.faults.retain(|_, count| *count > 0);
        note_broken(report, seed, broken);
    }

    /// The trace of a seed's run, for people.
    pub fn trace(&self, seed: u64) -> String {
        self.play(seed, false).0.trace(&self.bundle).to_text(Detail::Full)
    }

    fn play(&self, seed: u64, is_twin: bool) -> (SimRun, RandomWorld) {
        let mut wanted = RandomWorld::config(&self.bundle, seed);
        wanted.extend(self.config.clone());
        // Keys that fit one by one may still not fit together: then those that are set alone.
        let config = self.bundle.config_of(wanted).or_else(|_| self.bundle.config_of(self.config.clone()));
        let input = self.input.clone().unwrap_or_else(|| RandomWorld::input(&self.bundle, seed));
        let mut world = RandomWorld::new(&self.bundle, seed, Manner::Wild, self.faults);
        let (order, faults) = match is_twin {
            true => (seed.wrapping_add(0x9e37_79b9), self.faults.of_the_outside()),
            false => (seed.wrapping_add(1), self.faults),
        };
        world = world.latencies(order);
        let sim = Sim::in_world(&self.bundle, &mut world).seed(order).faults(seed, faults);
        let run = sim.stop_at(MOST_ENTRIES).run(input, config.unwrap_or_default());
        (run, world)
    }
}

fn note_broken(report: &mut Report, seed: u64, mut violations: Vec<Violation>) {
    if violations.is_empty() {
        return;
    }
    violations.dedup();
    report.broken.push(Broken { seed, violations });
}
