//! Cases of stock graphs.

use super::super::world::{SUCCEEDED, Said, World, harbour};

/// What came of playing a case, and all that was told.
fn played(world: &World, name: &str) -> (Said, String) {
    let said = world.deepgraph(&["test", name]);
    let told = format!("{}{}", said.out, said.err);
    (said, told)
}

#[test]
fn a_stock_graph_is_named_in_its_case_and_not_copied() {
    let (world, docs) = (World::new(), harbour());
    let run = world.deepgraph(&["run", "What is the range?", "--docs", &docs, "--graph", "quick_answer"]);
    assert_eq!(run.code, SUCCEEDED, "{}", run.err);
    let said = world.deepgraph(&["case", "from-run", "last", "-o", "range.yaml"]);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    let case = std::fs::read_to_string(world.path("range.yaml")).expect("it was written");
    assert!(
        case.lines().any(|line| line.starts_with("graph:") && line.contains("stock:quick_answer")),
        "{case}"
    );
    assert!(!world.path("range_graph").exists());
    let accepted = world.deepgraph(&["test", "range.yaml", "--accept"]);
    assert_eq!(accepted.code, SUCCEEDED, "{}", accepted.err);
    let (said, told) = played(&world, "range.yaml");
    assert_eq!(said.code, SUCCEEDED, "{told}");
}

#[test]
fn a_graph_that_is_not_there_is_told_at_its_line() {
    let world = World::new();
    for (graph, message, help) in [
        ("quick_answer", "there is no graph quick_answer", "is written stock:quick_answer"),
        ("../nowhere.yaml", "there is no graph ../nowhere.yaml", "from the folder of the case"),
        ("stock:quick", "there is no stock graph quick", "the stock graphs are"),
        ("'stock:storm#expert'", "a case plays a whole graph", "call: stock:storm#expert"),
        ("stock:a/b", "stock:a/b is no name of a stock graph", "stock:deep_research"),
    ] {
        let case = format!("case: It is.\ngraph: {graph}\nexpect: {{status: succeeded}}\n");
        world.write("it.yaml", &case);
        let (said, told) = played(&world, "it.yaml");
        assert_ne!(said.code, SUCCEEDED, "{told}");
        assert!(told.contains(message) && told.contains(help), "{graph}: {told}");
        assert!(told.contains("it.yaml:2:8"), "{graph}: {told}");
    }
}

#[test]
fn a_folder_means_the_graph_in_it() {
    let world = World::new();
    let graph = "\
deepgraph: 1
state: {a: {type: integer, optional: true}}
start: count
nodes:
  count: {update: {a: 1}}
";
    world.write("mine/graph.yaml", graph);
    for graph in ["..", "../../mine", "../graph.yaml"] {
        let case = format!("case: It is.\ngraph: {graph}\nexpect: {{status: succeeded}}\n");
        world.write("mine/cases/it.yaml", &case);
        let (said, told) = played(&world, "mine/cases/it.yaml");
        assert_eq!(said.code, SUCCEEDED, "{graph}: {told}");
    }
}
