//! Near-duplicates.

use super::figures;
use super::words::{Stems, fold, words};

/// Share of words from which two sentences with the same figures count as saying the same.
const SAME: f64 = 0.8;

/// Share of the shorter sentence's words from which two sentences with other figures count as saying the same thing.
const RIVAL: f64 = 0.75;

/// Words that turn what a sentence says into its opposite.
const NEGATIONS: &[&str] = &["cannot", "neither", "never", "no", "none", "nor", "not", "without"];

/// What a sentence says, reduced for comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint {
    stems: Stems,
    figures: Vec<String>,
}

impl Fingerprint {
    /// Of a sentence.
    pub fn of(sentence: &str) -> Fingerprint {
        let found = figures::find(sentence);
        let negations =
            words(sentence).map(|(_, word)| fold(word)).filter(|word| NEGATIONS.contains(&word.as_str()));
        let stems = figures::stems_beside(sentence, &found).into_iter().chain(negations).collect();
        let mut figures: Vec<String> = found.iter().map(figures::Figure::canonical).collect();
        figures.sort();
        figures.dedup();
        Fingerprint { stems, figures }
    }

    /// Whether two sentences say the same thing of different figures: nearly all words of the shorter one are in the
    /// longer one, but the figures differ.
    pub fn is_rival(&self, other: &Fingerprint) -> bool {
        let common = self.stems.intersection(&other.stems).count();
        let fewer = self.stems.len().min(other.stems.len());
        self.has_other_figures(other) && fewer > 0 && common as f64 >= RIVAL * fewer as f64
    }

    /// Whether both have figures, and not the same ones.
    pub fn has_other_figures(&self, other: &Fingerprint) -> bool {
        !self.figures.is_empty() && !other.figures.is_empty() && self.figures != other.figures
    }

    /// Whether two sentences say the same: equal figures, and at least four fifths of their words in common.
    pub fn is_near(&self, other: &Fingerprint) -> bool {
        self.figures == other.figures && overlap(&self.stems, &other.stems) >= SAME
    }
}

/// Whether two texts say or ask the same: [`Fingerprint::is_near`].
pub fn is_near(a: &str, b: &str) -> bool {
    Fingerprint::of(a).is_near(&Fingerprint::of(b))
}

/// Words in common ÷ all words (Jaccard); 1 for two empty sets.
pub fn overlap(a: &Stems, b: &Stems) -> f64 {
    let common = a.intersection(b).count();
    let all = a.len() + b.len() - common;
    if all == 0 { 1.0 } else { common as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_that_differ_in_a_figure_are_not_near() {
        let near = |a, b| Fingerprint::of(a).is_near(&Fingerprint::of(b));
        assert!(near("The population is 3.4 million.", "Population: 3,400,000"));
        assert!(!near("The population is 3.4 million.", "The population is 3.5 million."));
        assert!(!near("Chile exports copper.", "Peru exports copper."));
        assert!(!near("The shop is open.", "The shop is not open."));
        assert!(near("", "the"));
        let rival = |a, b| Fingerprint::of(a).is_rival(&Fingerprint::of(b));
        assert!(rival(
            "The A48 costs 15.9 million euros.",
            "The A48 now costs 16.3 million euros, says the yard."
        ));
        assert!(!rival("The A48 costs 15.9 million euros.", "The A48 costs 15.9 million euros."));
        assert!(!rival("The A48 costs 15 euros.", "The quay is 15 m long."));
    }
}
