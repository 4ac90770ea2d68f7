//! A word of a facet, and how surely it is in something.

use super::candidate::{Candidate, Label, Pool};
use crate::question::Facet;
use crate::text::synonyms::synonyms;
use crate::text::words::{Stems, is_qualifier};

/// Weight of a word that only qualifies others.
const QUALIFIER: f64 = 0.25;

/// A word of a facet.
pub(super) struct Word<'a> {
    stem: &'a str,
    /// How telling it is.
    pub weight: f64,
    /// Whether it is what the others describe.
    pub is_head: bool,
    /// Whether it says something by itself.
    pub tells: bool,
    synonyms: Stems,
    meant: Option<&'a str>,
}

impl<'a> Word<'a> {
    /// A word, given the statements that it is looked for in.
    pub fn new(pool: &'a Pool, facet: &Facet, stem: &'a str) -> Word<'a> {
        let factor = if is_qualifier(stem) { QUALIFIER } else { 1.0 };
        Word {
            stem,
            weight: factor * pool.weight(stem),
            is_head: facet.head.as_deref() == Some(stem),
            tells: !is_qualifier(stem),
            synonyms: synonyms(stem),
            meant: pool.corrected(stem),
        }
    }

    /// Whether a set of words holds it as it is written.
    pub fn is_in(&self, set: &Stems) -> bool {
        set.contains(self.stem)
    }

    /// How surely a set of words holds it: 1 itself, less for a synonym or a misspelling.
    pub fn strength(&self, set: &Stems) -> f64 {
        if set.contains(self.stem) {
            1.0
        } else if set.iter().any(|word| self.synonyms.contains(word)) {
            0.8
        } else if self.meant.is_some_and(|meant| set.contains(meant)) {
            0.75
        } else {
            0.0
        }
    }

    /// How surely a statement holds it, its labels, title and the sentences before included.
    pub fn in_statement(&self, candidate: &Candidate) -> f64 {
        let in_label = |label: &Label| self.strength(&label.stems).max(self.strength(&label.aside));
        let path = candidate.path.iter().map(in_label).fold(0.0, f64::max);
        let own = self.strength(&candidate.said).max(path);
        own.max(0.9 * self.strength(&candidate.title)).max(0.4 * self.strength(&candidate.before))
    }
}
