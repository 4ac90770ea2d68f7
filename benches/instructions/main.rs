//! Counts the instructions of workloads under valgrind, and holds them to bounds.
//!
//! ```text
//! instructions --check           counts all; fails where one has more than its bound
//! instructions --set [NAME ...]  counts these, or all, and writes what was counted into bounds.yaml
//! instructions NAME [RUNS]       runs one, RUNS times (1): what valgrind or perf is put around
//! ```
//!
//! Instructions do not depend on what else the machine does, so they can be a gate where time can not.

mod bounds;
mod callgrind;
mod work;

use std::process::ExitCode;

use deepgraph_benches::NAMES;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match args[..] {
        ["--check"] => check(),
        ["--set", ..] => set(&args[1..]),
        [name] => repeat(name, "1"),
        [name, runs] => repeat(name, runs),
        _ => Err("usage: instructions --check | --set [NAME ...] | NAME [RUNS]".to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn repeat(name: &str, runs: &str) -> Result<(), String> {
    let runs: usize = runs.parse().map_err(|_| format!("`{runs}` is no number of runs"))?;
    let mut work = work::named(name).ok_or_else(|| no_workload(name))?;
    for _ in 0..runs {
        work.prepare();
        measured(&mut work);
    }
    Ok(())
}

/// What is counted: valgrind is told this function's name.
#[inline(never)]
fn measured(work: &mut work::Work) {
    work.run();
}

fn check() -> Result<(), String> {
    let set = bounds::read()?;
    let mut mistakes = Vec::new();
    println!("{:<14} {:>14} {:>14} {:>14}", "workload", "counted", "bound", "when set");
    for (name, _) in NAMES {
        let counted = callgrind::count(name)?;
        let Some(then) = set.get(name) else {
            mistakes.push(format!("{name} has no bound; {}", how_to_set(name)));
            continue;
        };
        let bound = bounds::bound(*then);
        println!("{name:<14} {counted:>14} {bound:>14} {then:>14}");
        if counted > bound {
            mistakes.push(format!(
                "{name}: {counted} instructions, more than its bound of {bound} ({then} when it was set, and {} %). \
                 Make it cheaper. Where the price is right, say why in the commit; {}",
                bounds::MARGIN_PERCENT,
                how_to_set(name)
            ));
        } else if bounds::bound(counted) < *then {
            println!("{:<14} is much cheaper than when its bound was set; {}", "", how_to_set(name));
        }
    }
    if mistakes.is_empty() { Ok(()) } else { Err(mistakes.join("\n")) }
}

fn set(names: &[&str]) -> Result<(), String> {
    let mut set = bounds::read()?;
    set.retain(|name, _| NAMES.iter().any(|(known, _)| known == name));
    let known: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
    for name in if names.is_empty() { &known } else { names } {
        let counted = callgrind::count(name)?;
        println!("{name:<14} {counted:>14}");
        set.insert((*name).to_owned(), counted);
    }
    bounds::write(&set)
}

fn how_to_set(name: &str) -> String {
    format!("to set it anew: cargo run --release -p deepgraph-benches --bin instructions -- --set {name}")
}

fn no_workload(name: &str) -> String {
    let known: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
    format!("there is no workload `{name}`; there are {}", known.join(", "))
}
