//! Every format, with its spans proven: the words of a passage stand in the file where the passage says.

mod html;
mod json;
#[cfg(feature = "pdf")]
mod pdf;
mod skipped;
mod text;

use deepgraph_protocol::{Source, Span};

use super::{Extracted, extract};
use crate::passage::{MAX_PASSAGE, Passage};

/// Extracts, and checks every word of every passage against the file.
fn checked(name: &str, file: &str) -> Extracted {
    let found = extract(name, file.as_bytes()).unwrap();
    assert!(!found.title.is_empty());
    for passage in &found.passages {
        assert!(!passage.text.trim().is_empty() && passage.text.len() <= MAX_PASSAGE, "{passage:?}");
        check_words(file, passage);
    }
    found
}

/// Words that come from the file, byte for byte, are found there; and on the line that is told.
fn check_words(file: &str, passage: &Passage) {
    let source = source(passage);
    let mut at = 0;
    for word in passage.text.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let start = at;
        at += word.len();
        let word = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        let covered = passage.pieces.is_empty()
            || passage.pieces.iter().any(|piece| {
                let verbatim = piece.span.end - piece.span.start == piece.len;
                verbatim
                    && piece.at as usize <= start
                    && start + word.len() <= (piece.at + piece.len) as usize
            });
        if covered && !word.is_empty() {
            let span = source.locate(start, word.len());
            assert_eq!(slice(file, span), word, "in {passage:?}");
            assert_eq!(span.line, line_of(file, span.start), "line of {word:?} in {passage:?}");
        }
    }
}

fn source(passage: &Passage) -> Source {
    Source {
        text: passage.text.clone(),
        span: passage.span,
        pieces: passage.pieces.clone(),
        section: passage.section.clone(),
        ..Source::default()
    }
}

fn slice(file: &str, span: Span) -> &str {
    file.get(span.start as usize..span.end as usize).unwrap()
}

fn line_of(file: &str, at: u64) -> u64 {
    file.bytes().take(at as usize).filter(|byte| *byte == b'\n').count() as u64 + 1
}

/// The bytes of the file that words of a text stand for. The words must be in exactly one passage.
fn bytes_of<'a>(file: &'a str, found: &Extracted, words: &str) -> &'a str {
    let holding: Vec<&Passage> =
        found.passages.iter().filter(|passage| passage.text.contains(words)).collect();
    let [passage] = holding.as_slice() else {
        panic!("{words:?} is in {} passages of {found:#?}", holding.len())
    };
    slice(file, source(passage).locate(passage.text.find(words).unwrap(), words.len()))
}

fn texts(found: &Extracted) -> Vec<&str> {
    found.passages.iter().map(|passage| passage.text.as_str()).collect()
}

fn sections(found: &Extracted) -> Vec<&str> {
    found.passages.iter().map(|passage| passage.section.as_str()).collect()
}
