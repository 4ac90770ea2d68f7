//! Nothing that a person made is overwritten by a case or a recording.

use std::fs;

use super::super::world::{AWAITING_INPUT, SUCCEEDED, Said, USAGE, World};

/// A model, then nothing.
const GRAPH: &str = "\
deepgraph: 1
name: says
state: {question: string, text: {type: string, optional: true}}
input: [question]
output: [text]
start: say
nodes:
  say: {model: scripted, prompt: '{{ question }}', update: {text: result.text}}
";
const SCRIPT: &str = "rules:\n  - {reply: {text: Sixty metres.}}\n";

/// A world with a run of the graph in `graph.yaml`.
fn ran() -> World {
    let world = World::new();
    world.write("graph.yaml", GRAPH);
    world.write("script.yaml", SCRIPT);
    let run = run(&world, &[]);
    assert_eq!(run.code, SUCCEEDED, "{}", run.err);
    world
}

fn run(world: &World, more: &[&str]) -> Said {
    let args = ["run", "How high?", "--graph", "./graph.yaml", "--script", "script.yaml"];
    world.deepgraph(&[&args[..], more].concat())
}

fn from_run(world: &World, more: &[&str]) -> Said {
    world.deepgraph(&[&["case", "from-run", "last"][..], more].concat())
}

fn read(world: &World, name: &str) -> String {
    fs::read_to_string(world.path(name)).expect("it is there")
}

#[test]
fn a_case_replaces_no_graph_and_no_other_file_even_by_force() {
    let world = ran();
    world.write("notes.yaml", "case: closed, see file 3\n");
    world.write("list.yml", "- case: It.\n");
    for (name, kind, free) in [
        ("graph.yaml", "a graph", "graph-2.yaml"),
        ("notes.yaml", "another file", "notes-2.yaml"),
        ("list.yml", "another file", "list-2.yml"),
    ] {
        let before = read(&world, name);
        for force in [&[][..], &["--force"]] {
            let said = from_run(&world, &[&["-o", name][..], force].concat());
            assert_eq!(said.code, USAGE, "{}", said.err);
            let told = format!("{kind} is there already: {free} is free");
            assert!(said.err.contains(&told) && !said.err.contains("--force"), "{told}: {}", said.err);
            assert_eq!(read(&world, name), before);
        }
    }
}

#[test]
fn a_case_goes_to_a_file_that_is_found_again() {
    let world = ran();
    let before = files(&world);
    for (name, told) in [
        ("-", "not written to standard output"),
        ("x.txt", "name it x.yaml"),
        ("x", "name it x.yaml"),
        ("x.json", "name it x.yaml"),
        ("/dev/null", "by their ending, .yaml or .yml"),
    ] {
        for force in [&[][..], &["--force"]] {
            let said = from_run(&world, &[&["-o", name][..], force].concat());
            assert_eq!(said.code, USAGE, "{name}: {}", said.err);
            assert!(said.err.contains("--out") && said.err.contains(told), "{name}: {}", said.err);
        }
    }
    assert_eq!(files(&world), before);
    assert_eq!(from_run(&world, &["-o", "x.yml"]).code, SUCCEEDED);
}

#[test]
fn a_case_of_a_graph_that_changed_leaves_no_folder_beside_a_device() {
    let world = ran();
    world.write("graph.yaml", &GRAPH.replace("{{ question }}", "Say: {{ question }}"));
    std::os::unix::fs::symlink("/dev/null", world.path("null.yaml")).expect("it can be linked");
    let before = files(&world);
    let said = from_run(&world, &["-o", "null.yaml"]);
    assert_eq!(said.code, USAGE, "{}", said.err);
    assert!(said.err.contains("it is a device or a pipe"), "{}", said.err);
    assert_eq!(files(&world), before);
}

/// The names in the folder of a world.
fn files(world: &World) -> Vec<String> {
    let entries = fs::read_dir(world.path("")).expect("it is there");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("it can be read").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_case_that_was_edited_is_replaced_by_force_only() {
    let world = ran();
    assert_eq!(from_run(&world, &["-o", "it.yaml"]).code, SUCCEEDED);
    let written = read(&world, "it.yaml");
    let edited = format!("# Mine.\n{written}");
    world.write("it.yaml", &edited);
    let said = from_run(&world, &["-o", "it.yaml"]);
    assert_eq!(said.code, USAGE, "{}", said.err);
    let told = "a case is there already: --force replaces it, it-2.yaml is free";
    assert!(said.err.contains(told), "{}", said.err);
    assert_eq!(read(&world, "it.yaml"), edited);
    let said = from_run(&world, &["-o", "it.yaml", "--force"]);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    assert_eq!(read(&world, "it.yaml"), written);
}

#[test]
fn the_default_name_is_counted_on() {
    let world = ran();
    for _ in 0..3 {
        let said = from_run(&world, &[]);
        assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    }
    let entries = fs::read_dir(world.path("cases")).expect("it is there");
    let name = |entry: std::io::Result<fs::DirEntry>| {
        entry.expect("it can be read").file_name().to_string_lossy().into_owned()
    };
    let names: Vec<String> = entries.map(name).filter(|name| name.ends_with(".yaml")).collect();
    let ending = |ending: &str| names.iter().filter(|name| name.ends_with(ending)).count();
    assert_eq!((names.len(), ending("-2.yaml"), ending("-3.yaml")), (3, 1, 1), "{names:?}");
}

#[test]
fn the_copy_of_a_graph_replaces_none_that_was_changed() {
    let world = ran();
    world.write("graph.yaml", &GRAPH.replace("{{ question }}", "Say: {{ question }}"));
    let case = |more: &[&str]| {
        let said = from_run(&world, &[&["-o", "it.yaml"][..], more].concat());
        assert_eq!(said.code, SUCCEEDED, "{}", said.err);
        read(&world, "it.yaml")
    };
    assert!(case(&[]).contains("graph: it_graph/graph.yaml\n"));
    assert_eq!(read(&world, "it_graph/graph.yaml"), GRAPH);
    assert!(case(&["--force"]).contains("graph: it_graph/graph.yaml\n"), "it has the same texts");
    let mine = format!("{GRAPH}# Mine.\n");
    world.write("it_graph/graph.yaml", &mine);
    assert!(case(&["--force"]).contains("graph: it_graph-2/graph.yaml\n"));
    assert_eq!(read(&world, "it_graph/graph.yaml"), mine);
    assert_eq!(read(&world, "it_graph-2/graph.yaml"), GRAPH);
}

#[test]
fn no_folder_is_made_but_the_one_of_the_default_path() {
    let world = ran();
    let said = from_run(&world, &["-o", "no/such/it.yaml"]);
    assert_eq!(said.code, USAGE, "{}", said.err);
    assert!(said.err.contains("there is no folder") && !world.path("no").exists(), "{}", said.err);
    assert_eq!(from_run(&world, &[]).code, SUCCEEDED);
    assert!(world.path("cases").is_dir());
}

#[test]
fn a_recording_replaces_only_a_recording_and_that_is_found_out_before_the_run() {
    let world = ran();
    for (name, text, kind) in [
        ("notes.md", "# Notes\n", "another file"),
        ("mine.yaml", GRAPH, "a graph"),
        ("it.yaml", "case: It.\ngraph: graph.yaml\nexpect: {}\n", "a case"),
    ] {
        world.write(name, text);
        let told = format!("{kind} is there already, and only recordings are replaced");
        let resumed = world.deepgraph(&["resume", "last", "--record", name]);
        for said in [run(&world, &["--record", name]), resumed] {
            assert_eq!(said.code, USAGE, "{}", said.err);
            assert!(said.err.contains(name) && said.err.contains(&told), "{told}: {}", said.err);
            assert_eq!(read(&world, name), text);
        }
    }
    let runs = world.deepgraph(&["runs", "--json"]);
    assert_eq!(runs.out.matches("runId").count(), 1, "no other run began: {}", runs.out);
    world.write("run.json", "");
    for _ in 0..2 {
        let said = run(&world, &["--record", "run.json"]);
        assert_eq!(said.code, SUCCEEDED, "{}", said.err);
        assert!(read(&world, "run.json").contains("\"deepgraph_recording\": 2"));
    }
}

#[test]
fn a_replay_that_fails_does_not_replace_the_recording_that_it_is_answered_from() {
    let world = ran();
    assert_eq!(run(&world, &["--record", "rec.json"]).code, SUCCEEDED);
    let recorded = read(&world, "rec.json");
    // The replay asks what was not recorded.
    world.write("graph.yaml", &GRAPH.replace("{{ question }}", "Say: {{ question }}"));
    let replay = |to: &str| world.deepgraph(&["run", "--replay", "rec.json", "--record", to]);
    std::os::unix::fs::symlink("rec.json", world.path("link.json")).expect("it can be linked");
    for to in ["rec.json", "./rec.json", "link.json"] {
        let said = replay(to);
        assert_eq!(said.code, USAGE, "{to}: {}", said.err);
        let told = "the run is answered from it (--replay)";
        assert!(said.err.contains("--record") && said.err.contains(told), "{to}: {}", said.err);
        assert_eq!(read(&world, "rec.json"), recorded);
    }
    let said = world.deepgraph(&["run", "--replay", "rec.json", "--out", "./rec.json"]);
    assert_eq!(said.code, USAGE, "{}", said.err);
    assert_eq!(read(&world, "rec.json"), recorded);
    let said = replay("other.json");
    assert!(said.code != SUCCEEDED && said.code != USAGE, "{}", said.err);
    assert!(world.path("other.json").exists(), "what came is recorded elsewhere: {}", said.err);
    // The same where the run is shown again.
    let said = world.deepgraph(&["resume", "last", "--record", "rec.json"]);
    assert_eq!(said.code, USAGE, "{}", said.err);
    assert_eq!(read(&world, "rec.json"), recorded);
}

/// A question that has a timeout.
const ASKS: &str = "\
deepgraph: 1
name: asks
types: {review: {action: {enum: [approve, reject]}}}
state: {question: string, action: {type: string, optional: true}}
input: [question]
output: [action]
start: review
nodes:
  review: {ask: 'Shall I? {{ question }}', returns: review, timeout: 1h, update: {action: result.data.action}}
";

#[test]
fn a_question_with_a_timeout_that_waits_becomes_a_case_that_passes() {
    let world = World::new();
    world.write("graph.yaml", ASKS);
    let waits = world.deepgraph(&["run", "the tower", "--graph", "./graph.yaml"]);
    assert_eq!(waits.code, AWAITING_INPUT, "{}", waits.err);
    let said = from_run(&world, &["-o", "waits.yaml"]);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    let case = read(&world, "waits.yaml");
    assert!(case.contains("review.1: {later: true}") && case.contains("status: awaiting_input"), "{case}");
    let without = case.replace("  review.1: {later: true}\n", "").replace("answers:\n", "");
    world.write("without.yaml", &without);
    let played = world.deepgraph(&["test", "without.yaml"]);
    assert_ne!(played.code, SUCCEEDED, "its time is up: {}", played.out);
    world.write("other.yaml", &case.replace("{later: true}", "{later: true, takes: 1s}"));
    let played = world.deepgraph(&["test", "other.yaml"]);
    let told = format!("{}{}", played.out, played.err);
    assert!(told.contains("`later: true` stands alone"), "{told}");
}

#[test]
fn a_case_that_is_half_written_is_a_case() {
    let world = ran();
    let half = "case: To be gone on with.\ngraph: graph.yaml\n";
    for name in ["it.yaml", "cases/it.yaml"] {
        world.write(name, half);
        let said = from_run(&world, &["-o", name]);
        assert_eq!(said.code, USAGE, "{}", said.err);
        assert!(said.err.contains("a case is there already: --force replaces it"), "{}", said.err);
        let said = from_run(&world, &["-o", name, "--force"]);
        assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    }
}
