//! Notes on sentences that a source of a later date says with other figures.

use super::evidence::Evidence;
use crate::staleness::{Dated, Timeline, told_apart};

/// The longest quote in a note, in characters.
const LONGEST: usize = 160;

/// What a later source says.
pub(super) struct Note<'t, 's> {
    /// The date of the source that is cited.
    date: &'t str,
    later: &'t Dated<'s>,
}

/// The note on a sentence; none where nothing supersedes it, or where it cites the later source too.
pub(super) fn note<'t, 's>(
    said: &str,
    found: &[Evidence],
    timeline: &'t Timeline<'s>,
) -> Option<Note<'t, 's>> {
    let notes = found.iter().filter_map(|evidence| {
        let (date, later) = timeline.later_than(evidence.source, &evidence.range, said)?;
        Some(Note { date, later })
    });
    let is_cited = |note: &Note| found.iter().any(|evidence| evidence.source.id == note.later.source.id);
    notes.into_iter().find(|note| !is_cited(note))
}

impl<'s> Note<'_, 's> {
    /// Where it stands.
    pub fn evidence(&self) -> Evidence<'s> {
        Evidence { source: self.later.source, range: self.later.statement.range.clone() }
    }

    /// In words, with the citation of the later source.
    pub fn text(&self, marks: &str) -> String {
        let line = self.later.statement.line(&self.later.source.text);
        let quote = match line.char_indices().nth(LONGEST) {
            Some((cut, _)) => format!("{} …", line.get(..cut).unwrap_or("").trim_end()),
            None => line,
        };
        let quote = quote.replace(['"', '[', ']', '|'], "'");
        let (earlier, later) = told_apart(self.date, self.later.date);
        format!("(of {earlier}; a source of {later} says: \"{quote}\" {marks})")
    }
}
