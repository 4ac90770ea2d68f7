//! Run-wide caps hold by queueing.

use std::time::Duration;

use deepgraph_protocol::Value;

use super::world::{Slow, World};
use crate::engine::supervised::{complete, conduct};
use crate::support::stock_with;

async fn most(caps: &str) -> (usize, usize, usize) {
    let capped = format!("\nconcurrency: {caps}\nfinally:");
    let bundle = stock_with("deep_research", &[("\nfinally:", &capped)]);
    let turns = vec![(0..8).map(|i| conduct(&format!("topic {i}"))).collect(), vec![complete()]];
    let config =
        [("max_researcher_iterations", Value::Int(20)), ("max_concurrent_research_units", Value::Int(8))];
    let world = World::new(&bundle, Slow::new(turns, 1, Duration::from_millis(10)));
    let (_, outcome, _) = world.run(&config).await;
    assert_eq!(outcome.status.name(), "succeeded");
    (world.model.most("researcher"), world.model.most("compress"), outcome.end.children.len())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_cap_all_researchers_of_a_turn_work_at_once() {
    let (researchers, _, children) = most("{}").await;
    assert_eq!((researchers, children), (8, 9));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cap_on_graphs_bounds_researchers_and_can_not_block_their_parent() {
    let (researchers, compressors, children) = most("{graphs: 2}").await;
    assert!(researchers <= 2 && compressors <= 2, "{researchers} {compressors}");
    assert_eq!(children, 9, "all eight ran, and the supervisor");
    assert_eq!(most("{graphs: 1}").await, (1, 1, 9));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cap_on_model_calls_bounds_them() {
    let (researchers, compressors, children) = most("{model_calls: 3}").await;
    assert!(researchers <= 8 && compressors <= 3, "calls wait inside the cap: {researchers} {compressors}");
    assert_eq!(children, 9);
}
