//! What a question asks: subjects, and what is asked of each.
//!
//! "Compare Uruguay and Chile on population and area" has two parts, `Uruguay: population; area` and `Chile:
//! population; area`; a part's [objective](Part::objective) is a question of its own and is read back as that part.
//! No word list of things in the world is used: names are found by how they are written and where they stand.

mod clauses;
mod facet;
mod grammar;
mod measure;
mod names;
mod roles;
mod tokens;
mod urls;

use std::borrow::Cow;

use crate::text::blocks::{BlockKind, blocks};
use crate::text::sentences::split;
use crate::text::words::{Stems, content_stems, fold, is_qualifier, stem, words};

pub use facet::{Asks, Facet};
pub use urls::{urls, without_urls};

/// The most of a question that is read, in bytes.
const LONGEST: usize = 20_000;
/// The most parts of a question.
const MOST_PARTS: usize = 40;
/// The most facets of a part.
const MOST_FACETS: usize = 12;

/// A question, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// Its parts, in the order in which they are asked.
    pub parts: Vec<Part>,
}

/// What is asked of one subject.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// What it is about; none where the question names nothing ("What caused the outage?").
    pub subject: Option<Subject>,
    /// What is asked of it; empty for "tell me about …".
    pub facets: Vec<Facet>,
}

/// What a part is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// As written in the question.
    pub text: String,
    /// Its words.
    pub stems: Stems,
    /// The words of the name alone, where a common noun stands behind it: `Heron` of "the Heron tower".
    pub bare: Stems,
    /// Whether it is written as a name.
    pub is_name: bool,
}

impl Subject {
    /// A subject from the words of a question.
    pub fn new(text: &str, is_name: bool) -> Subject {
        let mut stems = content_stems(text);
        if stems.iter().any(|stem| !is_qualifier(stem)) {
            stems.retain(|stem| !is_qualifier(stem) || is_name);
        }
        if stems.is_empty() {
            stems = words(text).map(|(_, word)| stem(word)).collect();
        }
        let capitals = words(text).filter(|(_, word)| word.contains(char::is_uppercase)).last();
        let name = capitals.and_then(|(at, word)| text.get(..at + word.len())).filter(|_| is_name);
        let bare = name.map(content_stems).filter(|bare| bare.len() < stems.len()).unwrap_or_default();
        Subject { text: text.to_owned(), stems, bare, is_name }
    }
}

impl Question {
    /// Takes a question apart. A text without any word has no parts. Addresses of pages ask nothing.
    pub fn analyse(text: &str) -> Question {
        let text = &*if urls(text).is_empty() { Cow::Borrowed(text) } else { Cow::Owned(without_urls(text)) };
        let end = (0..=LONGEST.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let mut parts: Vec<Part> = Vec::new();
        for part in clauses::parts(&text[..end]) {
            let known = parts.iter_mut().find(|p| p.subject.is_some() && p.same_subject(&part));
            match known {
                Some(known) => known.facets.extend(part.facets),
                None => parts.push(part),
            }
        }
        give_subjects(&mut parts);
        for part in &mut parts {
            let mut seen = Vec::new();
            part.facets.retain(|f| {
                !seen.contains(&f.text) && {
                    seen.push(f.text.clone());
                    true
                }
            });
            part.facets.truncate(MOST_FACETS);
        }
        parts.dedup();
        parts.truncate(MOST_PARTS);
        Question { parts }
    }

    /// The clauses of a question, each without the marks at its ends and polite words before it.
    pub fn clauses(text: &str) -> Vec<&str> {
        let blocks = blocks(text).into_iter().filter(|b| b.kind != BlockKind::RowRule);
        let sentences = blocks.flat_map(|block| split(text, block.range));
        sentences.flat_map(|sentence| clauses::clauses(&text[sentence])).collect()
    }

    /// Whether the same is asked of two subjects or more.
    pub fn is_comparison(&self) -> bool {
        let first = self.parts.first();
        self.parts.len() > 1
            && self.parts.iter().all(|p| p.subject.is_some() && first.is_some_and(|f| f.facets == p.facets))
    }
}

impl Part {
    /// The part as a question of its own: `Uruguay: population; area`.
    pub fn objective(&self) -> String {
        let facets = self.facets.iter().map(|f| f.text.as_str()).collect::<Vec<_>>().join("; ");
        match &self.subject {
            Some(subject) if facets.is_empty() => subject.text.clone(),
            Some(subject) => format!("{}: {facets}", subject.text),
            None => facets,
        }
    }

    /// One facet in words: `population of Uruguay`; the subject alone where no facet is given.
    pub fn name_of(&self, facet: Option<&Facet>) -> String {
        match (&self.subject, facet) {
            (Some(subject), Some(facet))
                if facet.head.is_none() || facet.asks_what_is_done() || facet.ends_in_name() =>
            {
                format!("{}: {}", subject.text, facet.text)
            }
            (Some(subject), Some(facet)) => {
                let text = facet.text.trim_start_matches("who ");
                match facet.without_years() {
                    Some((what, when)) => format!("{what} of {} {when}", subject.text),
                    None => format!("{text} of {}", subject.text),
                }
            }
            (Some(subject), None) => subject.text.clone(),
            (None, Some(facet)) => facet.text.clone(),
            (None, None) => String::new(),
        }
    }

    fn same_subject(&self, other: &Part) -> bool {
        match (&self.subject, &other.subject) {
            (Some(a), Some(b)) => fold(&a.text) == fold(&b.text),
            (a, b) => a.is_none() && b.is_none(),
        }
    }
}

/// Where a question names what it is about, a bare thing that is asked ("coastline") is asked of that, not of anything
/// that the sources may hold.
fn give_subjects(parts: &mut Vec<Part>) {
    let is_named = |p: &Part| p.subject.as_ref().is_some_and(|s| s.is_name);
    if !parts.iter().any(is_named) {
        return;
    }
    let is_bare = |p: &Part| p.subject.is_none() && p.facets.iter().all(Facet::is_thing);
    let loose: Vec<Facet> = parts.iter().filter(|p| is_bare(p)).flat_map(|p| p.facets.clone()).collect();
    parts.retain(|p| !is_bare(p));
    for part in parts.iter_mut().filter(|p| is_named(p)) {
        part.facets.extend(loose.iter().cloned());
    }
}

#[cfg(test)]
mod tests;
