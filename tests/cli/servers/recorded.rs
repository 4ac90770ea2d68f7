//! Recordings and cases of runs that call tools of servers.

use super::super::world::{SUCCEEDED, USAGE};
use super::{REACT, Served};

const SCRIPT: &str = "
rules:
  - {when: {turn: 0}, reply: {calls: [{name: echo, arguments: {text: Ada}}]}}
  - {when: {turn: 1, text: Ada}, reply: {text: Ada it is.}}
";

#[test]
fn a_replay_needs_no_server_and_no_secret_and_a_case_knows_the_tools() {
    let served = Served::new(REACT, "plain", SCRIPT);
    let recorded = served.run("Who?", &["--record", "run.json"]);
    assert_eq!((recorded.code, recorded.out.trim()), (SUCCEEDED, "Ada it is."), "{}", recorded.err);
    served.all_gone(1);
    let world = &served.world;
    let trace = || world.deepgraph(&["trace", "last", "--redact", "--format", "json"]).out;
    let (first, requests) = (trace(), served.requests().len());
    // What was a secret can not be known where it is not there.
    let unset = world.deepgraph(&["case", "from-run", "last", "-o", "echo.yaml"]);
    assert!(unset.code == USAGE && unset.err.contains("CRM_TOKEN"), "{}", unset.err);
    let case = served.deepgraph(&["case", "from-run", "last", "-o", "echo.yaml"]);
    assert_eq!(case.code, SUCCEEDED, "{}", case.err);
    let text = std::fs::read_to_string(world.path("echo.yaml")).expect("it was written");
    assert!(text.contains("servers:\n  crm:\n") && text.contains("    echo:"), "{text}");
    // The environment of this command has no secret.
    let replayed = world.deepgraph(&["run", "--replay", "run.json"]);
    assert_eq!((replayed.code, replayed.out.trim()), (SUCCEEDED, "Ada it is."), "{}", replayed.err);
    assert_eq!(trace(), first);
    assert_eq!((served.pids().len(), served.requests().len()), (1, requests), "no server was started");
    served.keeps_its_secret(&[&recorded, &replayed, &case]);
}
