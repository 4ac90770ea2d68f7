//! Character references: `&eacute;`, `&#233;`.

use html5gum::{Token, Tokenizer};

use crate::mapped::Mapped;

/// The text of raw HTML text (no tags) that begins at byte `start` of its origin.
pub fn decode(raw: &str, start: usize) -> Mapped {
    let mut text = Mapped::default();
    let mut at = 0;
    for chunk in raw.split_inclusive_before('&') {
        if chunk.starts_with('&') {
            push_reference(&mut text, chunk, start + at);
        } else {
            text.push_even(chunk, start + at);
        }
        at += chunk.len();
    }
    text
}

/// Appends a chunk that begins with `&`: what stands for the reference, and the rest as it is.
fn push_reference(text: &mut Mapped, chunk: &str, start: usize) {
    // A reference is never longer than this, holds no `<`, and what follows does not change it.
    let head_end =
        chunk.char_indices().find(|(at, c)| *at > 40 || *c == '<').map_or(chunk.len(), |(at, _)| at);
    let (head, tail) = chunk.split_at(head_end);
    let decoded = text_of(head);
    let same = common_suffix(head, &decoded);
    let (reference, kept) = head.split_at(head.len() - same);
    let replaced = decoded.get(..decoded.len() - same).unwrap_or_default();
    text.push_run(replaced, start, start + reference.len());
    text.push_even(kept, start + reference.len());
    text.push_even(tail, start + head.len());
}

fn text_of(html: &str) -> String {
    let mut text = String::new();
    for Ok(token) in Tokenizer::new(html) {
        if let Token::String(string) = token {
            text.push_str(&String::from_utf8_lossy(&string));
        }
    }
    text
}

/// Length in bytes of the longest common end of two texts.
fn common_suffix(a: &str, b: &str) -> usize {
    let pairs = a.chars().rev().zip(b.chars().rev());
    pairs.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum()
}

trait SplitBefore {
    /// The parts of a text, each beginning with the letter, except perhaps the first.
    fn split_inclusive_before(&self, letter: char) -> impl Iterator<Item = &str>;
}

impl SplitBefore for str {
    fn split_inclusive_before(&self, letter: char) -> impl Iterator<Item = &str> {
        let mut rest = self;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let next =
                rest.char_indices().skip(1).find(|(_, c)| *c == letter).map_or(rest.len(), |(at, _)| at);
            let (part, after) = rest.split_at(next);
            rest = after;
            Some(part)
        })
    }
}
