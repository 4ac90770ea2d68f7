//! kill -9 at ten random moments, then resume.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use deepgraph_protocol::{EntryBody, StepId};
use deepgraph_store::Stored;

use super::server::{Play, Server};
use super::world::{SUCCEEDED, World, harbour};

/// Steps that were sent out again although they were committed.
pub fn repeated(rows: &[Stored]) -> Vec<StepId> {
    let mut committed: BTreeSet<StepId> = BTreeSet::new();
    let mut again = Vec::new();
    for row in rows {
        match &row.entry.body {
            EntryBody::Completed { step, .. } if !committed.insert(step.clone()) => again.push(step.clone()),
            EntryBody::Dispatched { step, .. } if committed.contains(step) => again.push(step.clone()),
            _ => {}
        }
    }
    again
}

pub fn dispatched(rows: &[Stored]) -> BTreeMap<StepId, usize> {
    let mut counts = BTreeMap::new();
    for row in rows {
        if let EntryBody::Dispatched { step, .. } = &row.entry.body {
            *counts.entry(step.clone()).or_insert(0) += 1;
        }
    }
    counts
}

#[test]
fn a_run_killed_at_ten_random_moments_gives_the_same_report_and_repeats_no_committed_step() {
    let server =
        Server::start(Play { rounds: 2, parallel: 3, searches: 2, latency: Duration::from_millis(25) });
    let docs = harbour();
    let args = [
        "run",
        "What is the range?",
        "--docs",
        &docs,
        "--model",
        "openai::played",
        "--base-url",
        &server.url,
    ];
    let undisturbed = World::new();
    let begun = Instant::now();
    let whole = undisturbed.deepgraph(&args);
    let length = begun.elapsed();
    assert_eq!(whole.code, SUCCEEDED, "{}", whole.err);

    let seed =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(1, |d| d.as_nanos() as u64);
    let mut random = seed;
    let mut killed = 0;
    for _ in 0..100 {
        if killed == 10 {
            break;
        }
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let moment = length.mul_f64((random >> 33) as f64 / (1u64 << 31) as f64);
        let world = World::new();
        let mut child = world.spawn(&args);
        std::thread::sleep(moment);
        child.kill().expect("it can be killed");
        let _ = child.wait();
        let runs = world.deepgraph(&["runs", "--json"]);
        if !runs.out.contains("runId") || world.journal().is_empty() {
            // It was killed before it had begun: nothing was there to be lost.
            continue;
        }
        killed += 1;
        let before = world.journal();
        let calls = server.all_calls();
        let resumed = world.deepgraph(&["resume", "last"]);
        assert_eq!(resumed.code, SUCCEEDED, "seed {seed}, killed after {moment:?}: {}", resumed.err);
        assert_eq!(resumed.out, whole.out, "seed {seed}, killed after {moment:?}");
        let after = world.journal();
        assert_eq!(after[..before.len()], before[..], "what was committed stays");
        assert_eq!(repeated(&after), [], "seed {seed}, killed after {moment:?}");
        let sent: usize = dispatched(&after[before.len()..]).values().sum();
        assert_eq!(
            server.all_calls() - calls,
            sent,
            "the server was asked what the journal says, and no more"
        );
    }
    assert_eq!(killed, 10, "seed {seed}");
}
