//! How well a statement's words answer a facet.

use super::about::Level;
use super::candidate::{Candidate, Label, Pool};
use crate::question::{Asks, Facet};
use crate::text::figures;
use crate::text::synonyms::synonyms;
use crate::text::words::{Stems, content_words, is_qualifier, stem, words};

/// Weight of a word that only qualifies others.
const QUALIFIER: f64 = 0.25;
/// Weight of such a word in a label, where it says next to nothing: `total`.
const NEUTRAL: f64 = 0.05;

/// From here on a label is what is asked for.
pub(super) const LABELLED: f64 = 0.6;

/// The least likeness of a record's label to a facet of several words: "Physician density" is not what "population
/// density" asks for, though "population" may stand in its value.
const LEAST_LABEL: f64 = 0.35;

/// What the first word of a record's value counts for where it is what is asked for: "chief of state: President …".
const OPENING: f64 = 1.0;

/// What a word in parentheses counts for in a label.
const ASIDE: f64 = 0.4;

/// How well a statement matches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Match {
    /// Rank among statements, higher is better.
    pub score: f64,
    /// How exactly one of its labels is the facet, from 0 to 1.
    pub label: f64,
    /// The label in its path that matches best.
    pub at: Option<usize>,
}

/// The match of a statement that is about the right thing; none where too few of the facet's words are in it.
pub(super) fn matches(
    pool: &Pool,
    facet: &Facet,
    level: Option<Level>,
    candidate: &Candidate,
) -> Option<Match> {
    let words: Vec<Word> = facet.stems.iter().map(|stem| Word::new(pool, facet, stem)).collect();
    let here = |word: &Word| word.in_statement(candidate);
    let all: f64 = words.iter().map(|w| w.weight).sum();
    let coverage = words.iter().map(|w| w.weight * here(w)).sum::<f64>() / all.max(f64::EPSILON);
    let has_head = words.iter().filter(|w| w.is_head).all(|w| here(w) > 0.0);
    if !has_head || coverage < least_coverage(facet, level.is_some()) {
        return None;
    }
    let (label, at) = best_label(&words, all, candidate);
    let telling = facet.stems.iter().filter(|stem| !is_qualifier(stem)).count();
    if year_bonus(facet, candidate) < 0.0 {
        return None;
    }
    if !candidate.is_prose && telling > 1 && label < LEAST_LABEL {
        return None;
    }
    let said =
        words.iter().map(|w| w.weight * w.strength(&candidate.said)).sum::<f64>() / all.max(f64::EPSILON);
    let form = match candidate.is_prose {
        true => said.max(label * 0.5),
        false if opens_with_head(facet, candidate) => label.max(OPENING),
        // The word in a value ("0.2 % of GDP") is mostly not what the value is of.
        false => label.max(said * 0.2),
    };
    // A label that says what is asked for is no chance, as a word in a sentence may be.
    let kind = kind_bonus(facet, candidate);
    let labelled = if !candidate.is_prose && form > LABELLED && kind >= 0.0 { 0.15 } else { 0.0 };
    let score = 0.5 * coverage
        + 0.3 * form
        + labelled
        + level.map_or(0.0, Level::bonus)
        + kind
        + year_bonus(facet, candidate);
    Some(Match { score, label, at })
}

/// The share of a facet's words that a statement must hold. Without a subject the words are all there is to go by.
fn least_coverage(facet: &Facet, has_subject: bool) -> f64 {
    match (has_subject, facet.stems.len()) {
        (true, 0 | 1) => 0.7,
        (true, 2) => 0.45,
        (true, 3 | 4) => 0.5,
        (true, _) => 0.4,
        (false, 0..=2) => 0.7,
        (false, 3) => 0.65,
        (false, 4) => 0.6,
        (false, _) => 0.5,
    }
}

/// A word of a facet.
struct Word<'a> {
    stem: &'a str,
    weight: f64,
    is_head: bool,
    synonyms: Stems,
    meant: Option<&'a str>,
}

impl<'a> Word<'a> {
    fn new(pool: &'a Pool, facet: &Facet, stem: &'a str) -> Word<'a> {
        let factor = if is_qualifier(stem) { QUALIFIER } else { 1.0 };
        Word {
            stem,
            weight: factor * pool.weight(stem),
            is_head: facet.head.as_deref() == Some(stem),
            synonyms: synonyms(stem),
            meant: pool.corrected(stem),
        }
    }

    /// How surely a set of words holds it: 1 itself, less for a synonym or a misspelling.
    fn strength(&self, set: &Stems) -> f64 {
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
    fn in_statement(&self, candidate: &Candidate) -> f64 {
        let in_label = |label: &Label| self.strength(&label.stems).max(self.strength(&label.aside));
        let path = candidate.path.iter().map(in_label).fold(0.0, f64::max);
        let own = self.strength(&candidate.said).max(path);
        own.max(0.9 * self.strength(&candidate.title)).max(0.4 * self.strength(&candidate.before))
    }
}

/// The label that is most nearly the facet, and how nearly: words in common ÷ words of both, by weight. Words in
/// parentheses count little. Labels below it that say something else ("male" under "Population") take a little
/// away, and so do those above it ("Sex ratio" over "total population").
fn best_label(words: &[Word], all: f64, candidate: &Candidate) -> (f64, Option<usize>) {
    let mut best = (0.0, None);
    for (i, label) in candidate.path.iter().enumerate() {
        let strength = |w: &Word| w.strength(&label.stems).max(ASIDE * w.strength(&label.aside));
        let common: f64 = words.iter().map(|w| w.weight * strength(w)).sum();
        let below = candidate.path[i + 1..].iter().map(|l| foreign(words, l)).sum::<f64>();
        let above = candidate.path[..i].iter().map(|l| foreign(words, l)).sum::<f64>();
        let share = common / (all + foreign(words, label)).max(f64::EPSILON);
        let exact = (share - 0.1 * below.min(2.0) - 0.06 * above.min(5.0)).max(0.0);
        // Of two equal ones the inner.
        if exact > 0.0 && exact >= best.0 {
            best = (exact, Some(i));
        }
    }
    best
}

/// Whether a name is asked for and the value begins with what it is the name of: "President …".
fn opens_with_head(facet: &Facet, candidate: &Candidate) -> bool {
    let first = words(&candidate.value).next().filter(|(at, _)| *at == 0).map(|(_, word)| stem(word));
    facet.asks == Asks::Name && first.is_some() && first == facet.head && has_name(&candidate.value)
}

/// Weight of the words of a label that the facet does not have. A label that says "total" adds little to what stands
/// above it, whatever it is the total of.
fn foreign(words: &[Word], label: &Label) -> f64 {
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

/// A little for a statement that has the kind of answer wanted, a little off for one that has not.
fn kind_bonus(facet: &Facet, candidate: &Candidate) -> f64 {
    let value = candidate.value.as_str();
    let says_why = ["because", "caused", "due to", "reason", "led to", "as a result"];
    let items = value.matches([',', ';']).count();
    let is_list = items >= 2 && value.chars().filter(|c| c.is_alphabetic()).count() > value.len() / 3;
    let fits = match facet.asks {
        Asks::Anything => {
            return if candidate.is_prose && !figures::find(value).is_empty() { 0.03 } else { 0.0 };
        }
        Asks::Name => has_name(value),
        Asks::Number => !figures::find(value).is_empty(),
        Asks::Date => figures::find(value).iter().any(|f| f.year().is_some()),
        Asks::Reason => says_why.iter().any(|cue| value.to_lowercase().contains(cue)),
        Asks::List => is_list || (candidate.is_prose && figures::find(value).is_empty()),
    };
    if fits { 0.12 } else { -0.12 }
}

/// Whether a text has a word that is written as a name, its first word aside.
fn has_name(text: &str) -> bool {
    let is_name = |word: &str| word.starts_with(char::is_uppercase) && figures::month(word).is_none();
    content_words(text).any(|(at, word)| at > 0 && is_name(word))
}

/// For a facet that names years: those years, not others.
fn year_bonus(facet: &Facet, candidate: &Candidate) -> f64 {
    if facet.years.is_empty() || candidate.years.is_empty() {
        return 0.0;
    }
    if facet.years.iter().any(|year| candidate.years.contains(year)) { 0.2 } else { -0.2 }
}
