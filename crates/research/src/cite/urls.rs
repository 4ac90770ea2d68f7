//! URLs and DOIs of a draft, in whatever form they are written.

mod bare;
mod decoded;

use std::collections::BTreeMap;
use std::ops::Range;

pub(super) use bare::{bare, is_url};
pub(super) use decoded::{decoded, leads_out};

use bare::begins_web;

use crate::text::blocks::lines;

/// A link of a draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// All that is written for it.
    pub range: Range<usize>,
    /// What stands there for people; empty where that is the URL itself.
    pub label: Range<usize>,
    /// Where it leads; none for the mark of a note that the draft does not have.
    pub target: Option<String>,
}

/// Where the notes of a draft lead (`[1]: URL`, `[^1]: Title, URL`), by label.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Notes {
    /// The text of each, without its label.
    pub texts: BTreeMap<String, String>,
    /// The lines in which they are told.
    pub lines: Vec<Range<usize>>,
}

impl Notes {
    /// Reads those that stand in a text: lines that begin with a label and lead somewhere. In a list of sources every
    /// item with a number is one.
    pub fn read(&mut self, text: &str, is_list: bool) {
        for range in lines(text) {
            let line = text[range.clone()].trim_start().trim_start_matches(['-', '*', '+']).trim_start();
            let Some((label, rest)) = note(line, is_list) else { continue };
            if is_list || rest.definition || !links_of(rest.text).is_empty() {
                self.texts.entry(label.to_lowercase()).or_insert_with(|| rest.text.trim().to_owned());
                self.lines.push(range);
            }
        }
    }
}

/// What stands behind the label of a note.
struct Rest<'t> {
    text: &'t str,
    /// Whether it can be nothing else: a colon and a URL, or a footnote.
    definition: bool,
}

fn note(line: &str, is_list: bool) -> Option<(&str, Rest<'_>)> {
    if let Some((label, rest)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        let text = rest.strip_prefix(':').unwrap_or(rest);
        let is_footnote = label.starts_with('^') && rest.starts_with(':');
        let leads = rest.starts_with(':')
            && text.split_whitespace().next().is_some_and(|word| leads_out(word.trim_matches(['<', '>'])));
        let is_number = !label.is_empty() && label.bytes().all(|b| b.is_ascii_digit());
        // `[text](url)` and `[text][ref]` at the beginning of a line are links.
        let is_link = rest.starts_with(['(', '[']);
        return (!is_link && (is_footnote || leads || is_number))
            .then_some((label, Rest { text, definition: is_footnote || leads }));
    }
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let rest = line.get(digits..)?.strip_prefix(['.', ')'])?;
    (is_list && digits > 0 && digits <= 3).then(|| (&line[..digits], Rest { text: rest, definition: true }))
}

/// The links of a text without notes.
pub(super) fn links_of(text: &str) -> Vec<Link> {
    links(text, &Notes::default())
}

/// The links of a text, in order: Markdown links and images, links to notes, HTML, bare URLs and DOIs. None lies in
/// another.
pub(super) fn links(text: &str, notes: &Notes) -> Vec<Link> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let link = match c {
            '[' => bracketed(text, at, notes),
            '<' => angled(text, at),
            _ if begins_web(text, at) || is_word_start(text, at) => bare(text, at).map(|range| Link {
                target: Some(text[range.clone()].to_owned()),
                label: range.end..range.end,
                range,
            }),
            _ => None,
        };
        match link {
            Some(link) => {
                at = link.range.end.max(at + 1);
                found.push(link);
            }
            None => at += c.len_utf8(),
        }
    }
    found
}

fn is_word_start(text: &str, at: usize) -> bool {
    !text[..at]
        .chars()
        .next_back()
        .is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '/' | '-' | '.' | '@'))
}

/// `[label](url)`, `![label](url)`, `[label][note]`, `[note]`, `[^note]`.
fn bracketed(text: &str, at: usize, notes: &Notes) -> Option<Link> {
    let close = at + closing(text.get(at..)?, '[', ']')?;
    let start = if text[..at].ends_with('!') { at - 1 } else { at };
    let label = at + 1..close;
    let behind = text.get(close + 1..)?;
    if behind.starts_with('(') {
        let end = closing(behind, '(', ')')?;
        let target = behind[1..end].trim();
        let target = target
            .strip_prefix('<')
            .and_then(|t| t.split('>').next())
            .or_else(|| target.split_whitespace().next())?;
        let label = if is_url(text[label.clone()].trim()) { close..close } else { label };
        return leads_out(target).then(|| Link {
            range: start..close + 1 + end + 1,
            label,
            target: Some(decoded(target)),
        });
    }
    if behind.starts_with('[') {
        let end = closing(behind, '[', ']')?;
        let name = if end == 1 { &text[label.clone()] } else { &behind[1..end] };
        let told = notes.texts.get(&name.to_lowercase());
        let of_number = name.bytes().all(|b| b.is_ascii_digit());
        if let Some(note) = told.filter(|_| !of_number) {
            return Some(Link { range: start..close + 1 + end + 1, label, target: Some(note.clone()) });
        }
    }
    let name = &text[label];
    let told = notes.texts.get(&name.to_lowercase()).cloned();
    (told.is_some() || name.starts_with('^') && name.len() > 1 && !name.contains(char::is_whitespace))
        .then_some(Link { range: start..close + 1, label: close..close, target: told })
}

/// `<url>`, `<a href="url">label</a>`.
fn angled(text: &str, at: usize) -> Option<Link> {
    let rest = text.get(at..)?;
    let end = rest.find('>')?;
    let inner = rest.get(1..end)?;
    if is_url(inner) && !inner.contains(char::is_whitespace) {
        return Some(Link { range: at..at + end + 1, label: at..at, target: Some(inner.to_owned()) });
    }
    let is_tag = inner.get(..2).is_some_and(|head| head.eq_ignore_ascii_case("a "))
        || inner.get(..4).is_some_and(|head| head.eq_ignore_ascii_case("img "));
    let value = inner.split_once('=').filter(|_| is_tag)?.1;
    let words = value.trim_start().trim_start_matches(['"', '\'']).split(['"', '\'', ' ']);
    let target = words.chain(inner.split(['"', '\'', ' ', '='])).find(|word| leads_out(word)).map(decoded)?;
    let (label, close) = match rest.get(end..).and_then(|tail| tail.find("</a>")) {
        Some(close) => (at + end + 1..at + end + close, at + end + close + 4),
        None => (at..at, at + end + 1),
    };
    Some(Link { range: at..close, label, target: Some(target) })
}

/// Where the bracket that a text begins with is closed, within one paragraph.
fn closing(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            c if c == open => depth += 1,
            c if c == close => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            '\n' if text[at + 1..].starts_with(['\n', '\r']) => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests;
