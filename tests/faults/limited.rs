//! An account that may send less than five researchers want to, told only in the headers of good replies.

use std::collections::BTreeMap;
use std::time::Duration;

use deepgraph_protocol::{EntryBody, ScopePath, StepId};

use super::held;
use super::server::{Quota, Server};
use super::world::{self, Manner, Seen};

const TOPICS: [&str; 5] = ["Alder", "Birch", "Cedar", "Dogwood", "Elder"];

/// For how long the calls of each instance were held, in milliseconds.
fn held_ms(seen: &Seen) -> BTreeMap<ScopePath, u64> {
    let mut since: BTreeMap<(ScopePath, StepId), i64> = BTreeMap::new();
    let mut sums = BTreeMap::new();
    for row in &seen.entries {
        match &row.entry.body {
            EntryBody::Held { step, .. } => {
                since.insert((row.scope.clone(), step.clone()), row.entry.at);
            }
            EntryBody::Dispatched { step, .. } => {
                if let Some(from) = since.remove(&(row.scope.clone(), step.clone())) {
                    *sums.entry(row.scope.clone()).or_insert(0) +=
                        u64::try_from(row.entry.at - from).unwrap_or(0);
                }
            }
            _ => {}
        }
    }
    sums
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_are_held_before_the_provider_has_to_refuse_them() {
    for stream in [false, true] {
        let server = Server::limited(&TOPICS, Quota::new(2, Duration::from_millis(150))).await;
        let manner = Manner { stream, impatient: false, fallback: false };
        let seen = world::run(&server, &TOPICS, manner).await.expect("it runs");
        assert_eq!(held::broken(&seen, &server), Vec::<String>::new());
        assert_eq!((seen.exit(), seen.report_outcome()), ("research_complete", "complete"));
        assert_eq!(seen.reported(&TOPICS), TOPICS);
        assert_eq!(server.refused(), 0, "stream: {stream}");

        let held = held_ms(&seen);
        let researchers = seen.outcome.exits().filter(|exit| exit.graph.ends_with("researcher"));
        let mut waited = 0;
        for exit in researchers {
            let (ms, clocks) = (held.get(&exit.scope).copied().unwrap_or(0), exit.clocks);
            // It has one call out at a time.
            assert!(clocks.active_ms + ms <= clocks.wall_ms, "held for {ms} ms: {clocks:?}");
            waited += u64::from(ms > 0);
        }
        assert!(waited >= 3, "at most two of five are let out at once: {waited}");
    }
}
