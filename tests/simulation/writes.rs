//! Calls that write, in a storm of faults.

use std::sync::Arc;

use deepgraph_graph::{OpTable, load};

use super::simulate;
use crate::support;

#[test]
fn what_writes_is_never_sent_again_blindly_and_undone_once() {
    let text = std::fs::read_to_string(support::repo().join("tests/simulation/writes/graph.yaml"));
    let files = std::collections::BTreeMap::from([("graph.yaml".to_owned(), text.expect("it is there"))]);
    let loaded =
        load("graph.yaml", &files, &OpTable::stock()).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let report = simulate("writes", &Arc::new(loaded.bundle), 0..600);
    for fault in ["crash", "takeover", "lost", "late", "timed_out", "network", "cancelled"] {
        assert!(report.faults.get(fault).is_some_and(|count| *count > 9), "too few {fault}: {report}");
    }
}
