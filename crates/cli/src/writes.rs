//! What a run changed outside and is to be told: what was not undone of a cancelled run, and calls of which it is not
//! known whether they were done.

use std::collections::BTreeSet;

use deepgraph_protocol::{Entry, EntryBody, Exit};
use deepgraph_runtime::Branch;
use deepgraph_store::Stored;

use crate::screen::one_line;

/// Characters of a reason that a line shows.
const SHOWN: usize = 400;

/// A line for each write that stands although the run was cancelled, the latest first: `pay.1 (pay): why`.
pub fn not_undone<'e>(exits: impl IntoIterator<Item = &'e Exit>) -> Vec<String> {
    let left = exits.into_iter().flat_map(|exit| &exit.not_undone);
    left.map(|left| format!("{} ({}): {}", left.step, left.op, one_line(&left.why, SHOWN))).collect()
}

/// The steps of all calls that write of which it is not known whether they were done.
pub fn unknown<'e>(exits: impl IntoIterator<Item = &'e Exit>) -> Vec<String> {
    exits.into_iter().flat_map(|exit| &exit.unknown_writes).map(ToString::to_string).collect()
}

/// Both, each line with its name in front.
pub fn lines<'e>(exits: impl IntoIterator<Item = &'e Exit> + Clone) -> Vec<(String, String)> {
    let not_undone = not_undone(exits.clone()).into_iter().map(|line| ("not undone".to_owned(), line));
    let unknown = unknown(exits).into_iter();
    let unknown = unknown.map(|step| {
        ("unknown".to_owned(), format!("{step}: it is not known whether it was done; look where it writes"))
    });
    not_undone.chain(unknown).collect()
}

/// The steps whose writes a fork takes as done, and that the run it comes from has undone since.
pub fn undone_since(branch: &Branch, rows: &[Stored]) -> Vec<String> {
    fn done(entry: &Entry) -> Option<&str> {
        if let EntryBody::Completed { step, .. } = &entry.body { Some(step.as_str()) } else { None }
    }
    let taken: BTreeSet<&str> = branch.rows.iter().filter_map(|(_, entry)| done(entry)).collect();
    let undone = rows.iter().filter_map(|row| done(&row.entry)).filter(|step| !taken.contains(step));
    let writes = undone.filter_map(|step| step.strip_suffix("/compensation"));
    writes.filter(|step| taken.contains(step)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use deepgraph_protocol::{ExitReason, NotUndone, ScopePath, StepId};

    use super::*;

    #[test]
    fn what_stands_is_told_with_its_reason() {
        let left = NotUndone { step: StepId::new("pay.1"), op: "pay".into(), why: "it\nfailed".to_owned() };
        let exit = Exit {
            scope: ScopePath::root(),
            graph: "g".into(),
            attempt: 1,
            reason: ExitReason::Cancelled,
            class: deepgraph_protocol::ExitClass::Cancelled,
            limit: None,
            counters: BTreeMap::new(),
            last_step: None,
            detail: None,
            also: Vec::new(),
            findings: None,
            clocks: deepgraph_protocol::Clocks::default(),
            unknown_writes: [StepId::new("mail.1")].into(),
            not_undone: [left].into(),
        };
        let told: Vec<String> =
            lines([&exit]).into_iter().map(|(name, text)| format!("{name}  {text}")).collect();
        assert_eq!(
            told,
            [
                "not undone  pay.1 (pay): it failed",
                "unknown  mail.1: it is not known whether it was done; look where it writes"
            ]
        );
    }
}
