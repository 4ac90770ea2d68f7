//! Passages as models see them, and back.
//!
//! The answers of `search` and `read` are blocks of text, one for each passage:
//!
//! ```text
//! [k7f2qa-14] Uruguay — Economy › Exports (south-america/uy.json)
//! Exports 2024: $23.329 billion (2024 est.)
//! Exports 2023: $21.946 billion (2023 est.)
//! ```
//!
//! A document that states its date has it behind its path: `(minutes.md, 2025-01-14)`. A blank line stands between two blocks. A line of a passage that itself looks like the head of a block is
//! written with a `\` before it, so that page text can not pass for another source.
//!
//! All that a web page says of itself stands behind a fence, each line with `> ` before it, without what people do not
//! see. The first of them has its title and section:
//!
//! ```text
//! [p3mzk2-4] (https://example.org/ports, 2024-05-01)
//! > Ports of Uruguay — Traffic
//! > Montevideo handled 1.1 million containers in 2023.
//! ```
//!
//! So do the lines of what a tool of a server answered: `(files: read_text_file(path: notes.txt))`.

mod fence;
mod hits;

use deepgraph_protocol::{Hit, Source};

pub use fence::{QUOTE, visible};
pub use hits::{Named, address, parse_hits, render_hits};

/// What a block of text says of a passage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passage {
    /// Id of the source.
    pub id: String,
    /// The document's title.
    pub title: String,
    /// The headings or keys above it, joined by ` › `; "" where there are none.
    pub section: String,
    /// The document's path.
    pub document: String,
    /// The document's date, ISO 8601, where it states one.
    pub date: Option<String>,
    /// The passage's text.
    pub text: String,
}

impl From<&Source> for Passage {
    fn from(source: &Source) -> Passage {
        Passage {
            id: source.id.clone(),
            title: source.title.clone(),
            section: source.section.clone(),
            document: source.document.clone(),
            date: source.date.clone(),
            text: source.text.clone(),
        }
    }
}

impl From<&Hit> for Passage {
    fn from(hit: &Hit) -> Passage {
        let Hit { source: id, document, title, text, date, .. } = hit.clone();
        let text = if is_page(&document) { unfenced(&text) } else { text };
        Passage { id, document, title, date, text, ..Passage::default() }
    }
}

/// Stands between title and section in the head of a block.
const DASH: &str = " — ";

/// The longest title and section of a page together, in characters.
const LONGEST_LABEL: usize = 400;

/// The longest id that is taken for one, in bytes.
const LONGEST_ID: usize = 64;

/// A hit of the web as graphs put it into prompts: its title on one line, its text behind the fence.
pub fn fenced(hit: Hit) -> Hit {
    let mut text = String::new();
    fence::push_quoted(&mut text, hit.text.trim_end());
    text.truncate(text.trim_end().len());
    Hit { title: one_line(&hit.title), text, ..hit }
}

/// The text of a hit without the fence.
fn unfenced(text: &str) -> String {
    let lines = text.lines().map(|line| fence::unquoted(line).unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// Passages as blocks of text.
pub fn render(sources: &[&Source]) -> String {
    let mut out = String::new();
    for source in sources {
        if !out.is_empty() {
            out.push('\n');
        }
        push_head(&mut out, source);
        match is_fenced(&source.document) {
            true => {
                let label: String = label(source).chars().take(LONGEST_LABEL).collect();
                fence::push_quoted(&mut out, &label);
                fence::push_quoted(&mut out, source.text.trim_end());
            }
            false => source.text.trim_end().lines().for_each(|line| fence::push_line(&mut out, line)),
        }
    }
    out
}

/// Reads blocks of text. Whatever stands before the first block is skipped; a text without blocks has none.
pub fn parse(text: &str) -> Vec<Passage> {
    let mut passages: Vec<Passage> = Vec::new();
    // Whether the title of the last passage, a page's, has not come yet.
    let mut lacks_title = false;
    for line in text.lines() {
        if let Some(head) = parse_head(line) {
            lacks_title = is_fenced(&head.document) && head.title.is_empty();
            passages.push(head);
        } else if let Some(passage) = passages.last_mut() {
            if is_fenced(&passage.document) {
                // What is not behind the fence is not the page's.
                let Some(line) = fence::unquoted(line) else { continue };
                if std::mem::take(&mut lacks_title) {
                    let (title, section) = line.split_once(DASH).unwrap_or((line, ""));
                    (passage.title, passage.section) = (title.trim().to_owned(), section.trim().to_owned());
                } else {
                    passage.text.push_str(line);
                    passage.text.push('\n');
                }
                continue;
            }
            let escaped = line.starts_with('\\') && is_head(line.trim_start_matches('\\'));
            passage.text.push_str(if escaped { &line[1..] } else { line });
            passage.text.push('\n');
        }
    }
    for passage in &mut passages {
        passage.text.truncate(passage.text.trim_end().len());
    }
    passages
}

/// Whether a text has the shape of a source's id: letters, digits, `-`, `_`, `.` and `:`, a letter or digit at both
/// ends, at least one letter and one digit (`k7f2qa-14`, `web-3`), or six characters, a dash and a number.
pub fn is_id(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return false };
    bytes.len() <= LONGEST_ID
        && first.is_ascii_alphanumeric()
        && last.is_ascii_alphanumeric()
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"-_.:".contains(b))
        && bytes.iter().any(u8::is_ascii_digit)
        && (bytes.iter().any(u8::is_ascii_alphabetic) || is_hashed_id(text))
}

/// Whether a text has the shape of the ids that deepgraph's own tools give: six characters derived from the document, or
/// eight hexadecimal digits from a web page, a dash, the passage's number.
pub fn is_hashed_id(text: &str) -> bool {
    let is_lower = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let is_hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    text.split_once('-').is_some_and(|(hash, number)| {
        let is_key = match hash.len() {
            6 => hash.bytes().all(is_lower),
            8 => hash.bytes().all(is_hex),
            _ => false,
        };
        is_key && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
    })
}

/// Whether a document's name is the URL of a web page.
fn is_page(document: &str) -> bool {
    document.starts_with("https://") || document.starts_with("http://")
}

/// Whether what a document says stands behind the fence: it is of somebody else, a page, a resource of a server, or what a
/// tool of a server answered.
fn is_fenced(document: &str) -> bool {
    document.contains("://") || is_answer(document)
}

/// Whether a document's name is that of an answer: `SERVER: TOOL(ARGUMENTS)`.
fn is_answer(document: &str) -> bool {
    let is_name =
        |name: &str| !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || "()".contains(c));
    let call = document.strip_suffix(')').and_then(|rest| rest.split_once('('));
    call.and_then(|(call, _)| call.split_once(": "))
        .is_some_and(|(server, tool)| is_name(server) && is_name(tool))
}

/// The title of a passage and the section that it stands in, on one line.
fn label(source: &Source) -> String {
    let title = one_line(&source.title).replace(DASH, " - ");
    match source.section.is_empty() {
        true => title,
        false => format!("{title}{DASH}{}", one_line(&source.section)),
    }
}

fn push_head(out: &mut String, source: &Source) {
    let label = match is_fenced(&source.document) {
        true => String::new(),
        false => format!(" {}", label(source)),
    };
    out.push_str(&format!("[{}]{label}", source.id));
    let date = source.date.as_deref().map(|date| format!(", {}", one_line(date))).unwrap_or_default();
    let document = match is_page(&source.document) {
        true => address(&source.document),
        false => one_line(&source.document),
    };
    out.push_str(&format!(" ({document}{date})\n"));
}

/// A text without line breaks, other control characters and what people do not see.
fn one_line(text: &str) -> String {
    let spaced: String = visible(text).chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_head(line: &str) -> bool {
    parse_head(line).is_some()
}

/// A passage without its text, if the line is the head of a block.
fn parse_head(line: &str) -> Option<Passage> {
    let (id, rest) = line.strip_prefix('[')?.split_once("] ")?;
    if !is_id(id) {
        return None;
    }
    let rest = rest.trim_end();
    // The head of what stands behind the fence has nothing but its address, whatever stands in that.
    let alone =
        rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).filter(|inner| is_fenced(inner));
    let (label, document) = match alone {
        Some(address) => ("", address),
        None => split_document(rest)?,
    };
    let (title, section) = label.split_once(DASH).unwrap_or((label, ""));
    let (document, date) = match document.rsplit_once(", ") {
        Some((document, date)) if is_date(date) => (document, Some(date.to_owned())),
        _ => (document, None),
    };
    Some(Passage {
        id: id.to_owned(),
        title: title.trim().to_owned(),
        section: section.trim().to_owned(),
        document: document.to_owned(),
        date,
        text: String::new(),
    })
}

/// Whether a text begins like an ISO date: a year of four digits, alone or with a dash behind it.
fn is_date(text: &str) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    digits == 4 && text.bytes().all(|b| b.is_ascii_digit() || b"-:TZ+.".contains(&b))
}

/// Splits `LABEL (DOCUMENT)` at the parenthesis that the last one closes; the path may hold parentheses itself.
fn split_document(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_suffix(')')?;
    let mut open = 1;
    for (at, c) in inner.char_indices().rev() {
        match c {
            ')' => open += 1,
            '(' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return Some((inner[..at].trim_end(), &inner[at + 1..]));
        }
    }
    // A path with a parenthesis of its own that is never closed or opened.
    inner.rsplit_once(" (").map(|(label, document)| (label.trim_end(), document))
}

#[cfg(test)]
mod tests;
