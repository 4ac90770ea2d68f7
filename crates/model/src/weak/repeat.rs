//! Endless repetition: a reply that did not find its end, and ends in the same words over and over.
//!
//! A text repeats itself where its end is one piece of at most [`LONGEST_PIECE`] bytes, at least [`LEAST_TIMES`] times
//! in a row, to the letter, over at least so many bytes as a [`Bound`] says. Why so much: rows of a table, of a list or
//! of a program differ in some letter, and texts that rightly repeat a line seldom do so over a page. Pieces with fewer
//! than three letters (`-----`, `| --- |`, `0, 0,`, ornaments) may be drawn over long stretches, so they have a bound of
//! their own. A text whose rounds differ (counted ones: `1. the same`, `2. the same`) is not found.
//!
//! How a reply ended counts more than what it says: one that the model ended by itself is not endless. So the bound is
//! [`Bound::CUT_OFF`] only for a reply that ran into its longest length, and the much higher [`Bound::GOING_ON`] for one
//! that is still being written.
//!
//! The shortest piece is found with the prefix function of Knuth, Morris and Pratt ("Fast pattern matching in strings",
//! SIAM J. Comput. 6, 1977) over the reversed end of bounded length: `n - pi(n)` is the shortest period of the first n.
//! A text that is still written is looked at whenever [`STRIDE`] more bytes are there, so the time is linear in it.

use std::collections::VecDeque;

/// The longest piece that is found, in bytes.
const LONGEST_PIECE: usize = 512;
/// How many times in a row it must stand.
const LEAST_TIMES: usize = 8;
/// How often the end of a text that is still written is looked at, in bytes.
const STRIDE: usize = 512;
/// How much of the end is looked at, in bytes.
const WINDOW: usize = Bound::GOING_ON.unlettered + LONGEST_PIECE;

/// Over how many bytes a piece must repeat itself.
#[derive(Clone, Copy, Debug)]
struct Bound {
    /// One with three letters or more.
    lettered: usize,
    /// One with fewer.
    unlettered: usize,
}

impl Bound {
    /// In a reply that was cut off at its longest length.
    const CUT_OFF: Bound = Bound { lettered: 1536, unlettered: 6144 };
    /// In a reply that is still written: it may be about to end.
    const GOING_ON: Bound = Bound { lettered: 12 << 10, unlettered: 24 << 10 };

    /// What stands at the end of a text over and over; its bytes are given from the last to the first.
    fn run(self, reversed: impl Iterator<Item = u8>) -> Option<Run> {
        let run = longest_run(reversed)?;
        let piece = run.piece.len();
        if run.bytes / piece < LEAST_TIMES || run.bytes < self.lettered {
            return None;
        }
        let unit: Vec<u8> = run.piece.iter().rev().copied().collect();
        // Twice, so that a character that is cut at the piece's ends is whole in the middle.
        let letters = String::from_utf8_lossy(&unit.repeat(2)).chars().filter(|c| c.is_alphabetic()).count();
        (letters >= 6 || run.bytes >= self.unlettered).then_some(run)
    }
}

/// A piece that stands at the end of a text over and over.
struct Run {
    /// Over how many bytes, as far as it was looked at.
    bytes: usize,
    /// The piece, from its last byte to its first.
    piece: Vec<u8>,
}

/// Watches a text while it grows.
#[derive(Default)]
pub(crate) struct Watch {
    tail: VecDeque<u8>,
    bytes: usize,
    /// The length of the piece that is repeated, up to the last byte.
    piece: Option<usize>,
}

impl Watch {
    /// Takes a piece of the text in. True while what is there ends in the same over and over.
    pub(crate) fn push(&mut self, piece: &str) -> bool {
        for byte in piece.bytes() {
            // What goes on with something else was not endless.
            self.piece = self.piece.filter(|piece| {
                let before = self.tail.len().checked_sub(*piece);
                before.and_then(|at| self.tail.get(at)) == Some(&byte)
            });
            if self.tail.len() == WINDOW {
                self.tail.pop_front();
            }
            self.tail.push_back(byte);
            self.bytes += 1;
            let is_due = self.bytes.is_multiple_of(STRIDE) && self.bytes >= Bound::GOING_ON.lettered;
            if is_due && self.piece.is_none() {
                let run = Bound::GOING_ON.run(self.tail.iter().rev().copied());
                self.piece = run.map(|run| run.piece.len());
            }
        }
        self.piece.is_some()
    }

    /// Whether the text, which was cut off here, ends in the same over and over.
    pub(crate) fn repeats_where_cut_off(&self) -> bool {
        Bound::CUT_OFF.run(self.tail.iter().rev().copied()).is_some()
    }
}

/// The longest beginning that is one piece over and over, the last time perhaps in part.
fn longest_run(bytes: impl Iterator<Item = u8>) -> Option<Run> {
    let mut text: Vec<u8> = Vec::new();
    let mut borders: Vec<usize> = Vec::new();
    let mut border = 0;
    let mut best = None;
    for byte in bytes.take(WINDOW) {
        if !text.is_empty() {
            while border > 0 && text.get(border) != Some(&byte) {
                border = borders.get(border - 1).copied().unwrap_or(0);
            }
            if text.get(border) == Some(&byte) {
                border += 1;
            }
        }
        text.push(byte);
        borders.push(border);
        let period = text.len() - border;
        // Periods never become shorter with the text.
        if period > LONGEST_PIECE {
            break;
        }
        best = Some((text.len(), period));
    }
    let (bytes, period) = best?;
    text.truncate(period);
    Some(Run { bytes, piece: text })
}

/// A text that did not find its end, cut so that what it repeats endlessly stands in it once. None where it does not end
/// in the same over and over.
pub(crate) fn cut(text: &str) -> Option<Cut<'_>> {
    let run = Bound::CUT_OFF.run(text.bytes().rev())?;
    let (bytes, piece) = (text.as_bytes(), run.piece.len());
    let mut from = text.len().saturating_sub(run.bytes);
    while from > 0 && bytes.get(from - 1) == bytes.get(from - 1 + piece) {
        from -= 1;
    }
    let up = |mut at: usize| {
        while !text.is_char_boundary(at) {
            at += 1;
        }
        at
    };
    let (before, keep) = (up(from), up((from + piece).min(text.len())));
    Some(Cut { before: text.get(..before)?, keep: text.get(..keep)? })
}

/// A text that repeats itself, cut.
#[derive(Debug)]
pub(crate) struct Cut<'t> {
    /// What stands before the repetition.
    pub(crate) before: &'t str,
    /// That, and what is repeated, once.
    pub(crate) keep: &'t str,
}
