//! What a run is given, and a run that can not be started from its record.

use deepgraph_store::{RunId, RunRecord, Store};

use super::world::{SUCCEEDED, USAGE, World};

const GRAPH: &str = "deepgraph: 1\nname: pair\nstate: {left: string, right: string, count: {type: integer, optional: \
                     true}, report: string}\ninput: [left, right, count]\noutput: [report]\nstart: say\nnodes: {say: \
                     {update: {report: left ~ ' and ' ~ right}, next: {exit: completed}}}\n";

#[test]
fn all_that_is_wrong_with_an_input_is_told_at_once() {
    let world = World::new();
    let graph = world.write("pair.yaml", GRAPH);
    let said =
        world.deepgraph(&["run", "Which?", "--graph", &graph, "--input", "count=many", "--input", "lft=a"]);
    assert_eq!(said.code, USAGE, "{}", said.err);
    for part in [
        "the input of the graph pair does not fit",
        "count: must be an integer",
        "no input `lft`; did you mean \"left\"?",
        "the inputs left, right, count, and which of them the question is for is not clear",
        "left: needs a value: a string",
        "right: needs a value: a string",
        "--input NAME=VALUE",
    ] {
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }
    // Where one text is left, the question is for that.
    let said = world.deepgraph(&["run", "b", "--graph", &graph, "--input", "left=a"]);
    assert_eq!((said.code, said.out.trim()), (SUCCEEDED, "a and b"), "{}", said.err);
}

#[test]
fn a_run_whose_set_up_can_not_be_read_is_not_started() {
    let world = World::new();
    let graph = world.write("pair.yaml", GRAPH);
    let args = ["run", "--graph", &graph, "--input", "left=a", "--input", "right=b"];
    assert_eq!(world.deepgraph(&args).code, SUCCEEDED);
    let store = world.store();
    let whole = store.find_run("last").expect("there is a run");
    for (settings, starts) in [(whole.settings.clone(), true), (serde_json::json!({"stream": true}), false)] {
        let run = RunId::new();
        let bundle = whole.bundle.clone();
        let record = RunRecord::queued(run.clone(), "a", "pair", whole.created_at, bundle, settings);
        store.create_run(&record).expect("the store takes it");
        let said = world.deepgraph(&["resume", run.as_str()]);
        if starts {
            assert_eq!((said.code, said.out.trim()), (SUCCEEDED, "a and b"), "{}", said.err);
            continue;
        }
        assert_ne!(said.code, SUCCEEDED);
        for part in [run.as_str(), "does not say how the run was set up", "missing field `input`"] {
            assert!(said.err.contains(part), "{part}: {}", said.err);
        }
        assert!(store.entries(&run, 0).expect("the store can be read").is_empty());
    }
}

#[test]
fn what_can_not_be_written_is_called_by_its_name() {
    let world = World::new();
    let graph = world.write("pair.yaml", GRAPH);
    let run = ["run", "--graph", &graph, "--input", "left=a", "--input", "right=b"];
    assert_eq!(world.deepgraph(&run).code, SUCCEEDED);
    let missing = "no/such/folder/file.svg";
    for (args, what) in [
        (&["trace", "last", "--out", missing][..], "the trace can not be written to"),
        (&["draw", &graph, "--out", missing], "the drawing can not be written to"),
        (&["resume", "last", "--out", missing], "the report can not be written to"),
        (&["resume", "last", "--record", missing], "the recording can not be written to"),
        (&["test", "--junit", missing], "the JUnit file can not be written to"),
    ] {
        world.write(
            "pair.case.yaml",
            "case: a\ngraph: pair.yaml\ninput: {left: a, right: b}\nexpect: {status: succeeded}\n",
        );
        let said = world.deepgraph(args);
        assert_eq!(said.code, USAGE, "{args:?}: {}", said.err);
        assert!(said.err.contains(what), "{args:?}: {}", said.err);
    }
}
