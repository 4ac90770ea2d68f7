//! Blocks of text into passages of a size that can be searched, read and cited.

use deepgraph_protocol::{Piece, Span};
use unicode_segmentation::UnicodeSegmentation;

use crate::mapped::{Mapped, Run};

/// Longest passage in bytes, where sentences allow.
pub const MAX_PASSAGE: usize = 1200;
/// Blocks are joined up to this many bytes.
pub const FULL_PASSAGE: usize = 1000;
/// From this many runs on, short neighbours are told as one piece, so that a passage in which every letter is
/// an escape does not carry a piece for each.
const MANY_RUNS: usize = 48;
/// Longest text of such a joined piece, in bytes.
const JOINED_PIECE: usize = 64;

/// A passage as extracted, before it gets its place in the index.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Passage {
    /// Title of the record that it belongs to; none: the document's.
    pub title: Option<String>,
    /// Date of the record that it belongs to; none: the document's.
    pub date: Option<String>,
    /// Headings or keys above it, joined by ` › `.
    pub section: String,
    /// Its text.
    pub text: String,
    /// Where it stands.
    pub span: Span,
    /// Where its pieces stand; empty where the text stands verbatim at `span`.
    pub pieces: Vec<Piece>,
}

/// A paragraph, list item, table row or the like.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// Headings above it, outermost first.
    pub section: Vec<String>,
    /// Its text.
    pub text: Mapped,
    /// Whether it follows the block before on the next line, without an empty one: items, rows.
    pub tight: bool,
}

/// What spans point into: a file's text, or the text of a page.
#[derive(Debug)]
pub struct Origin<'a> {
    text: &'a str,
    base: usize,
    page: Option<u64>,
    newlines: Vec<usize>,
}

impl<'a> Origin<'a> {
    /// The text of a file that begins at byte `base` of it (after a byte order mark).
    pub fn file(text: &'a str, base: usize) -> Origin<'a> {
        Origin { text, base, page: None, newlines: newlines(text) }
    }

    /// The text of a page, from 1.
    #[cfg_attr(not(feature = "pdf"), allow(dead_code))]
    pub fn page(text: &'a str, page: u64) -> Origin<'a> {
        Origin { text, base: 0, page: Some(page), newlines: newlines(text) }
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span {
            start: (self.base + start) as u64,
            end: (self.base + end) as u64,
            line: self.newlines.partition_point(|at| *at < start) as u64 + 1,
            page: self.page,
        }
    }

    /// The passage of a text; none where nothing of it stands in the origin.
    pub fn passage(&self, section: &[String], text: &Mapped) -> Option<Passage> {
        let text = text.trim();
        let start = text.runs().iter().map(|run| run.start).min()?;
        let end = text.runs().iter().map(|run| run.end).max()?;
        let verbatim = self.text.get(start..end) == Some(text.text());
        Some(Passage {
            section: section.join(" › "),
            span: self.span(start, end),
            pieces: if verbatim { Vec::new() } else { self.pieces(text.runs()) },
            text: text.text().into(),
            ..Passage::default()
        })
    }

    fn pieces(&self, runs: &[Run]) -> Vec<Piece> {
        let joined;
        let runs = if runs.len() > MANY_RUNS {
            joined = join_short(runs);
            &joined
        } else {
            runs
        };
        runs.iter().flat_map(|run| self.lines_of(*run)).map(|run| self.piece(run)).collect()
    }

    fn piece(&self, run: Run) -> Piece {
        Piece { at: run.at as u64, len: run.len as u64, span: self.span(run.start, run.end) }
    }

    /// An even run cut after each line of the origin, so that every piece knows its own line.
    fn lines_of(&self, run: Run) -> Vec<Run> {
        if !run.is_even() {
            return vec![run];
        }
        let first = self.newlines.partition_point(|at| *at < run.start);
        let inside = self.newlines.iter().skip(first).map(|at| at + 1).take_while(|at| *at < run.end);
        let mut lines = Vec::new();
        let mut from = run.start;
        for to in inside.chain([run.end]) {
            lines.push(Run { at: run.at + (from - run.start), len: to - from, start: from, end: to });
            from = to;
        }
        lines
    }

    /// Joins blocks to passages. A passage never crosses a heading.
    pub fn passages(&self, blocks: &[Block]) -> Vec<Passage> {
        let mut passages = Vec::new();
        let mut section: &[String] = &[];
        let mut text = Mapped::default();
        for block in blocks {
            if block.section != section {
                passages.extend(self.passage(section, &std::mem::take(&mut text)));
                section = &block.section;
            }
            for (number, part) in split(&block.text).into_iter().enumerate() {
                if number > 0 || text.len() + part.len() > FULL_PASSAGE {
                    passages.extend(self.passage(section, &std::mem::take(&mut text)));
                }
                self.join(&mut text, &part, if block.tight { "\n" } else { "\n\n" });
            }
        }
        passages.extend(self.passage(section, &text));
        passages
    }

    /// Appends a part after a separator, which is taken from the origin where it stands there.
    pub fn join(&self, text: &mut Mapped, part: &Mapped, separator: &str) {
        if !text.is_empty() {
            let gap =
                text.runs().last().zip(part.runs().first()).map(|(last, first)| (last.end, first.start));
            match gap {
                Some((end, start)) if self.text.get(end..start) == Some(separator) => {
                    text.push_even(separator, end);
                }
                _ => text.push_added(separator),
            }
        }
        text.push(part);
    }
}

fn newlines(text: &str) -> Vec<usize> {
    text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect()
}

/// Joins runs that follow each other without a gap in text and origin, up to a short length.
fn join_short(runs: &[Run]) -> Vec<Run> {
    let mut joined: Vec<Run> = Vec::new();
    for run in runs {
        match joined.last_mut() {
            Some(last)
                if last.at + last.len == run.at
                    && last.end == run.start
                    && last.len + run.len <= JOINED_PIECE =>
            {
                last.len += run.len;
                last.end = run.end;
            }
            _ => joined.push(*run),
        }
    }
    joined
}

/// Cuts a text that is too long for one passage: between sentences, and a sentence that is too long itself
/// between words.
pub fn split(text: &Mapped) -> Vec<Mapped> {
    let text = text.trim();
    if text.len() <= MAX_PASSAGE {
        return vec![text];
    }
    let mut borders = Vec::new();
    for (at, sentence) in text.text().split_sentence_bound_indices() {
        borders.push(at);
        if sentence.len() > FULL_PASSAGE {
            word_borders(at, sentence, &mut borders);
        }
    }
    borders.push(text.len());
    borders.dedup();
    cut_at(&text, &borders)
}

/// The borders inside a sentence that is too long: its words, and the letters of a word that is too long.
fn word_borders(at: usize, sentence: &str, borders: &mut Vec<usize>) {
    for (word_at, word) in sentence.split_word_bound_indices() {
        borders.push(at + word_at);
        if word.len() > FULL_PASSAGE {
            borders.extend(word.char_indices().map(|(letter, _)| at + word_at + letter));
        }
    }
}

/// The parts between borders, as long as fits.
fn cut_at(text: &Mapped, borders: &[usize]) -> Vec<Mapped> {
    let mut parts = Vec::new();
    let (mut from, mut to) = (0, 0);
    for border in borders {
        if border - from > FULL_PASSAGE && to > from {
            parts.push(text.slice(from..to).trim());
            from = to;
        }
        to = *border;
    }
    parts.push(text.slice(from..to).trim());
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests;
