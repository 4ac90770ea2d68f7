//! Whether an engine fits a query, and what of the query it leaves to us.

use super::answer::{Answered, Found};
use super::engine::Engine;
use super::engines::filters;
use super::query::Asked;
use super::{dates, sites};

/// Why an engine that nobody named is not asked this; none: it is.
pub(super) fn misfit(engine: Engine, asked: &Asked) -> Option<String> {
    let traits = engine.traits();
    let overlaps =
        |site: &String| traits.hosts.iter().any(|host| sites::holds(site, host) || sites::holds(host, site));
    if !traits.hosts.is_empty() && !asked.include.is_empty() && !asked.include.iter().any(overlaps) {
        return Some(format!("{engine} has nothing of {}", asked.include.join(", ")));
    }
    if traits.is_english && asked.plain_language().is_some_and(|language| language != "en") {
        return Some(format!("{engine} is in English"));
    }
    None
}

/// The results of an engine that are asked for, and what is to be said of them. What the engine does not filter by itself
/// is filtered here as far as its results show it.
pub(super) fn filtered(engine: Engine, asked: &Asked, answered: Answered) -> (Vec<Found>, Vec<String>) {
    let Answered { found, mut notes, .. } = answered;
    let filters = filters(engine, asked);
    let all = found.len();
    let mut found: Vec<Found> =
        found.into_iter().filter(|found| sites::allows(&found.url, &asked.include, &asked.exclude)).collect();
    let of_others = all - found.len();
    if of_others > 0 && (!asked.include.is_empty() || !asked.exclude.is_empty()) {
        notes.push(format!("{engine}: {of_others} of {all} results are of other sites and were left out"));
    }
    if asked.has_dates() && !filters.dates {
        let undated = found.iter().filter(|found| found.date.is_none()).count();
        match filters.has_dates {
            false => notes.push(format!(
                "{engine}: not filtered by time, since its results have no date of publication"
            )),
            true if undated > 0 => {
                notes.push(format!("{engine}: {undated} results have no date and may be of another time"));
            }
            true => {}
        }
        found.retain(|found| {
            found.date.as_ref().is_none_or(|date| dates::is_within(date, asked.from, asked.to))
        });
    }
    if let Some(language) = asked.language.as_ref().filter(|_| !filters.language) {
        notes.push(format!("{engine}: not filtered by language ({language})"));
    }
    (found, notes)
}
