//! Wall time of whole runs on the engine alone: from making the root's Machine to its end, in a plain loop. Loading
//! the graph is not in it. Baselines of tokio, on one thread, stand beside them.
//!
//! `cargo bench -p deepgraph-benches --bench engine [NAME]`

#[path = "bars/baselines.rs"]
mod baselines;

use std::hint::black_box;

use baselines::{join_set, one_thread, spawn_and_join};
use deepgraph_benches::{NAMES, Workload, run};
use divan::Bencher;
use divan::counter::ItemsCount;

fn main() {
    divan::main();
}

/// Whole runs, with the time of one step, task, item or turn as items per second.
#[divan::bench(args = NAMES.map(|(name, _)| name), sample_count = 30)]
fn workload(bencher: Bencher<'_, '_>, name: &str) {
    let size = NAMES.iter().find(|(known, _)| *known == name).map_or(0, |(_, size)| *size);
    let Some(workload) = Workload::named(name, size) else { panic!("there is no workload {name}") };
    workload.verify(&run(&workload).end);
    bencher.counter(ItemsCount::new(size)).bench_local(|| run(black_box(&workload)));
}

/// The fan-out by its width.
#[divan::bench(args = [100, 1000, 10_000], sample_count = 30)]
fn fan_out(bencher: Bencher<'_, '_>, width: usize) {
    let workload = Workload::fan_out(width);
    workload.verify(&run(&workload).end);
    bencher.counter(ItemsCount::new(width)).bench_local(|| run(black_box(&workload)));
}

/// A counting loop of 1,000 steps, by the kilobytes of state that it does not touch.
#[divan::bench(args = [0, 1000], sample_count = 30)]
fn untouched_kilobytes(bencher: Bencher<'_, '_>, kilobytes: usize) {
    let workload = Workload::untouched(1000, kilobytes);
    workload.verify(&run(&workload).end);
    bencher.counter(ItemsCount::new(1000_usize)).bench_local(|| run(black_box(&workload)));
}

/// A future that is ready at once, spawned and waited for, 1,000 times.
#[divan::bench]
fn tokio_spawn_and_join(bencher: Bencher<'_, '_>) {
    let runtime = one_thread();
    bencher.counter(ItemsCount::new(1000_usize)).bench_local(|| spawn_and_join(&runtime, 1000));
}

/// So many futures that are ready at once, spawned into a set and all waited for.
#[divan::bench(args = [1000, 10_000])]
fn tokio_join_set(bencher: Bencher<'_, '_>, width: usize) {
    let runtime = one_thread();
    bencher.counter(ItemsCount::new(width)).bench_local(|| join_set(&runtime, width));
}
