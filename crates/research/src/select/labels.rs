//! How nearly a label of a statement is what is asked for.

use super::candidate::{Candidate, Label};
use super::word::Word;
use crate::text::words::{Stems, content_stems, is_qualifier};

/// Weight of a word that says next to nothing in a label: `total`.
const NEUTRAL: f64 = 0.05;
/// What a word in parentheses counts for.
const ASIDE: f64 = 0.4;
/// What each word of the labels below takes away, and up to how many words.
const BELOW: f64 = 0.1;
const MOST_BELOW: f64 = 2.0;
/// What each word of the labels above takes away, and up to how many words.
const ABOVE: f64 = 0.06;
const MOST_ABOVE: f64 = 5.0;

/// The label that is most nearly the facet, and how nearly: words in common ÷ words of both, by weight. Words in
/// parentheses count little. Labels below it that say something else ("male" under "Population") take a little
/// away, and so do those above it ("Sex ratio" over "total population").
pub(super) fn best_label(words: &[Word], candidate: &Candidate) -> (f64, Option<usize>) {
    let all: f64 = words.iter().map(|w| w.weight).sum();
    let mut best = (0.0, None);
    for (i, label) in candidate.path.iter().enumerate() {
        let strength = |w: &Word| w.strength(&label.stems).max(ASIDE * w.strength(&label.aside));
        let common: f64 = words.iter().map(|w| w.weight * strength(w)).sum();
        let below = candidate.path[i + 1..].iter().map(|l| foreign(words, l)).sum::<f64>();
        let above = candidate.path[..i].iter().map(|l| foreign(words, l)).sum::<f64>();
        let share = common / (all + foreign(words, label)).max(f64::EPSILON);
        let exact = (share - BELOW * below.min(MOST_BELOW) - ABOVE * above.min(MOST_ABOVE)).max(0.0);
        // Of two equal ones the inner.
        if exact > 0.0 && exact >= best.0 {
            best = (exact, Some(i));
        }
    }
    best
}

/// Weight of the words of a label that the facet does not have. A label that says "total" adds little to what stands
/// above it, whatever it is the total of.
pub(super) fn foreign(words: &[Word], label: &Label) -> f64 {
    let of = |stems: &Stems| -> f64 {
        let is_foreign = |stem: &&String| {
            let set: Stems = [(*stem).clone()].into();
            words.iter().all(|w| w.strength(&set) == 0.0)
        };
        let weight = |stem: &String| if is_qualifier(stem) { NEUTRAL } else { 1.0 };
        stems.iter().filter(is_foreign).map(weight).sum()
    };
    let foreign = of(&label.stems) + 0.5 * ASIDE * of(&label.aside);
    if label.stems.iter().any(|stem| matches!(stem.as_str(), "total" | "overal")) {
        foreign * 0.2
    } else {
        foreign
    }
}

/// Whether a label has the facet's words only as what something else is a share of: "electrification - total
/// population" is no population.
pub(super) fn is_share_of_total(words: &[Word], label: &Label) -> bool {
    let Some((before, after)) = label.text.split_once(" - ") else { return false };
    let (before, after) = (content_stems(before), content_stems(after));
    let holds = |stems: &Stems| words.iter().any(|w| w.strength(stems) > 0.0);
    let says_more = before.iter().any(|stem| !is_qualifier(stem));
    after.contains("total") && holds(&after) && says_more && !holds(&before)
}
