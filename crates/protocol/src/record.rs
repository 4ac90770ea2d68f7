//! The built-in record types of the graph language: `hit source fact handoff citation`.
//!
//! `message`, `tool_call` and `error` are [`Message`](crate::Message), [`ToolCall`](crate::ToolCall) and
//! [`StepError`](crate::StepError).

use serde::{Deserialize, Serialize};

mod locate;

pub use locate::Locator;

/// A range in a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Span {
    /// First byte, from 0.
    pub start: u64,
    /// The byte after the last.
    pub end: u64,
    /// Line of the first byte, from 1.
    pub line: u64,
    /// Page, from 1, for paged documents (PDF). There `start`, `end` and `line` are those of the text extracted
    /// from that page, since the file itself holds no readable text; elsewhere they are those of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
}

/// A passage of a document that was searched or read: what can be cited.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// Its id, written `[id]` in handoffs and drafts: derived from document and position, so it is the same
    /// whichever researcher finds it first.
    pub id: String,
    /// The document: its path, as the user would write it.
    pub document: String,
    /// The document's title.
    pub title: String,
    /// The headings or keys above the passage, outermost first, joined by ` › `; "" where there are none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub section: String,
    /// Where the passage stands.
    pub span: Span,
    /// The passage's text, as extracted.
    pub text: String,
    /// Where each piece of `text` stands in the document; empty where `text` is the document's bytes
    /// `span.start..span.end` themselves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pieces: Vec<Piece>,
    /// The date of the document as it states it, ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The canonical URL of the page; none: a local document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The address under which the page was asked for, canonical, where that is another one: a redirect, a DOI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
    /// Who wrote the page, as it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// When the page was fetched, ISO 8601 in UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetched: Option<String>,
    /// SHA-256 of the page's bytes as fetched, in lower-case hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// How the page was found: the search engines that named it, or the page that links to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
}

impl Source {
    /// Where the bytes `at..at + len` of this passage's text stand in the document. For many ranges of one passage see
    /// [`locator`](Source::locator).
    ///
    /// With `pieces`, the span from the first piece that the range touches to the last; a range that touches
    /// none (text that we added, such as a key's name) gives the whole passage. Out of range is cut to the text.
    pub fn locate(&self, at: usize, len: usize) -> Span {
        self.locator().locate(at, len)
    }

    /// Reads the passage once, to [`locate`](Source::locate) many ranges of it.
    pub fn locator(&self) -> Locator<'_> {
        Locator::of(self)
    }
}

/// A run of a passage's text and the bytes of the document that it was taken from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// First byte in the passage's text.
    pub at: u64,
    /// Length in the passage's text, in bytes.
    pub len: u64,
    /// The bytes in the document.
    pub span: Span,
}

/// A search result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// Id of the source.
    pub source: String,
    /// The document's path.
    pub document: String,
    /// The document's title.
    pub title: String,
    /// The passage.
    pub text: String,
    /// Rank score, higher is better; comparable within one search only.
    pub score: f64,
    /// The URL of a page that a search engine named; `text` is its snippet then, and `source` is empty: a page can be
    /// cited once it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The date of the page as the engine gives it, ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The search engines that named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
}

/// A normalised proposition found in a source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    /// Hash of the normalised text: facts with the same key are the same fact.
    pub key: String,
    /// The text as it stands in the source.
    pub text: String,
    /// Id of the source.
    pub source: String,
    /// Where it stands in the document.
    pub span: Span,
    /// What stands above it in its source, title first; "" where the text says it all.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
}

/// What a researcher hands up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Handoff {
    /// The objective that it was given.
    pub objective: String,
    /// The findings as text, each sentence with its source ids.
    pub text: String,
    /// How many statements of `text` cite a source that the researcher saw.
    pub findings: u64,
    /// Ids of the sources that `text` cites, in order of first citation.
    #[serde(default)]
    pub sources: Vec<String>,
    /// What was looked for and not found.
    #[serde(default)]
    pub unknowns: Vec<String>,
    /// Dates that the findings apply to, as the sources give them.
    #[serde(default)]
    pub dates: Vec<String>,
    /// Keys of the facts that it read: who gathers handoffs can tell by them what was new.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<String>,
}

/// One citation of a report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Citation {
    /// The number in the report: `[1]`.
    pub number: u64,
    /// Id of the source.
    pub source: String,
    /// The document's path.
    pub document: String,
    /// The document's title.
    pub title: String,
    /// Where the cited words stand in the document.
    pub span: Span,
    /// The cited words.
    pub quote: String,
    /// The canonical URL of the page; none: a local document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u64, end: u64, line: u64) -> Span {
        Span { start, end, line, page: None }
    }

    #[test]
    fn a_verbatim_passage_is_located_by_counting() {
        let source = Source { text: "one\ntwo three".into(), span: span(100, 113, 7), ..Source::default() };
        assert_eq!(source.locate(4, 3), span(104, 107, 8));
        assert_eq!(source.locate(0, 3), span(100, 103, 7));
        assert_eq!(source.locate(8, 1000), span(108, 113, 8), "what is out of range is cut");
        assert_eq!(source.locate(5000, 1), span(113, 113, 8));
    }

    #[test]
    fn pieces_say_where_text_that_was_changed_was_taken_from() {
        // "total: " was added; "12" stands as it is; "&amp;" became "&".
        let pieces = vec![
            Piece { at: 7, len: 2, span: span(50, 52, 3) },
            Piece { at: 10, len: 1, span: span(60, 65, 4) },
        ];
        let source =
            Source { text: "total: 12 &".into(), span: span(40, 70, 2), pieces, ..Source::default() };
        assert_eq!(source.locate(7, 2), span(50, 52, 3));
        assert_eq!(source.locate(8, 1), span(51, 52, 3), "inside a verbatim piece");
        assert_eq!(source.locate(10, 1), span(60, 65, 4), "a changed piece goes as a whole");
        assert_eq!(source.locate(7, 4), span(50, 65, 3), "from the first to the last");
        assert_eq!(source.locate(0, 5), span(40, 70, 2), "what was added has no place of its own");
    }
}
