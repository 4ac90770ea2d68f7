//! `deepgraph diff`: two runs, or a run and a snapshot.

use deepgraph_store::Store as _;
use serde_json::Value;

use super::world::{SUCCEEDED, USAGE, World, harbour};

const DIFFERENT: i32 = 1;
const QUESTION: &str = "What is the range of the Norvane N60?";

/// A graph of two turns with a prompt of its own for the second.
const GRAPH: &str = "\
deepgraph: 1
name: turns
config: {model: {type: string, default: extractive}}
state: {question: string, first: string, second: string}
input: [question]
output: [second]
start: one
nodes:
  one: {model: config.model, prompt: \"{{ question }}\", update: {first: result.text}, next: two}
  two: {model: config.model, prompt: prompts/second.md, update: {second: result.text}}
";

/// The id of the newest run.
fn newest(world: &World) -> String {
    world.store().find_run("last").expect("there is a run").run_id.to_string()
}

fn run_with(world: &World, prompt: &str) -> String {
    let graph = world.write("graph.yaml", GRAPH);
    world.write("prompts/second.md", prompt);
    let said = world.deepgraph(&["run", QUESTION, "--graph", &graph]);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    newest(world)
}

#[test]
fn a_changed_prompt_is_shown_where_it_is_and_only_there() {
    let world = World::new();
    let one = run_with(&world, "Answer in one sentence: {{ first }}");
    let same = run_with(&world, "Answer in one sentence: {{ first }}");
    let other = run_with(&world, "Answer in two sentences: {{ first }}");
    let said = world.deepgraph(&["diff", &one, &same]);
    assert_eq!((said.code, said.out.trim()), (SUCCEEDED, "no difference"), "{}", said.err);
    let said = world.deepgraph(&["diff", &same, &other]);
    assert_eq!(said.code, DIFFERENT, "{}", said.err);
    assert!(said.out.starts_with("first divergence: super-step 2, two.1\n"), "{}", said.out);
    assert!(said.out.contains("- user: \"Answer in one sentence:"), "{}", said.out);
    assert!(said.out.contains("+ user: \"Answer in two sentences:"), "{}", said.out);
    assert!(!said.out.contains("one.1"), "{}", said.out);
}

#[test]
fn a_snapshot_is_compared_in_its_own_detail() {
    let world = World::new();
    let one = run_with(&world, "Answer in one sentence: {{ first }}");
    let other = run_with(&world, "Answer in two sentences: {{ first }}");
    for full in [&[][..], &["--full"]] {
        let mut args = vec!["trace", one.as_str(), "--redact"];
        args.extend(full);
        let trace = world.deepgraph(&args).out;
        let snapshot = world.write("one.snap", &format!("---\nsource: somewhere\n---\n{trace}"));
        let said = world.deepgraph(&["diff", &snapshot, &one]);
        assert_eq!((said.code, said.out.trim()), (SUCCEEDED, "no difference"), "{}", said.err);
        let said = world.deepgraph(&["diff", &snapshot, &other]);
        assert_eq!(said.code, DIFFERENT, "{}", said.err);
        assert!(said.out.starts_with("first divergence: super-step 2, two.1\n"), "{}", said.out);
        let is_short = full.is_empty();
        assert_eq!(said.out.contains("- request 1 messages"), is_short, "{}", said.out);
        assert_eq!(said.out.contains("- user: \"Answer in one sentence"), !is_short, "{}", said.out);
    }
}

#[test]
fn times_and_ids_of_runs_are_no_difference() {
    let world = World::new();
    let one = run_with(&world, "{{ first }}");
    let other = run_with(&world, "{{ first }}");
    let file = |run: &str| {
        let trace = world.deepgraph(&["trace", run]).out;
        assert!(trace.contains(&format!("run {run}")) && trace.contains(" ms\n"), "{trace}");
        world.write(&format!("{run}.txt"), &trace)
    };
    let said = world.deepgraph(&["diff", &file(&one), &file(&other)]);
    assert_eq!((said.code, said.out.trim()), (SUCCEEDED, "no difference"), "{}", said.err);
}

#[test]
fn a_trace_that_was_printed_as_it_is_differs_in_nothing_from_its_run() {
    let world = World::new();
    // The date stands in prompts, and in what comes of them.
    let run = run_with(&world, "It is {{ run.date }}. Answer in one sentence: {{ first }}");
    for full in [&[][..], &["--full"]] {
        let trace = world.deepgraph(&[&["trace", "last"][..], full].concat()).out;
        assert!(trace.contains("It is 2"), "{trace}");
        let text = world.write("t.txt", &trace);
        for (one, other) in [(&*text, &*run), (&*run, &*text)] {
            let said = world.deepgraph(&["diff", one, other]);
            assert_eq!((said.code, said.out.trim()), (SUCCEEDED, "no difference"), "{}", said.err);
        }
    }
}

#[test]
fn texts_of_different_detail_are_not_compared() {
    let world = World::new();
    run_with(&world, "{{ first }}");
    let print = |name: &str, more: &[&str]| {
        world.write(name, &world.deepgraph(&[&["trace", "last", "--redact"][..], more].concat()).out)
    };
    let (short, full) = (print("short.txt", &[]), print("full.txt", &["--full"]));
    for (one, other) in [(&short, &full), (&full, &short)] {
        let said = world.deepgraph(&["diff", one, other]);
        assert_eq!((said.code, said.out.as_str()), (USAGE, ""), "{}", said.err);
        assert!(
            said.err.contains(other.as_str()) && said.err.contains("print both with --full"),
            "{}",
            said.err
        );
    }
    let said = world.deepgraph(&["diff", &full, &full]);
    assert_eq!((said.code, said.out.trim()), (SUCCEEDED, "no difference"), "{}", said.err);
}

#[test]
fn a_replay_that_stopped_is_failed_everywhere_and_it_is_said_why() {
    let world = World::new();
    let graph = world.write("graph.yaml", GRAPH);
    world.write("prompts/second.md", "Answer: {{ first }}");
    let said = world.deepgraph(&["run", QUESTION, "--graph", &graph, "--record", "run.json"]);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    let recorded = newest(&world);
    world.write("prompts/second.md", "Answer better: {{ first }}");
    let said = world.deepgraph(&["run", "--replay", "run.json"]);
    assert!(said.err.contains("was not recorded"), "{}", said.err);
    let runs = world.deepgraph(&["runs"]).out;
    assert!(runs.lines().nth(1).is_some_and(|line| line.contains("  failed")), "{runs}");
    const WHY: &str = "its replay asked for something that was not recorded";
    let show = world.deepgraph(&["show", "last"]).out;
    assert!(show.contains("status     failed: ") && show.contains(WHY), "{show}");
    let trace = world.deepgraph(&["trace", "last"]);
    assert!(trace.out.contains("\nstatus failed\n") && trace.err.contains(WHY), "{}{}", trace.out, trace.err);
    let json: Value =
        serde_json::from_str(&world.deepgraph(&["trace", "last", "--format", "json"]).out).expect("JSON");
    assert_eq!(json["status"], "failed");
    let diff = world.deepgraph(&["diff", &recorded, "last"]);
    assert_eq!(diff.code, DIFFERENT, "{}", diff.err);
    assert!(diff.out.contains("+ status failed") && diff.err.contains(WHY), "{}{}", diff.out, diff.err);
    let resumed = world.deepgraph(&["resume", "last"]);
    assert!(resumed.code == USAGE && resumed.err.contains("is a replay of"), "{}", resumed.err);
}

#[test]
fn programs_get_json() {
    let world = World::new();
    let docs = harbour();
    for more in [&[][..], &["--set", "max_researcher_iterations=1"]] {
        let mut args = vec!["run", QUESTION, "--docs", &docs];
        args.extend(more);
        let said = world.deepgraph(&args);
        assert!(!said.out.is_empty(), "{}", said.err);
    }
    let runs: Value = serde_json::from_str(&world.deepgraph(&["runs", "--json"]).out).expect("JSON");
    let id = |i: usize| runs[i]["runId"].as_str().unwrap_or_default().to_owned();
    let said = world.deepgraph(&["diff", &id(1), &id(0), "--format", "json"]);
    assert_eq!(said.code, DIFFERENT, "{}", said.err);
    let answer: Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!(answer["equal"], Value::Bool(false));
    assert_eq!(answer["first"], answer["places"][0]);
    let change = &answer["first"]["changes"][0];
    assert_eq!(change["what"], "config max_researcher_iterations");
    assert_eq!(change["after"], "config max_researcher_iterations = 1");
    let all = world.deepgraph(&["diff", &id(1), &id(0), "--all"]);
    assert!(all.out.starts_with("first divergence: config max_researcher_iterations\n"), "{}", all.out);
}

#[test]
fn what_can_not_be_compared_is_a_usage_error() {
    let world = World::new();
    let file = world.write("notes.txt", "no trace at all\n");
    for (args, part) in [
        (["diff", &file, &file], "holds no trace"),
        (["diff", "./nowhere.snap", &file], "nowhere.snap can not be used"),
        (["diff", "last", &file], "run"),
    ] {
        let said = world.deepgraph(&args);
        assert_eq!((said.code, said.out.as_str()), (USAGE, ""), "{args:?}: {}", said.err);
        assert!(said.err.contains(part), "{args:?}: {}", said.err);
    }
}

#[test]
fn a_text_that_only_looks_like_lines_is_no_trace_and_a_cut_off_one_is_told() {
    let world = World::new();
    run_with(&world, "{{ first }}");
    let readme = world.write("README.md", "# Turns\n\ngraph turns\n  used for diff\n");
    let said = world.deepgraph(&["diff", &readme, "last"]);
    assert_eq!((said.code, said.out.as_str()), (USAGE, ""), "{}", said.err);
    assert!(said.err.contains("README.md can not be used: it holds no trace"), "{}", said.err);
    let trace = world.deepgraph(&["trace", "last", "--redact"]).out;
    let lines: Vec<&str> = trace.lines().collect();
    let half = format!("---\nsource: x\n---\n{}\n", lines[..lines.len() / 2].join("\n"));
    let half = world.write("half.snap", &half);
    let said = world.deepgraph(&["diff", &half, "last"]);
    assert_eq!(said.code, DIFFERENT, "{}", said.err);
    assert!(said.err.contains("warning:") && said.err.contains("half.snap is cut off"), "{}", said.err);
    let whole = world.write("whole.snap", &trace);
    let said = world.deepgraph(&["diff", &whole, "last"]);
    assert_eq!((said.code, said.err.as_str()), (SUCCEEDED, ""), "{}", said.out);
}
