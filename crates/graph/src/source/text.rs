//! The text of a file, for places inside scalars and for showing lines.

use std::sync::Arc;

use super::{Place, Scalar, Style};

/// A file's name and text.
#[derive(Clone, Debug)]
pub(crate) struct FileText {
    /// As a person would write it.
    pub name: Arc<str>,
    text: Arc<str>,
    /// Byte range of each line, without its end.
    lines: Arc<[(usize, usize)]>,
}

impl FileText {
    /// Indexes a text.
    pub fn new(name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> FileText {
        let text: Arc<str> = text.into();
        let body = text.strip_prefix('\u{feff}').map_or(0, |_| '\u{feff}'.len_utf8());
        let mut lines = Vec::new();
        let mut start = body;
        let bytes = text.as_bytes();
        let mut at = body;
        while let Some(byte) = bytes.get(at) {
            let end = match (byte, bytes.get(at + 1)) {
                (b'\r', Some(b'\n')) => at + 2,
                (b'\n' | b'\r', _) => at + 1,
                _ => {
                    at += 1;
                    continue;
                }
            };
            lines.push((start, at));
            start = end;
            at = end;
        }
        lines.push((start, text.len()));
        FileText { name: name.into(), text, lines: lines.into() }
    }

    /// The whole text.
    pub fn whole(&self) -> &Arc<str> {
        &self.text
    }

    /// A line, from 1; "" where there is none.
    pub fn line(&self, number: usize) -> &str {
        let range = number.checked_sub(1).and_then(|n| self.lines.get(n));
        range.and_then(|(start, end)| self.text.get(*start..*end)).unwrap_or("")
    }

    /// The place of a byte of the whole text.
    pub fn place_of(&self, offset: usize) -> Place {
        let index = self.lines.partition_point(|(start, _)| *start <= offset).saturating_sub(1);
        let (start, end) = self.lines.get(index).copied().unwrap_or((0, 0));
        let before = self.text.get(start..offset.clamp(start, end.max(start))).unwrap_or("");
        Place { line: index + 1, column: before.chars().count() + 1 }
    }

    /// The place of a byte of a scalar's text; the scalar's own place where it can not be told (escapes, folded
    /// lines).
    pub fn place_in(&self, scalar: &Scalar, at: Place, offset: usize) -> Place {
        let before = scalar.text.get(..offset).unwrap_or("");
        let row = before.matches('\n').count();
        let column = before.rsplit('\n').next().unwrap_or("").chars().count();
        let Some(content) = scalar.text.split('\n').nth(row) else { return at };
        match scalar.style {
            Style::Block => self.place_in_block(scalar, at, content, row, column).unwrap_or(at),
            Style::Plain | Style::Quoted if row == 0 => {
                let skip = at.column - 1 + usize::from(scalar.style == Style::Quoted);
                let shown: String = self.line(at.line).chars().skip(skip).take(column + 1).collect();
                let wanted: String = content.chars().take(column + 1).collect();
                if shown.starts_with(&wanted) {
                    Place { line: at.line, column: skip + column + 1 }
                } else {
                    at
                }
            }
            Style::Plain | Style::Quoted => at,
        }
    }

    /// In a block, each line of the text is the end of a line of the file.
    fn place_in_block(
        &self,
        scalar: &Scalar,
        at: Place,
        content: &str,
        row: usize,
        column: usize,
    ) -> Option<Place> {
        // The block begins at its sign or at its first line, blank lines left out.
        let first = (at.line.saturating_sub(1)..at.line + 3).find(|first| self.block_at(scalar, *first))?;
        let line = first + row;
        let indent = self.line(line).strip_suffix(content)?;
        Some(Place { line, column: indent.chars().count() + column + 1 })
    }

    fn block_at(&self, scalar: &Scalar, first: usize) -> bool {
        let lines = scalar.text.trim_end_matches('\n').split('\n').take(100);
        lines.enumerate().all(|(i, content)| {
            let indent = self.line(first + i).strip_suffix(content);
            indent.is_some_and(|indent| indent.chars().all(|c| c == ' '))
        })
    }
}
