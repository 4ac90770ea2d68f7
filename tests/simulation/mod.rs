//! Simulated runs under faults, held against all invariants; and engines with planted bugs, which must be found out.

mod again;
mod ceilings;
mod found;
mod planted;
mod random;
mod stock;
mod writes;

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_graph::Bundle;
use deepgraph_testkit::{Faults, Report, Simulation};

/// Simulates these seeds and fails with what is broken, each with its seed.
fn simulate(name: &str, bundle: &Arc<Bundle>, seeds: std::ops::Range<u64>) -> Report {
    let simulation = Simulation::new(bundle, BTreeMap::new(), Faults::storm());
    let simulation = simulation.expect("nothing is set that could not fit");
    let mut report = Report::default();
    seeds.for_each(|seed| report.add(simulation.run(seed)));
    if let Some(broken) = report.broken.first() {
        let trace = match broken.violations.is_empty() {
            true => simulation.trace_of_twin(broken.seed),
            false => simulation.trace(broken.seed),
        };
        panic!("{name}, seed {}:\n{broken}\n\n{trace}\n{report}", broken.seed);
    }
    println!("{name}\n{report}\n");
    report
}
