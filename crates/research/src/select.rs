//! Which statements of some passages answer a question, and what none of them answers.
//!
//! A statement answers a facet of a subject when it is about that subject (its title, its headings, its label or,
//! in prose, the sentence itself or the ones before it say so) and holds the facet's words. Words are compared by
//! stem, with a small stock of synonyms and one typing mistake allowed. Of a series of years the latest is taken.
//!
//! The scores are plain sums of shares between 0 and 1; they only rank statements against each other.

mod about;
mod acronym;
mod candidate;
mod labels;
mod matching;
mod namesake;
mod pick;
mod word;
mod wording;

use deepgraph_protocol::{Fact, Source};

use crate::passage::Passage;
use crate::question::{Question, Subject};
pub use acronym::is_acronym;
pub(crate) use acronym::may_be;
use candidate::Pool;
pub(crate) use wording::EARLIER;

/// A statement that answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Index of the question's part.
    pub part: usize,
    /// Index of the part's facet; none for a subject without facets.
    pub facet: Option<usize>,
    /// Id of the source.
    pub source: String,
    /// Title of the document that says it.
    pub title: String,
    /// The statement as one sentence, its title and label before it: `Uruguay — Population › total: 3,449,444.`
    pub sentence: String,
}

/// What answers a question.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// In the question's order. One statement may answer several parts.
    pub findings: Vec<Finding>,
    /// What no statement answers, in the question's order.
    pub missing: Vec<Missing>,
}

/// Something that no statement answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Index of the question's part.
    pub part: usize,
    /// Index of the part's facet; none for a subject without facets.
    pub facet: Option<usize>,
    /// Whether any statement is about the part's subject; also where it has none.
    pub is_subject_known: bool,
}

/// The statements of the passages that answer the question.
pub fn select(question: &Question, passages: &[Passage]) -> Selection {
    let pool = Pool::new(passages);
    let mut selection = Selection::default();
    for (i, part) in question.parts.iter().enumerate() {
        let asked =
            if part.facets.is_empty() { vec![None] } else { (0..part.facets.len()).map(Some).collect() };
        for facet in asked {
            let found = pick::pick(&pool, part, facet.and_then(|f| part.facets.get(f)));
            if found.is_empty() {
                let is_about = |s: &Subject| pool.candidates.iter().any(|c| about::level(s, c).is_some());
                let is_subject_known = part.subject.as_ref().is_none_or(is_about);
                selection.missing.push(Missing { part: i, facet, is_subject_known });
            }
            for (candidate, sentence) in found {
                let passage = candidate.passage;
                let finding = Finding {
                    part: i,
                    facet,
                    source: passage.id.clone(),
                    title: passage.title.clone(),
                    sentence,
                };
                selection.findings.push(finding);
            }
        }
    }
    selection
}

/// A document that a part of the question may be answered from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lead {
    /// Index of the question's part.
    pub part: usize,
    /// The document's path.
    pub document: String,
    /// Id of one of its passages.
    pub source: String,
    /// Whether its title is the subject's name, so that no other document can be meant.
    pub is_exact: bool,
}

/// The documents that are about what is asked, best first within each part: those with the subject in their title
/// where there are any, else those that name it elsewhere. Where a part names no subject, all, as they came.
pub fn leads(question: &Question, passages: &[Passage]) -> Vec<Lead> {
    let pool = Pool::new(passages);
    let mut leads: Vec<Lead> = Vec::new();
    for (i, part) in question.parts.iter().enumerate() {
        let level = |c: &candidate::Candidate| part.subject.as_ref().map(|s| about::level(s, c));
        let best = pool.candidates.iter().filter_map(level).max().flatten();
        for candidate in &pool.candidates {
            let fits = match level(candidate) {
                None => true,
                Some(None) => false,
                Some(found) => found == best || best < Some(about::Level::Title),
            };
            let lead = Lead {
                part: i,
                document: candidate.passage.document.clone(),
                source: candidate.passage.id.clone(),
                is_exact: best == Some(about::Level::Exact),
            };
            if fits && !leads.iter().any(|l| l.part == i && l.document == lead.document) {
                leads.push(lead);
            }
        }
    }
    leads
}

/// Facts as passages, one for each fact of a known source.
pub fn passages_of_facts(facts: &[Fact], source: impl Fn(&str) -> Option<Source>) -> Vec<Passage> {
    let passage = |fact: &Fact| {
        let source = source(&fact.source)?;
        Some(Passage { text: fact.text.clone(), ..Passage::from(&source) })
    };
    facts.iter().filter_map(passage).collect()
}

#[cfg(test)]
mod tests;
