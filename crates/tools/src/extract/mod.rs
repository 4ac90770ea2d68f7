//! Files into passages, by format. Every extractor keeps the bytes that its text was taken from.

mod csv;
pub mod date;
pub mod encoding;
mod entities;
pub mod hidden;
pub mod html;
mod html_reader;
mod json;
mod json_title;
mod json_tree;
mod line_breaks;
mod markdown;
mod outline;
#[cfg(feature = "pdf")]
mod pdf;
#[cfg(feature = "pdf")]
mod pdf_guard;
mod plain;
mod table;

use std::path::Path;

use crate::passage::Passage;
use crate::report::SkipReason;

/// What was found in a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extracted {
    /// Its title; never empty.
    pub title: String,
    /// Its date as it states it, `YYYY-MM-DD`.
    pub date: Option<String>,
    /// Other names of what it is about, for the search.
    pub names: String,
    /// Its passages, in order. At least one.
    pub passages: Vec<Passage>,
    /// What could not be read of it.
    pub broken: Option<SkipReason>,
}

/// The formats, told by file name and first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Plain text.
    Text,
    /// Markdown.
    Markdown,
    /// HTML.
    Html,
    /// JSON.
    Json,
    /// JSON, a value a line.
    JsonLines,
    /// A table with the delimiter that its name stands for.
    Csv(u8),
    /// PDF.
    Pdf,
}

/// Reads a document. `name` is its path; the bytes are the whole file.
pub fn extract(name: &str, bytes: &[u8]) -> Result<Extracted, SkipReason> {
    if bytes.is_empty() {
        return Err(SkipReason::Empty);
    }
    let format = format_of(name, bytes);
    let found = if format == Format::Pdf { pdf(name, bytes)? } else { text_format(format, name, bytes)? };
    if found.passages.is_empty() { Err(whole(found.broken)) } else { Ok(found) }
}

/// Why nothing of a file can be used, by what is broken in it.
fn whole(broken: Option<SkipReason>) -> SkipReason {
    match broken {
        Some(SkipReason::BrokenRecords { line, detail, .. }) => {
            SkipReason::Broken { format: "JSON".into(), detail: format!("at line {line}: {detail}") }
        }
        other => other.unwrap_or(SkipReason::NoText),
    }
}

fn text_format(format: Format, name: &str, bytes: &[u8]) -> Result<Extracted, SkipReason> {
    let (text, base) = encoding::decode(bytes)?;
    if text.trim().is_empty() {
        return Err(SkipReason::Empty);
    }
    read_text(format, name, text, base)
}

/// Reads a text of a format that is text. It begins at byte `base` of its document.
pub fn read_text(format: Format, name: &str, text: &str, base: usize) -> Result<Extracted, SkipReason> {
    match format {
        Format::Markdown => Ok(markdown::extract(name, text, base)),
        Format::Html => Ok(html::extract(name, text, base)),
        Format::Json => json::extract(name, text, base),
        Format::JsonLines => json::extract_lines(name, text, base),
        Format::Csv(named) => csv::extract(name, text, base, csv::delimiter(text, named)),
        Format::Text | Format::Pdf => Ok(plain::extract(name, text, base)),
    }
}

/// Reads a PDF.
#[cfg(feature = "pdf")]
pub fn pdf(name: &str, bytes: &[u8]) -> Result<Extracted, SkipReason> {
    pdf::extract(name, bytes)
}

/// Reads no PDF: this build can not.
#[cfg(not(feature = "pdf"))]
pub fn pdf(_name: &str, _bytes: &[u8]) -> Result<Extracted, SkipReason> {
    Err(SkipReason::Unsupported { format: "PDF".into() })
}

fn format_of(name: &str, bytes: &[u8]) -> Format {
    let extension =
        Path::new(name).extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    match extension.as_str() {
        "md" | "markdown" | "mdown" | "mkd" => Format::Markdown,
        "html" | "htm" | "xhtml" => Format::Html,
        "json" | "geojson" => Format::Json,
        "jsonl" | "ndjson" => Format::JsonLines,
        "csv" => Format::Csv(b','),
        "tsv" => Format::Csv(b'\t'),
        "pdf" => Format::Pdf,
        "txt" | "text" => Format::Text,
        _ if bytes.starts_with(b"%PDF-") => Format::Pdf,
        _ if looks_like_html(bytes) => Format::Html,
        _ => Format::Text,
    }
}

/// Whether bytes begin as a page does.
pub fn looks_like_html(bytes: &[u8]) -> bool {
    let start = bytes.trim_ascii_start();
    let begins = |tag: &[u8]| start.get(..tag.len()).is_some_and(|head| head.eq_ignore_ascii_case(tag));
    begins(b"<!doctype html") || begins(b"<html")
}

/// The file's name without folders and extension: the title of last resort. A name that tells nothing, such as
/// `index` or a code of two letters, keeps its folder.
fn stem(name: &str) -> String {
    let path = Path::new(name);
    let stem = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_else(|| name.into());
    let tells_nothing =
        stem.chars().count() <= 2 || matches!(stem.to_lowercase().as_str(), "index" | "readme");
    match path.parent().and_then(Path::file_name) {
        Some(folder) if tells_nothing => format!("{}/{stem}", folder.to_string_lossy()),
        _ => stem,
    }
}

/// A title in one line, without white space around; none where nothing is left.
fn clean_title(text: &str) -> Option<String> {
    let title = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!title.is_empty()).then_some(title)
}

#[cfg(test)]
mod tests;
