//! What keeping costs: committed steps in a second, bytes that a step takes, the time to take a long run up again.
//!
//! `cargo bench -p deepgraph-benches --bench store` prints a table. With `-- --check`, a bar that is missed makes the
//! exit status 1. The file is in the system's folder for temporary files; DEEPGRAPH_BENCH_DIR names another one. A step
//! is an op whose answer, a text of 600 bytes that no other step has, is one entry, committed with a change of the
//! record before the next step begins.

mod journal;
mod steps;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use deepgraph_store::{SqliteOptions, SqliteStore, Synchronous};

/// A figure, and what it is held against.
struct Row {
    what: String,
    figure: f64,
    unit: &'static str,
    /// How it is held: words for the table, and whether it is. None: for comparison only.
    bar: Option<(String, bool)>,
}

fn main() -> ExitCode {
    let check = std::env::args().any(|arg| arg == "--check");
    let mut rows = Vec::new();
    speed(&mut rows);
    size(&mut rows);
    resume(&mut rows);
    println!("| what | figure | | bar | held |");
    println!("|---|--:|---|---|---|");
    let mut missed = 0;
    for Row { what, figure, unit, bar } in &rows {
        let (words, held) = match bar {
            Some((words, true)) => (words.as_str(), "yes"),
            Some((words, false)) => (words.as_str(), "**no**"),
            None => ("", ""),
        };
        missed += usize::from(held == "**no**");
        println!("| {what} | {figure:.1} | {unit} | {words} | {held} |");
    }
    println!("\n{missed} missed");
    ExitCode::from(u8::from(missed > 0 && check))
}

/// A folder that is gone after the measurement.
fn folder() -> tempfile::TempDir {
    let place = std::env::var_os("DEEPGRAPH_BENCH_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
    tempfile::tempdir_in(place).unwrap_or_else(|e| panic!("no folder: {e}"))
}

fn open(folder: &tempfile::TempDir, synchronous: Synchronous) -> SqliteStore {
    let options = SqliteOptions::default().synchronous(synchronous);
    SqliteStore::open_with(folder.path().join("runs.sqlite"), &options)
        .unwrap_or_else(|e| panic!("no store: {e}"))
}

fn speed(rows: &mut Vec<Row>) {
    let per_second = |steps: u64, time: Duration| steps as f64 / time.as_secs_f64();
    let disk = folder();
    let writes = steps::plain_writes(disk.path(), 500);
    let plain = per_second(500, writes);
    rows.push(Row { what: "write of 4 kB, synchronised".into(), figure: plain, unit: "a second", bar: None });
    for (synchronous, name) in [(Synchronous::Full, "FULL"), (Synchronous::Normal, "NORMAL")] {
        let one = folder();
        let alone = per_second(2000, steps::runs(&open(&one, synchronous), 1, 2000));
        let row = |what: String, figure, bar| Row { what, figure, unit: "steps a second", bar };
        rows.push(row(format!("one run, synchronous {name}"), alone, None));
        let many = folder();
        let together = per_second(20_000, steps::runs(&open(&many, synchronous), 50, 400));
        let bar = (synchronous == Synchronous::Full)
            .then(|| ("at least 4 × one run".to_owned(), together >= 4.0 * alone));
        rows.push(row(format!("50 runs, synchronous {name}"), together, bar));
    }
}

fn size(rows: &mut Vec<Row>) {
    let mut sizes: Vec<f64> = Vec::new();
    for count in [100, 1000, 10_000] {
        let place = folder();
        let bytes = steps::bytes(place.path(), count) as f64 / count as f64;
        sizes.push(bytes);
        let least = sizes.iter().copied().fold(f64::INFINITY, f64::min);
        let most = sizes.iter().copied().fold(0.0, f64::max);
        let bar = (count == 10_000)
            .then(|| (format!("{:.2} × apart, at most 1.2", most / least), most <= 1.2 * least));
        rows.push(Row { what: format!("run of {count} steps"), figure: bytes, unit: "bytes a step", bar });
    }
}

fn resume(rows: &mut Vec<Row>) {
    let place = folder();
    let journal = journal::write(&open(&place, Synchronous::Full), 10_000);
    let mut least = [Duration::MAX; 2];
    for _ in 0..3 {
        let began = Instant::now();
        let store = open(&place, Synchronous::Full);
        let stored = journal.read(&store);
        let read = began.elapsed();
        journal.fold(&stored);
        least = [least[0].min(read), least[1].min(began.elapsed())];
    }
    let row = |what: &str, time: Duration, bar| Row {
        what: what.into(),
        figure: time.as_secs_f64() * 1000.0,
        unit: "ms",
        bar,
    };
    rows.push(row("10,000 entries: opened and read", least[0], None));
    let held = least[1] < Duration::from_secs(1);
    rows.push(row(
        "10,000 entries: opened, read and folded",
        least[1],
        Some(("under 1,000 ms".into(), held)),
    ));
}
