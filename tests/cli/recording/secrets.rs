//! Keys never reach a recording or a case.

use deepgraph_store::{RunUpdate, Store};

use super::super::world::{SUCCEEDED, Said, USAGE, World};
use super::{echo, replayed};

/// The key. It must be in no recording, and in no case.
pub const KEY: &str = "k3y-of-the-test-0123456789";

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

/// Carries a command out with the key in a variable.
fn with(world: &World, variable: &str, args: &[&str]) -> Said {
    Said::of(world.command(args).env(variable, KEY))
}

/// A run with the key in its question, its reply and its failure, started with the key in a variable.
fn ran(variable: &str) -> World {
    let (world, url) = (World::new(), echo::start(1));
    world.write("graph.yaml", GRAPH);
    let question = format!("Is {KEY} mine?");
    let options = ["--graph", "./graph.yaml", "--base-url", &url, "--no-stream", "--key-env", variable];
    let run = with(&world, variable, &[&["run", &question][..], &options].concat());
    assert_eq!(run.code, 4, "{}", run.err);
    world
}

#[test]
fn a_key_is_in_no_part_of_a_case() {
    let world = ran("OPENAI_API_KEY");
    let said = with(&world, "OPENAI_API_KEY", &["case", "from-run", "last", "-o", "case.yaml"]);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    let case = std::fs::read_to_string(world.path("case.yaml")).expect("it was written");
    assert!(!case.contains(KEY) && !said.err.contains(KEY), "{case}\n{}", said.err);
    for part in [
        "Is *** mine?\"\n",
        "  question: Is *** mine?\n",
        "I was sent Bearer ***.",
        "kind: unauthorized",
        "Incorrect key provided: ",
    ] {
        assert!(case.contains(part), "{part}: {case}");
    }
}

#[test]
fn a_key_that_is_not_known_any_more_is_asked_for() {
    for variable in ["OPENAI_API_KEY", "MY_KEY"] {
        let world = ran(variable);
        let record = ["resume", "last", "--record", "run.json"];
        let case = ["case", "from-run", "last", "-o", "case.yaml"];
        for args in [&record[..], &case] {
            let file = args[args.len() - 1];
            for value in [None, Some(" ")] {
                let mut command = world.command(args);
                command.envs(value.map(|value| (variable, value)));
                let said = Said::of(&mut command);
                assert_eq!(said.code, USAGE, "{}", said.err);
                assert!(said.err.contains(&format!("set {variable} as in the run")), "{}", said.err);
                assert!(!world.path(file).exists(), "{file}");
            }
            let said = with(&world, variable, args);
            assert!(world.path(file).exists(), "{}", said.err);
            let text = std::fs::read_to_string(world.path(file)).expect("it was written");
            assert!(text.contains("***") && !text.contains(KEY), "{text}");
        }
    }
}

/// Asks a person between two calls.
const ASKS: &str = "\
deepgraph: 1
name: asks
state: {question: string, text: {type: string, optional: true}}
input: [question]
output: [text]
start: review
nodes:
  review: {ask: 'Shall I?', next: first}
  first: {model: 'openai::m', prompt: 'First {{ question }}', update: {text: result.text}}
";

#[test]
fn a_key_that_a_resume_brought_is_asked_for_and_a_run_without_one_asks_for_none() {
    let (world, url) = (World::new(), echo::start(9));
    world.write("graph.yaml", ASKS);
    let run = world.deepgraph(&["run", "why?", "--graph", "./graph.yaml", "--base-url", &url, "--no-stream"]);
    assert_eq!(run.code, 6, "{}", run.err);
    let case = |name: &str| world.deepgraph(&["case", "from-run", "last", "-o", name]);
    let said = case("waits.yaml");
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    let args = ["resume", "last", "--answer", "yes", "--key-env", "MY_KEY"];
    let resumed = with(&world, "MY_KEY", &args);
    assert_eq!(resumed.code, SUCCEEDED, "{}", resumed.err);
    let said = case("over.yaml");
    assert!(said.code == USAGE && said.err.contains("MY_KEY"), "{}", said.err);
    let said = with(&world, "MY_KEY", &["case", "from-run", "last", "-o", "over.yaml"]);
    let text = std::fs::read_to_string(world.path("over.yaml")).expect("it was written");
    assert!(said.code == SUCCEEDED && text.contains("***") && !text.contains(KEY), "{}{text}", said.err);
}

/// Takes out of the newest run's record which keys it was driven with.
fn forget_keys(world: &World) {
    let store = world.store();
    let run = store.find_run("last").expect("there is a run");
    let mut settings = run.settings.clone();
    settings.as_object_mut().expect("it is an object").remove("keys").expect("it was noted");
    let epoch = store.claim(&run.run_id).expect("nobody drives it");
    let update = RunUpdate { settings: Some(settings), ..RunUpdate::default() };
    store.update_run(&run.run_id, epoch, &update).expect("it can be written");
}

#[test]
fn where_keys_were_not_noted_nothing_is_written_until_the_variable_says_so() {
    let (world, url) = (World::new(), echo::start(9));
    for (model, is_asked) in [("openai::m", true), ("scripted", false)] {
        world.write("graph.yaml", &GRAPH.replace("openai::m", model));
        world.write("script.yaml", "rules:\n  - {reply: {text: Sixty metres.}}\n");
        let options =
            ["--graph", "./graph.yaml", "--base-url", &url, "--no-stream", "--script", "script.yaml"];
        let run = world.deepgraph(&[&["run", "why?"][..], &options].concat());
        assert_eq!(run.code, SUCCEEDED, "{}", run.err);
        forget_keys(&world);
        let args = ["case", "from-run", "last", "-o", &format!("{}.yaml", model.replace("::", "_"))];
        if is_asked {
            let said = world.deepgraph(&args);
            assert_eq!(said.code, USAGE, "{}", said.err);
            let told = "set OPENAI_API_KEY as in the run, or to nothing if it had no key";
            assert!(said.err.contains(told), "{}", said.err);
            let said = Said::of(world.command(&args).env("OPENAI_API_KEY", ""));
            assert_eq!(said.code, SUCCEEDED, "{}", said.err);
        } else {
            let said = world.deepgraph(&args);
            assert_eq!(said.code, SUCCEEDED, "{}", said.err);
        }
    }
}
