//! `deepgraph simulate`: many runs of a graph in random worlds, under faults.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::{Args, ValueEnum};
use deepgraph_testkit::{Broken, Faults, Report, Simulation};

use crate::config::{self, Environment, Origin, Wanted};
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::graphs;
use crate::screen::{self, Screen};
use crate::threads;

/// Broken runs that are shown with their trace.
const SHOWN: usize = 3;

/// Options of `simulate`.
#[derive(Debug, Args)]
#[command(
    about = "Run a graph many times against random models, tools and people, under faults, and check what must hold",
    long_about = "Run a graph many times without any model, tool, network or clock: models answer by chance what the \
                  request has room for, ops give results of their declared types, people answer questions. Things fail, \
                  time out, come late or twice; the driver crashes between any two entries and is taken over from; runs \
                  are cancelled. After each run everything that must hold is checked: counted calls never pass their \
                  limits, every call is answered once and in order, the ledger adds up, every instance has one exit, \
                  crashes and another order of completion change nothing, and more.\n\n\
                  Everything is drawn from the seed of the run, keys of the configuration that are not set by --set or \
                  --config included: a run can be repeated by its seed.",
    after_help = "Examples:\n  deepgraph simulate deep_research\n  deepgraph simulate my-graph.yaml --runs 1000 --jobs 4\n  \
                  deepgraph simulate my-graph.yaml --seed 4711 --runs 1 --trace\n  \
                  deepgraph simulate deep_research --faults none --set max_researcher_iterations=3\n\n\
                  Exit status:\n  0  nothing is broken\n  1  something that must hold is broken, or the program \
                  failed\n  2  wrong usage: options, the graph, values of its configuration"
)]
pub struct Options {
    /// Graph file, folder with a graph.yaml, or name of a stock graph
    #[arg(value_name = "FILE|NAME", default_value = graphs::DEFAULT)]
    graph: String,
    /// How many runs
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// The seed of the first run; the others count on from it, behind the greatest from 0
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// How many runs at once [default: as many as there are processors]
    #[arg(short, long, value_name = "N", value_parser = threads::jobs)]
    jobs: Option<NonZeroUsize>,
    /// Set one value of the configuration; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Values of the configuration: a YAML or JSON mapping
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// What may go wrong
    #[arg(long, value_enum, default_value_t = Weather::Storm)]
    faults: Weather,
    /// Print the trace of each run
    #[arg(long)]
    trace: bool,
}

/// What may go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Weather {
    /// Nothing
    None,
    /// Everything
    Storm,
}

/// Carries the command out.
pub fn carry_out(options: &Options) -> Result<ExitStatus, CliError> {
    let screen = Screen::plain();
    let bundle = graphs::bundle(&options.graph, &screen)?;
    let wanted =
        Wanted { set: options.set.clone(), model: None, file: options.config.clone(), ..Wanted::default() };
    // The environment is left out: a seed is the same run everywhere.
    let effective = config::effective(&bundle, &wanted, &Environment::new())?;
    let is_set = |key: &str| effective.origins.get(key).is_some_and(|origin| *origin != Origin::Default);
    let set = effective.values.iter().filter(|(key, _)| is_set(key));
    let set = set.map(|(key, value)| (key.to_string(), value.clone())).collect();
    let faults = match options.faults {
        Weather::None => Faults::none(),
        Weather::Storm => Faults::storm(),
    };
    let simulation = Simulation::new(&bundle, set, faults)
        .map_err(|mismatches| CliError::Config(mismatches.iter().map(ToString::to_string).collect()))?;
    let report = simulate(&simulation, options)?;
    screen::print(&report.to_string())?;
    if options.trace {
        for seed in (0..options.runs).map(|number| options.seed.wrapping_add(number)) {
            screen::print(&format!("\nseed {seed}\n\n{}", simulation.trace(seed).trim_end()))?;
        }
    }
    for broken in report.broken.iter().take(SHOWN) {
        screen::print(&shown(broken, &simulation, options))?;
    }
    if report.broken.len() > SHOWN {
        let seeds: Vec<String> = report.broken[SHOWN..].iter().map(|b| b.seed.to_string()).collect();
        screen::print(&format!("\nbroken as well: seeds {}", seeds.join(", ")))?;
    }
    Ok(if report.is_clean() { ExitStatus::Succeeded } else { ExitStatus::DIFFERS })
}

/// Runs all seeds, several at once.
fn simulate(simulation: &Simulation, options: &Options) -> Result<Report, CliError> {
    let next = AtomicU64::new(0);
    let work = || {
        let mut report = Report::default();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= options.runs {
                return report;
            }
            report.add(simulation.run(options.seed.wrapping_add(number)));
        }
    };
    let mut report = Report::default();
    std::thread::scope(|scope| {
        let mut running = Vec::new();
        for _ in 0..threads::count(options.jobs, options.runs) {
            match threads::start(scope, work) {
                Ok(thread) => running.push(thread),
                Err(error) => {
                    // Those that run already begin no other.
                    next.store(options.runs, Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
        for thread in running {
            match thread.join() {
                Ok(of_thread) => report.add(of_thread),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(())
    })?;
    Ok(report)
}

/// What a seed breaks, how to repeat it, and the traces in which it does.
fn shown(broken: &Broken, simulation: &Simulation, options: &Options) -> String {
    let sentences: String = broken.to_string().lines().map(|line| format!("  {line}\n")).collect();
    let mut text = format!(
        "\nseed {} breaks what must hold:\n{sentences}again: {}",
        broken.seed,
        again(broken.seed, options)
    );
    if !options.trace && !broken.violations.is_empty() {
        text += &format!("\n\n{}", simulation.trace(broken.seed));
    }
    if !broken.of_twin.is_empty() {
        text += &format!("\n\nin another order:\n\n{}", simulation.trace_of_twin(broken.seed));
    }
    text.trim_end().to_owned()
}

/// The command that runs one seed again.
fn again(seed: u64, options: &Options) -> String {
    let mut repeat = format!("deepgraph simulate {} --seed {seed} --runs 1 --trace", quoted(&options.graph));
    options.set.iter().for_each(|set| repeat += &format!(" --set {}", quoted(set)));
    if let Some(file) = &options.config {
        repeat += &format!(" --config {}", quoted(&file.to_string_lossy()));
    }
    if options.faults == Weather::None {
        repeat += " --faults none";
    }
    repeat
}

/// A word as a POSIX shell reads it back.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_repeats_a_seed_can_be_pasted() {
        let options = Options {
            graph: "my graph.yaml".into(),
            runs: 1,
            seed: 1,
            jobs: None,
            set: vec!["topic=it's".into(), "turns=3".into()],
            config: Some("a b.yaml".into()),
            faults: Weather::None,
            trace: false,
        };
        assert_eq!(
            again(7, &options),
            r"deepgraph simulate 'my graph.yaml' --seed 7 --runs 1 --trace --set 'topic=it'\''s' --set turns=3 --config 'a b.yaml' --faults none"
        );
        assert_eq!(["", "a", "$x"].map(quoted), ["''", "a", "'$x'"]);
    }
}
