//! Lists of children that go on, in a storm of faults, while the time of their parent runs out once more.

use std::sync::Arc;

use deepgraph_graph::{OpTable, load};

use super::simulate;
use crate::support;

#[test]
fn what_children_handed_up_stays_and_none_is_begun_twice() {
    let text = std::fs::read_to_string(support::repo().join("tests/simulation/again/graph.yaml"));
    let files = std::collections::BTreeMap::from([("graph.yaml".to_owned(), text.expect("it is there"))]);
    let loaded =
        load("graph.yaml", &files, &OpTable::stock()).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let report = simulate("again", &Arc::new(loaded.bundle), 0..600);
    assert!(report.further > 300, "runs that were over went on: {report:?}");
    let exits = |graph: &str| report.exits.get(graph).cloned().unwrap_or_default();
    for reason in ["deadline", "iteration_limit", "step_limit"] {
        assert!(exits("again").keys().any(|exit| **exit == *reason), "none by {reason}: {report}");
    }
}
