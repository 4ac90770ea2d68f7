//! Whether a statement is about a subject.

use super::acronym::{initials, is_acronym, without_dots};
use super::candidate::{Candidate, Label};
use super::namesake::{is_full_name, is_namesake};
use crate::question::Subject;
use crate::text::words::{Stems, content_stems};

/// How plainly a statement is about a subject; the later the plainer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// The sentences before it name the subject.
    Nearby,
    /// Its own sentence names it.
    Sentence,
    /// A heading or label names it.
    Path,
    /// The title holds the subject's name among other words.
    Title,
    /// The title is the subject's name.
    Exact,
}

impl Level {
    /// What it adds to a score.
    pub fn bonus(self) -> f64 {
        match self {
            Level::Nearby => 0.0,
            Level::Sentence => 0.1,
            Level::Path => 0.15,
            Level::Title => 0.2,
            Level::Exact => 0.35,
        }
    }
}

/// How plainly a statement is about a subject; none: it is not. In a record the value's words do not count:
/// "Brazil — Exports: Uruguay 5 %" says something of Brazil.
pub(super) fn level(subject: &Subject, candidate: &Candidate) -> Option<Level> {
    let names = |sets: &[&Stems]| {
        let holds = |stem: &String| sets.iter().any(|set| set.iter().any(|word| is_form(stem, word)));
        !subject.stems.is_empty() && subject.stems.iter().all(holds)
    };
    if is_full_name(subject, &candidate.full_names) {
        return Some(Level::Exact);
    }
    let has_own_label = candidate.path.iter().any(|label| label.stems == subject.stems);
    if !has_own_label && is_namesake(subject, candidate) {
        return None;
    }
    let mut sets = vec![&candidate.title];
    if names(&sets) {
        let is_exact = candidate.title.len() == subject.stems.len()
            || content_stems(candidate.name).len() == subject.stems.len()
                && names(&[&content_stems(candidate.name)]);
        return Some(if is_exact { Level::Exact } else { Level::Title });
    }
    // "the Heron tower" may have a page of the name Heron.
    if !subject.bare.is_empty() && candidate.title == subject.bare {
        return Some(Level::Exact);
    }
    if is_acronym(&subject.text) && subject.is_name {
        let acronym = without_dots(&subject.text);
        if candidate.abbreviations.contains(&acronym)
            || initials(candidate.name) == acronym
            || candidate.name == acronym
        {
            return Some(Level::Exact);
        }
    }
    sets.extend(candidate.path.iter().flat_map(|label| [&label.stems, &label.aside]));
    if names(&sets) {
        return Some(Level::Path);
    }
    if alias(subject, candidate).is_some() {
        return Some(Level::Path);
    }
    if !candidate.is_prose {
        return None;
    }
    sets.push(&candidate.said);
    if names(&sets) {
        return Some(Level::Sentence);
    }
    sets.push(&candidate.before);
    names(&sets).then_some(Level::Nearby)
}

/// The name in the record's first fields that is the subject's.
pub(super) fn alias<'c>(subject: &Subject, candidate: &'c Candidate) -> Option<&'c Label> {
    candidate.aliases.iter().find(|alias| alias.stems == subject.stems)
}

/// Endings that make an adjective of a name: `Brazilian`, `Chilean`, `Japanese`.
const OF_A_NAME: &[&str] = &["n", "an", "ian", "ean", "ese", "ish", "i"];

/// Whether a word of the question is the word of a source, or the adjective to it.
fn is_form(asked: &str, word: &str) -> bool {
    asked == word
        || (word.len() >= 4
            && asked
                .strip_prefix(word.trim_end_matches(['a', 'e']))
                .is_some_and(|ending| OF_A_NAME.contains(&ending)))
}
