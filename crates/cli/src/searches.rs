//! Searches of a run that failed: what was not found by them is not said of any source.

use std::fmt;

use deepgraph_research::unsearched::WEB;
use deepgraph_trace::tree::{Node, NodeKind, Outcome, Trace};
use serde::Serialize;

use crate::screen::one_line;
use crate::when::{counted, number};

/// The searches of a run, where some failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailedSearches {
    /// How many there were.
    pub searches: u64,
    /// How many of them failed, or could not reach the web.
    pub failed: u64,
    /// Why the first of these did.
    pub why: String,
}

impl FailedSearches {
    /// Those of a run; none where none failed.
    pub fn of(trace: &Trace) -> Option<FailedSearches> {
        let steps = trace.root.all_steps();
        let outcomes: Vec<Option<String>> = steps.into_iter().filter_map(search).map(why).collect();
        let failed: Vec<&String> = outcomes.iter().flatten().collect();
        let why = failed.first()?.to_string();
        Some(FailedSearches { searches: outcomes.len() as u64, failed: failed.len() as u64, why })
    }

    /// Whether none was carried out in full.
    pub fn is_all(&self) -> bool {
        self.failed == self.searches
    }
}

impl fmt::Display for FailedSearches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = one_line(&self.why, 600);
        if self.is_all() {
            return write!(f, "every search failed: {why}");
        }
        let all = counted(self.searches, "search", "searches");
        write!(f, "{} of {all} failed: {why}", number(self.failed))
    }
}

/// How a search ended that ended.
fn search(node: &Node) -> Option<&Outcome> {
    match &node.kind {
        NodeKind::Op { op, .. } if &**op == "search" => node.outcome.as_ref(),
        _ => None,
    }
}

/// Why it did not search, or not the web.
fn why(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Failed(error) => Some(error.message.to_string()),
        Outcome::Value(result) => {
            let mut notes = result.text("text").lines().filter_map(|line| line.strip_prefix("Note: "));
            notes.find(|note| note.starts_with(WEB)).map(str::to_owned)
        }
        _ => None,
    }
}
