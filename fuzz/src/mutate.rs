//! Journals that no driver writes, made of one that a driver wrote.

use deepgraph_protocol::{Entry, EntryBody, ScopePath, StepId};
use deepgraph_trace::JournalRow;

/// Changes rows as the bytes say: four to a change. Drops, doubles, swaps and moves rows, changes attempts, steps,
/// scopes and times, and puts in rows that ask for a stop.
pub fn mutate(rows: &mut Vec<JournalRow>, data: &[u8]) {
    for change in data.chunks_exact(4).take(40) {
        let (kind, number) = (change[0], u16::from_be_bytes([change[1], change[2]]));
        if rows.is_empty() {
            return;
        }
        let at = usize::from(number) % rows.len();
        let other = (at + 1 + usize::from(change[3])) % rows.len();
        match kind % 12 {
            0 => drop(rows.remove(at)),
            1 => rows.insert(other, rows[at].clone()),
            2 => rows.swap(at, other),
            3 => {
                let row = rows.remove(at);
                rows.insert(other.min(rows.len()), row);
            }
            4 => {
                if let Some(attempt) = attempt_of(&mut rows[at].entry) {
                    *attempt = [0, 1, 2, 3, u32::MAX][usize::from(change[3]) % 5];
                }
            }
            5 => {
                let foreign = step_of(&mut rows[other].entry).cloned();
                if let (Some(step), Some(foreign)) = (step_of(&mut rows[at].entry), foreign) {
                    *step = foreign;
                }
            }
            6 => {
                if let Some(step) = step_of(&mut rows[at].entry) {
                    *step = StepId::new(odd_step(step, change[3]));
                }
            }
            7 => rows[at].scope = rows[other].scope.clone(),
            8 => {
                rows[at].entry.at = match change[3] % 5 {
                    0 => i64::MIN,
                    1 => i64::MAX,
                    2 => 0,
                    n => rows[at].entry.at.saturating_add(i64::from(n) * 3_600_000),
                };
            }
            9 => rows.truncate(at),
            10 => {
                let foreign = rows[other].entry.body.clone();
                rows[at].entry.body = foreign;
            }
            _ => {
                let entry = Entry {
                    at: rows[at].entry.at,
                    body: EntryBody::CancelRequested { detail: None, reason: None, at_once: false },
                };
                let scope = if change[3] % 2 == 0 { ScopePath::root() } else { rows[other].scope.clone() };
                rows.insert(at, JournalRow { scope, entry });
            }
        }
    }
}

fn odd_step(step: &StepId, choice: u8) -> String {
    match choice % 6 {
        0 => String::new(),
        1 => "/".into(),
        2 => format!("{step}/item.18446744073709551616"),
        3 => format!("{step}/approval"),
        4 => step.as_str().trim_end_matches(char::is_numeric).to_owned() + "99",
        _ => format!("{step}.1"),
    }
}

fn attempt_of(entry: &mut Entry) -> Option<&mut u32> {
    match &mut entry.body {
        EntryBody::Dispatched { attempt, .. }
        | EntryBody::AttemptFailed { attempt, .. }
        | EntryBody::Completed { attempt, .. } => Some(attempt),
        EntryBody::Started(started) => Some(&mut started.attempt),
        _ => None,
    }
}

fn step_of(entry: &mut Entry) -> Option<&mut StepId> {
    match &mut entry.body {
        EntryBody::Dispatched { step, .. }
        | EntryBody::AttemptFailed { step, .. }
        | EntryBody::Completed { step, .. }
        | EntryBody::Failed { step, .. }
        | EntryBody::ChildEnded { step, .. }
        | EntryBody::Answered { step, .. } => Some(step),
        _ => None,
    }
}
