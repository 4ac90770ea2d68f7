//! What a statement says, and of what.

use super::clause::{self, Clause};
use super::frame::Frame;
use crate::text::words::{fold, words};

/// What a statement says, and of what.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    /// Title and headings, in lower case: what a record is about.
    about: String,
    /// Its own labels; none for prose.
    labels: Vec<Frame>,
    said: Frame,
    clause: Clause,
    name: Name,
    /// Whether it says itself that it tells something new.
    is_news: bool,
}

/// How plainly a sentence names what it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Name {
    None,
    /// One capitalised word inside the sentence: `Uruguay`, but also `Monday`.
    Word,
    /// One with a figure in it, or two in a row: `A48`, `Vessa Island`.
    Full,
}

impl Claim {
    /// Of a statement with its own labels, and the title and headings above it.
    pub fn of(title: &str, headings: &str, labels: &[&str], value: &str) -> Claim {
        let is_label = |label: &&&str| !label.trim().is_empty() && !label.trim_end().ends_with('?');
        let mut labels: Vec<&str> = labels.iter().filter(is_label).copied().collect();
        let says_now = |text: &str| words(text).any(|(_, word)| fold(word) == "now");
        // An announcement stands before the colon, as a label or inside the sentence.
        let inside = value.split_once(": ").filter(|(said, rest)| clause::announces(said) && says_now(rest));
        let value = inside.map_or(value, |(_, rest)| rest);
        if says_now(value) && labels.last().is_some_and(|label| clause::announces(label)) {
            labels.pop();
        }
        let (head, clause) = clause::split(value);
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        Claim {
            about: fold(&one_line(&format!("{title}\n{headings}"))),
            labels: labels.into_iter().map(Frame::of).collect(),
            said: Frame::of(head),
            is_news: says_now(value) || matches!(clause, Clause::Before(_)),
            name: name_inside(head),
            clause,
        }
    }

    /// The figure that it gives and the one that a newer claim gives in its place: both say the same of the same thing, word
    /// for word, and differ in that figure alone.
    pub fn superseded_by<'c>(&'c self, newer: &'c Claim) -> Option<(&'c str, &'c str)> {
        let (mine, theirs) = self.said.other_figure(&newer.said)?;
        let who_differs = match (&self.clause, &newer.clause) {
            (Clause::Says(mine), Clause::Says(theirs)) => mine != theirs,
            _ => false,
        };
        let told = match &newer.clause {
            Clause::Before(figure) => figure == mine,
            _ => true,
        };
        (self.is_of_one_thing(newer) && !who_differs && told).then_some((mine, theirs))
    }

    /// Whether both are about the same thing. Below one title and heading, a record is, and a sentence with a name. Elsewhere
    /// only a sentence is that says that it tells something new, and names in full what it is about: what stands above
    /// it may be a condition ("Winter timetable").
    fn is_of_one_thing(&self, newer: &Claim) -> bool {
        if self.labels != newer.labels || !self.said.stands_alone() {
            return false;
        }
        match (self.about == newer.about, self.labels.is_empty()) {
            (true, false) => true,
            (true, true) => self.name > Name::None,
            (false, true) => self.name == Name::Full && newer.is_news,
            (false, false) => false,
        }
    }

    /// Whether two statements of one document say other figures in the same words: neither can be told from the other.
    pub fn is_double(&self, other: &Claim) -> bool {
        self.labels == other.labels
            && self.said.is_parallel(&other.said)
            && self.said.figures().ne(other.said.figures())
    }
}

/// How plainly a sentence names what it is about. Its first word is written like a name anyway.
fn name_inside(sentence: &str) -> Name {
    let is_name = |word: &str| word.starts_with(char::is_uppercase);
    let mut best = Name::None;
    let mut run = 0;
    let mut end = 0;
    for (i, (at, word)) in words(sentence).enumerate() {
        let goes_on = sentence.get(end..at) == Some(" ");
        end = at + word.len();
        if !is_name(word) || is_of_calendar(word) {
            run = 0;
            continue;
        }
        run = if goes_on { run + 1 } else { 1 };
        let is_full = run > 1 && i > 1 || word.chars().any(|c| c.is_ascii_digit());
        let found = match (is_full, i) {
            (true, _) => Name::Full,
            (false, 0) => Name::None,
            (false, _) => Name::Word,
        };
        best = best.max(found);
    }
    best
}

/// Whether a word names a day or a month.
fn is_of_calendar(word: &str) -> bool {
    let folded = fold(word);
    folded.ends_with("day") || folded.ends_with("days") || crate::text::figures::month(&folded).is_some()
}

#[cfg(test)]
mod tests;
