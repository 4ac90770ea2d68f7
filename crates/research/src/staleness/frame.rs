//! Frames: statements with a slot for each figure. Two statements say the same of other figures only if their frames are the
//! same, word for word.

use crate::facts::{figures_of, plain};
use crate::text::attached::{signs_of, with_signs};
use crate::text::figures::{Amount, Figure};
use crate::text::words::{fold, words};

/// Words that may stand in one of two frames alone. Whatever else one side has and the other has not may be a condition.
const FILLERS: &[&str] = &[
    "a",
    "about",
    "already",
    "also",
    "an",
    "approximately",
    "around",
    "circa",
    "currently",
    "nearly",
    "now",
    "roughly",
    "still",
    "the",
];

/// Words by which a statement speaks of something that stands elsewhere, or of the time at which it was written.
const POINTERS: &[&str] = &[
    "ago",
    "former",
    "he",
    "here",
    "i",
    "it",
    "last",
    "latter",
    "next",
    "other",
    "previous",
    "same",
    "she",
    "that",
    "there",
    "these",
    "they",
    "this",
    "those",
    "today",
    "tomorrow",
    "we",
    "yesterday",
];

/// Words before a figure that tells which one is meant, or under what condition, and not how much.
const TELLS_WHICH: &[&str] = &[
    "above",
    "act",
    "after",
    "age",
    "aged",
    "article",
    "at",
    "before",
    "below",
    "between",
    "chapter",
    "class",
    "day",
    "figure",
    "floor",
    "grade",
    "group",
    "half",
    "lane",
    "level",
    "line",
    "lot",
    "model",
    "no",
    "number",
    "over",
    "page",
    "paragraph",
    "part",
    "per",
    "phase",
    "platform",
    "point",
    "quarter",
    "room",
    "route",
    "rule",
    "season",
    "section",
    "since",
    "stage",
    "step",
    "table",
    "type",
    "under",
    "unit",
    "until",
    "version",
    "volume",
    "week",
    "within",
    "year",
    "zone",
];

/// One word or one figure of a statement.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    /// A word in lower case.
    Word(String),
    /// A figure.
    Slot(Slot),
}

#[derive(Clone, Debug, PartialEq)]
struct Slot {
    figure: Figure,
    canonical: String,
    /// What stands at it: signs, and units that its amount does not tell.
    signs: String,
    /// Whether it tells which thing is meant (`Room 12`, `1st`), or under what condition (`at 100 m`).
    tells_which: bool,
}

/// The words and figures of a statement, in order, without the fillers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Frame {
    parts: Vec<Part>,
    /// Whether it can not be understood alone.
    points: bool,
}

impl Frame {
    pub fn of(text: &str) -> Frame {
        let text = plain(text);
        let figures = figures_of(&text);
        let inside = |at: usize| figures.iter().any(|f| f.at <= at && at < f.end());
        let mut placed: Vec<(usize, Part)> =
            figures.iter().map(|figure| (figure.at, Part::Slot(slot(&text, figure)))).collect();
        let mut points = false;
        for (at, word) in words(&text).filter(|(at, _)| !inside(*at)) {
            let folded = fold(with_signs(&text, at, word));
            points |= POINTERS.contains(&folded.as_str());
            // A letter in upper case is a name: "Hepatitis A".
            let is_filler = FILLERS.contains(&folded.as_str()) && (at == 0 || word != "A");
            if !is_filler {
                placed.push((at, Part::Word(folded)));
            }
        }
        placed.sort_by_key(|(at, _)| *at);
        Frame { parts: placed.into_iter().map(|(_, part)| part).collect(), points }
    }

    /// Whether it says something of which other figures can be said: it can be understood alone.
    pub fn stands_alone(&self) -> bool {
        !self.points
    }

    /// The words, in order.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Word(word) => Some(word.as_str()),
            Part::Slot(_) => None,
        })
    }

    /// The figures in one form each, in order.
    pub fn figures(&self) -> impl Iterator<Item = &str> {
        self.slots().map(|slot| slot.canonical.as_str())
    }

    fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.parts.iter().filter_map(|part| match part {
            Part::Slot(slot) => Some(slot),
            Part::Word(_) => None,
        })
    }

    /// Whether both have the same words in the same order, and figures at the same places.
    pub fn is_parallel(&self, other: &Frame) -> bool {
        let fits = |(mine, theirs): (&Part, &Part)| match (mine, theirs) {
            (Part::Word(mine), Part::Word(theirs)) => mine == theirs,
            (Part::Slot(mine), Part::Slot(theirs)) => mine.signs == theirs.signs,
            _ => false,
        };
        self.parts.len() == other.parts.len() && self.parts.iter().zip(&other.parts).all(fits)
    }

    /// The one figure that differs between two parallel frames, mine and theirs. It is an amount of the same kind in both,
    /// and neither is the other one rounded; all other figures and dates are equal.
    pub fn other_figure<'f>(&'f self, other: &'f Frame) -> Option<(&'f str, &'f str)> {
        if !self.is_parallel(other) {
            return None;
        }
        let mut differing = self.slots().zip(other.slots()).filter(|(a, b)| a.canonical != b.canonical);
        let (mine, theirs) = differing.next()?;
        let is_only = differing.next().is_none();
        (is_only && mine.is_other_amount(theirs)).then_some((&mine.canonical, &theirs.canonical))
    }
}

impl Slot {
    fn is_other_amount(&self, other: &Slot) -> bool {
        let is_one_kind = match (&self.figure.amount, &other.figure.amount) {
            (Amount::Number(_, mine), Amount::Number(_, theirs)) => mine == theirs,
            _ => false,
        };
        let is_time = self.figure.year().is_some() || other.figure.year().is_some();
        let is_rounded =
            self.figure.is_rounded_from(&other.figure) || other.figure.is_rounded_from(&self.figure);
        is_one_kind && !is_time && !is_rounded && !self.tells_which && !other.tells_which
    }
}

fn slot(text: &str, figure: &Figure) -> Slot {
    let before = text.get(..figure.at).unwrap_or("");
    let last = words(before).last().filter(|(at, word)| before.get(at + word.len()..) == Some(" "));
    let is_tied = |c: char| c.is_alphabetic();
    let tells_which = text.get(figure.end()..).is_some_and(|behind| behind.starts_with(is_tied))
        || last.is_some_and(|(_, word)| {
            word.starts_with(char::is_uppercase) || TELLS_WHICH.contains(&fold(word).as_str())
        });
    Slot { figure: figure.clone(), canonical: figure.canonical(), signs: signs_of(text, figure), tells_which }
}
