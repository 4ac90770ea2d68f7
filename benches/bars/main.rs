//! Bars that the engine has to hold, as ratios of two things measured side by side in this process.
//!
//! `cargo bench -p deepgraph-benches --bench bars` prints them. With `-- --check`, a bar that is missed makes the
//! exit status 1; with `-- --quick`, fewer rounds are run. Rows without a letter are for comparison and have the
//! bar of the row above; `--check` does not look at them.

mod baselines;
mod clock;
mod engine;
mod rounds;

use std::process::ExitCode;

use deepgraph_benches::Workload;
use rounds::{Side, measure};
use tokio::runtime::Runtime;

/// One row of the table.
struct Bar {
    /// The letter of a bar; empty for a row that is for comparison only.
    id: &'static str,
    what: &'static str,
    ours: Side,
    against: Side,
    /// The highest ratio that is allowed.
    most: f64,
}

fn main() -> ExitCode {
    let asked = |flag: &str| std::env::args().any(|arg| arg == flag);
    let rounds = if asked("--quick") { 10 } else { 60 };
    println!(
        "Each figure is the least of {rounds} interleaved rounds, in nanoseconds of work per step or task.\n"
    );
    println!("| bar | what | ns | against | ns | ratio | at most | held |");
    println!("|---|---|--:|---|--:|--:|--:|---|");
    let mut missed = 0;
    for mut bar in bars() {
        let (ours, against) = measure(&mut bar.ours, &mut bar.against, rounds);
        let ratio = ours / against;
        let held = ratio <= bar.most;
        missed += usize::from(!held && !bar.id.is_empty());
        println!(
            "| {} | {}: {} | {ours:.0} | {} | {against:.0} | {ratio:.2} | {} | {} |",
            bar.id,
            bar.what,
            bar.ours.name,
            bar.against.name,
            bar.most,
            if held { "yes" } else { "**no**" },
        );
    }
    println!("\n{missed} missed");
    ExitCode::from(u8::from(missed > 0 && asked("--check")))
}

fn bars() -> Vec<Bar> {
    let spawn = || tokio_side("tokio spawn and join", 1000, baselines::spawn_and_join);
    let set = |width| tokio_side("tokio JoinSet", width, baselines::join_set);
    let step = |name: &str, workload| engine::steps(name, 1000, workload);
    let bar = |id, what, ours, against, most| Bar { id, what, ours, against, most };
    let fan = |width| engine::steps(named(width, "items"), width, Workload::fan_out(width));
    let calls = |width| engine::fan_out_calls(named(width, "calls"), width, Workload::fan_out_calls(width));
    let nodes = |name, channels, items| engine::steps(name, 1000, Workload::nodes(1000, channels, items));
    let beside = |kilobytes| Workload::untouched(1000, kilobytes);
    let of = |channels| Workload::counting(1000, channels);
    vec![
        bar("a", "super-step", step("one condition", Workload::condition(1000)), spawn(), 5.0),
        bar("", "super-step", step("one update, one condition", of(1)), spawn(), 5.0),
        bar("", "super-step", step("nothing", Workload::chain(1000)), spawn(), 5.0),
        bar("b", "fan-out", fan(1000), set(1000), 3.0),
        bar("", "fan-out", fan(10_000), set(10_000), 3.0),
        bar("", "fan-out", calls(1000), set(1000), 3.0),
        bar("", "fan-out", calls(10_000), set(10_000), 3.0),
        bar("", "fan-out", nodes("1,000 nodes", 0, 0), set(1000), 3.0),
        bar("c", "fan-out", fan(10_000), fan(1000), 4.0),
        bar("", "fan-out", calls(10_000), calls(1000), 4.0),
        bar("", "nodes", nodes("1,000 in 1,000 channels", 1000, 0), nodes("in one", 0, 0), 2.0),
        bar("", "nodes", nodes("1,000 onto 10,000 items", 0, 10_000), nodes("onto none", 0, 0), 2.0),
        bar("d", "state", step("1 MB untouched", beside(1000)), step("none", beside(0)), 1.5),
        bar("e", "channels", step("one of 1,000", of(1000)), step("one of one", of(1)), 2.0),
    ]
}

fn named(width: usize, what: &str) -> String {
    let thousands = width / 1000;
    format!("{thousands},000 {what}")
}

fn tokio_side(name: &str, units: usize, run: fn(&Runtime, usize)) -> Side {
    let runtime = baselines::one_thread();
    Side::new(name, units, move || {
        let from = clock::now();
        run(&runtime, units);
        clock::now() - from
    })
}
