//! The workloads on deepgraph: runs one in this process and prints one line of JSON, as `langgraph_side.py` does
//! for LangGraph.
//!
//! ```text
//! peers WORKLOAD MODE FOLDER [small]
//! ```
//!
//! MODE: `none` (Machines in a plain loop), `memory` (the runtime with a store in memory), `sqlite` (the runtime
//! with a store in FOLDER), `import` (ends at once: what the others' memory is compared with). `small` runs it at a
//! tenth of its size.
//!
//! Prints seconds (of a run alone: loading the graph and a run of three steps before it are left out; in memory the
//! median of several runs), peak_kb (the most memory that this process had resident when the first run was over) and
//! bytes (files in FOLDER when all are closed).
//!
//! `peers durable ...` measures what durability costs: see `durable.rs`; `peers many ...` drives many runs at once: see
//! `many.rs`.

mod durable;
mod live;
mod many;

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use deepgraph_benches::{NAMES, Workload, run};

/// In memory a workload is run again until it took this long, or so often; the median counts.
const REPEATED: Duration = Duration::from_secs(1);
const MOST_RUNS: usize = 25;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let other = match args.first().map(String::as_str) {
        Some("durable") => Some(durable::main as fn(&[String])),
        Some("many") => Some(many::main as fn(&[String])),
        _ => None,
    };
    if let Some(other) = other {
        other(&args[1..]);
        return ExitCode::SUCCESS;
    }
    let [name, mode, folder, rest @ ..] = &args[..] else {
        eprintln!("usage: peers WORKLOAD MODE FOLDER [small]");
        return ExitCode::FAILURE;
    };
    let share = if rest.iter().any(|arg| arg == "small") { 10 } else { 1 };
    let folder = Path::new(folder);
    let (time, peak) = match mode.as_str() {
        "import" => (Duration::ZERO, peak_kb()),
        mode => measured(name, share, mode, folder),
    };
    let (seconds, bytes) = (time.as_secs_f64(), bytes_in(folder));
    println!("{{\"seconds\": {seconds}, \"peak_kb\": {peak}, \"bytes\": {bytes}}}");
    ExitCode::SUCCESS
}

/// The median of some runs, and the most memory that was resident when the first was over.
fn measured(name: &str, share: usize, mode: &str, folder: &Path) -> (Duration, u64) {
    let usual = NAMES.iter().find(|(known, _)| *known == name).map(|(_, size)| *size);
    let workload = |size| Workload::named(name, size);
    let (Some(small), Some(whole)) = (workload(3), usual.and_then(|size| workload(size / share))) else {
        panic!("there is no workload {name}")
    };
    let once = |workload| match mode {
        "none" => plain(workload),
        "memory" => live::run(workload, None),
        _ => live::run(workload, Some(folder)),
    };
    if mode == "sqlite" {
        live::run(&small, None);
        return (once(&whole), peak_kb());
    }
    once(&small);
    let mut times = vec![once(&whole)];
    let peak = peak_kb();
    while times.iter().sum::<Duration>() < REPEATED && times.len() < MOST_RUNS {
        times.push(once(&whole));
    }
    times.sort();
    (times[times.len() / 2], peak)
}

fn plain(workload: &Workload) -> Duration {
    let began = Instant::now();
    let end = run(workload).end;
    let time = began.elapsed();
    workload.verify(&end);
    time
}

/// The most memory that this process had resident, in kilobytes. Not `ru_maxrss`: that keeps the figure of
/// whatever the process was before it became this program.
fn peak_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|figure| figure.trim().strip_suffix(" kB")?.trim().parse().ok()).unwrap_or(0)
}

fn bytes_in(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| file.metadata().ok()).map(|data| data.len()).sum()
}
