//! Wall time of whole runs on the engine alone: from making the root's Machine to its end, in a plain loop. Loading
//! the graph is not in it. Baselines of tokio, on one thread, stand beside them.
//!
//! `cargo bench -p deepgraph-benches --bench engine [NAME]`

use std::hint::black_box;

use deepgraph_benches::{NAMES, Workload, run};
use divan::Bencher;
use divan::counter::ItemsCount;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

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

/// The same fan-out at ten times the width, or what the language allows of it.
#[divan::bench(args = [100, 1000, 1900], sample_count = 30)]
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

fn one_thread() -> Runtime {
    Builder::new_current_thread().build().unwrap_or_else(|e| panic!("no runtime: {e}"))
}

/// A future that is ready at once, spawned and waited for, 1,000 times.
#[divan::bench]
fn tokio_spawn_and_join(bencher: Bencher<'_, '_>) {
    let runtime = one_thread();
    bencher.counter(ItemsCount::new(1000_usize)).bench_local(|| {
        runtime.block_on(async {
            for i in 0..1000 {
                let _ = black_box(tokio::spawn(async move { black_box(i) }).await);
            }
        });
    });
}

/// So many futures that are ready at once, spawned into a set and all waited for.
#[divan::bench(args = [1000, 10_000])]
fn tokio_join_set(bencher: Bencher<'_, '_>, width: usize) {
    let runtime = one_thread();
    bencher.counter(ItemsCount::new(width)).bench_local(|| {
        runtime.block_on(async {
            let mut set = JoinSet::new();
            for i in 0..width {
                set.spawn(async move { black_box(i) });
            }
            while let Some(result) = set.join_next().await {
                let _ = black_box(result);
            }
        });
    });
}
