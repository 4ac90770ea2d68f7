//! Endless repetition: a reply that ends in the same words over and over.
//!
//! A text repeats itself where its end is one piece of at most [`LONGEST_PIECE`] bytes, at least [`LEAST_TIMES`] times
//! in a row, to the letter, over at least [`LEAST_BYTES`] bytes in all. Why so much: rows of a table, of a list or of a
//! program differ in some letter, and texts that rightly repeat a line do not do so over a page. Pieces with fewer than
//! three letters (`-----`, `| --- |`, `0, 0,`, ornaments) may be drawn over long stretches, so they have to go on for
//! [`LEAST_BYTES_UNLETTERED`] bytes. A text whose rounds differ (counted ones: `1. the same`, `2. the same`) is not found.
//!
//! The end is looked at whenever [`STRIDE`] more bytes are there, whatever pieces they come in, with the prefix function
//! of Knuth, Morris and Pratt ("Fast pattern matching in strings", SIAM J. Comput. 6, 1977) over the reversed end of
//! bounded length: `n - pi(n)` is the shortest period of the first n. So the time is linear in the text.

use std::collections::VecDeque;

/// The longest piece that is found, in bytes.
const LONGEST_PIECE: usize = 512;
/// How many times in a row it must stand.
const LEAST_TIMES: usize = 8;
/// Over how many bytes.
const LEAST_BYTES: usize = 1536;
/// Over how many bytes a piece with fewer than three letters.
const LEAST_BYTES_UNLETTERED: usize = 6144;
/// How often the end is looked at, in bytes.
const STRIDE: usize = 512;
/// How much of the end is looked at, in bytes.
const WINDOW: usize = 8192;

/// Watches a text while it grows.
#[derive(Default)]
pub(crate) struct Watch {
    tail: VecDeque<u8>,
    bytes: usize,
    found: Option<Found>,
}

/// A repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// How many bytes of the text were read when it was found.
    pub(crate) at: usize,
    /// How long the piece is, in bytes.
    pub(crate) piece: usize,
}

impl Watch {
    /// Takes a piece of the text in. True once the text repeats itself.
    pub(crate) fn push(&mut self, piece: &str) -> bool {
        for byte in piece.bytes() {
            if self.found.is_some() {
                return true;
            }
            if self.tail.len() == WINDOW {
                self.tail.pop_front();
            }
            self.tail.push_back(byte);
            self.bytes += 1;
            if self.bytes.is_multiple_of(STRIDE) && self.bytes >= LEAST_BYTES {
                self.look();
            }
        }
        self.found.is_some()
    }

    fn look(&mut self) {
        let reversed: Vec<u8> = self.tail.iter().rev().copied().collect();
        let Some((length, piece)) = longest_run(&reversed) else { return };
        let long_enough = length / piece >= LEAST_TIMES && length >= LEAST_BYTES;
        if !long_enough {
            return;
        }
        let unit: Vec<u8> = reversed.iter().take(piece).rev().copied().collect();
        // Twice, so that a character that is cut at the piece's ends is whole in the middle.
        let letters = String::from_utf8_lossy(&unit.repeat(2)).chars().filter(|c| c.is_alphabetic()).count();
        if letters >= 6 || length >= LEAST_BYTES_UNLETTERED {
            self.found = Some(Found { at: self.bytes, piece });
        }
    }
}

/// The longest beginning that is one piece over and over, the last time perhaps in part, and that piece's length.
fn longest_run(text: &[u8]) -> Option<(usize, usize)> {
    let mut borders = vec![0_usize; text.len()];
    let mut border = 0;
    let mut best = None;
    for (at, byte) in text.iter().enumerate() {
        if at > 0 {
            while border > 0 && text.get(border) != Some(byte) {
                border = borders.get(border - 1).copied().unwrap_or(0);
            }
            if text.get(border) == Some(byte) {
                border += 1;
            }
        }
        *borders.get_mut(at)? = border;
        let period = at + 1 - border;
        // Periods never become shorter with the text.
        if period > LONGEST_PIECE {
            break;
        }
        best = Some((at + 1, period));
    }
    best
}

/// Where a text is to be cut so that what it repeats endlessly stands in it once: the bytes to keep, of which the last
/// `piece` bytes are what was repeated. None where it does not repeat itself.
pub(crate) fn cut(text: &str) -> Option<Cut<'_>> {
    let mut watch = Watch::default();
    watch.push(text);
    let Found { at, piece } = watch.found?;
    let bytes = text.as_bytes();
    let mut from = at.saturating_sub(piece);
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
