//! Runs that were cancelled, and runs whose process is gone.

use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use deepgraph_protocol::EntryBody;
use deepgraph_store::Store;

use super::server::{Play, Server};
use super::world::{SUCCEEDED, World, harbour};

const CANCELLED: i32 = 5;

fn slow() -> Server {
    Server::start(Play { rounds: 3, parallel: 2, searches: 6, latency: Duration::from_millis(60) })
}

/// Waits until a run has so many completed steps.
fn wait_for(world: &World, steps: usize) {
    for _ in 0..3000 {
        sleep(Duration::from_millis(10));
        if world.path("home/runs.sqlite").exists() && world.store().find_run("last").is_ok() {
            let rows = world.journal();
            let done = rows.iter().filter(|row| matches!(row.entry.body, EntryBody::Completed { .. }));
            if done.count() >= steps {
                return;
            }
        }
    }
    panic!("the run does not go on");
}

fn args<'a>(docs: &'a str, url: &'a str) -> Vec<&'a str> {
    vec!["run", "What is the range?", "--docs", docs, "--model", "openai::played", "--base-url", url]
}

#[cfg(unix)]
#[test]
fn a_cancelled_run_says_what_is_there() {
    let (world, server, docs) = (World::new(), slow(), harbour());
    let mut command = world.command(&args(&docs, &server.url));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it can be started");
    wait_for(&world, 12);
    let interrupt = format!("kill -INT {}", child.id());
    assert!(Command::new("sh").arg("-c").arg(interrupt).status().is_ok_and(|status| status.success()));
    let output = child.wait_with_output().expect("it comes to its end");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(CANCELLED), "{told}");
    assert!(told.contains("deepgraph trace"), "it says where the findings are: {told}");
    let again = world.deepgraph(&["resume", "last"]);
    assert_eq!((again.code, again.out.as_str()), (CANCELLED, ""), "{}", again.err);
    assert!(!again.err.contains("this is its report again"), "{}", again.err);
    for named in ["cancelled", "no report", "deepgraph show", "deepgraph trace"] {
        assert!(again.err.contains(named), "{named}: {}", again.err);
    }
    let trace = world.deepgraph(&["trace", "last"]);
    assert!(trace.out.contains("search.1"), "what was found is in the trace: {}", trace.out);
}

#[test]
fn a_run_whose_process_is_gone_is_called_interrupted() {
    let (world, server, docs) = (World::new(), slow(), harbour());
    let mut child = world.spawn(&args(&docs, &server.url));
    wait_for(&world, 3);
    let alive = world.deepgraph(&["runs"]);
    assert!(alive.out.contains("running") && !alive.out.contains("interrupted"), "{}", alive.out);
    child.kill().expect("it can be killed");
    let _ = child.wait();
    let gone = world.deepgraph(&["runs"]);
    assert!(gone.out.contains("interrupted") && gone.out.contains("deepgraph resume"), "{}", gone.out);
    assert!(world.deepgraph(&["show", "last"]).out.contains("interrupted: its process is gone"));
    let json = world.deepgraph(&["runs", "--json"]);
    assert!(json.out.contains("\"running\""), "for programs the status stays: {}", json.out);
    assert_eq!(world.deepgraph(&["resume", "last"]).code, SUCCEEDED);
    assert!(!world.deepgraph(&["runs"]).out.contains("interrupted"));
}
