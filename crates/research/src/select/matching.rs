//! How well a statement answers a facet.
//!
//! The score is a sum: the share of the facet's words that the statement holds, how nearly its label is the facet (in
//! prose: how many of the words the sentence itself holds), how plainly it is about the subject, and whether it has
//! the kind of answer and the year that are asked for. The weights below were set by trying them on collections of
//! records, pages and prose; they only rank statements against each other.

use super::about::Level;
use super::candidate::{Candidate, Pool};
use super::labels::{best_label, foreign, is_share_of_total};
use super::word::Word;
use crate::question::{Asks, Facet};
use crate::text::figures;
use crate::text::words::{content_stems, content_words, is_qualifier, stem, words};

/// Weight of the share of words.
const COVERAGE: f64 = 0.5;
/// Weight of the likeness of the label, or of the sentence's own words.
const FORM: f64 = 0.3;
/// For a label that is what is asked for: no chance, as a word in a sentence may be.
const LABEL_BONUS: f64 = 0.15;
/// For the kind of answer that is asked for; as much less for another.
const KIND: f64 = 0.12;
/// For a figure in a sentence, whatever is asked.
const FIGURE: f64 = 0.03;
/// What a note to a record has less than the record itself.
const NOTE: f64 = 0.12;
/// For a year that is asked for.
const YEAR: f64 = 0.2;

/// From here on a label is what is asked for.
pub(super) const LABELLED: f64 = 0.6;

/// The least likeness of a record's label to a facet of several words: "Physician density" is not what "population
/// density" asks for, though "population" may stand in its value.
const LEAST_LABEL: f64 = 0.35;

/// What a word of a record's value counts for beside its label: "0.2 % of GDP" is mostly no statement of GDP.
const IN_VALUE: f64 = 0.2;
/// What a word of a heading counts for a sentence below it.
const IN_HEADING: f64 = 0.5;

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

/// A facet, prepared for matching.
pub(super) struct Matcher<'a> {
    facet: &'a Facet,
    words: Vec<Word<'a>>,
    /// Weight of all words.
    all: f64,
    /// How many words say something.
    telling: usize,
}

impl<'a> Matcher<'a> {
    /// A matcher for the statements of a pool.
    pub fn new(pool: &'a Pool, facet: &'a Facet) -> Matcher<'a> {
        let words: Vec<Word> = facet.stems.iter().map(|stem| Word::new(pool, facet, stem)).collect();
        let all = words.iter().map(|w| w.weight).sum::<f64>().max(f64::EPSILON);
        let telling = facet.stems.iter().filter(|stem| !is_qualifier(stem)).count();
        Matcher { facet, words, all, telling }
    }

    /// The match of a statement, given how it is about the subject; none where too few of the facet's words are in
    /// it, or it is of another year.
    pub fn matches(&self, level: Option<Level>, candidate: &Candidate) -> Option<Match> {
        let says_any = self.words.is_empty() && candidate.is_prose;
        let coverage = if says_any { 1.0 } else { self.share(|word| word.in_statement(candidate)) };
        let has_head = self.words.iter().filter(|w| w.is_head).all(|w| w.in_statement(candidate) > 0.0);
        let year = year_bonus(self.facet, candidate)?;
        if !has_head || coverage < least_coverage(self.facet, level.is_some()) {
            return None;
        }
        let (label, at) = best_label(&self.words, candidate);
        if !candidate.is_prose && self.telling > 1 && label < LEAST_LABEL {
            return None;
        }
        if self.is_of_another_kind(candidate, at) {
            return None;
        }
        let said = self.share(|word| word.strength(&candidate.said));
        let has_label = candidate.has_label();
        let form = match (has_label, candidate.is_prose) {
            (true, _) if opens_with_head(self.facet, candidate) => 1.0,
            (true, true) => label.max(said),
            // The word in a value ("0.2 % of GDP") is mostly not what the value is of.
            (true, false) => label.max(said * IN_VALUE),
            (false, _) => said.max(label * IN_HEADING),
        };
        let form = match self.facet.asks {
            Asks::Outcome => form.max(self.share(|word| word.strength(&candidate.title))),
            _ => form,
        };
        if self.facet.asks == Asks::Name && level.is_none() && !self.names_someone(candidate) {
            return None;
        }
        let kind = kind_bonus(self.facet, candidate);
        let is_labelled =
            has_label && label.max(form * f64::from(!candidate.is_prose)) > LABELLED && kind >= 0.0;
        let is_note = candidate.path.last().is_some_and(|l| l.text == "note" && candidate.own_labels > 0);
        let aside = if is_note && !self.facet.stems.contains("note") { NOTE } else { 0.0 };
        let bonus = level.map_or(0.0, Level::bonus) + if is_labelled { LABEL_BONUS } else { 0.0 };
        Some(Match { score: COVERAGE * coverage + FORM * form + bonus + kind + year - aside, label, at })
    }

    /// Whether the statement has another word in the place of one of the facet's: "delivery time" is no "charging
    /// time". In prose one of two words is not enough.
    fn is_of_another_kind(&self, candidate: &Candidate, at: Option<usize>) -> bool {
        let lacks = self.words.iter().any(|w| w.tells && w.in_statement(candidate) == 0.0);
        let label = at.and_then(|at| candidate.path.get(at)).filter(|_| !candidate.is_prose);
        // "Exports to China" are not the exports.
        let goal = self.facet.text.split_once(" to ").map(|(_, goal)| content_stems(goal));
        let lacks_goal = |w: &Word| w.in_statement(candidate) == 0.0 && goal.iter().any(|g| w.is_in(g));
        match label {
            Some(label) if is_share_of_total(&self.words, label) => true,
            _ if self.words.iter().any(lacks_goal) => true,
            _ if !lacks || self.telling < 2 => false,
            Some(label) => foreign(&self.words, label) >= 0.5,
            None => candidate.is_prose && self.telling == 2,
        }
    }

    /// Whether a statement says who: it has a name beside what is asked, or is a list of names under such a title.
    fn names_someone(&self, candidate: &Candidate) -> bool {
        let is_near = |w: &Word| {
            let path = candidate.path.iter().any(|label| w.strength(&label.stems) > 0.0);
            path || w.strength(&candidate.said).max(w.strength(&candidate.before)) > 0.0
        };
        let is_titled = self.words.iter().all(|w| w.strength(&candidate.title) > 0.0);
        has_name(&candidate.value) && self.words.iter().filter(|w| w.is_head).all(is_near) && !is_titled
            || is_titled && is_list_of_names(&candidate.value)
    }

    /// The share of the facet's words that are somewhere, by weight.
    fn share(&self, strength: impl Fn(&Word) -> f64) -> f64 {
        self.words.iter().map(|word| word.weight * strength(word)).sum::<f64>() / self.all
    }
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

/// Whether a name is asked for and the value begins with what it is the name of: "President …".
fn opens_with_head(facet: &Facet, candidate: &Candidate) -> bool {
    let first = words(&candidate.value).next().filter(|(at, _)| *at == 0).map(|(_, word)| stem(word));
    facet.asks == Asks::Name && first.is_some() && first == facet.head && has_name(&candidate.value)
}

/// A little for a statement that has the kind of answer wanted, a little off for one that has not.
fn kind_bonus(facet: &Facet, candidate: &Candidate) -> f64 {
    let value = candidate.value.as_str();
    let says_why = ["because", "caused", "due to", "reason", "led to", "as a result"];
    let items = value.matches([',', ';']).count();
    let is_list = items >= 2 && value.chars().filter(|c| c.is_alphabetic()).count() > value.len() / 3;
    let fits = match facet.asks {
        Asks::Anything => {
            return if candidate.is_prose && !figures::find(value).is_empty() { FIGURE } else { 0.0 };
        }
        Asks::Name => has_name(value),
        Asks::Number => !figures::find(value).is_empty(),
        Asks::Date => figures::find(value).iter().any(|f| f.year().is_some()),
        Asks::Outcome => candidate.is_prose && !figures::find(value).is_empty(),
        Asks::Reason => says_why.iter().any(|cue| value.to_lowercase().contains(cue)),
        Asks::List => is_list || (candidate.is_prose && figures::find(value).is_empty()),
    };
    if fits { KIND } else { -KIND }
}

/// Whether a text has a word that is written as a name, its first word aside.
fn has_name(text: &str) -> bool {
    let is_name = |word: &str| word.starts_with(char::is_uppercase) && figures::month(word).is_none();
    content_words(text).any(|(at, word)| at > 0 && is_name(word))
}

/// Whether most words of a list are written as names.
fn is_list_of_names(text: &str) -> bool {
    let all = content_words(text).count();
    let names = content_words(text).filter(|(_, word)| word.starts_with(char::is_uppercase)).count();
    text.contains(", ") && names >= 3 && names * 3 >= all * 2
}

/// For a facet that names years: none for a statement of other years, or of no year that can be told.
fn year_bonus(facet: &Facet, candidate: &Candidate) -> Option<f64> {
    let fits = |years: &[u32]| years.iter().any(|year| facet.wants(*year));
    match (facet.years.is_empty(), candidate.years.is_empty()) {
        (true, _) => Some(0.0),
        (false, false) => fits(&candidate.years).then_some(YEAR),
        (false, true) => fits(&candidate.years_around).then_some(0.0),
    }
}
