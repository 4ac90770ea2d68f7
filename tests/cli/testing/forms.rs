//! Which cases are played, and how it is told.

use super::project::{accepted, project, test};
use crate::cli::world::{Said, USAGE, World};
use crate::support;

const FAILED: i32 = 1;

/// A case that expects what does not come.
pub fn wrong(world: &World) {
    let text = std::fs::read_to_string(world.path("graphs/sea/cases/nothing.yaml")).expect("it is there");
    world.write(
        "graphs/sea/cases/wrong.yaml",
        &text.replace("exit: research_complete, trace: snapshot", "exit: step_limit"),
    );
}

#[test]
fn a_case_that_fails_is_told_with_its_differences_and_its_trace() {
    let world = accepted();
    wrong(&world);
    let said = test(&world, &[]);
    assert_eq!(said.code, FAILED);
    for part in [
        "FAIL",
        "sea/wrong",
        "  graphs/sea/cases/wrong.yaml: Topics are .",
        "expect.exit (line",
        "expected \"step_limit\"",
        "came     \"research_complete\"",
        "the trace:",
        "4 cases: 3 passed, 1 failed",
    ] {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }
    assert!(!said.out.contains("--accept"), "nothing waits: {}", said.out);
}

#[test]
fn a_case_that_fails_and_has_a_snapshot_is_told_with_what_changed_in_it() {
    let world = accepted();
    let path = "graphs/sea/cases/winds.yaml";
    let text = std::fs::read_to_string(world.path(path)).expect("it is there");
    world.write(
        path,
        &text.replace("exit: research_complete", "exit: step_limit").replace("Found.", "Nothing."),
    );
    let said = test(&world, &["winds"]);
    assert_eq!(said.code, FAILED);
    assert!(said.out.contains("expected \"step_limit\""), "{}", said.out);
    assert!(said.out.contains("the trace is not that of snapshots/sea/winds.snap"), "{}", said.out);
    assert!(said.out.contains("Nothing.") && !said.out.contains("the trace:"), "{}", said.out);
    assert!(!world.path("snapshots/sea/winds.snap.new").exists(), "it is not to be accepted");
}

#[test]
fn a_file_with_mistakes_fails_and_the_others_are_played() {
    let world = accepted();
    world.write("graphs/sea/cases/broken.yaml", "case: Broken.\ngrahp: ../graph.yaml\n");
    let said = test(&world, &[]);
    assert_eq!(said.code, FAILED);
    assert!(said.out.contains("MISTAKE") && said.out.contains("did you mean \"graph\"?"), "{}", said.out);
    assert!(said.out.contains("4 cases: 3 passed, 1 with mistakes"), "{}", said.out);
}

#[test]
fn filters_and_paths_choose() {
    let world = accepted();
    let listed = |args: &[&str]| {
        let said = test(&world, &[&["--list"], args].concat());
        assert_eq!(said.code, 0, "{}", said.err);
        said.out.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(listed(&[]), ["sea/currents", "sea/nothing", "sea/winds"]);
    assert_eq!(listed(&["winds", "noth"]), ["sea/nothing", "sea/winds"]);
    assert_eq!(listed(&["sea/winds"]), ["sea/winds"]);
    assert_eq!(listed(&["graphs/sea", "cur"]), ["sea/currents"]);
    assert_eq!(listed(&["graphs/sea/cases/winds.yaml", "-v"]), ["sea/winds  graphs/sea/cases/winds.yaml"]);
    let said = test(&world, &["winds"]);
    assert!(
        said.code == 0 && said.out.contains("1 case: 1 passed") && !said.out.contains("currents"),
        "{}",
        said.out
    );
    let said = test(&world, &["winds", "typo"]);
    assert!(said.code == 0 && said.err.contains("no case has \"typo\" in its name"), "{}", said.err);
}

#[test]
fn no_case_is_an_error_that_says_where_was_looked() {
    let world = accepted();
    world.write("empty/notes.md", "");
    for (args, parts) in [
        (&["empty"][..], &["no cases were found", "empty: notes.md", "folders called cases"][..]),
        (&["typo"], &["no case has \"typo\" in its name", "sea/winds", "--list"]),
        (&["graphs/typo"], &["there is no file or folder graphs/typo"]),
        (&["typo.yaml"], &["there is no file or folder typo.yaml"]),
        (&[""], &["no path and no part of a name"]),
        (&["-j", "0"], &["at least 1 ", "'0'"]),
        (&["-j", "many"], &["a whole number"]),
    ] {
        let said = test(&world, args);
        assert_eq!((said.code, said.out.as_str()), (USAGE, ""), "{}", said.err);
        for part in parts {
            assert!(said.err.contains(part), "{part}: {}", said.err);
        }
    }
}

#[test]
fn quiet_tells_only_of_failures() {
    let world = project();
    for args in [&["-q", "--accept"][..], &["-q"]] {
        let said = test(&world, args);
        assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (0, "", ""));
    }
    wrong(&world);
    let said = test(&world, &["-q"]);
    assert!(
        said.code == FAILED && said.out.starts_with("FAIL") && !said.out.contains("PASS"),
        "{}",
        said.out
    );
}

#[test]
fn large_numbers_have_one_form() {
    let world = World::new();
    for number in 0..1_001 {
        world.write(&format!("graphs/g/cases/{number}.yaml"), "");
    }
    let said = test(&world, &["-q", "--check"]);
    let last = said.out.lines().last().expect("it sums up");
    assert!(last.starts_with("1 001 cases: 0 passed, 1 001 with mistakes ("), "{last}");
    let said = test(&world, &["typo"]);
    assert!(said.err.contains("there are 1 001:") && said.err.contains("and 989 more"), "{}", said.err);
}

#[test]
fn after_a_failure_no_other_is_begun_where_that_is_asked_for() {
    let world = project();
    let said = test(&world, &["--fail-fast", "--jobs", "1"]);
    assert_eq!(said.code, FAILED);
    assert!(said.out.contains("3 cases: 0 passed, 1 snapshot new, 2 not played"), "{}", said.out);
}

/// A case in a project of its own that has no stock graphs.
const CALLS_A_STOCK_GRAPH: &str = r#"
case: A stock graph is called.
graph:
  deepgraph: 1
  state: {question: string, report: string}
  input: [question]
  output: [report]
  start: ask
  nodes:
    ask: {call: "stock:quick_answer", input: {question: question}, update: {report: result.report}}
input: {question: Why?}
models: {"ask.1/*": Because.}
ops:
  handoff: {handoff: {objective: Why?, text: Because., findings: 1}}
  cite: {text: Because. Truly.}
expect: {exit: completed, output: {report: Because. Truly.}}
"#;

#[test]
fn graphs_that_the_program_brings_along_can_be_called() {
    let world = World::new();
    world.write("mine/cases/asks.yaml", CALLS_A_STOCK_GRAPH);
    let said = test(&world, &[]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(said.out.contains("graph/asks"), "{}", said.out);
}

#[test]
fn cases_of_stock_graphs_pass_those_that_call_another_stock_graph_among_them() {
    let world = World::new();
    let graphs = ["graphs/quick_answer", "graphs/router"];
    let mut command = world.command(&["test", graphs[0], graphs[1], "--check", "--unreferenced", "fail"]);
    let said = Said::of(command.current_dir(support::repo()));
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
}
