//! Simulates a graph under faults: `cargo run -p deepgraph-testkit --example simulate -- FOLDER [RUNS [SEED]]`. Prints
//! what came of it; the exit status is 1 where something that must hold is broken. `--trace` as the last argument
//! prints the trace of the first seed as well.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use deepgraph_graph::{Files, OpTable, load};
use deepgraph_testkit::{Faults, Report, Simulation};

struct Folder(PathBuf);

impl Files for Folder {
    fn read(&self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(self.0.join(path)).map_err(|e| e.to_string())
    }
}

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let shows_trace = arguments.last().is_some_and(|last| last == "--trace");
    if shows_trace {
        arguments.pop();
    }
    let number = |at: usize, otherwise: u64| {
        arguments.get(at).and_then(|n: &String| n.parse::<u64>().ok()).unwrap_or(otherwise)
    };
    let folder = arguments.first().map_or("graphs/deep_research", String::as_str);
    let bundle = match load("graph.yaml", &Folder(Path::new(folder).to_owned()), &OpTable::stock()) {
        Ok(loaded) => Arc::new(loaded.bundle),
        Err(mistakes) => {
            println!("{mistakes}");
            return ExitCode::FAILURE;
        }
    };
    let simulation = match Simulation::new(&bundle, BTreeMap::new(), Faults::storm()) {
        Ok(simulation) => simulation,
        Err(mismatches) => {
            mismatches.iter().for_each(|mismatch| println!("{mismatch}"));
            return ExitCode::FAILURE;
        }
    };
    let mut report = Report::default();
    let first = number(2, 1);
    for seed in first..first + number(1, 100) {
        report.add(simulation.run(seed));
    }
    println!("{report}");
    for broken in &report.broken {
        for violation in broken.violations.iter().chain(&broken.of_twin) {
            println!("seed {}: {violation}", broken.seed);
        }
    }
    if shows_trace {
        println!("{}", simulation.trace(first));
    }
    if report.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
