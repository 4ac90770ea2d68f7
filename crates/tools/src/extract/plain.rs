//! Plain text: paragraphs between empty lines.

use std::ops::Range;

use crate::mapped::Mapped;
use crate::passage::{Block, Origin};

use super::date::{iso_date, names_a_date};
use super::{Extracted, stem};

/// Longest first line that is taken for a title, in letters.
const LONGEST_TITLE: usize = 80;
/// Lines shorter than this are not taken for lines that were broken to fit a width.
const NARROWEST_WIDTH: usize = 40;

/// How full a line must be, in hundredths of the longest, for its end to be a place where it was broken to fit.
const FIXED_WIDTH: usize = 100;
/// The same where letters have different widths, and their number tells less.
#[cfg(feature = "pdf")]
pub const PROPORTIONAL_WIDTH: usize = 80;

/// Reads plain text.
pub fn extract(name: &str, text: &str, base: usize) -> Extracted {
    let blocks: Vec<Block> =
        paragraphs(text, FIXED_WIDTH).into_iter().map(|text| Block { text, ..Block::default() }).collect();
    Extracted {
        title: title(text).unwrap_or_else(|| stem(name)),
        passages: Origin::file(text, base).passages(&blocks),
        date: date(text),
        ..Extracted::default()
    }
}

/// Lines at the beginning among which the date may stand.
const HEAD: usize = 20;

/// The date of a line such as `Date: 2025-02-10` at the beginning of a text.
pub fn date(text: &str) -> Option<String> {
    let fields = text.lines().take(HEAD).filter_map(|line| line.split_once(':'));
    fields.filter(|(name, _)| names_a_date(name)).find_map(|(_, value)| iso_date(value))
}

/// The first line, if it is short and no sentence.
pub fn title(text: &str) -> Option<String> {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let is_title = first.chars().count() <= LONGEST_TITLE
        && first.chars().any(char::is_alphabetic)
        && !first.ends_with(['.', ',', ';', ':', '!', '?']);
    is_title.then(|| first.into())
}

/// The paragraphs of a text, with lines that were broken to fit a width put together again.
pub fn paragraphs(text: &str, fullness: usize) -> Vec<Mapped> {
    let width = text.lines().map(|line| line.trim_end().chars().count()).max().unwrap_or(0);
    let mut paragraphs = Vec::new();
    let mut lines: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let content = line.trim_end();
        if content.is_empty() {
            paragraphs.push(paragraph(text, &lines, width, fullness));
            lines.clear();
        } else {
            lines.push(at..at + content.len());
        }
        at += line.len();
    }
    paragraphs.push(paragraph(text, &lines, width, fullness));
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    paragraphs
}

/// The lines of a paragraph. A line break stands for a space where the next line's first word had not fitted on
/// the line: by the width of the whole text, or, in a paragraph of several lines, by its own width on every line.
fn paragraph(text: &str, lines: &[Range<usize>], width: usize, fullness: usize) -> Mapped {
    let line = |range: &Range<usize>| text.get(range.clone()).unwrap_or_default();
    let own_width = lines.iter().map(|range| line(range).chars().count()).max().unwrap_or(0);
    let was_broken = |before: &Range<usize>, next: &Range<usize>, width: usize| {
        was_broken_to_fit(line(before), line(next), width * fullness / 100)
    };
    let is_filled = lines.len() > 2
        && lines.windows(2).all(|pair| match pair {
            [before, next] => was_broken(before, next, own_width),
            _ => false,
        });
    let mut paragraph = Mapped::default();
    let mut before: Option<&Range<usize>> = None;
    for range in lines {
        if let Some(before) = before {
            let soft = is_filled || was_broken(before, range, width);
            paragraph.push_run(if soft { " " } else { "\n" }, before.end, range.start);
        }
        paragraph.push_even(line(range), range.start);
        before = Some(range);
    }
    paragraph
}

fn was_broken_to_fit(line: &str, next: &str, width: usize) -> bool {
    let Some(word) = next.split_whitespace().next() else { return false };
    let starts_anew = next.starts_with(char::is_whitespace)
        || matches!(word, "-" | "*" | "+" | "•" | "|")
        || word
            .strip_suffix(['.', ')'])
            .is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    width >= NARROWEST_WIDTH && !starts_anew && line.chars().count() + 1 + word.chars().count() > width
}
