//! Random graphs in a storm of faults.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_graph::{OpTable, load};
use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};

use super::simulate;
use crate::bounds::choices::Choices;
use crate::bounds::graphs;

/// Graphs that are looked at, and runs of each.
const GRAPHS: usize = 100;
const RUNS: u64 = 6;

#[test]
fn random_graphs_break_nothing() {
    let mut rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[3; 32]);
    let (mut seen, mut entries, mut compared) = (0, 0, 0);
    for number in 0..GRAPHS * 2 {
        let length = 20 + rng.next_u32() as usize % 140;
        let numbers: Vec<u32> = (0..length).map(|_| rng.next_u32()).collect();
        let text = graphs::graph(&mut Choices::of(&numbers));
        let files = BTreeMap::from([("graph.yaml".to_owned(), text.clone())]);
        // Some of these graphs have mistakes.
        let Ok(loaded) = load("graph.yaml", &files, &OpTable::stock()) else { continue };
        seen += 1;
        let report = simulate(&format!("graph {number}\n{text}"), &Arc::new(loaded.bundle), 0..RUNS);
        entries += report.entries;
        compared += report.compared;
        if seen == GRAPHS {
            break;
        }
    }
    println!("{seen} graphs, {entries} entries, {compared} runs compared");
    assert!(seen * 2 > GRAPHS && compared > GRAPHS, "{seen} graphs, {compared} compared");
}
