//! Citation marks in a text, `[k7f2qa-14]`, and the sentences that they belong to.
//!
//! A mark holds one id or several (`[a1-1, b2-2]`). What merely stands in brackets (`[sic]`, `[1]`, a Markdown link)
//! is none.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::passage::{is_hashed_id, is_id};
use crate::text::blocks::{BlockKind, blocks, trimmed};
use crate::text::sentences::split;
use crate::text::statements::cells;

/// Stands in the place of a citation that nothing bears out.
pub const UNSUPPORTED: &str = "[unsupported]";

/// Stands behind sentences that claim something and cite nothing.
pub const UNSOURCED: &str = "[no source]";

/// A citation mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Where it stands, brackets included.
    pub range: Range<usize>,
    /// The ids in it, known or not.
    pub ids: Vec<String>,
}

/// A sentence, list item or table cell of a draft, with its marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cited {
    /// Where its text stands. Marks may stand in it and behind it.
    pub range: Range<usize>,
    /// Its marks, in order.
    pub marks: Vec<Mark>,
}

/// The marks of a text, given the ids of the sources that there are. An id that is not among them makes a mark when
/// it looks like the known ones or like those of deepgraph's own tools.
pub fn marks(text: &str, known: &BTreeSet<&str>) -> Vec<Mark> {
    let kinds: BTreeSet<&str> = known.iter().filter_map(|id| kind(id)).collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(open) = text.get(at..).and_then(|rest| rest.find('[')).map(|i| at + i) {
        let Some(close) = text[open..].find(']').map(|i| open + i) else { break };
        at = open + 1;
        let is_link = text[close + 1..].starts_with(['(', ':']) || text[..open].ends_with(['!', '\\']);
        let ids: Vec<&str> =
            text[open + 1..close].split([',', ';', ' ']).map(str::trim).filter(|id| !id.is_empty()).collect();
        let is_cited = |id: &&str| {
            known.contains(*id)
                || is_hashed_id(id)
                || (is_id(id) && kind(id).is_some_and(|k| kinds.contains(k)))
        };
        if !is_link && !ids.is_empty() && ids.iter().all(is_cited) {
            found.push(Mark { range: open..close + 1, ids: ids.into_iter().map(str::to_owned).collect() });
            at = close + 1;
        }
    }
    found
}

/// The marks of a text whose sources are not at hand: whatever has the shape of an id of deepgraph's own tools, or
/// ends in a dash and a number.
pub fn marks_of_any_source(text: &str) -> Vec<Mark> {
    let ids = |inner: &str| -> Vec<String> {
        inner.split([',', ';', ' ']).filter(|id| !id.is_empty()).map(str::to_owned).collect()
    };
    let inner =
        text.match_indices('[').filter_map(|(at, _)| text[at + 1..].split_once(']').map(|(inner, _)| inner));
    let known: BTreeSet<String> = inner.flat_map(ids).filter(|id| is_numbered_id(id)).collect();
    marks(text, &known.iter().map(String::as_str).collect())
}

/// An id such as tools give: `k7f2qa-14`, `web-3`.
fn is_numbered_id(id: &str) -> bool {
    is_id(id) && id.rsplit_once('-').is_some_and(|(_, number)| number.bytes().all(|b| b.is_ascii_digit()))
}

/// What the ids of one tool have in common: the text before the last dash.
fn kind(id: &str) -> Option<&str> {
    id.rsplit_once('-').map(|(kind, _)| kind)
}

/// The sentences of a text with the marks in and behind them; table cells count as sentences. Sentences without
/// marks are among them.
pub fn cited_sentences(text: &str, known: &BTreeSet<&str>) -> Vec<Cited> {
    let marks = marks(text, known);
    let masked = masked(text, known);
    let ranges: Vec<Range<usize>> =
        units(&masked).into_iter().flat_map(|range| split_at_marks(&masked, range, &marks)).collect();
    let mut marks = marks.into_iter().peekable();
    let mut found: Vec<Cited> = Vec::new();
    for range in ranges {
        while let Some(mark) = marks.next_if(|m| m.range.start < range.start) {
            push(&mut found, mark, &range);
        }
        found.push(Cited { range, marks: Vec::new() });
    }
    for mark in marks {
        push(&mut found, mark, &(text.len()..text.len()));
    }
    found
}

/// A sentence cut where a mark stands behind a full stop: "70 km. [id] The price" is two, though "km." may go on.
fn split_at_marks(masked: &str, range: Range<usize>, marks: &[Mark]) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = range.start;
    for mark in marks.iter().filter(|m| range.start < m.range.start && m.range.end < range.end) {
        let before = masked.get(start..mark.range.start).unwrap_or("").trim_end();
        let after = masked.get(mark.range.end..range.end).unwrap_or("").trim_start();
        if before.ends_with(['.', '!', '?']) && after.starts_with(char::is_uppercase) {
            parts.push(trimmed(masked, start..mark.range.start));
            start = range.end - after.len();
        }
    }
    parts.push(trimmed(masked, start..range.end));
    parts
}

/// Gives a mark to the sentence before it; to the next where there is none.
fn push(found: &mut Vec<Cited>, mark: Mark, next: &Range<usize>) {
    match found.last_mut() {
        Some(last) => last.marks.push(mark),
        None => {
            found.push(Cited { range: mark.range.start..next.start.max(mark.range.start), marks: vec![mark] })
        }
    }
}

/// The text without its marks, on one line, as white space was.
pub fn without_marks(text: &str, known: &BTreeSet<&str>) -> String {
    let words = masked(text, known).split_whitespace().collect::<Vec<_>>().join(" ");
    // "found [a1-1]." has lost the mark before its full stop; ".ee" is a word of its own.
    let mut out = String::with_capacity(words.len());
    for (i, word) in words.split(' ').enumerate() {
        let is_end = !word.is_empty() && word.chars().all(|c| matches!(c, '.' | ',' | ';'));
        if i > 0 && !is_end {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// The text with white space for each byte of its marks, so that places stay the same. A mark at the end of a line
/// ends the paragraph: what stands on the next line is another statement.
fn masked(text: &str, known: &BTreeSet<&str>) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut at = 0;
    for mark in marks(text, known) {
        masked.push_str(&text[at..mark.range.start]);
        let ends_line = text[mark.range.end..].trim_start_matches([' ', '\t', '\r']).starts_with('\n');
        masked.extend(std::iter::repeat_n(' ', mark.range.len() - 1));
        masked.push(if ends_line { '\n' } else { ' ' });
        at = mark.range.end;
    }
    masked.push_str(&text[at..]);
    masked
}

/// Sentences and cells.
fn units(text: &str) -> Vec<Range<usize>> {
    let of = |block: crate::text::blocks::Block| match block.kind {
        BlockKind::RowRule => Vec::new(),
        BlockKind::Row => cells(text, block.range).into_iter().filter(|cell| !cell.is_empty()).collect(),
        _ => split(text, block.range),
    };
    blocks(text).into_iter().flat_map(of).map(|range| trimmed(text, range)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> BTreeSet<&'static str> {
        ["k7f2qa-1", "k7f2qa-2", "web-3"].into()
    }

    /// Each sentence without marks, and its ids.
    fn read(text: &str) -> Vec<(String, Vec<String>)> {
        let ids = |c: &Cited| c.marks.iter().flat_map(|m| m.ids.clone()).collect();
        cited_sentences(text, &known())
            .iter()
            .map(|c| (without_marks(&text[c.range.clone()], &known()), ids(c)))
            .collect()
    }

    fn pair(text: &str, ids: &[&str]) -> (String, Vec<String>) {
        (text.into(), ids.iter().map(|id| (*id).into()).collect())
    }

    #[test]
    fn marks_belong_to_the_sentence_before() {
        assert_eq!(
            read(
                "One is 5 km. [k7f2qa-1] The two [web-3] are. [k7f2qa-1][k7f2qa-2] Three [k7f2qa-1, web-3]."
            ),
            [
                pair("One is 5 km.", &["k7f2qa-1"]),
                pair("The two are.", &["web-3", "k7f2qa-1", "k7f2qa-2"]),
                pair("Three.", &["k7f2qa-1", "web-3"])
            ]
        );
        assert_eq!(
            read("It goes 70 km. [web-3] The other costs 5. [k7f2qa-1]"),
            [pair("It goes 70 km.", &["web-3"]), pair("The other costs 5.", &["k7f2qa-1"])]
        );
        assert_eq!(read("The code is .ee. [web-3]"), [pair("The code is .ee.", &["web-3"])]);
        assert_eq!(read("[web-3] One."), [pair("", &["web-3"]), pair("One.", &[])]);
    }

    #[test]
    fn a_mark_at_the_end_of_a_line_ends_the_statement() {
        let long = "A first line that is long enough to have been wrapped by an editor. [web-3]\nand another one [web-3]";
        assert_eq!(read(long).len(), 2);
    }

    #[test]
    fn items_and_cells_are_sentences() {
        assert_eq!(read("- a [web-3]\n- b [web-3]").len(), 2);
        let table = "| | Area |\n|---|---|\n| Chile | 5 km [web-3] |";
        assert_eq!(read(table)[2], pair("5 km", &["web-3"]));
    }

    #[test]
    fn brackets_alone_are_no_marks() {
        let of = |text| marks(text, &known()).len();
        for text in [
            "[sic]",
            "[1]",
            "[k7f2qa-1](http://x)",
            "![web-3]",
            "\\[web-3]",
            "[covid-19]",
            "[]",
            "[ ]",
            "[",
            "[web-3",
            "[a [b] c]",
        ] {
            assert_eq!(of(text), 0, "{text}");
        }
        for text in ["[web-3]", "[web-99]", "[zzzzzz-1]", "[web-3; web-4]", "[a [web-3]"] {
            assert_eq!(of(text), 1, "{text}");
        }
    }
}
