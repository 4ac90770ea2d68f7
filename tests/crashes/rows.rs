//! What the rows of a run that broke off say of what was sent.

use std::collections::{BTreeMap, BTreeSet};

use deepgraph_protocol::{EntryBody, StepId};
use deepgraph_store::Stored;

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

/// How often each step was sent.
pub fn dispatched(rows: &[Stored]) -> BTreeMap<StepId, usize> {
    let mut counts = BTreeMap::new();
    for row in rows {
        if let EntryBody::Dispatched { step, .. } = &row.entry.body {
            *counts.entry(step.clone()).or_insert(0) += 1;
        }
    }
    counts
}

/// What holds of every run that broke off and went on: what was committed stays and is not sent again, and what was in
/// flight is sent once more. How many calls were sent since.
pub fn sent_since(before: &[Stored], after: &[Stored], what: &str) -> usize {
    assert_eq!(after[..before.len()], *before, "{what}: what was committed stays");
    assert_eq!(repeated(after), [], "{what}: a committed step was sent out again");
    let was_sent = dispatched(before);
    for (step, times) in dispatched(after).into_iter().filter(|(_, times)| *times > 1) {
        assert!(times == 2 && was_sent.contains_key(&step), "{what}: {step} was sent {times} times");
    }
    dispatched(&after[before.len()..]).values().sum()
}
