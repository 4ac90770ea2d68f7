//! Staleness (S8): statements that a source of a later date says with another figure.
//!
//! One statement supersedes another when its source states a later date and both say the same of the same thing, word for
//! word: they differ in one amount, and else only in words like "now" and "about". A word, a label, a date or a unit that
//! only one of them has may be a condition, or make it another thing ("exported", "imported"), so it is no such pair. A note
//! that is missed costs little; one that is wrong is a lie.

mod claim;
mod clause;
mod frame;

use std::ops::Range;

use deepgraph_protocol::Source;

pub(crate) use claim::Claim;

use crate::facts::{figures_of, plain};
use crate::handoff::Sources;
use crate::text::statements::{Statement, statements};

/// Whether one ISO date is later than another. One that is less exact is later only where it can be told.
pub(crate) fn is_later(date: &str, than: &str) -> bool {
    let length = date.len().min(than.len());
    match (date.as_bytes().get(..length), than.as_bytes().get(..length)) {
        (Some(a), Some(b)) => a > b,
        _ => false,
    }
}

/// Two dates as far as they have to be told to tell them apart: years where those differ.
pub(crate) fn told_apart<'d>(a: &'d str, b: &'d str) -> (&'d str, &'d str) {
    let year = |date: &'d str| date.get(..4).unwrap_or(date);
    if year(a) == year(b) { (a, b) } else { (year(a), year(b)) }
}

/// A statement of a source that states its date.
pub(crate) struct Dated<'s> {
    pub source: &'s Source,
    pub date: &'s str,
    pub statement: Statement,
    claim: Claim,
}

/// The statements of all sources that state a date; empty where all state the same.
pub(crate) struct Timeline<'s>(Vec<Dated<'s>>);

impl<'s> Timeline<'s> {
    pub fn of(sources: &'s Sources) -> Timeline<'s> {
        let dated = || sources.values().filter_map(|source| Some((source, source.date.as_deref()?)));
        let mut all = Vec::new();
        let first = dated().next().map(|(_, date)| date);
        if dated().any(|(_, date)| Some(date) != first) {
            for (source, date) in dated() {
                all.extend(statements(&source.text).into_iter().map(|statement| {
                    let claim = claim(source, &statement);
                    Dated { source, date, statement, claim }
                }));
            }
        }
        Timeline(all)
    }

    /// The latest statement that supersedes the one that stands at a place of a source, where a sentence repeats the figure
    /// that is superseded and not the new one; with the date of the place.
    pub fn later_than(
        &self,
        source: &Source,
        place: &Range<usize>,
        said: &str,
    ) -> Option<(&str, &Dated<'s>)> {
        let said: Vec<String> = figures_of(&plain(said)).iter().map(|figure| figure.canonical()).collect();
        let says = |figure: &str| said.iter().any(|known| known == figure);
        let stands = |known: &&Dated<'_>| known.source.id == source.id && known.statement.range == *place;
        let pairs = self.0.iter().filter(stands).flat_map(|old| self.0.iter().map(move |new| (old, new)));
        let rivals = pairs.filter(|(old, new)| {
            new.source.document != old.source.document
                && is_later(new.date, old.date)
                && old.claim.superseded_by(&new.claim).is_some_and(|(old, new)| says(old) && !says(new))
                && !self.has_double(old)
                && !self.has_double(new)
        });
        // Of equal dates the first, in the order of ids.
        rivals
            .reduce(|best, next| if is_later(next.1.date, best.1.date) { next } else { best })
            .map(|(old, new)| (old.date, new))
    }

    /// Whether its document says another figure in the same words.
    fn has_double(&self, one: &Dated) -> bool {
        let mut own = self.0.iter().filter(|other| other.source.document == one.source.document);
        own.any(|other| one.claim.is_double(&other.claim))
    }
}

/// What a statement of a source says.
fn claim(source: &Source, statement: &Statement) -> Claim {
    let labels: Vec<&str> = statement.labels.iter().map(String::as_str).collect();
    let value = source.text.get(statement.value.clone()).unwrap_or("");
    Claim::of(&source.title, &source.section, &labels, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_compared_as_far_as_they_go() {
        assert!(is_later("2024", "2021-05-01") && is_later("2024-05-02", "2024-05-01"));
        assert!(!is_later("2024", "2024-05-01") && !is_later("2024-05-01", "2024") && !is_later("", "2024"));
        assert_eq!(told_apart("2024-05-02", "2021"), ("2024", "2021"));
        assert_eq!(told_apart("2024-05-02", "2024-01"), ("2024-05-02", "2024-01"));
    }
}
