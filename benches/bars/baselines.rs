//! What is compared with: tokio on one thread, with futures that are ready at once.

use std::hint::black_box;
use std::time::Instant;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use crate::rounds::Side;

fn one_thread() -> Runtime {
    Builder::new_current_thread().build().unwrap_or_else(|e| panic!("no runtime: {e}"))
}

/// Spawns a future and waits for it, `times` times.
pub fn spawn_and_join(times: usize) -> Side {
    let runtime = one_thread();
    Side::new("tokio spawn and join", times, move || {
        let from = Instant::now();
        runtime.block_on(async {
            for i in 0..times {
                let _ = black_box(tokio::spawn(async move { black_box(i) }).await);
            }
        });
        from.elapsed()
    })
}

/// Spawns `width` futures into a set and takes all results.
pub fn join_set(width: usize) -> Side {
    let runtime = one_thread();
    Side::new("tokio JoinSet", width, move || {
        let from = Instant::now();
        runtime.block_on(async {
            let mut set = JoinSet::new();
            for i in 0..width {
                set.spawn(async move { black_box(i) });
            }
            while let Some(result) = set.join_next().await {
                let _ = black_box(result);
            }
        });
        from.elapsed()
    })
}
