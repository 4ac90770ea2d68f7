//! Where parts of a passage stand in its document.

use super::{Piece, Source, Span};

/// Finds where ranges of one passage's text stand in the document: the passage is read once, each range is then found
/// in logarithmic time.
#[derive(Clone, Debug)]
pub struct Locator<'s> {
    source: &'s Source,
    /// The bytes of the text that are line ends.
    line_ends: Vec<usize>,
    /// The pieces by where they begin in the text.
    pieces: Vec<Piece>,
    /// For each of them, where it or one before it ends in the text, whichever is later.
    ends: Vec<u64>,
}

impl<'s> Locator<'s> {
    pub(super) fn of(source: &'s Source) -> Locator<'s> {
        let mut pieces: Vec<Piece> = source.pieces.iter().copied().filter(|piece| piece.len > 0).collect();
        pieces.sort_by_key(|piece| piece.at);
        let mut latest = 0;
        let ends = pieces.iter().map(|piece| {
            latest = end(piece).max(latest);
            latest
        });
        let ends = ends.collect();
        let bytes = source.text.bytes().enumerate();
        let line_ends = match source.pieces.is_empty() {
            true => bytes.filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect(),
            false => Vec::new(),
        };
        Locator { source, line_ends, pieces, ends }
    }

    /// Where the bytes `at..at + len` of the text stand: see [`Source::locate`].
    pub fn locate(&self, at: usize, len: usize) -> Span {
        let (text, span) = (&self.source.text, self.source.span);
        let from = at.min(text.len());
        let to = at.saturating_add(len).min(text.len());
        if self.source.pieces.is_empty() {
            let newlines = self.line_ends.partition_point(|end| *end < from);
            return Span {
                start: span.start.saturating_add(from as u64),
                end: span.start.saturating_add(to as u64),
                line: span.line.saturating_add(newlines as u64),
                page: span.page,
            };
        }
        let (from, to) = (from as u64, to as u64);
        let is_touched = |piece: &&Piece| piece.at < to && from < end(piece);
        let first = self.ends.partition_point(|end| *end <= from);
        let beyond = self.pieces.partition_point(|piece| piece.at < to);
        let touched = self.pieces.get(first..beyond).unwrap_or_default();
        let Some(first) = touched.iter().find(is_touched) else { return span };
        let last = touched.iter().rev().find(is_touched).unwrap_or(first);
        // A piece of equal length is a verbatim copy, so that the range can be cut inside it.
        let is_verbatim = |piece: &Piece| piece.span.end.checked_sub(piece.span.start) == Some(piece.len);
        let start = match is_verbatim(first) {
            true => first.span.start.saturating_add(from.saturating_sub(first.at)),
            false => first.span.start,
        };
        let end = match is_verbatim(last) {
            true => last.span.end - end(last).saturating_sub(to).min(last.len),
            false => last.span.end,
        };
        Span { start, end, line: first.span.line, page: first.span.page }
    }
}

/// The byte after the last of a piece, in the text.
fn end(piece: &Piece) -> u64 {
    piece.at.saturating_add(piece.len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_ranges_of_a_long_text_are_found() {
        let text = "a line\n".repeat(1_000_000);
        let source = Source { text, span: Span { line: 1, ..Span::default() }, ..Source::default() };
        let locator = source.locator();
        for line in 0..1_000_000 {
            assert_eq!(locator.locate(line * 7, 6).line, 1 + line as u64);
        }
    }

    #[test]
    fn ranges_in_a_million_pieces_are_found() {
        let span = |at: u64| Span { start: 2 * at, end: 2 * at + 5, line: at, page: None };
        let pieces: Vec<Piece> =
            (0..1_000_000).map(|n| Piece { at: n * 7, len: 5, span: span(n * 7) }).collect();
        let source = Source { text: "a line\n".repeat(1_000_000), pieces, ..Source::default() };
        let locator = source.locator();
        for at in (0..7_000_000).step_by(7) {
            assert_eq!(locator.locate(at, 3).start, 2 * at as u64);
        }
    }

    #[test]
    fn no_piece_breaks_it() {
        let odd = |at: u64, len: u64, start: u64, end: u64| Piece {
            at,
            len,
            span: Span { start, end, line: 1, page: None },
        };
        let pieces = vec![
            odd(u64::MAX, u64::MAX, 5, 2),
            odd(2, 0, 9, 9),
            odd(1, u64::MAX, 0, u64::MAX),
            odd(0, 3, 8, 1),
        ];
        let source = Source { text: "text".into(), pieces, ..Source::default() };
        for at in 0..6 {
            for len in 0..6 {
                let _ = source.locate(at, len);
            }
        }
    }
}
