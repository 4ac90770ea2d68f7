//! `deepgraph cancel`: runs that another process drives, that nobody drives, that wait, that are over.

use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use deepgraph_protocol::EntryBody;
use deepgraph_store::Store;
use serde_json::Value;

use super::server::{Play, Server};
use super::world::{AWAITING_INPUT, SUCCEEDED, World, harbour};

const CANCELLED: i32 = 5;

/// A graph that asks a person, and whose model has no key.
const ASKS: &str = "\
deepgraph: 1
name: asks
state: {question: string, answer: string, report: string}
input: [question]
output: [report]
start: note
nodes:
  note:
    call: think
    effect: write
    input: {reflection: question}
    compensate: {call: think, input: {reflection: \"'undo ' ~ question\"}}
    next: keep
  keep: {call: think, effect: write, input: {reflection: question}, next: ask}
  ask: {ask: Which?, update: {answer: result.text}, next: write}
  write: {model: scripted, prompt: '{{ answer }}', update: {report: result.text}}
";

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|why| panic!("{why}: {text}"))
}

#[test]
fn a_run_that_waits_is_cancelled_and_says_what_stands() {
    let world = World::new();
    let graph = world.write("graph.yaml", ASKS);
    let script = world.write("script.yaml", "rules: []\n");
    let waits = world.deepgraph(&["run", "Why?", "--graph", &graph, "--script", &script]);
    assert_eq!(waits.code, AWAITING_INPUT, "{}", waits.err);
    std::fs::remove_file(&graph).expect("it is there");
    std::fs::remove_file(&script).expect("it is there");
    let said = world.deepgraph(&["cancel", "last"]);
    assert_eq!(said.code, CANCELLED, "{}", said.err);
    assert!(said.out.contains("is cancelled"), "{}", said.out);
    let stands = "keep.1 (think): the graph declares no compensation for it";
    assert!(said.out.contains(stands), "{}", said.out);
    assert!(!said.out.contains("note.1"), "it was undone: {}", said.out);
    let undone = world.journal().into_iter().any(|row| {
        matches!(&row.entry.body, EntryBody::Completed { step, .. } if step.as_str() == "note.1/compensation")
    });
    assert!(undone);
    for (args, shown) in [
        (&["show", "last"][..], stands),
        (&["show", "last", "--json"][..], "notUndone"),
        (&["trace", "last"][..], "not_undone keep.1"),
        (&["trace", "last"][..], "compensation op think {reflection: \"undo Why?\"}"),
        (&["runs"][..], "cancelled"),
        (&["resume", "last"][..], ""),
    ] {
        let said = world.deepgraph(args);
        let told = format!("{}{}", said.out, said.err);
        assert!(told.replace("not_undone\"", "notUndone").contains(shown), "{args:?}: {told}");
    }
    let again = world.deepgraph(&["cancel", "last"]);
    assert_eq!(again.code, CANCELLED);
    assert!(again.out.contains("is over already (cancelled), and stays as it is"), "{}", again.out);
}

#[test]
fn a_run_that_is_over_stays_as_it_is_and_an_unknown_one_is_an_error() {
    let world = World::new();
    let missing = world.deepgraph(&["cancel", "last"]);
    assert!(missing.code != SUCCEEDED && missing.code != CANCELLED, "{}", missing.err);
    let docs = harbour();
    let run =
        world.deepgraph(&["run", "What is the range?", "--graph", "quick_answer", "--docs", &docs, "-q"]);
    assert_eq!(run.code, SUCCEEDED, "{}", run.err);
    let said = world.deepgraph(&["cancel", "last", "--json"]);
    assert_eq!(said.code, SUCCEEDED);
    let told = json(&said.out);
    assert_eq!((&told["was_over"], &told["status"]), (&Value::Bool(true), &Value::from("succeeded")));
    let record = world.store().find_run("last").expect("it is there");
    assert!(!record.cancel_requested);
}

fn slow(latency: Duration) -> Server {
    Server::start(Play { rounds: 3, parallel: 2, searches: 6, latency })
}

/// Waits until a run has completed a step.
fn wait_for_steps(world: &World) {
    for _ in 0..3000 {
        sleep(Duration::from_millis(10));
        if world.path("home/runs.sqlite").exists() && world.store().find_run("last").is_ok() {
            let rows = world.journal();
            if rows.iter().any(|row| matches!(row.entry.body, EntryBody::Completed { .. })) {
                return;
            }
        }
    }
    panic!("the run does not go on");
}

fn args<'a>(docs: &'a str, url: &'a str) -> Vec<&'a str> {
    vec!["run", "What is the range?", "--docs", docs, "--model", "openai::played", "--base-url", url]
}

#[test]
fn a_run_of_another_process_is_asked_to_stop() {
    let (world, server, docs) = (World::new(), slow(Duration::from_millis(60)), harbour());
    let mut command = world.command(&args(&docs, &server.url));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it can be started");
    wait_for_steps(&world);
    let said = world.deepgraph(&["cancel", "last", "--json"]);
    assert_eq!(said.code, CANCELLED, "{}{}", said.out, said.err);
    let told = json(&said.out);
    assert_eq!(told["status"], "cancelled");
    assert_eq!(told["was_over"], false);
    assert_eq!(told["exit"]["reason"], "cancelled");
    let output = child.wait_with_output().expect("it comes to its end");
    assert_eq!(output.status.code(), Some(CANCELLED));
}

#[test]
fn a_run_whose_process_is_gone_is_taken_over_without_its_server_or_documents() {
    let (world, server, docs) = (World::new(), slow(Duration::from_millis(60)), harbour());
    let mut child = world.spawn(&args(&docs, &server.url));
    wait_for_steps(&world);
    child.kill().expect("it can be killed");
    let _ = child.wait();
    drop(server);
    let said = world.deepgraph(&["cancel", "last", "--now"]);
    assert_eq!(said.code, CANCELLED, "{}", said.err);
    let record = world.store().find_run("last").expect("it is there");
    assert_eq!(record.status.name(), "cancelled");
    assert!(record.exits.iter().all(|exit| exit.reason.name() == "cancelled" || !exit.scope.is_root()));
    assert!(world.deepgraph(&["trace", "last"]).out.contains("exit cancelled"));
}

#[test]
fn at_once_gives_up_what_is_in_flight_elsewhere() {
    let (world, server, docs) = (World::new(), slow(Duration::from_secs(120)), harbour());
    let child = world.spawn(&args(&docs, &server.url));
    for _ in 0..3000 {
        sleep(Duration::from_millis(10));
        let is_sent = |row: &deepgraph_store::Stored| matches!(row.entry.body, EntryBody::Dispatched { .. });
        if world.path("home/runs.sqlite").exists()
            && world.store().find_run("last").is_ok()
            && world.journal().iter().any(is_sent)
        {
            break;
        }
    }
    let not_yet = world.deepgraph(&["cancel", "last", "--wait", "0"]);
    assert!(not_yet.out.contains("is asked to stop and not over yet"), "{}", not_yet.out);
    let said = world.deepgraph(&["cancel", "last", "--now"]);
    assert_eq!(said.code, CANCELLED, "{}{}", said.out, said.err);
    let output = child.wait_with_output().expect("it comes to its end");
    assert_eq!(output.status.code(), Some(CANCELLED));
}
