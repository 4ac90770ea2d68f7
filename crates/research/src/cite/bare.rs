//! Sentences without a citation that should have one.

use std::ops::Range;

use super::Unsupported;
use super::exempt;
use super::write::bare_number;
use crate::handoff::NOT_FOUND;
use crate::text::blocks::{Block, BlockKind, blocks};
use crate::text::figures;

/// Why a sentence with figures and without citation is not supported.
pub(super) const NO_CITATION: &str = "it cites no source";

/// The blocks of a draft that say something, where what was not found is left out.
pub(super) struct Bare<'d> {
    draft: &'d str,
    said: Vec<Block>,
    /// Where those stand that are advice, or notes on the report, by the heading above them.
    apart: Vec<Range<usize>>,
}

impl<'d> Bare<'d> {
    pub fn of(draft: &'d str) -> Bare<'d> {
        let mut said = Vec::new();
        let mut apart = Vec::new();
        let (mut is_left_out, mut is_apart) = (false, false);
        for block in blocks(draft) {
            let text = draft[block.range.clone()].trim();
            match block.kind {
                BlockKind::Heading => {
                    is_left_out = tells_what_is_missing(text);
                    is_apart = exempt::is_apart(text);
                }
                BlockKind::Line | BlockKind::Item if !is_left_out && !tells_what_is_missing(text) => {
                    if is_apart {
                        apart.push(block.range.clone());
                    }
                    said.push(block)
                }
                _ => {}
            }
        }
        Bare { draft, said, apart }
    }

    /// The block that a sentence belongs to, if it says something there.
    pub fn block_of(&self, sentence: &Range<usize>) -> Option<&Block> {
        self.said.iter().find(|b| b.range.start <= sentence.start && sentence.start < b.range.end)
    }

    /// Whether a sentence claims nothing about the world: it speaks of the sources or of what is not known, or says what to do.
    pub fn is_exempt(&self, sentence: &Range<usize>) -> bool {
        let text = self.draft.get(sentence.clone()).unwrap_or("");
        let stands_apart = self.apart.iter().any(|b| b.start <= sentence.start && sentence.start < b.end);
        stands_apart || exempt::is_about_sources(text) || exempt::is_advice(text)
    }

    /// Whether two sentences stand in one paragraph, or in items of one list, with nothing between them.
    pub fn follows(&self, first: &Range<usize>, next: &Range<usize>) -> bool {
        let place = |sentence: &Range<usize>| {
            self.said.iter().position(|b| b.range.start <= sentence.start && sentence.start < b.range.end)
        };
        let between = self.draft.get(first.end..next.start).unwrap_or("-");
        let (Some(mine), Some(other)) = (place(first), place(next)) else { return false };
        let is_item = |at: usize| self.said.get(at).is_some_and(|block| block.kind == BlockKind::Item);
        let is_list = other == mine + 1 && is_item(mine) && is_item(other);
        let is_mark =
            |c: char| c.is_whitespace() || c.is_ascii_digit() || matches!(c, '-' | '*' | '+' | '.' | ')');
        mine == other && between.trim().is_empty() || is_list && between.chars().all(is_mark)
    }

    /// What is wrong with a sentence without citations, if anything: it has figures, or a number in brackets that
    /// passes for a citation.
    pub fn complaint(&self, sentence: &Range<usize>) -> Option<Unsupported> {
        let text = self.draft.get(sentence.clone())?.trim();
        if self.block_of(sentence).is_none() || text.ends_with([':', '?']) {
            return None;
        }
        let reason = match bare_number(text) {
            Some(number) => format!("it cites [{number}], which is the id of no source"),
            None if Self::needs_source(text) => NO_CITATION.to_owned(),
            None => return None,
        };
        Some(Unsupported { sentence: text.split_whitespace().collect::<Vec<_>>().join(" "), reason })
    }

    /// Whether a sentence has figures. Of one on what the sources do not say, years are only what was looked for.
    fn needs_source(text: &str) -> bool {
        let found = figures::find(text);
        let is_time = |figure: &figures::Figure| figure.year().is_some();
        let only_looked_for = found.iter().all(is_time) && exempt::is_about_sources(text);
        !(found.is_empty() || only_looked_for)
    }
}

/// Whether a text is our own way to say that something was not found.
fn tells_what_is_missing(text: &str) -> bool {
    let bare = text.trim_start_matches(['#', '*', '-', ' ']);
    bare.starts_with(NOT_FOUND.trim_end_matches([':', ' '])) || bare.starts_with("Nothing was found")
}
