//! Cancelling from outside.

use std::time::{Duration, Instant};

use deepgraph_protocol::RunStatus;
use deepgraph_runtime::Control;

use super::world::{Slow, World};
use crate::engine::supervised::{complete, conduct};
use crate::support::stock;

fn turns() -> Vec<Vec<deepgraph_protocol::ToolCall>> {
    vec![vec![conduct("a"), conduct("b"), conduct("c")], vec![complete()]]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_first_cancel_lets_steps_in_flight_end() {
    let bundle = stock("deep_research");
    let world = World::new(&bundle, Slow::new(turns(), 1, Duration::from_millis(300)));
    let (canceller, control) = Control::new();
    let canceller = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(120)).await;
        canceller.cancel();
        // Kept, so that the run does not take a lost canceller for anything.
        std::future::pending::<()>().await;
    });
    let (run, outcome, _) = world.run_under(&[], control).await;
    canceller.abort();
    assert_eq!(outcome.status, RunStatus::Cancelled);
    assert_eq!(outcome.end.exit.reason.name(), "cancelled");
    let record = world.store.run(&run).expect("the store answers").expect("the run is recorded");
    assert_eq!(record.status, RunStatus::Cancelled);
    let rows = world.store.entries(&run, 0).expect("the journal can be read");
    let completed =
        |kind: &str| rows.iter().filter(|r| format!("{:?}", r.entry.body).starts_with(kind)).count();
    assert_eq!(
        completed("Dispatched"),
        world.model.calls(),
        "every call that was sent was let come to its end"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_cancel_gives_them_up_at_once() {
    let bundle = stock("deep_research");
    let world = World::new(&bundle, Slow::new(turns(), 1, Duration::from_secs(600)));
    let (canceller, control) = Control::new();
    let canceller = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(50)).await;
        canceller.cancel();
        tokio::time::sleep(Duration::from_millis(50)).await;
        canceller.cancel();
        std::future::pending::<()>().await;
    });
    let begun = Instant::now();
    let (_, outcome, _) = world.run_under(&[], control).await;
    canceller.abort();
    assert_eq!(outcome.status, RunStatus::Cancelled);
    assert!(begun.elapsed() < Duration::from_secs(60), "it did not wait for the calls");
}
