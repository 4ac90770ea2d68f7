//! Sentences that come from what the model knew before: they cite nothing, sum up nothing that is cited, and
//! speak neither of the sources nor of what to do.

use std::ops::Range;

use super::bare::Bare;
use crate::text::words::{Stems, content_stems};

/// Content words from which a sentence claims something. Fewer make a transition: "In short, both grew."
const CLAIM: usize = 4;

/// Share of a sentence's content words that cited sentences hold, from which it sums them up.
const SUMMED_UP: f64 = 0.75;

/// The sentences without a source.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Priors {
    /// How many there are.
    pub sentences: u64,
    /// Where runs of them end, a run for sentences of one paragraph or list that follow each other: one label is
    /// enough for each.
    pub ends: Vec<usize>,
}

/// The claims among the sentences that cite nothing, given the words of those that do.
pub(super) fn of(draft: &str, uncited: &[Range<usize>], bare: &Bare, cited_words: &Stems) -> Priors {
    let mut priors = Priors::default();
    let mut last: Option<Range<usize>> = None;
    for sentence in uncited.iter().filter(|sentence| is_claim(draft, sentence, bare, cited_words)) {
        priors.sentences += 1;
        let follows = last.as_ref().is_some_and(|last| bare.follows(last, sentence));
        if follows {
            priors.ends.pop();
        }
        priors.ends.push(sentence.end);
        last = Some(sentence.clone());
    }
    priors
}

fn is_claim(draft: &str, sentence: &Range<usize>, bare: &Bare, cited_words: &Stems) -> bool {
    let text = draft.get(sentence.clone()).unwrap_or("").trim();
    // What stands in emphasis as a whole is a note on the report, what ends in a colon leads to the next, and a link is a
    // source of a kind.
    let is_note = text.starts_with(['*', '_']) && text.ends_with(['*', '_']);
    let is_lead = text.ends_with([':', '?']) || text.contains("://");
    if bare.block_of(sentence).is_none() || is_note || is_lead || bare.is_exempt(sentence) {
        return false;
    }
    let stems = content_stems(text);
    let summed_up = stems.iter().filter(|stem| cited_words.contains(*stem)).count();
    stems.len() >= CLAIM && (summed_up as f64) < SUMMED_UP * stems.len() as f64
}
