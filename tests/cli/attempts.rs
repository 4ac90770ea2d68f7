//! Runs that are over and go on, as their users do it.

use std::collections::BTreeSet;
use std::time::Duration;

use deepgraph_protocol::{EntryBody, StepId};
use deepgraph_store::Stored;

use super::server::{Play, Server};
use super::world::{SUCCEEDED, USAGE, World, harbour};
use crate::crashes::rows::repeated;

fn server(latency: u64) -> Server {
    Server::start(Play { rounds: 4, parallel: 2, searches: 2, latency: Duration::from_millis(latency) })
}

fn run(world: &World, server: &Server, docs: &str) -> super::world::Said {
    let args =
        ["run", "What is the range?", "--docs", docs, "--model", "openai::played", "--base-url", &server.url];
    world.deepgraph(&[&args[..], &["--set", "max_researcher_iterations=2"]].concat())
}

/// The steps that were sent out in an attempt.
fn sent(rows: &[Stored], attempt: u32) -> BTreeSet<StepId> {
    let mut now = 1;
    let mut steps = BTreeSet::new();
    for row in rows {
        match &row.entry.body {
            EntryBody::Resumed { attempt, .. } if row.scope.is_root() => now = *attempt,
            EntryBody::Dispatched { step, .. } if now == attempt => drop(steps.insert(step.clone())),
            _ => {}
        }
    }
    steps
}

#[test]
fn a_run_that_ended_at_a_limit_goes_on_with_a_higher_one_and_pays_nothing_twice() {
    let (world, server, docs) = (World::new(), server(0), harbour());
    let first = run(&world, &server, &docs);
    assert_eq!(first.code, SUCCEEDED, "{}", first.err);
    assert!(first.err.contains("--set max_researcher_iterations="), "it says what to do: {}", first.err);
    let before = server.calls();
    let refused = world.deepgraph(&["resume", "last", "--set", "max_researcher_iterations=2"]);
    assert_eq!(refused.code, USAGE, "{}", refused.err);
    for named in ["2 of 2 calls are used", "max_researcher_iterations", "deepgraph resume"] {
        assert!(refused.err.contains(named), "{named}: {}", refused.err);
    }
    assert_eq!(server.calls(), before, "a refusal costs nothing");

    let again = world.deepgraph(&["resume", "last", "--set", "max_researcher_iterations=9"]);
    assert_eq!(again.code, SUCCEEDED, "{}", again.err);
    let rows = world.journal();
    assert_eq!(repeated(&rows), [], "no step that was done was done again");
    let (of_first, of_second) = (sent(&rows, 1), sent(&rows, 2));
    assert!(of_first.is_disjoint(&of_second), "{of_first:?} {of_second:?}");
    assert_eq!(server.all_calls(), of_first.len() + of_second.len(), "each call was made once");
    let calls = server.calls();
    assert_eq!((before["report"], calls["report"]), (1, 2), "the report is what is written anew");
    let same = ["clarify", "brief"];
    assert!(same.iter().all(|stage| calls.get(*stage) == before.get(*stage)), "{before:?} {calls:?}");
    let supervisor = |attempt: &BTreeSet<StepId>| {
        attempt.iter().filter(|step| step.as_str().starts_with("supervise.1/supervisor.")).count()
    };
    assert_eq!(
        (supervisor(&of_first), supervisor(&of_second)),
        (1, 4),
        "three rounds more, and the last word"
    );
    let shown = world.deepgraph(&["show", "last"]).out;
    for named in ["attempt    2", "research_complete", "iteration_limit", ", attempt 1"] {
        assert!(shown.contains(named), "{named}: {shown}");
    }
    let trace = world.deepgraph(&["trace", "last"]).out;
    assert!(trace.contains("attempt 2 goes on with the research"), "{trace}");
    let json = world.deepgraph(&["trace", "last", "--format", "json"]).out;
    assert!(json.contains("\"earlier\""), "{json}");
}

#[test]
fn the_report_alone_is_written_again() {
    let (world, server, docs) = (World::new(), server(0), harbour());
    run(&world, &server, &docs);
    let before = server.all_calls();
    let again =
        world.deepgraph(&["resume", "last", "--from", "report", "--set", "final_report_model=extractive"]);
    assert_eq!(again.code, SUCCEEDED, "{}", again.err);
    assert_eq!(server.all_calls(), before, "the other model wrote it");
    assert!(again.out.contains("extractive model"), "{}", again.out);
    let third = world.deepgraph(&["resume", "last", "--from", "report", "--model", "openai::played"]);
    assert_eq!((third.code, server.all_calls()), (SUCCEEDED, before + 1), "{}", third.err);
    // What has several attempts is no recording and no case.
    for args in [&["case", "from-run", "last"][..], &["resume", "last", "--record", "run.jsonl"]] {
        let refused = world.deepgraph(args);
        assert_eq!(refused.code, USAGE, "{}", refused.err);
        assert!(refused.err.contains("one attempt"), "{}", refused.err);
    }
    let shown = world.deepgraph(&["resume", "last"]);
    assert_eq!((shown.code, &shown.out), (SUCCEEDED, &third.out), "{}", shown.err);
}

#[test]
fn an_attempt_that_was_killed_goes_on() {
    let (world, server, docs) = (World::new(), server(20), harbour());
    run(&world, &server, &docs);
    let committed = world.journal().len();
    let mut child = world.spawn(&["resume", "last", "--set", "max_researcher_iterations=9"]);
    while world.journal().len() < committed + 20 {
        std::thread::sleep(Duration::from_millis(5));
        assert!(child.try_wait().expect("it can be asked").is_none(), "it ended before it was killed");
    }
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let refused = world.deepgraph(&["resume", "last", "--set", "max_researcher_iterations=10"]);
    assert_eq!(refused.code, USAGE, "{}", refused.err);
    assert!(refused.err.contains("is not over"), "{}", refused.err);
    let over = world.deepgraph(&["resume", "last"]);
    assert_eq!(over.code, SUCCEEDED, "{}", over.err);
    let rows = world.journal();
    assert_eq!(repeated(&rows), []);
    let resumed = rows.iter().filter(|row| matches!(row.entry.body, EntryBody::Resumed { .. })).count();
    assert_eq!(resumed, 2, "the root and its supervisor, once each");
}
