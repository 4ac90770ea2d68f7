//! The commands, one after the other.

use serde_json::Value;

use super::world::{EXHAUSTED, SUCCEEDED, USAGE, World, harbour};

const QUESTION: &str =
    "Compare the Norvane N60, the Aldermere A48 and the Corrigan C70 on range and price per vessel";

#[test]
fn the_first_command_of_the_readme_gives_a_cited_report() {
    let world = World::new();
    let said = world.deepgraph(&["run", QUESTION, "--docs", &harbour()]);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    for figure in ["54 km", "45 km", "66 km", "18.4 million", "16.3 million", "18.9 million"] {
        assert!(said.out.contains(figure), "{figure} is missing: {}", said.out);
    }
    assert!(said.out.contains("extractive"), "the report names its model");
    assert!(said.out.contains("## Sources"));
    assert!(!said.err.contains('\u{1b}'), "no escape codes where nobody looks: {}", said.err);
}

#[test]
fn a_run_can_be_listed_shown_and_traced() {
    let world = World::new();
    let report = world.path("report.md");
    let report_name = report.to_string_lossy().into_owned();
    let said = world.deepgraph(&["run", QUESTION, "--docs", &harbour(), "--out", &report_name]);
    assert_eq!((said.code, said.out.as_str()), (SUCCEEDED, ""), "{}", said.err);
    let written = std::fs::read_to_string(&report).expect("the report is in the file");
    assert!(written.contains("54 km"));
    let runs = world.deepgraph(&["runs"]);
    assert!(runs.out.contains("succeeded") && runs.out.contains("Norvane"), "{}", runs.out);
    let shown = world.deepgraph(&["show", "last"]);
    assert!(shown.out.contains("research_complete") && shown.out.contains("complete"), "{}", shown.out);
    let first = world.deepgraph(&["trace", "last", "--redact"]);
    assert!(
        first.out.contains("ConductResearch.1") && first.out.contains("exit research_complete"),
        "{}",
        first.out
    );
    let again = world.deepgraph(&["run", QUESTION, "--docs", &harbour()]);
    assert_eq!(again.out, written, "the same question gives the same report");
    let second = world.deepgraph(&["trace", "last", "--redact"]);
    assert_eq!(first.out, second.out, "and the same trace");
    let json = world.deepgraph(&["trace", "last", "--format", "json"]);
    let json: Value = serde_json::from_str(&json.out).expect("a trace is JSON");
    assert_eq!(json["root"]["exit"]["reason"], "research_complete");
    let over = world.deepgraph(&["resume", "last"]);
    assert_eq!((over.code, over.out), (SUCCEEDED, written), "a run that is over gives its report again");
}

#[test]
fn the_second_stock_graph_answers_too() {
    let world = World::new();
    let args = ["run", "What does the Norvane N60 cost?", "--graph", "quick_answer", "--docs", &harbour()];
    let said = world.deepgraph(&args);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    assert!(said.out.contains("18.4 million euros") && said.out.contains("[1]"), "{}", said.out);
}

#[test]
fn events_for_programs_are_json_lines() {
    let world = World::new();
    let said = world.deepgraph(&["run", QUESTION, "--docs", &harbour(), "--json"]);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    let events: Vec<Value> =
        said.out.lines().map(|l| serde_json::from_str(l).expect("each line is JSON")).collect();
    let seqs: Vec<u64> = events.iter().filter_map(|e| e["seq"].as_u64()).collect();
    assert!(seqs.windows(2).all(|w| w[0] <= w[1]), "seq does not go back");
    assert!(events.iter().filter(|e| e["type"] == "step_complete").count() > 20);
    let last = events.last().expect("there are events");
    assert_eq!((last["type"].as_str(), last["status"].as_str()), (Some("run_ended"), Some("succeeded")));
}

#[test]
fn usage_errors_are_told_before_anything_runs() {
    let world = World::new();
    let docs = harbour();
    let cases: &[(&[&str], &str)] = &[
        (&["run", "q", "--docs", &docs, "--set", "max_researcher_iterations=0"], "max_researcher_iterations"),
        (
            &["run", "q", "--docs", &docs, "--set", "max_researcher_iterations=-1"],
            "max_researcher_iterations",
        ),
        (
            &["run", "q", "--docs", &docs, "--set", "max_researcher_iterations=six"],
            "max_researcher_iterations",
        ),
        (&["run", "q", "--docs", &docs, "--set", "max_research_iterations=6"], "max_researcher_iterations"),
        (&["run", "q", "--docs", "no/such/folder"], "no/such/folder"),
        (&["run", "q", "--graph", "deep_reserch"], "deep_research"),
        (&["run", "q", "--docs", &docs, "--model", "opnai::x"], "openai"),
        (&["run", " ", "--docs", &docs], "question"),
        (&["run", "q", "--docs", &docs, "--out", "no/such/folder/report.md"], "no/such/folder"),
    ];
    for (args, named) in cases {
        let said = world.deepgraph(args);
        assert_eq!(said.code, USAGE, "{args:?}: {}", said.err);
        assert!(said.err.contains(named), "{args:?} names {named}: {}", said.err);
        assert_eq!(said.out, "", "{args:?}");
    }
    let runs = world.deepgraph(&["runs", "--json"]);
    assert!(!runs.out.contains("runId"), "nothing was started: {}", runs.out);
}

#[test]
fn documents_that_can_not_be_used_are_named_and_the_run_goes_on() {
    let world = World::new();
    world.write("docs/good.md", "# Tidewater\n\nThe Tidewater pump moves 40 litres a minute.\n");
    world.write("docs/empty.txt", "");
    world.write("docs/broken.json", "{\"a\": ");
    std::fs::write(world.path("docs/latin.txt"), b"Stra\xdfe und Br\xfccke, viel Text dazu")
        .expect("written");
    std::fs::write(world.path("docs/picture.md"), [0u8, 159, 146, 150, 0, 0, 1, 2]).expect("written");
    std::fs::write(world.path("docs/broken.pdf"), b"%PDF-1.7 not really").expect("written");
    let huge = std::fs::File::create(world.path("docs/huge.txt")).expect("created");
    huge.set_len(51 * 1024 * 1024).expect("made long");
    let docs = world.path("docs").to_string_lossy().into_owned();
    let said = world.deepgraph(&["run", "How much does the Tidewater pump move?", "--docs", &docs]);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    assert!(said.out.contains("40 litres a minute"), "{}", said.out);
    for name in ["empty.txt", "broken.json", "latin.txt", "picture.md", "broken.pdf", "huge.txt"] {
        assert!(said.err.contains(name), "{name} is not told of: {}", said.err);
    }
}

#[test]
fn without_documents_a_run_says_so_and_invents_nothing() {
    let world = World::new();
    let said = world.deepgraph(&["run", "What is the population of Uruguay?"]);
    assert_eq!(said.code, EXHAUSTED, "{}", said.err);
    assert!(said.err.contains("--docs"), "it says what to do: {}", said.err);
    assert!(!said.out.contains(|c: char| c.is_ascii_digit()), "{}", said.out);
}

#[test]
fn a_new_folder_checks_draws_and_runs_and_is_never_overwritten() {
    let world = World::new();
    let made = world.deepgraph(&["init", "mine"]);
    assert_eq!(made.code, SUCCEEDED, "{}", made.err);
    let folder = world.path("mine");
    let graph = std::fs::read_dir(&folder)
        .expect("the folder is there")
        .flatten()
        .map(|e| e.path())
        .find(|p| p.extension().is_some_and(|e| e == "yaml"))
        .expect("there is a graph")
        .to_string_lossy()
        .into_owned();
    assert_eq!(world.deepgraph(&["check", &graph]).code, SUCCEEDED);
    let drawn = world.deepgraph(&["draw", &graph]);
    for exit in [
        "research_complete",
        "iteration_limit",
        "step_limit",
        "token_budget",
        "deadline",
        "gain_saturated",
        "plan_rejected",
    ] {
        assert!(drawn.out.contains(exit), "{exit} is not drawn");
    }
    let again = world.deepgraph(&["init", "mine"]);
    assert_eq!(again.code, USAGE, "{}", again.err);
    let ran = world.deepgraph(&["run", QUESTION, "--graph", &graph, "--docs", &harbour()]);
    assert_eq!(ran.code, SUCCEEDED, "{}", ran.err);
}

#[test]
fn all_mistakes_of_a_graph_are_told_at_once() {
    let world = World::new();
    let graph = world.write(
        "bad.yaml",
        "deepgraph: 1\nstate:\n  question: strng\n  answer: string\ninput: [question]\noutput: [answr]\nstart: agnt\nnodes:\n  agent:\n    model: config.model\n    promt: \"{{ question }}\"\n    update: {answer: result.txt}\nschedule: {cron: \"* * * * *\"}\n",
    );
    let said = world.deepgraph(&["check", &graph]);
    assert_eq!(said.code, USAGE);
    let told = said.err.clone() + &said.out;
    for named in
        ["string", "answer", "agent", "prompt", "not built yet", "bad.yaml:3", "bad.yaml:6", "bad.yaml:11"]
    {
        assert!(told.contains(named), "{named}: {told}");
    }
    let run = world.deepgraph(&["run", "q", "--graph", &graph]);
    assert_eq!(run.code, USAGE, "a graph with mistakes does not run");
}

#[test]
fn reading_commands_make_no_folder() {
    let world = World::new();
    let none = world.path("none").to_string_lossy().into_owned();
    for args in [&["runs"][..], &["show", "last"], &["trace", "last"], &["resume", "last"]] {
        let said = world.deepgraph(&[args, &["--home", &none]].concat());
        assert!(said.code == SUCCEEDED || said.err.contains("run"), "{args:?}: {}", said.err);
        assert!(!world.path("none").exists(), "{args:?}");
    }
    assert!(world.deepgraph(&["runs", "--home", &none]).out.contains("no runs yet"));
}

#[test]
fn a_folder_is_not_made_where_a_file_is() {
    let world = World::new();
    world.write("afile", "mine");
    let said = world.deepgraph(&["init", "afile"]);
    assert_eq!(said.code, USAGE, "{}", said.err);
    assert!(said.err.contains("afile is no folder"), "{}", said.err);
}

#[test]
fn a_value_that_no_integer_can_hold_is_said_to_be_too_large() {
    let world = World::new();
    let said = world.deepgraph(&["run", "q", "--set", "max_researcher_iterations=99999999999999999999"]);
    assert_eq!(said.code, USAGE, "{}", said.err);
    assert!(said.err.contains("too large"), "{}", said.err);
}
