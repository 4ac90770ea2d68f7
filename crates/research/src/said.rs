//! What statements say, compared by their figures, names and words.

use std::collections::{BTreeMap, BTreeSet};

use deepgraph_protocol::{Fact, Source};

use crate::facts::{figures_of, plain};
use crate::text::figures::{Amount, Figure};
use crate::text::words::{Stems, content_words, fold, stem, words};

/// Share of a statement's words that a known one must hold.
const HELD: f64 = 0.8;

/// Share of the words of the shorter of two statements that the other must hold, to say the same of other figures.
const RIVAL: f64 = 0.75;

/// Words that turn what a sentence says into its opposite.
const NEGATIONS: &[&str] = &["cannot", "neither", "never", "no", "none", "nor", "not", "without"];

/// Stems that mean the same in a statement with figures. Only what can hardly mean anything else: `exports` and `imports`
/// are both trade, and not the same.
const ALIKE: &[&[&str]] =
    &[&["inhabit", "popul", "resid"], &["begin", "start"], &["end", "finish"], &["area", "size"]];

/// What a statement says, reduced for comparison.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    /// In one form each, years and dates included.
    figures: BTreeSet<String>,
    /// Those of them that are years or dates.
    times: BTreeSet<String>,
    stems: Stems,
    /// Stems of words that are written like names.
    names: Stems,
    negations: Stems,
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
        let inside = |at: usize| figures.iter().any(|f| f.at <= at && at < f.end());
        for (_, word) in content_words(text).filter(|(at, _)| !inside(*at)) {
            let stem = stem(word);
            if word.starts_with(char::is_uppercase) {
                self.names.insert(stem.clone());
            }
            self.stems.insert(stem);
        }
        let is_time = |f: &&Figure| f.year().is_some() || matches!(f.amount, Amount::Date { .. });
        self.times.extend(figures.iter().filter(is_time).map(Figure::canonical));
        self.figures.extend(figures.iter().map(Figure::canonical));
        self.negations
            .extend(words(text).map(|(_, word)| fold(word)).filter(|w| NEGATIONS.contains(&w.as_str())));
    }

    /// Whether it has figures: only then a statement in other words can be told from another statement.
    pub fn has_figures(&self) -> bool {
        !self.figures.is_empty()
    }

    /// How many words it has beside its figures.
    pub fn words(&self) -> usize {
        self.stems.len()
    }

    /// Whether it has a word, or one that means the same.
    fn has(&self, word: &str) -> bool {
        let group = ALIKE.iter().find(|group| group.contains(&word));
        self.stems.contains(word)
            || group.is_some_and(|group| group.iter().any(|other| self.stems.contains(*other)))
    }

    /// Whether it has all of these words.
    pub fn has_all(&self, words: &Stems) -> bool {
        words.iter().all(|word| self.has(word))
    }

    /// Whether it has this share of another's words, and one at least.
    fn has_share(&self, other: &Said, share: f64) -> bool {
        let held = other.stems.iter().filter(|word| self.has(word)).count();
        held > 0 && held as f64 >= share * other.stems.len() as f64
    }

    /// Whether both have a figure in common.
    pub fn shares_figure(&self, other: &Said) -> bool {
        self.figures.intersection(&other.figures).next().is_some()
    }

    /// Whether it says all that another says.
    fn holds(&self, new: &Said) -> bool {
        new.figures.is_subset(&self.figures)
            && new.negations == self.negations
            && self.has_all(&new.names)
            && self.has_share(new, HELD)
    }

    /// Whether a longer statement says the same of other figures.
    pub fn is_rival(&self, longer: &Said) -> bool {
        self.negations == longer.negations && longer.has_share(self, RIVAL) && self.has_other_amounts(longer)
    }

    /// Whether each has an amount of one kind that the other has not, and they do not speak of different years. Where
    /// there are only years and dates, those are what is said.
    fn has_other_amounts(&self, other: &Said) -> bool {
        let amounts = |of: &Said| -> BTreeSet<String> { of.figures.difference(&of.times).cloned().collect() };
        let (mine, theirs) = (amounts(self), amounts(other));
        if mine.is_empty() && theirs.is_empty() {
            return differ(&self.times, &other.times);
        }
        let is_series = !self.times.is_empty() && !other.times.is_empty() && self.times != other.times;
        !is_series && differ(&mine, &theirs)
    }
}

/// Whether each of two sets has a figure of one kind that the other has not.
fn differ(mine: &BTreeSet<String>, theirs: &BTreeSet<String>) -> bool {
    let kinds: BTreeSet<Kind> = mine.difference(theirs).map(|figure| kind(figure)).collect();
    theirs.difference(mine).any(|figure| kinds.contains(&kind(figure)))
}

/// The kind of an amount: per cent, a currency, or none.
type Kind = Option<char>;

fn kind(figure: &str) -> Kind {
    let is_sign = |c: &char| !c.is_ascii_digit() && !matches!(c, '-' | '.');
    figure.chars().next().filter(is_sign).or_else(|| figure.chars().last().filter(is_sign))
}

/// Stems of the words inside a sentence that are written like names: not of the first, which is written so anyway.
pub(crate) fn names_inside(sentence: &str) -> Stems {
    let first = words(sentence).next().map(|(at, _)| at);
    content_words(sentence)
        .filter(|(at, word)| Some(*at) != first && word.starts_with(char::is_uppercase))
        .map(|(_, word)| stem(word))
        .collect()
}

/// Known statements by their figures.
#[derive(Debug, Default)]
pub(crate) struct Index {
    all: Vec<Said>,
    by_figure: BTreeMap<String, Vec<usize>>,
}

impl Index {
    pub fn add(&mut self, said: Said) {
        for figure in &said.figures {
            self.by_figure.entry(figure.clone()).or_default().push(self.all.len());
        }
        self.all.push(said);
    }

    /// Whether one known statement says all that this one says.
    pub fn holds(&self, new: &Said) -> bool {
        let rarest =
            new.figures.iter().map(|figure| self.by_figure.get(figure).map_or(&[][..], Vec::as_slice));
        let places = rarest.min_by_key(|places| places.len()).unwrap_or(&[]);
        places.iter().filter_map(|at| self.all.get(*at)).any(|known| known.holds(new))
    }
}
