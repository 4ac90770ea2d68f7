//! Replays that come to something that was not recorded, and files that are no recordings.

use super::super::world::{SUCCEEDED, USAGE, World};

/// Two steps, one after the other, with a prompt in a file.
const GRAPH: &str = "\
deepgraph: 1
name: two
config: {model: {type: string, default: scripted}}
state: {question: string, text: {type: string, optional: true}}
input: [question]
output: [text]
start: first
nodes:
  first: {model: config.model, prompt: 'Look into {{ question }}', update: {text: result.text}, next: second, retry: 3}
  second: {model: config.model, prompt: prompts/second.md, update: {text: result.text}}
";

const PROMPT: &str = "Write a report.\nSay what is known.\nThe notes: {{ text }}\n";

const SCRIPT: &str = "rules:\n  - {when: {user: Look into}, reply: {text: It is 60 m.}}\n  \
                      - {when: {user: The notes}, reply: {text: 60 m.}}\n";

/// A world with a graph and a recording of it.
fn recorded() -> World {
    let world = World::new();
    world.write("graph.yaml", GRAPH);
    world.write("prompts/second.md", PROMPT);
    world.write("script.yaml", SCRIPT);
    let args = ["run", "the tower", "--graph", "./graph.yaml", "--script", "script.yaml"];
    let said = world.deepgraph(&[&args[..], &["--record", "run.json"]].concat());
    assert_eq!((said.code, said.out.trim()), (SUCCEEDED, "60 m."), "{}", said.err);
    world
}

#[test]
fn a_changed_prompt_fails_the_replay_with_its_step_the_neighbour_and_the_lines_that_differ() {
    let world = recorded();
    let unchanged = world.deepgraph(&["run", "--replay", "run.json"]);
    assert_eq!((unchanged.code, unchanged.out.trim()), (SUCCEEDED, "60 m."), "{}", unchanged.err);
    assert!(!unchanged.err.contains("not as it was"), "{}", unchanged.err);
    world.write("prompts/second.md", &PROMPT.replace("what is known", "what is not known"));
    let said = world.deepgraph(&["run", "--replay", "run.json"]);
    assert_eq!(said.code, 1, "{}", said.err);
    for part in [
        "the graph ./graph.yaml is not as it was",
        "`second.1` (attempt 1) makes a request to the model scripted that was not recorded",
        "nearest in the recording is `second.1` (attempt 1)",
        "-     Say what is known.",
        "+     Say what is not known.",
        "record again with --record",
    ] {
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }
    assert!(said.err.contains("  user: Write a report."), "what is the same stands around it: {}", said.err);
    assert!(!said.err.contains("Look into"), "{}", said.err);
    let kept = world.deepgraph(&["trace", "last"]);
    assert!(kept.out.contains("It is 60 m."), "the run is kept as far as it came: {}", kept.out);
    let runs = world.deepgraph(&["runs"]);
    assert!(runs.out.contains("failed") && !runs.out.contains("interrupted"), "{}", runs.out);
}

#[test]
fn another_graph_input_or_configuration_can_be_given() {
    let world = recorded();
    let other = GRAPH.replace("name: two", "name: other").replace("retry: 3", "retry: 2");
    world.write("other.yaml", &other);
    let same_requests = world.deepgraph(&["run", "--replay", "run.json", "--graph", "other.yaml"]);
    assert_eq!(same_requests.code, SUCCEEDED, "{}", same_requests.err);
    let asks = |more: &[&str]| world.deepgraph(&[&["run", "--replay", "run.json"][..], more].concat());
    let other_question = asks(&["the bridge"]);
    assert_eq!(other_question.code, 1, "{}", other_question.err);
    assert!(other_question.err.contains("+ user: Look into the bridge"), "{}", other_question.err);
    let other_model = asks(&["--set", "model=another"]);
    assert!(other_model.err.contains("+ model another"), "{}", other_model.err);
}

#[test]
fn what_is_no_recording_is_refused_with_its_place() {
    let world = recorded();
    let whole = std::fs::read_to_string(world.path("run.json")).expect("it was written");
    let lines = whole.lines().count();
    for (text, told) in [
        ("{}".to_owned(), "no recording".to_owned()),
        (whole[..whole.len() / 2].to_owned(), "is damaged".to_owned()),
        (whole[..whole.len() - 3].to_owned(), format!("line {},", lines - 1)),
        ("[1]".to_owned(), "it is no recording: it has no key \"deepgraph_recording\"".to_owned()),
        (
            whole.replacen("\"started_ms\": ", "\"started_ms\": \"\", \"x\": ", 1),
            "a whole number is expected, not a text".to_owned(),
        ),
        (whole.replace("\"deepgraph_recording\": 2", "\"deepgraph_recording\": 7"), "form 7".to_owned()),
    ] {
        world.write("damaged.json", &text);
        let said = world.deepgraph(&["run", "--replay", "damaged.json"]);
        assert_eq!(said.code, USAGE, "{}", said.err);
        assert!(!said.err.contains("struct"), "{}", said.err);
        assert!(said.err.contains("damaged.json") && said.err.contains(&told), "{told}: {}", said.err);
    }
    let said = world.deepgraph(&["run", "--replay", "nowhere.json"]);
    assert!(said.code == USAGE && said.err.contains("nowhere.json can not be used"), "{}", said.err);
}

#[test]
fn a_file_that_can_not_be_written_is_found_out_before_the_run_starts() {
    let world = recorded();
    let said = world.deepgraph(&["run", "x", "--graph", "./graph.yaml", "--record", "no/such/run.json"]);
    assert_eq!(said.code, USAGE, "{}", said.err);
    assert!(said.err.contains("--record") && said.err.contains("no/such/run.json"), "{}", said.err);
    let runs = world.deepgraph(&["runs", "--json"]);
    assert_eq!(runs.out.matches("runId").count(), 1, "no other run began: {}", runs.out);
}
