//! Near-duplicates of pages, by MinHash (S1).
//!
//! A page is taken as the set of its shingles: every run of [`SHINGLE`] words, with letters and digits in plain form,
//! links, dates of the page and what can not be read left out. The resemblance of two pages is their Jaccard index,
//! shingles in common ÷ all shingles. Broder, "On the resemblance and containment of documents", SEQUENCES 1997: under a
//! random order of all shingles, the first one of two sets is the same with exactly that probability.
//!
//! A [`Sketch`] keeps the first shingle under [`HASHES`] orders, the low [`BITS`] bits of each (Li and König, "b-bit minwise
//! hashing", WWW 2010). Two sketches agree in a place with the probability J + (1 − J) · 2^−8, so from the share p of places
//! in which they agree
//!
//! ```text
//! J ≈ (p − 2^−8) ÷ (1 − 2^−8)
//! ```
//!
//! p is a mean of [`HASHES`] independent trials, so Hoeffding's inequality (JASA 58, 1963, theorem 2) bounds the error:
//!
//! ```text
//! P(|estimate − J| ≥ e) ≤ 2 · exp(−2 · HASHES · (e · (1 − 2^−8))²)
//! ```
//!
//! which is 0.7 % for e = 0.15: see [`chance_of_error`]. The orders are fixed, so a sketch is always the same. They are
//! made by a mixing function and not drawn from a family that is proven to be min-wise independent; a test holds the
//! bound against pairs of known resemblance.

use std::collections::BTreeSet;

use crate::facts::plain;
use crate::readable::{is_furniture, unreadable};
use crate::text::blocks::lines;
use crate::text::words::{fold, words};

/// Words of a shingle.
pub const SHINGLE: usize = 4;
/// Orders under which a sketch keeps the first shingle.
pub const HASHES: usize = 128;
/// Bits that are kept of each.
pub const BITS: u32 = 8;
/// Resemblance from which two pages are near-duplicates. A page of 200 words that differs from another in one
/// sentence of 15 words has 0.83; pages on one subject by different authors are mostly below 0.1.
pub const NEAR: f64 = 0.8;

/// The chance that an estimate is off by `error` or more, by Hoeffding's bound; at most 1.
pub fn chance_of_error(error: f64) -> f64 {
    let width = error.max(0.0) * (1.0 - chance_hit());
    (2.0 * (-2.0 * HASHES as f64 * width * width).exp()).min(1.0)
}

/// The chance that two different shingles have the same bits.
fn chance_hit() -> f64 {
    0.5_f64.powi(BITS as i32)
}

/// What is kept of a page to compare it with others: 128 bytes, 256 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sketch(Vec<u8>);

impl Sketch {
    /// Of a page, given by its passages in order; none for one that says nothing.
    pub fn of<'t>(passages: impl IntoIterator<Item = &'t str>) -> Option<Sketch> {
        Sketch::of_shingles(&shingles(passages))
    }

    fn of_shingles(shingles: &BTreeSet<u64>) -> Option<Sketch> {
        let first = |order: usize| shingles.iter().map(|shingle| mixed(shingle ^ seed(order))).min();
        let kept: Option<Vec<u8>> =
            (0..HASHES).map(|order| first(order).map(|hash| (hash & 0xff) as u8)).collect();
        kept.map(Sketch)
    }

    /// The estimated resemblance, 0 to 1.
    pub fn resemblance(&self, other: &Sketch) -> f64 {
        let agree = self.0.iter().zip(&other.0).filter(|(a, b)| a == b).count();
        let share = agree as f64 / HASHES as f64;
        ((share - chance_hit()) / (1.0 - chance_hit())).clamp(0.0, 1.0)
    }

    /// Whether two pages are near-duplicates.
    pub fn is_near(&self, other: &Sketch) -> bool {
        self.resemblance(other) >= NEAR
    }

    /// In hexadecimal digits.
    pub fn to_hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// From hexadecimal digits; none for anything else.
    pub fn from_hex(text: &str) -> Option<Sketch> {
        let bytes = text.as_bytes().chunks(2).map(|pair| {
            let pair = std::str::from_utf8(pair).ok().filter(|p| p.bytes().all(|b| b.is_ascii_hexdigit()))?;
            u8::from_str_radix(pair, 16).ok()
        });
        let kept: Option<Vec<u8>> = if text.len() == 2 * HASHES { bytes.collect() } else { None };
        kept.map(Sketch)
    }
}

/// The exact resemblance of two pages: 1 for two that say nothing.
pub fn resemblance(a: &str, b: &str) -> f64 {
    let (a, b) = (shingles([a]), shingles([b]));
    let common = a.intersection(&b).count();
    let all = a.len() + b.len() - common;
    if all == 0 { 1.0 } else { common as f64 / all as f64 }
}

/// The shingles of a page as hashes. A page of fewer words has one.
fn shingles<'t>(passages: impl IntoIterator<Item = &'t str>) -> BTreeSet<u64> {
    let mut said: Vec<String> = Vec::new();
    for passage in passages.into_iter().filter(|passage| unreadable(passage).is_none()) {
        let kept =
            lines(passage).filter_map(|range| passage.get(range)).filter(|line| !is_furniture(line, line));
        for line in kept {
            let line = fold(&plain(line));
            said.extend(words(&line).map(|(_, word)| word.to_owned()));
        }
    }
    let width = SHINGLE.min(said.len()).max(1);
    said.windows(width).map(hash).collect()
}

/// FNV-1a, 64 bits (Fowler, Noll, Vo), over the words with a byte between them that no word holds.
fn hash(words: &[String]) -> u64 {
    let bytes = words.iter().flat_map(|word| word.bytes().chain([0xff]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// A number of each order: multiples of 2^64 ÷ the golden ratio, mixed.
fn seed(order: usize) -> u64 {
    mixed((order as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): a permutation of all 64-bit numbers.
fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests;
