//! Searches of a run that failed: what was not found by them is not said of any source.

use std::fmt;

use deepgraph_protocol::{StepError, Value};
use deepgraph_research::unsearched::WEB;
use deepgraph_trace::Trace;
use deepgraph_trace::sources::searches;
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
        let outcomes: Vec<Option<String>> = searches(trace).into_iter().map(why).collect();
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

/// Why a search was not carried out, or not in the web.
fn why(ended: Result<&Value, &StepError>) -> Option<String> {
    match ended {
        Err(error) => Some(error.message.to_string()),
        Ok(result) => {
            let mut notes = result.text("text").lines().filter_map(|line| line.strip_prefix("Note: "));
            notes.find(|note| note.starts_with(WEB)).map(str::to_owned)
        }
    }
}
