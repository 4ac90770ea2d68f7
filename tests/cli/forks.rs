//! `deepgraph fork` and `history`, and going on under another version of the graph.

use deepgraph_protocol::EntryBody;
use deepgraph_store::{RunId, RunRecord, Store as _, Stored};
use serde_json::Value;

use super::world::{EXHAUSTED, SUCCEEDED, Said, USAGE, World, harbour};

const QUESTION: &str = "What is the range of the Norvane N60?";

/// Three turns; what the second is asked depends on what the first said.
const GRAPH: &str = "\
deepgraph: 1
name: turns
config:
  model: {type: string, default: scripted}
  rounds: {type: integer, default: 9, minimum: 1}
state: {question: string, topic: string, number: {type: integer, default: 0}, log: {type: [string], reduce: append}}
input: [question]
output: [topic, log]
limits:
  rounds: {count: model_calls, max: config.rounds, exit: token_budget}
start: one
nodes:
  one: {model: config.model, prompt: \"first: {{ question }}\", update: {topic: result.text, log: result.text}, next: two}
  two: {model: config.model, prompt: \"about {{ topic }}\", update: {log: result.text}, next: three}
  three: {model: config.model, prompt: \"end of {{ log | join(' ') }}\", update: {log: result.text}}
";

const SCRIPT: &str = "\
rules:
  - {when: {user: 'first:'}, reply: {text: tides}}
  - {when: {user: about tides}, reply: {text: of tides}}
  - {when: {user: about winds}, reply: {text: of winds}}
  - {when: {user: end of}, reply: {text: done}}
";

/// A world with a run of the graph.
fn with_run() -> (World, String) {
    let world = World::new();
    let graph = world.write("graph.yaml", GRAPH);
    let script = world.write("script.yaml", SCRIPT);
    let said = world.deepgraph(&["run", QUESTION, "--graph", &graph, "--script", &script]);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    let run = newest(&world);
    (world, run)
}

fn newest(world: &World) -> String {
    world.store().find_run("last").expect("there is a run").run_id.to_string()
}

fn rows(world: &World, run: &str) -> Vec<Stored> {
    let store = world.store();
    let run = store.find_run(run).expect("there is such a run").run_id;
    store.entries(&run, 0).expect("the journal can be read")
}

fn json(said: &Said) -> Value {
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    serde_json::from_str(&said.out).unwrap_or_else(|e| panic!("{e}: {}", said.out))
}

/// The steps that were sent out by rows.
fn sent(rows: &[Stored]) -> Vec<String> {
    let sent = rows.iter().filter_map(|row| match &row.entry.body {
        EntryBody::Dispatched { step, .. } => Some(step.to_string()),
        _ => None,
    });
    sent.collect()
}

#[test]
fn a_fork_goes_its_own_way_and_both_branches_are_intact() {
    let (world, run) = with_run();
    let before = rows(&world, &run);
    let said = world.deepgraph(&["fork", &run, "--at", "one.1", "--set", "state.topic=winds"]);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    assert!(said.err.contains("behind one.1") && said.err.contains("paid there"), "{}", said.err);
    let fork = newest(&world);
    assert_ne!(fork, run);
    assert_eq!(rows(&world, &run), before, "the run that it comes from stays as it is");
    let own = rows(&world, &fork);
    assert_eq!(own.iter().filter(|row| matches!(row.entry.body, EntryBody::StateEdited { .. })).count(), 1);
    assert_eq!(sent(&own), ["one.1", "two.1", "three.1"], "nothing is sent out a second time");
    let record = world.store().find_run(&fork).unwrap();
    assert_eq!(record.output.get("topic").and_then(|topic| topic.as_str()), Some("winds"));
    let log = record.output.get("log").cloned().unwrap_or_default().to_json_text();
    assert_eq!(log, r#"["tides","of winds","done"]"#);

    let history = json(&world.deepgraph(&["history", &fork, "--format", "json"]));
    assert_eq!(history["forked_from"]["run"], run.as_str());
    assert_eq!(history["forked_from"]["step"], "one.1");
    let text = world.deepgraph(&["history", &run]);
    assert!(text.out.contains(&format!("run {fork} was forked here")), "{}", text.out);
    let text = world.deepgraph(&["history", &fork]);
    assert!(
        text.out.contains("its own from here on") && text.out.contains("set by hand: topic"),
        "{}",
        text.out
    );
    // The trace of a fork is that of any run.
    let trace = world.deepgraph(&["trace", &fork]);
    assert_eq!(trace.code, SUCCEEDED, "{}", trace.err);
}

#[test]
fn history_shows_the_state_at_a_step_and_which_steps_can_be_named() {
    let (world, run) = with_run();
    let history = json(&world.deepgraph(&["history", &run, "--format", "json"]));
    let steps: Vec<&str> = history["history"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|moment| moment["can_fork"] == true)
        .filter_map(|moment| moment["step"].as_str())
        .collect();
    assert_eq!(steps, ["one.1", "two.1", "three.1"]);
    let state = json(&world.deepgraph(&["history", &run, "--step", "two.1", "--format", "json"]));
    assert_eq!(state["state"]["log"], serde_json::json!(["tides", "of tides"]));
    let text = world.deepgraph(&["history", &run, "--step", "one.1"]);
    assert!(text.out.contains("topic") && text.out.contains("tides"), "{}", text.out);
}

#[test]
fn what_can_not_be_forked_is_told_and_nothing_is_recorded() {
    let (world, run) = with_run();
    let wrong = [
        (vec!["--at", "tow.1"], "two.1"),
        (vec!["--at", "one.1", "--set", "state.tropic=x"], "no channel `tropic`"),
        (vec!["--at", "one.1", "--set", "state.number=many"], "state.number"),
        (vec!["--at", "one.1", "--set", "runds=3"], "did you mean \"rounds\""),
        (vec!["--at", "one.1", "--scope", "nowhere.1", "--set", "state.topic=x"], "no instance `nowhere.1`"),
        (vec!["--at", "three.1", "--set", "state.topic=x"], "is over at that point"),
        (vec!["--at", "three.1", "--set", "rounds=1"], "two.1"),
        (vec!["--set", "state.topic=x"], "--at STEP"),
    ];
    for (args, told) in wrong {
        let args: Vec<&str> = ["fork", run.as_str()].into_iter().chain(args).collect();
        let said = world.deepgraph(&args);
        assert_eq!(said.code, USAGE, "{args:?}: {}", said.err);
        assert!(said.err.contains(told), "{args:?}: {}", said.err);
    }
    assert_eq!(world.store().runs(10).unwrap().len(), 1);
}

#[test]
fn a_fork_takes_another_value_of_the_configuration() {
    let (world, run) = with_run();
    let said = world.deepgraph(&["fork", &run, "--at", "one.1", "--set", "rounds=2"]);
    let fork = world.store().find_run("last").unwrap();
    assert_eq!(fork.exits[0].reason.name(), "token_budget", "{}", said.err);
    assert_eq!(sent(&rows(&world, fork.run_id.as_str())), ["one.1", "two.1"]);
    assert_eq!(fork.settings["config"]["rounds"], 2);
}

/// A child of two turns, over a channel of its parent.
const NESTED: &str = "\
deepgraph: 1
name: nested
config: {model: {type: string, default: scripted}}
state: {question: string, topic: {type: string, default: tides}, log: {type: [string], reduce: append}}
input: [question]
output: [log]
start: part
nodes:
  part: {call: part, input: {topic: topic}, update: {log: result.log}}
graphs:
  part:
    config: {model: {type: string, default: scripted}}
    state: {topic: string, log: {type: [string], reduce: append}}
    input: [topic]
    output: [log]
    start: one
    nodes:
      one: {model: config.model, prompt: \"first: {{ topic }}\", update: {log: result.text}, next: two}
      two: {model: config.model, prompt: \"about {{ topic }}\", update: {log: result.text}}
";

#[test]
fn a_child_is_edited_itself_or_starts_anew_over_its_edited_parent() {
    let world = World::new();
    let graph = world.write("nested.yaml", NESTED);
    let script = world.write("script.yaml", SCRIPT);
    let said = world.deepgraph(&["run", QUESTION, "--graph", &graph, "--script", &script]);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    let run = newest(&world);
    let log = |run: &str| {
        let record = world.store().find_run(run).unwrap();
        record.output.get("log").cloned().unwrap_or_default().to_json_text()
    };
    assert_eq!(log(&run), r#"["tides","of tides"]"#);
    let itself = ["fork", &run, "--at", "part.1/one.1", "--set", "state.topic=winds"];
    assert_eq!(world.deepgraph(&itself).code, SUCCEEDED);
    let fork = newest(&world);
    assert_eq!(log(&fork), r#"["tides","of winds"]"#);
    assert_eq!(sent(&rows(&world, &fork)), ["part.1/one.1", "part.1/two.1"]);
    let parent = [&itself[..], &["--scope", ""]].concat();
    let said = world.deepgraph(&parent);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    let fork = newest(&world);
    assert_eq!(log(&fork), r#"["tides","of winds"]"#);
    let own = rows(&world, &fork);
    assert_eq!(sent(&own), ["part.1/one.1", "part.1/two.1"], "what the child had done before is left out");
    let edit = own.iter().position(|row| matches!(row.entry.body, EntryBody::StateEdited { .. })).unwrap();
    assert!(own[..edit].iter().all(|row| row.scope.is_root()), "{own:?}");
}

#[test]
fn a_fork_that_was_not_written_whole_is_not_started_from_the_beginning() {
    let (world, run) = with_run();
    let store = world.store();
    let record = store.find_run(&run).unwrap();
    let mut settings = record.settings.clone();
    settings["forked_from"] = serde_json::json!({"run": run, "seq": 3, "step": "one.1", "rows": 3});
    let half = RunRecord::queued(RunId::new(), "?", "graph", record.created_at + 1, record.bundle, settings);
    store.create_run(&half).unwrap();
    drop(store);
    let said = world.deepgraph(&["resume", half.run_id.as_str()]);
    assert_eq!(said.code, USAGE, "{}", said.err);
    assert!(said.err.contains("fork again") && said.err.contains(&run), "{}", said.err);
}

#[test]
fn an_exhausted_run_is_taken_up_by_a_later_one() {
    let world = World::new();
    let graph = world.write("graph.yaml", GRAPH);
    let script = world.write("script.yaml", SCRIPT);
    let told = world.path("told.json");
    let command = format!("cat > {}; exit 7", told.display());
    let args = ["run", QUESTION, "--graph", &graph, "--script", &script];
    let limited = [&args[..], &["--set", "rounds=2", "--on-exhausted", &command]].concat();
    let said = world.deepgraph(&limited);
    let first = world.store().find_run("last").unwrap();
    assert_eq!(first.exits[0].reason.name(), "token_budget", "{}", said.err);
    assert_eq!(said.code, EXHAUSTED, "a command that fails changes nothing: {}", said.err);
    let told: Value = serde_json::from_str(&std::fs::read_to_string(told).unwrap()).unwrap();
    assert_eq!((&told["status"], &told["run"]), (&"exhausted".into(), &first.run_id.as_str().into()));
    assert!(
        said.err.contains("--on-exhausted") && said.err.contains('7'),
        "its failure is told: {}",
        said.err
    );
    let said = world.deepgraph(&["fork", first.run_id.as_str(), "--set", "rounds=9"]);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    let later = world.store().find_run("last").unwrap();
    assert_eq!(sent(&rows(&world, later.run_id.as_str())), ["one.1", "two.1", "three.1"]);
    assert_eq!(later.exits[0].reason.name(), "completed");
    // A run of two attempts folds as one of one does, and is forked with the values that it had last.
    let what_if = world.deepgraph(&["whatif", later.run_id.as_str(), "--set", "rounds=1"]);
    assert!(what_if.out.contains("the run would have ended after one.1 by token_budget"), "{}", what_if.out);
    let same = world.deepgraph(&["whatif", later.run_id.as_str(), "--set", "rounds=9"]);
    assert!(same.out.contains("nothing would have been otherwise"), "{}", same.out);
    let forked = ["fork", later.run_id.as_str(), "--at", "three.1"];
    assert_eq!(world.deepgraph(&forked).code, SUCCEEDED);
    assert_eq!(world.store().find_run("last").unwrap().settings["config"]["rounds"], 9);
    let over = world.deepgraph(&["fork", later.run_id.as_str()]);
    assert_eq!(over.code, USAGE, "{}", over.err);
    assert!(over.err.contains("--at STEP"), "{}", over.err);
}

#[test]
fn under_a_changed_graph_what_is_asked_the_same_is_not_paid_again() {
    let (world, run) = with_run();
    let before = rows(&world, &run);
    let changed = world.write("changed.yaml", &GRAPH.replace("end of {{", "the end of {{"));
    let dry = world.deepgraph(&["resume", &run, "--graph", &changed, "--dry-run"]);
    assert_eq!(dry.code, SUCCEEDED, "{}", dry.err);
    assert!(
        dry.out.contains("2 of 3 steps") && dry.out.contains("differs is three.1: its request"),
        "{}",
        dry.out
    );
    assert_eq!(world.store().runs(10).unwrap().len(), 1, "a dry run records nothing");
    let said = world.deepgraph(&["resume", &run, "--graph", &changed]);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    let other = newest(&world);
    assert_ne!(other, run);
    assert_eq!(sent(&rows(&world, &other)), ["one.1", "two.1", "three.1"]);
    assert_eq!(rows(&world, &run), before);
    let history = json(&world.deepgraph(&["history", &other, "--format", "json"]));
    assert_eq!(history["forked_from"]["run"], run.as_str());

    let first = world.write("first.yaml", &GRAPH.replace("first: {{", "first: again {{"));
    let dry = world.deepgraph(&["resume", &run, "--graph", &first, "--dry-run"]);
    assert!(dry.out.contains("0 of 3 steps") && dry.out.contains("differs is one.1"), "{}", dry.out);
    let gone = GRAPH
        .replace(", next: three}", "}")
        .lines()
        .filter(|l| !l.starts_with("  three:"))
        .fold(String::new(), |text, line| text + line + "\n");
    let gone = world.write("gone.yaml", &gone);
    let dry = world.deepgraph(&["resume", &run, "--graph", &gone, "--dry-run"]);
    assert!(dry.out.contains("three.1: it is gone"), "{}{}", dry.out, dry.err);
}

#[test]
fn a_report_of_the_stock_graph_is_changed_without_paying_for_research() {
    let world = World::new();
    let said = world.deepgraph(&["run", QUESTION, "--docs", &harbour()]);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    let run = newest(&world);
    let folder = world.path("mine");
    let made = crate::support::repo().join("graphs/deep_research");
    copy(&made, &folder);
    let prompt = folder.join("prompts/report.md");
    let text = std::fs::read_to_string(&prompt).unwrap();
    std::fs::write(&prompt, format!("{text}\nBe brief.\n")).unwrap();
    let graph = folder.to_string_lossy().into_owned();
    let said = world.deepgraph(&["resume", &run, "--graph", &graph]);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    assert!(said.err.contains("the first step that differs is report.1"), "{}", said.err);
    let (old, new) = (rows(&world, &run), rows(&world, &newest(&world)));
    let own = new.iter().skip_while(|row| !matches!(row.entry.body, EntryBody::StateEdited { .. }));
    let own: Vec<Stored> = own.cloned().collect();
    assert_eq!(sent(&own), ["report.1"], "all research is taken over");
    assert_eq!(sent(&old).len(), sent(&new).len());
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
