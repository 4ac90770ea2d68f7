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

use deepgraph_protocol::Source;

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

/// Stands between title and section in the head of a block.
const DASH: &str = " — ";

/// The longest id that is taken for one, in bytes.
const LONGEST_ID: usize = 64;

/// Passages as blocks of text.
pub fn render(sources: &[&Source]) -> String {
    let mut out = String::new();
    for source in sources {
        if !out.is_empty() {
            out.push('\n');
        }
        push_head(&mut out, source);
        for line in source.text.trim_end().lines() {
            if is_head(line.trim_start_matches('\\')) {
                out.push('\\');
            }
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

/// Reads blocks of text. Whatever stands before the first block is skipped; a text without blocks has none.
pub fn parse(text: &str) -> Vec<Passage> {
    let mut passages: Vec<Passage> = Vec::new();
    for line in text.lines() {
        if let Some(head) = parse_head(line) {
            passages.push(head);
        } else if let Some(passage) = passages.last_mut() {
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

/// Whether a text has the shape of the ids that deepgraph's own tools give: six characters derived from the
/// document, a dash, the passage's number.
pub fn is_hashed_id(text: &str) -> bool {
    text.split_once('-').is_some_and(|(hash, number)| {
        hash.len() == 6
            && hash.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
            && !number.is_empty()
            && number.bytes().all(|b| b.is_ascii_digit())
    })
}

fn push_head(out: &mut String, source: &Source) {
    out.push_str(&format!("[{}] {}", source.id, one_line(&source.title).replace(DASH, " - ")));
    if !source.section.is_empty() {
        out.push_str(DASH);
        out.push_str(&one_line(&source.section));
    }
    let date = source.date.as_deref().map(|date| format!(", {}", one_line(date))).unwrap_or_default();
    out.push_str(&format!(" ({}{date})\n", one_line(&source.document)));
}

/// A text without line breaks and other control characters.
fn one_line(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
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
    let (label, document) = split_document(rest.trim_end())?;
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
