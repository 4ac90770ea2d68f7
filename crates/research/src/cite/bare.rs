//! Sentences without a citation that should have one.

use std::ops::Range;

use super::Unsupported;
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
}

impl<'d> Bare<'d> {
    pub fn of(draft: &'d str) -> Bare<'d> {
        let mut said = Vec::new();
        let mut is_left_out = false;
        for block in blocks(draft) {
            let text = draft[block.range.clone()].trim();
            match block.kind {
                BlockKind::Heading => is_left_out = tells_what_is_missing(text),
                BlockKind::Line | BlockKind::Item if !is_left_out && !tells_what_is_missing(text) => {
                    said.push(block)
                }
                _ => {}
            }
        }
        Bare { draft, said }
    }

    /// The block that a sentence belongs to, if it says something there.
    pub fn block_of(&self, sentence: &Range<usize>) -> Option<&Block> {
        self.said.iter().find(|b| b.range.start <= sentence.start && sentence.start < b.range.end)
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
            None if !figures::find(text).is_empty() => NO_CITATION.to_owned(),
            None => return None,
        };
        Some(Unsupported { sentence: text.split_whitespace().collect::<Vec<_>>().join(" "), reason })
    }
}

/// Whether a text is our own way to say that something was not found.
fn tells_what_is_missing(text: &str) -> bool {
    let bare = text.trim_start_matches(['#', '*', '-', ' ']);
    bare.starts_with(NOT_FOUND.trim_end_matches([':', ' '])) || bare.starts_with("Nothing was found")
}
