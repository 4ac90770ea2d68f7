//! Characters that are in a text and not seen, taken out of passages, whose bytes are kept track of.
//!
//! Zero-width characters cut words in two for a program, tag characters (U+E0000 and up) and variation selectors in a
//! row write what nobody sees, and marks of direction make a text look like another one. Joiners stay where a
//! script or an emoji needs them.

use deepgraph_protocol::{Piece, Span};

use crate::passage::Passage;

/// A text without what is not seen.
pub fn cleaned(text: &str) -> String {
    kept(text).into_iter().filter_map(|range| text.get(range)).collect()
}

/// Takes out of a passage what is not seen. None where nothing is left.
pub fn clean(mut passage: Passage) -> Option<Passage> {
    passage.section = cleaned(&passage.section);
    passage.title = passage.title.map(|title| cleaned(&title));
    let kept = kept(&passage.text);
    let whole = 0..passage.text.len();
    if kept.as_slice() == [whole] {
        return Some(passage);
    }
    let mut text = String::with_capacity(passage.text.len());
    let mut pieces = Vec::new();
    for range in kept {
        let at = text.len();
        text.push_str(passage.text.get(range.clone())?);
        if passage.pieces.is_empty() {
            pieces.push(piece(at, range.len(), verbatim(&passage, range.start, range.end)));
        }
        for old in &passage.pieces {
            pieces.extend(part_of(old, range.start as u64, range.end as u64, at as u64));
        }
    }
    if text.trim().is_empty() {
        return None;
    }
    passage.text = text;
    passage.pieces = pieces;
    Some(passage)
}

/// Where a range of a passage stands that stands in its document as it is.
fn verbatim(passage: &Passage, from: usize, to: usize) -> Span {
    let before = passage.text.get(..from).unwrap_or_default();
    let lines = before.bytes().filter(|byte| *byte == b'\n').count();
    let start = passage.span.start;
    Span {
        start: start + from as u64,
        end: start + to as u64,
        line: passage.span.line + lines as u64,
        ..passage.span
    }
}

/// The part of a piece in the range `from..to` of the old text, which begins at `at` in the new one.
fn part_of(old: &Piece, from: u64, to: u64, at: u64) -> Option<Piece> {
    let (start, end) = (old.at.max(from), (old.at + old.len).min(to));
    if start >= end {
        return None;
    }
    let is_even = old.span.end - old.span.start == old.len;
    let span = if is_even {
        Span { start: old.span.start + (start - old.at), end: old.span.start + (end - old.at), ..old.span }
    } else {
        old.span
    };
    Some(Piece { at: at + (start - from), len: end - start, span })
}

fn piece(at: usize, len: usize, span: Span) -> Piece {
    Piece { at: at as u64, len: len as u64, span }
}

/// The ranges of a text that stay, in order.
fn kept(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut ranges: Vec<std::ops::Range<usize>> = Vec::new();
    let mut chars = text.char_indices().peekable();
    let mut before = None;
    while let Some((at, char)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        if is_unseen(char, before, next) {
            continue;
        }
        let end = at + char.len_utf8();
        match ranges.last_mut() {
            Some(last) if last.end == at => last.end = end,
            _ => ranges.push(at..end),
        }
        before = Some(char);
    }
    ranges
}

fn is_unseen(char: char, before: Option<char>, next: Option<char>) -> bool {
    match char {
        // Zero-width space, word joiner and operators, soft hyphen, byte order mark, fillers.
        '\u{AD}'
        | '\u{180E}'
        | '\u{200B}'
        | '\u{2060}'..='\u{2064}'
        | '\u{FEFF}'
        | '\u{115F}'
        | '\u{1160}'
        | '\u{3164}'
        | '\u{FFA0}' => true,
        // Marks of direction.
        '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{206F}' => true,
        // Tag characters and the second half of the variation selectors.
        '\u{E0000}'..='\u{E0FFF}' => true,
        // A variation selector chooses how one character looks; more of them in a row choose nothing.
        '\u{FE00}'..='\u{FE0F}' => before.is_none_or(|before| before.is_whitespace() || is_joining(before)),
        // Joiners stand between two letters of scripts that join them, or two signs that are one together.
        '\u{200C}' | '\u{200D}' => {
            let joins = |side: Option<char>| {
                side.is_some_and(|side| !side.is_ascii() && !side.is_whitespace() && !is_joiner(side))
            };
            !(joins(before) && joins(next))
        }
        // Controls besides those of layout.
        char => char.is_control() && !matches!(char, '\n' | '\t' | '\r' | '\u{C}'),
    }
}

fn is_joining(char: char) -> bool {
    is_joiner(char) || matches!(char, '\u{FE00}'..='\u{FE0F}')
}

fn is_joiner(char: char) -> bool {
    matches!(char, '\u{200C}' | '\u{200D}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_seen_goes_and_what_is_stays() {
        for (text, seen) in [
            ("plain", "plain"),
            ("ig\u{200B}no\u{2060}re", "ignore"),
            ("a\u{E0049}\u{E0067}b", "ab"),
            ("a\u{202E}txt.exe\u{202C}", "atxt.exe"),
            ("a\u{FE01}\u{FE02}\u{FE03}b", "a\u{FE01}b"),
            ("\u{2764}\u{FE0F}", "\u{2764}\u{FE0F}"),
            ("👩\u{200D}🚀", "👩\u{200D}🚀"),
            ("می\u{200C}خواهم", "می\u{200C}خواهم"),
            ("a\u{200D}b", "ab"),
            ("soft\u{AD}ware\u{7}", "software"),
            ("line\n\ttab", "line\n\ttab"),
        ] {
            assert_eq!(cleaned(text), seen, "{text:?}");
        }
    }

    #[test]
    fn the_bytes_of_what_is_left_are_known() {
        let text = "ab\u{200B}cd\ne\u{200B}f";
        let span = Span { start: 100, end: 100 + text.len() as u64, line: 3, page: None };
        let passage = Passage { text: text.into(), span, ..Passage::default() };
        let clean = clean(passage).expect("a passage");
        assert_eq!(clean.text, "abcd\nef");
        let places: Vec<_> =
            clean.pieces.iter().map(|p| (p.at, p.len, p.span.start, p.span.end, p.span.line)).collect();
        assert_eq!(places, [(0, 2, 100, 102, 3), (2, 4, 105, 109, 3), (6, 1, 112, 113, 4)]);
        let again = Passage {
            text: "x\u{200B}y".into(),
            pieces: vec![piece(0, 5, Span { start: 7, end: 12, line: 1, page: None })],
            ..Passage::default()
        };
        let clean = super::clean(again).expect("a passage");
        let places: Vec<_> = clean.pieces.iter().map(|p| (p.at, p.len, p.span.start, p.span.end)).collect();
        assert_eq!(places, [(0, 1, 7, 8), (1, 1, 11, 12)]);
        let nothing = Passage { text: "\u{200B}".into(), ..Passage::default() };
        assert_eq!(super::clean(nothing), None);
    }
}
