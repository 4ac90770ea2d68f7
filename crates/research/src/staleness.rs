//! Staleness (S8): statements that a source of a later date says with other figures.
//!
//! One statement supersedes another when both are about the same subject, three quarters of the words of the shorter one
//! stand in the other, their figures differ in the same kind of amount, and its source states a later date. Two statements
//! that each name years, and not the same ones, are a series over time: both stay true.

use std::ops::Range;

use deepgraph_protocol::Source;

use crate::handoff::Sources;
use crate::said::{Said, names_inside};
use crate::text::statements::{Statement, statements};
use crate::text::words::{Stems, content_stems};

/// What a statement says, and of what.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    own: Said,
    /// With the title of its document.
    full: Said,
    /// Stems of what it is about; empty where its text does not name it.
    subject: Stems,
    title: Stems,
}

impl Claim {
    /// Of a statement of a source. A record is about what its document's title names.
    fn of_statement(source: &Source, statement: &Statement) -> Claim {
        let line = statement.line(&source.text);
        if statement.labels.is_empty() {
            Claim::of_prose(&source.title, &line)
        } else {
            Claim::of_record(&source.title, &line)
        }
    }

    /// Of a value with its labels, about what the title names.
    pub fn of_record(title: &str, line: &str) -> Claim {
        let said = Said::of(title, line);
        Claim { own: said.clone(), full: said, subject: content_stems(title), title: content_stems(title) }
    }

    /// Of a sentence below a title.
    pub fn of_prose(title: &str, sentence: &str) -> Claim {
        Claim {
            own: Said::of("", sentence),
            full: Said::of(title, sentence),
            subject: names_inside(sentence),
            title: content_stems(title),
        }
    }

    /// Whether both say the same thing of the same subject with other figures.
    pub fn is_rival(&self, other: &Claim) -> bool {
        [(self, other), (other, self)]
            .into_iter()
            .filter(|(fewer, more)| fewer.own.words() <= more.own.words())
            .any(|(fewer, more)| fewer.is_of_subject(more) && fewer.own.is_rival(&more.full))
    }

    /// Whether another claim is about the same subject.
    fn is_of_subject(&self, other: &Claim) -> bool {
        match self.subject.is_empty() {
            true => !self.title.is_empty() && self.title == other.title,
            false => other.full.has_all(&self.subject),
        }
    }
}

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
                    let claim = Claim::of_statement(source, &statement);
                    Dated { source, date, statement, claim }
                }));
            }
        }
        Timeline(all)
    }

    /// The latest statement that supersedes the one that stands at a place of a source, as far as a sentence repeats it;
    /// with the date of the place.
    pub fn later_than(
        &self,
        source: &Source,
        place: &Range<usize>,
        said: &str,
    ) -> Option<(&str, &Dated<'s>)> {
        let said = Said::of("", said);
        let stands = |known: &&Dated<'_>| {
            known.source.id == source.id
                && known.statement.range == *place
                && known.claim.own.shares_figure(&said)
        };
        let old = self.0.iter().find(stands)?;
        let rivals = self.0.iter().filter(|new| {
            new.source.document != source.document
                && is_later(new.date, old.date)
                && old.claim.is_rival(&new.claim)
        });
        // Of equal dates the first, in the order of ids.
        rivals
            .reduce(|best, next| if is_later(next.date, best.date) { next } else { best })
            .map(|new| (old.date, new))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rival(a: (&str, &str), b: (&str, &str)) -> bool {
        let claim = |(title, text): (&str, &str)| {
            let source = Source { title: title.into(), text: text.into(), ..Source::default() };
            Claim::of_statement(&source, &statements(text)[0])
        };
        assert_eq!(claim(a).is_rival(&claim(b)), claim(b).is_rival(&claim(a)), "{a:?} {b:?}");
        claim(a).is_rival(&claim(b))
    }

    #[test]
    fn the_same_proposition_with_another_figure_is_a_rival() {
        for (a, b) in [
            (
                ("Prices", "The A48 costs 15.9 million euros."),
                ("News", "The A48 now costs 16.3 million euros, says the yard."),
            ),
            (("Uruguay", "Population: 3.4 million"), ("Uruguay", "Population: 3.5 million")),
            (("Uruguay", "Population: 3.4 million"), ("Census", "Uruguay has 3.5 million inhabitants.")),
            (
                ("Plan", "The Norvane bridge opens on 3 May 2025."),
                ("Notice", "The Norvane bridge opens on 6 June 2026."),
            ),
            (("Uruguay", "Population (2023): 3.4 million"), ("Uruguay", "Population (2023): 3.5 million")),
        ] {
            assert!(rival(a, b), "{a:?} {b:?}");
        }
    }

    #[test]
    fn another_subject_year_or_kind_of_amount_is_none() {
        for (a, b) in [
            (("Prices", "The A48 costs 15.9 million euros."), ("News", "The A52 costs 16.3 million euros.")),
            (("Uruguay", "Population: 3.4 million"), ("Chile", "Population: 3.5 million")),
            (("Uruguay", "Population (2020): 3.4 million"), ("Uruguay", "Population (2023): 3.5 million")),
            (("Aldmoor", "The population is 3,400."), ("Brinsea", "The population is 3,500.")),
            (("Uruguay", "Exports: 12 %"), ("Uruguay", "Exports: $5 million")),
            (("Uruguay", "Population: 3.4 million"), ("Uruguay", "Population: 3.4 million")),
            (("Uruguay", "Population: 3.4 million"), ("Uruguay", "Area: 176,215 km²")),
            (("a", "The Norvane test passed 3 times."), ("b", "The Norvane test never passed 4 times.")),
        ] {
            assert!(!rival(a, b), "{a:?} {b:?}");
        }
    }

    #[test]
    fn dates_are_compared_as_far_as_they_go() {
        assert!(is_later("2024", "2021-05-01") && is_later("2024-05-02", "2024-05-01"));
        assert!(!is_later("2024", "2024-05-01") && !is_later("2024-05-01", "2024") && !is_later("", "2024"));
        assert_eq!(told_apart("2024-05-02", "2021"), ("2024", "2021"));
        assert_eq!(told_apart("2024-05-02", "2024-01"), ("2024-05-02", "2024-01"));
    }
}
