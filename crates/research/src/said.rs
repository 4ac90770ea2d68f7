//! What statements say, compared by their figures, names and words: whether one that is known says all that another says.

use std::collections::{BTreeMap, BTreeSet};

use deepgraph_protocol::{Fact, Source};

use crate::facts::{figures_of, plain};
use crate::text::attached::{signs_of, with_signs};
use crate::text::figures::{Amount, Figure};
use crate::text::words::{fold, stem, words};

/// Words that a statement need not share with the one that says it. No others: units, prepositions of direction and amount
/// (`to`, `by`, `under`), comparisons and adverbs all say something.
const FILLERS: &[&str] = &[
    "a", "also", "an", "and", "are", "at", "be", "been", "being", "had", "has", "have", "having", "in", "is",
    "it", "its", "of", "on", "s", "that", "the", "there", "these", "this", "those", "was", "were", "which",
];

/// Words that turn what a sentence says into its opposite.
const NEGATIONS: &[&str] = &["cannot", "neither", "never", "no", "none", "nor", "not", "without"];

/// Stems that mean the same in a statement with figures. Only what can hardly mean anything else: `exports` and `imports`
/// are both trade, and not the same.
const ALIKE: &[&[&str]] =
    &[&["inhabit", "popul", "resid"], &["begin", "start"], &["end", "finish"], &["area", "size"]];

/// What a statement says, reduced for comparison.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    /// Its amounts in one form each, with the signs before them, in order.
    amounts: Vec<Counted>,
    /// Its years and dates, in order.
    times: Vec<String>,
    words: Vec<Word>,
    negations: BTreeSet<String>,
}

/// An amount and what it counts.
#[derive(Clone, Debug, PartialEq)]
struct Counted {
    amount: String,
    /// The stem of the word right behind it, a unit most often.
    of: Option<String>,
}

/// A word that says something.
#[derive(Clone, Debug)]
struct Word {
    stem: String,
    /// Whether it is written like a name, which the first of a text is anyway.
    is_capital: bool,
    is_first: bool,
}

impl Said {
    /// Of a fact that is known: with all that stands above it.
    pub fn of_known(fact: &Fact) -> Said {
        Said::of(&fact.about, &fact.text)
    }

    /// Of a fact that may be new: with the title of its document. The headings between need not be known.
    pub fn of_new(fact: &Fact, source: &Source) -> Said {
        Said::of(if fact.about.is_empty() { "" } else { &source.title }, &fact.text)
    }

    /// Of a text and what stands above it.
    pub fn of(about: &str, text: &str) -> Said {
        let mut said = Said::default();
        for part in [about, text] {
            said.read(&plain(part));
        }
        said
    }

    fn read(&mut self, text: &str) {
        let figures = figures_of(text);
        for figure in &figures {
            self.put_figure(text, figure);
        }
        let inside = |at: usize| figures.iter().any(|f| f.at <= at && at < f.end());
        let mut is_first = true;
        for (at, word) in words(text).filter(|(at, _)| !inside(*at)) {
            let folded = fold(word);
            if NEGATIONS.contains(&folded.as_str()) || folded.ends_with("n't") {
                self.negations.insert(folded.clone());
            }
            if !is_filler(word, is_first) {
                let signs = with_signs(text, at, word).get(word.len()..).unwrap_or("");
                let is_capital = word.starts_with(char::is_uppercase);
                self.words.push(Word { stem: stem(word) + signs, is_capital, is_first });
            }
            is_first = false;
        }
    }

    fn put_figure(&mut self, text: &str, figure: &Figure) {
        if figure.year().is_some() || matches!(figure.amount, Amount::Date { .. }) {
            self.times.push(figure.canonical());
            return;
        }
        let amount = signs_of(text, figure) + &figure.canonical();
        let behind = text.get(figure.end()..).unwrap_or("");
        let is_beside =
            |at: usize| behind.get(..at).is_some_and(|gap| gap.chars().all(|c| " -°".contains(c)));
        let next = words(behind).next().filter(|(at, word)| is_beside(*at) && !is_filler(word, false));
        self.amounts.push(Counted { amount, of: next.map(|(_, word)| stem(word)) });
    }

    /// Whether it has figures: only then a statement in other words can be told from another statement.
    pub fn has_figures(&self) -> bool {
        !self.amounts.is_empty() || !self.times.is_empty()
    }

    /// Its figures, each in one form.
    fn figures(&self) -> impl Iterator<Item = &String> {
        self.amounts.iter().map(|counted| &counted.amount).chain(&self.times)
    }

    /// Whether another adds nothing to it. Without figures, only the same words do: what has fewer may say more.
    pub fn covers(&self, new: &Said) -> bool {
        self.holds(new) && (new.has_figures() || new.holds(self))
    }

    /// Whether it says all that another says: its amounts of the same things, its dates, names and other words, each in the
    /// order in which they stand here.
    fn holds(&self, new: &Said) -> bool {
        let is_name = |word: &&Word| word.is_capital && (!word.is_first || self.has_name(&word.stem));
        let (names, others): (Vec<&Word>, Vec<&Word>) = new.words.iter().partition(is_name);
        new.negations == self.negations
            && stand_in_order(&new.times, &self.times, |new, known| new == known)
            && stand_in_order(&new.amounts, &self.amounts, |new, known| self.is_same_amount(known, new))
            && !new.words.is_empty()
            && stand_in_order(&names, &self.words, |new, known| is_alike(&new.stem, &known.stem))
            && stand_in_order(&others, &self.words, |new, known| is_alike(&new.stem, &known.stem))
    }

    /// Whether a word is a name here, which can be told only where it does not come first.
    fn has_name(&self, stem: &str) -> bool {
        self.words.iter().any(|word| word.is_capital && !word.is_first && word.stem == stem)
    }

    /// Whether a new amount is a known one. What it counts may be said elsewhere where there is another word for it
    /// ("3 inhabitants", "the population is 3"); a unit may not.
    fn is_same_amount(&self, known: &Counted, new: &Counted) -> bool {
        known.amount == new.amount
            && match (&known.of, &new.of) {
                (Some(known), Some(new)) => is_alike(known, new),
                (None, None) => true,
                (Some(other), None) | (None, Some(other)) => {
                    ALIKE.iter().any(|g| g.contains(&other.as_str()))
                }
            }
    }
}

/// Whether a word says nothing. `A` inside a text is a name.
fn is_filler(word: &str, is_first: bool) -> bool {
    FILLERS.contains(&fold(word).as_str()) && (word != "A" || is_first)
}

fn is_alike(a: &str, b: &str) -> bool {
    a == b || ALIKE.iter().any(|group| group.contains(&a) && group.contains(&b))
}

/// Whether all of some things stand among others, in the same order.
fn stand_in_order<A, B>(wanted: &[A], among: &[B], is_same: impl Fn(&A, &B) -> bool) -> bool {
    let mut rest = among.iter();
    wanted.iter().all(|one| rest.any(|other| is_same(one, other)))
}

/// Known statements by their figures.
#[derive(Debug, Default)]
pub(crate) struct Index {
    all: Vec<Said>,
    by_figure: BTreeMap<String, Vec<usize>>,
}

impl Index {
    /// Adds a known statement.
    pub fn add(&mut self, said: Said) {
        for figure in said.figures() {
            self.by_figure.entry(figure.clone()).or_default().push(self.all.len());
        }
        self.all.push(said);
    }

    /// Whether one known statement says all that this one says.
    pub fn holds(&self, new: &Said) -> bool {
        let places = new.figures().map(|figure| self.by_figure.get(figure).map_or(&[][..], Vec::as_slice));
        let rarest = places.min_by_key(|places| places.len()).unwrap_or(&[]);
        rarest.iter().filter_map(|at| self.all.get(*at)).any(|known| known.holds(new))
    }
}
