//! Simulated runs under faults, held against all invariants; and engines with planted bugs, which must be found out.

mod found;
mod planted;
mod random;
mod stock;

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_graph::Bundle;
use deepgraph_testkit::{Faults, Report, Simulation};

/// Simulates these seeds and fails with what is broken, each with its seed.
fn simulate(name: &str, bundle: &Arc<Bundle>, seeds: std::ops::Range<u64>) -> Report {
    let simulation =
        Simulation { bundle: bundle.clone(), input: None, config: BTreeMap::new(), faults: Faults::storm() };
    let mut report = Report::default();
    seeds.into_iter().for_each(|seed| simulation.run(seed, &mut report));
    if let Some(broken) = report.broken.first() {
        let sentences: Vec<String> = broken.violations.iter().map(ToString::to_string).collect();
        let trace = simulation.trace(broken.seed);
        panic!("{name}, seed {}:\n{}\n\n{trace}\n{report}", broken.seed, sentences.join("\n"));
    }
    println!("{name}\n{report}\n");
    report
}
