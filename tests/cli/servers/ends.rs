//! Servers are closed however a run ends.

use std::process::Stdio;
use std::time::{Duration, Instant};

use super::super::world::{SUCCEEDED, World};
use super::{REACT, Served, signal, until};

const CANCELLED: i32 = 5;

/// The loop with a tool that never answers.
fn hanging() -> Served {
    let graph = REACT.replace("only: [echo, picture]", "only: [echo, slow]");
    let script = "
rules:
  - {when: {turn: 0}, reply: {calls: [{name: echo, arguments: {text: Ada}}]}}
  - {when: {turn: 1}, reply: {calls: [{name: slow}]}}
";
    Served::new(&graph, "plain", script)
}

#[test]
fn a_server_that_does_not_want_to_go_is_made_to_in_bounded_time() {
    let served = Served::new(REACT, "stubborn", "rules: [{reply: {text: Done.}}]\n");
    let started = Instant::now();
    let said = served.run("Who?", &[]);
    assert_eq!((said.code, said.out.trim()), (SUCCEEDED, "Done."), "{}", said.err);
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    served.all_gone(1);
}

#[cfg(unix)]
#[test]
fn a_second_interrupt_ends_a_call_under_way_and_its_server() {
    let served = hanging();
    let mut command = served.command(&served.run_args("Who?", &[]));
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it can be started");
    until("the call is under way", || !served.calls("slow").is_empty());
    signal("INT", child.id());
    std::thread::sleep(Duration::from_millis(200));
    signal("INT", child.id());
    let output = child.wait_with_output().expect("it comes to its end");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(CANCELLED), "{told}");
    assert!(told.contains("Stopping at once"), "{told}");
    served.all_gone(1);
}

#[cfg(unix)]
#[test]
fn an_interrupt_while_servers_start_gives_up_and_records_nothing() {
    let served = Served::new(REACT, "deaf", "rules: []\n");
    let mut command = served.command(&served.run_args("Who?", &[]));
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it can be started");
    until("the server is started", || !served.pids().is_empty());
    let interrupted = Instant::now();
    signal("INT", child.id());
    let output = child.wait_with_output().expect("it comes to its end");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(CANCELLED), "{told}");
    assert!(told.contains("nothing was recorded"), "{told}");
    assert!(interrupted.elapsed() < Duration::from_secs(10), "{:?}", interrupted.elapsed());
    served.all_gone(1);
    served.has_no_runs();
}

#[cfg(unix)]
#[test]
fn a_killed_run_takes_its_server_along_and_its_resume_starts_it_for_the_open_call_alone() {
    let served = hanging();
    let start = |args: &[&str]| {
        let mut command = served.command(args);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it can be started")
    };
    let mut child = start(&served.run_args("Who?", &[]));
    until("the call is under way", || !served.calls("slow").is_empty());
    child.kill().expect("it can be killed");
    let _ = child.wait();
    served.all_gone(1);
    let mut child = start(&["resume", "last"]);
    until("the open call is sent again", || served.calls("slow").len() == 2);
    assert_eq!(served.calls("echo").len(), 1, "what is committed is not carried out again");
    signal("INT", child.id());
    signal("INT", child.id());
    until("it is over", || child_is_over(&served.world));
    let _ = child.wait();
    served.all_gone(2);
}

fn child_is_over(world: &World) -> bool {
    use deepgraph_store::Store;
    world.store().find_run("last").is_ok_and(|run| run.status.is_terminal())
}
