//! What finishes first makes no difference to the trace, with the real driver either.

use std::time::Duration;

use deepgraph_protocol::Value;
use deepgraph_trace::Detail;

use super::world::{Slow, World};
use crate::engine::supervised::{complete, conduct, think};
use crate::support::stock;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_runs_in_random_order_have_one_trace() {
    let bundle = stock("deep_research");
    let round = |r: &str| (0..5).map(|i| conduct(&format!("topic {r}{i}"))).collect::<Vec<_>>();
    let turns = vec![round("a"), [vec![think()], round("b")].concat(), vec![complete()]];
    let config = [("max_researcher_iterations", Value::Int(20))];
    let mut texts = std::collections::BTreeSet::new();
    let mut orders = std::collections::BTreeSet::new();
    for seed in 0..50 {
        let world = World::new(&bundle, Slow::new(turns.clone(), seed, Duration::from_millis(4)));
        let (run, outcome, memory) = world.run(&config).await;
        assert_eq!(outcome.status.name(), "succeeded");
        assert!((2..=5).contains(&world.model.most("researcher")), "{}", world.model.most("researcher"));
        assert_eq!(world.model.calls(), 2 + 3 + 10 * 3 + 1);
        let trace = world.trace(&run);
        texts.insert(trace.to_text(Detail::Full) + &trace.to_json());
        orders.insert(format!("{:?}", memory.0.iter().map(|t| &t.event).collect::<Vec<_>>()));
    }
    assert_eq!(texts.len(), 1, "one trace");
    assert!(orders.len() > 25, "the runs really differed in order: {} orders", orders.len());
}
