//! The graphs in the documents.

use std::collections::BTreeMap;

use deepgraph_graph::{OpTable, load};

use super::{document, documents, graphs_of};
use crate::cli::world::{SUCCEEDED, World, harbour};

#[test]
fn every_graph_in_the_documents_loads_without_a_word() {
    let mut count = 0;
    for (name, text) in documents() {
        for (line, graph) in graphs_of(&text) {
            let files = BTreeMap::from([("graph.yaml".to_owned(), graph)]);
            match load("graph.yaml", &files, &OpTable::stock()) {
                Ok(loaded) => assert!(loaded.warnings.is_empty(), "{name}:{line}\n{}", loaded.warnings),
                Err(mistakes) => panic!("{name}:{line}\n{mistakes}"),
            }
            count += 1;
        }
    }
    assert!(count >= 6, "only {count} graphs were found");
}

#[test]
fn every_step_of_the_tour_answers_its_question() {
    for name in ["README.md", "docs/graphs.md"] {
        for (line, graph) in graphs_of(&document(name)) {
            let world = World::new();
            let file = world.write("graph.yaml", &graph);
            let question = "Compare the Norvane N60 and the Corrigan C70 on range and price";
            let said = world.deepgraph(&["run", question, "--graph", &file, "--docs", &harbour()]);
            assert_eq!(said.code, SUCCEEDED, "{name}:{line}\n{}", said.err);
            assert!(said.out.contains("54"), "{name}:{line}\n{}{}", said.out, said.err);
        }
    }
}

#[test]
fn the_tour_says_what_a_small_limit_does() {
    let text = document("docs/graphs.md");
    let (_, graph) =
        graphs_of(&text).into_iter().find(|(_, g)| g.contains("gain_saturated")).expect("step 4");
    let world = World::new();
    let file = world.write("graph.yaml", &graph);
    let question = "Compare the Norvane N60 and the Corrigan C70 on range and price";
    let args = ["run", question, "--graph", &file, "--docs", &harbour(), "--set", "max_calls=2"];
    let said = world.deepgraph(&args);
    for part in ["tool_call_cap", "max_calls", "--set max_calls="] {
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }
}
