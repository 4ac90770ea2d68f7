//! Where the report and the events go, and what is said where they can not go there.

use std::fs::File;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use super::world::{SUCCEEDED, Said, USAGE, World, harbour};

const INTERNAL: i32 = 1;
const QUESTION: &str = "What is the range of the Norvane N60?";

/// A device on which nothing can be written; none where the system has not got it.
fn full() -> Option<File> {
    let path = Path::new("/dev/full");
    path.exists().then(|| File::options().write(true).open(path).expect("it can be opened"))
}

/// Runs a command with another standard output.
fn with_output(world: &World, args: &[&str], out: impl Into<Stdio>) -> Said {
    let child = world.command(args).stdout(out).stderr(Stdio::piped()).spawn().expect("it can be started");
    let output = child.wait_with_output().expect("it comes to its end");
    Said {
        code: output.status.code().unwrap_or(-1),
        out: String::new(),
        err: String::from_utf8(output.stderr).expect("messages are UTF-8"),
    }
}

#[test]
fn a_file_that_can_not_be_written_is_not_said_to_hold_the_report() {
    if full().is_none() {
        return;
    }
    let world = World::new();
    let docs = harbour();
    let args = ["run", QUESTION, "--docs", &docs, "--out", "/dev/full"];
    let said = world.deepgraph(&args);
    assert_eq!(said.code, INTERNAL, "{}", said.err);
    assert!(said.out.contains("54 km"), "the report is on standard output: {}", said.out);
    assert!(said.err.contains("can not be written to /dev/full"), "{}", said.err);
    assert!(!said.err.contains("The report is in"), "{}", said.err);
    let said = world.deepgraph(&["run", QUESTION, "--docs", &docs, "--out", "/dev/full", "--json"]);
    let last: Value = serde_json::from_str(said.out.lines().last().unwrap_or_default()).expect("JSON");
    assert_eq!((said.code, &last["out"], &last["exit_status"]), (INTERNAL, &Value::Null, &Value::from(1)));
    assert!(last["text"].as_str().is_some_and(|text| text.contains("54 km")));
}

#[test]
fn a_name_of_a_folder_is_refused_before_the_run() {
    let world = World::new();
    let docs = harbour();
    for name in ["newdir/", "newdir/.", "newdir/.."] {
        let said = world.deepgraph(&["run", QUESTION, "--docs", &docs, "--out", name]);
        assert_eq!((said.code, said.out.as_str()), (USAGE, ""), "{name}: {}", said.err);
        assert!(said.err.contains("name of a folder"), "{name}: {}", said.err);
    }
    assert!(!world.deepgraph(&["runs", "--json"]).out.contains("runId"), "nothing was started");
}

#[test]
fn a_dash_is_standard_output() {
    let world = World::new();
    let said = world.deepgraph(&["run", QUESTION, "--docs", &harbour(), "--out", "-"]);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    assert!(said.out.contains("54 km"), "{}", said.out);
    assert!(!world.path("-").exists());
}

#[test]
fn output_that_is_lost_is_a_failure_and_can_be_had_again() {
    let world = World::new();
    let docs = harbour();
    for more in [&[][..], &["--json"], &["--quiet"]] {
        let Some(full) = full() else { return };
        let mut args = vec!["run", QUESTION, "--docs", &docs];
        args.extend(more);
        let said = with_output(&world, &args, full);
        assert_eq!(said.code, INTERNAL, "{more:?}: {}", said.err);
        assert!(said.err.contains("standard output can not be written"), "{more:?}: {}", said.err);
        assert!(said.err.contains("deepgraph resume"), "{more:?}: {}", said.err);
        let again = world.deepgraph(&["resume", "last"]);
        assert_eq!(again.code, SUCCEEDED, "{}", again.err);
        assert!(again.out.contains("54 km"), "{}", again.out);
    }
    for args in [&["--help"][..], &["--version"], &["runs"], &["show", "last"], &["draw", "deep_research"]] {
        let Some(full) = full() else { return };
        assert_eq!(with_output(&world, args, full).code, INTERNAL, "{args:?}");
    }
}

#[test]
fn questions_that_are_lost_are_a_failure() {
    let Some(full) = full() else { return };
    let world = World::new();
    let args = ["run", QUESTION, "--docs", &harbour(), "--set", "plan_review=required", "--json"];
    let said = with_output(&world, &args, full);
    assert_eq!(said.code, INTERNAL, "{}", said.err);
    assert!(said.err.contains("standard output can not be written"), "{}", said.err);
}

#[cfg(target_os = "linux")]
#[test]
fn a_report_that_nobody_sees_is_told() {
    let world = World::new();
    let program = env!("CARGO_BIN_EXE_deepgraph-under-test");
    let run = |redirection: &str| {
        let mut shell = std::process::Command::new("sh");
        shell.arg("-c").arg(format!("\"$0\" \"$@\" {redirection}")).arg(program);
        let command = world.command(&["run", QUESTION, "--docs", &harbour()]);
        shell.args(command.get_args()).env("DEEPGRAPH_HOME", world.path("home")).stdin(Stdio::null());
        let output = shell.output().expect("there is a shell");
        String::from_utf8(output.stderr).expect("messages are UTF-8")
    };
    let closed = run(">&-");
    assert!(closed.contains("closed or leads nowhere") && closed.contains("deepgraph resume"), "{closed}");
    let wanted = run(">/dev/null");
    assert!(!wanted.contains("leads nowhere"), "{wanted}");
}

#[test]
fn report_and_recording_do_not_go_to_one_file() {
    let world = World::new();
    let docs = harbour();
    std::fs::create_dir(world.path("below")).expect("it can be made");
    let run = |out: &str, record: &str| {
        world.deepgraph(&["run", QUESTION, "--docs", &docs, "-q", "--out", out, "--record", record])
    };
    for (out, record) in [("same.md", "same.md"), ("./same.md", "below/../same.md")] {
        let said = run(out, record);
        assert_eq!((said.code, said.out.as_str()), (USAGE, ""), "{}", said.err);
        assert!(said.err.contains("--out") && said.err.contains("--record"), "{}", said.err);
        assert!(!world.path("same.md").exists());
    }
    let said = run("report.md", "run.json");
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    let said = run(&world.path("run.json").to_string_lossy(), "run.json");
    assert_eq!(said.code, USAGE, "a recording that is there is not the report's either: {}", said.err);
    assert_eq!(world.deepgraph(&["runs", "--json"]).out.matches("runId").count(), 1, "nothing else began");
}
