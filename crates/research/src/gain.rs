//! What a step brought that was new: the score that gain limits count (S1).
//!
//! A [`Scorer`] looks at what a step read and at what is known, and gives the facts that count. It runs inside the op that
//! read, so that what it finds is part of the op's result and stands in the journal: the engine only counts. A run that
//! is folded again is not scored again, and the scorer may change freely.

use std::collections::{BTreeMap, BTreeSet};

use deepgraph_protocol::{Fact, Source};

use crate::facts::facts;
use crate::near::Sketch;
use crate::said::{Index, Said};

/// What is known before a step.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// The facts that counted.
    pub facts: &'a [Fact],
    /// Sketches of the pages that were read ([`Sketch::to_hex`]), by the id of the first passage. Texts that are no
    /// sketch are passed over.
    pub pages: &'a BTreeMap<String, String>,
}

/// What a step brought.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scored {
    /// The facts that count: each is new, and stands in a passage that can be read.
    pub facts: Vec<Fact>,
    /// Sketches of the pages that were read, to be known from now on.
    pub pages: BTreeMap<String, String>,
    /// Ids of the first passages of known pages that these pages repeat.
    pub repeats: Vec<String>,
}

/// Says which facts of what a step read count as new.
///
/// An implementation that asks a model, for instance for embeddings, has its say here in place of
/// [`HashedFacts`]. It has to give the same answer for the same question only within one call: its answers are
/// journaled.
pub trait Scorer: Send + Sync {
    /// The facts of these passages, in the order of their documents, that are new.
    fn score(&self, read: &[Source], known: &Known<'_>) -> Scored;
}

/// The scorer of the stock ops. A fact is known when
///
/// * one with the same key is: the same proposition in another form ([`normalise`](crate::facts::normalise));
/// * or one statement is known that says all that it says: its amounts of the same things, its dates, its names and every
///   other word but a few that say nothing, in order;
/// * or it has no figures and stands in a near-duplicate of a page that was read ([`near`](crate::near)): what is left
///   of a copy without its figures is its navigation, its date line, its advertisements.
#[derive(Clone, Copy, Debug, Default)]
pub struct HashedFacts;

impl Scorer for HashedFacts {
    fn score(&self, read: &[Source], known: &Known<'_>) -> Scored {
        let mut scored = Scored::default();
        let mut keys: BTreeSet<String> = known.facts.iter().map(|fact| fact.key.clone()).collect();
        let mut index = Index::default();
        known.facts.iter().for_each(|fact| index.add(Said::of_known(fact)));
        let mut pages: Vec<(String, Sketch)> = known
            .pages
            .iter()
            .filter_map(|(id, sketch)| Some((id.clone(), Sketch::from_hex(sketch)?)))
            .collect();
        for page in by_document(read) {
            let sketch = Sketch::of(page.iter().map(|source| source.text.as_str()));
            let original =
                sketch.as_ref().and_then(|sketch| pages.iter().find(|(_, other)| sketch.is_near(other)));
            let original = original.map(|(id, _)| id.clone());
            for source in &page {
                for fact in facts(source) {
                    let said = Said::of_new(&fact, source);
                    let is_known = keys.contains(&fact.key) || index.holds(&said);
                    let is_left_over = original.is_some() && !said.has_figures();
                    if !is_known && !is_left_over {
                        keys.insert(fact.key.clone());
                        index.add(Said::of_known(&fact));
                        scored.facts.push(fact);
                    }
                }
            }
            if let Some(original) = &original {
                scored.repeats.push(original.clone());
            }
            // A copy of a copy is a copy of the first.
            if let (Some(first), Some(sketch), None) = (page.first(), sketch, original) {
                scored.pages.insert(first.id.clone(), sketch.to_hex());
                pages.push((first.id.clone(), sketch));
            }
        }
        scored
    }
}

/// The passages by document, both in the order in which they come.
fn by_document(read: &[Source]) -> Vec<Vec<&Source>> {
    let mut pages: Vec<Vec<&Source>> = Vec::new();
    for source in read {
        let own =
            pages.iter_mut().find(|page| page.first().is_some_and(|first| first.document == source.document));
        match own {
            Some(page) => page.push(source),
            None => pages.push(vec![source]),
        }
    }
    pages
}

#[cfg(test)]
mod tests;
