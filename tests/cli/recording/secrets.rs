//! Keys never reach a recording.

use super::super::world::World;
use super::{echo, replayed};

/// The key. It must be in no recording.
const KEY: &str = "k3y-of-the-test-0123456789";

const GRAPH: &str = "\
deepgraph: 1
name: two
state: {question: string, text: {type: string, optional: true}}
input: [question]
output: [text]
start: first
nodes:
  first: {model: 'openai::m', prompt: 'First {{ question }}', update: {text: result.text}, next: second}
  second: {model: 'openai::m', prompt: 'Second {{ text }}', update: {text: result.text}}
";

#[test]
fn a_key_that_the_server_repeats_is_not_recorded() {
    for replies in [0, 1] {
        let (world, url) = (World::new(), echo::start(replies));
        world.write("graph.yaml", GRAPH);
        let options = ["--base-url", &url, "--no-stream", "--record", "run.json"];
        let args = [&["run", "why?", "--graph", "./graph.yaml"][..], &options].concat();
        let mut command = world.command(&args);
        let output = command.env("OPENAI_API_KEY", KEY).output().expect("the command can be started");
        assert_eq!(output.status.code(), Some(4), "{}", String::from_utf8_lossy(&output.stderr));
        let recording = std::fs::read_to_string(world.path("run.json")).expect("it was written");
        assert!(recording.contains("***") && recording.contains("unauthorized"), "{recording}");
        assert!(!recording.contains(KEY), "{recording}");
        let is_repeated = recording.contains("Second I was sent Bearer ***");
        assert_eq!(is_repeated, replies == 1, "in requests it is hidden as well: {recording}");
        // What is hidden is hidden alike in what was asked and in what came, so it fits together.
        let (_, said) = replayed_here(&world);
        assert!(said.contains("HTTP 401") && !said.contains(KEY), "{said}");
        assert!(!said.contains("not recorded"), "{said}");
    }
}

/// Replays where the graph is.
fn replayed_here(world: &World) -> (i32, String) {
    let said = world.deepgraph(&["run", "--replay", "run.json"]);
    (said.code, said.err)
}

#[test]
fn a_recording_names_no_graph_that_is_not_there() {
    let world = World::new();
    world.write("graph.yaml", GRAPH);
    let url = echo::start(0);
    world.deepgraph(&["run", "why?", "--graph", "./graph.yaml", "--base-url", &url, "--record", "run.json"]);
    let (_, said) = replayed(&world.path("run.json"));
    assert!(said.code == 2 && said.err.contains("./graph.yaml"), "{}", said.err);
}
