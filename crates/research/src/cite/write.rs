//! The report's text: the draft with its marks replaced, and the lists behind it.

use std::ops::Range;

use deepgraph_protocol::Citation;

use super::Unsupported;
use super::resolve::Pages;
use crate::handoff::Sources;
use crate::marks::Cited;
use crate::passage::{address, visible};
use crate::text::blocks::lines;

/// The longest quote in the list of sources, in characters.
const LONGEST_QUOTE: usize = 240;

/// The most sentences that are listed as not supported.
const MOST_UNSUPPORTED: usize = 30;

/// Headings of lists that this step writes itself.
const LISTS: &[&str] = &["bibliography", "citations", "references", "sources", "works cited"];

/// The draft without the list of sources of its own at its end, and that list.
pub(super) fn split_source_list(draft: &str) -> (&str, &str) {
    let heading = |range: &Range<usize>| {
        let line = draft[range.clone()].trim();
        let bare = line
            .trim_matches(|c: char| matches!(c, '#' | '*' | '_' | ':') || c.is_whitespace())
            .to_lowercase();
        (
            line.starts_with('#'),
            (line.starts_with(['#', '*']) || line.ends_with(':')) && LISTS.contains(&bare.as_str()),
        )
    };
    let last = lines(draft).filter(|range| heading(range).0 || heading(range).1).last();
    match last.filter(|range| heading(range).1) {
        Some(range) => (draft[..range.start].trim_end(), &draft[range.end..]),
        None => (draft.trim_end(), ""),
    }
}

/// What is cut out of the draft, and what is put in.
#[derive(Default)]
pub(super) struct Edits {
    /// Ranges with what stands there instead.
    list: Vec<(Range<usize>, String)>,
}

impl Edits {
    /// Takes a sentence's marks out and puts others behind it.
    pub fn replace_marks(&mut self, sentence: &Cited, marks: &str) {
        let end = sentence.range.end;
        self.list.extend(sentence.marks.iter().map(|mark| (mark.range.clone(), String::new())));
        self.list.push((end..end, format!(" {marks}")));
    }

    /// Puts a label behind what ends at a place.
    pub fn insert(&mut self, at: usize, label: &str) {
        self.list.push((at..at, format!(" {label}")));
    }

    /// The edited draft. Numbers in brackets that the draft brought along would pass for citations; they become
    /// numbers in parentheses.
    pub fn apply(mut self, draft: &str) -> String {
        self.list.sort_by_key(|(range, text)| (range.start, !text.is_empty()));
        let mut out = String::new();
        let mut at = 0;
        for (range, text) in self.list {
            out.push_str(&plain_numbers(draft.get(at..range.start).unwrap_or("")));
            at = range.end.max(at);
            let next = draft[at..].chars().next();
            let removes = text.is_empty();
            if removes
                && next.is_none_or(|c| {
                    c.is_whitespace() || matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '[' | ')' | '|')
                })
            {
                let kept = out.trim_end_matches([' ', '\t']).len();
                out.truncate(kept);
            }
            out.push_str(&text);
        }
        out.push_str(&plain_numbers(draft.get(at..).unwrap_or("")));
        out
    }
}

/// `[1]` as `(1)`; links such as `[1](…)` stay.
fn plain_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let (before, from) = rest.split_at(open);
        out.push_str(before);
        match number_at(from) {
            Some(number) => {
                out.push_str(&format!("({number})"));
                rest = &from[number.len() + 2..];
            }
            None => {
                out.push('[');
                rest = &from[1..];
            }
        }
    }
    out + rest
}

/// The number of a text that begins with `[1]` and is no link.
fn number_at(text: &str) -> Option<&str> {
    let (inner, behind) = text.strip_prefix('[')?.split_once(']')?;
    let is_number = !inner.is_empty() && inner.len() <= 3 && inner.bytes().all(|b| b.is_ascii_digit());
    (is_number && !behind.starts_with(['(', ':'])).then_some(inner)
}

/// The first number in brackets of a text that passes for a citation.
pub(super) fn bare_number(text: &str) -> Option<&str> {
    text.match_indices('[').find_map(|(at, _)| number_at(&text[at..]))
}

/// How many numbers in brackets a text has that pass for citations.
pub(super) fn count_numbers(text: &str) -> u64 {
    text.match_indices('[').filter(|(at, _)| number_at(&text[*at..]).is_some()).count() as u64
}

/// The sentences whose citations do not hold, each with the reason.
pub(super) fn push_unsupported(text: &mut String, unsupported: &[Unsupported]) {
    if unsupported.is_empty() {
        return;
    }
    text.push_str("\n\n## Not supported by the sources\n");
    let mut told: Vec<&Unsupported> = Vec::new();
    for complaint in unsupported {
        if !told.contains(&complaint) {
            told.push(complaint);
        }
    }
    let more = told.len().saturating_sub(MOST_UNSUPPORTED);
    for Unsupported { sentence, reason } in told.into_iter().take(MOST_UNSUPPORTED) {
        let sentence = if sentence.is_empty() { "(a citation without a sentence)" } else { sentence };
        text.push_str(&format!("\n- {} — {reason}.", plain_numbers(sentence)));
    }
    if more > 0 {
        text.push_str(&format!("\n- and {more} more."));
    }
}

/// One paragraph for each number: title, document or URL, place or date, words.
pub(super) fn push_sources(text: &mut String, citations: &[Citation], sources: &Sources, pages: &Pages) {
    if citations.is_empty() {
        return;
    }
    text.push_str("\n\n## Sources\n");
    for citation in citations {
        let line = match &citation.url {
            Some(url) => page_line(citation, url, sources, pages),
            None => format!(
                "{} — {}, {}: \"{}\"",
                one_line(&citation.title),
                one_line(&citation.document),
                place(citation),
                shortened(&one_line(&citation.quote)),
            ),
        };
        text.push_str(&format!("\n[{}] {line}\n", citation.number));
    }
}

/// A web page: title, URL, date, words. What the page itself leads to is left out of its words: nobody has read that.
fn page_line(citation: &Citation, url: &str, sources: &Sources, pages: &Pages) -> String {
    let told = |text: &str| one_line(&pages.without_others(&visible(text)));
    let date = sources.get(&citation.source).and_then(|source| source.date.as_deref());
    let date = date.map(|date| format!(", {}", one_line(date))).unwrap_or_default();
    let page = citation.span.page.map(|page| format!(", page {page}")).unwrap_or_default();
    format!(
        "{} — {}{date}{page}: \"{}\"",
        told(&citation.title),
        address(url),
        shortened(&told(&citation.quote))
    )
}

fn place(citation: &Citation) -> String {
    let span = citation.span;
    match span.page {
        Some(page) => format!("page {page}, bytes {}–{} of its text", span.start, span.end),
        None => format!("line {}, bytes {}–{}", span.line, span.start, span.end),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn shortened(quote: &str) -> String {
    match quote.char_indices().nth(LONGEST_QUOTE) {
        Some((cut, _)) => format!("{} …", quote[..cut].trim_end()),
        None => quote.to_owned(),
    }
}
