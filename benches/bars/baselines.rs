//! What is compared with: tokio on one thread, with futures that are ready at once.

use std::hint::black_box;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

/// A runtime of one thread.
pub fn one_thread() -> Runtime {
    Builder::new_current_thread().build().unwrap_or_else(|e| panic!("no runtime: {e}"))
}

/// Spawns a future and waits for it, `times` times.
pub fn spawn_and_join(runtime: &Runtime, times: usize) {
    runtime.block_on(async {
        for i in 0..times {
            let _ = black_box(tokio::spawn(async move { black_box(i) }).await);
        }
    });
}

/// Spawns `width` futures into a set and takes all results.
pub fn join_set(runtime: &Runtime, width: usize) {
    runtime.block_on(async {
        let mut set = JoinSet::new();
        for i in 0..width {
            set.spawn(async move { black_box(i) });
        }
        while let Some(result) = set.join_next().await {
            let _ = black_box(result);
        }
    });
}
