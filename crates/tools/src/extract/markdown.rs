//! Markdown: the text without its marks.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::mapped::Mapped;
use crate::passage::Origin;

use super::date::{iso_date, names_a_date};
use super::html;
use super::outline::Outline;
use super::table::{Cell, Table};
use super::{Extracted, clean_title, stem};

/// Reads Markdown (CommonMark with tables, footnotes, strike-through, task lists and front matter).
pub fn extract(name: &str, text: &str, base: usize) -> Extracted {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let mut reader = Reader { text, ..Reader::default() };
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        reader.event(event, range);
    }
    reader.flush();
    let Reader { front_title, date, outline, .. } = reader;
    let title = front_title.or_else(|| outline.title().map(str::to_owned)).unwrap_or_else(|| stem(name));
    let passages = Origin::file(text, base).passages(&outline.finish(&title));
    Extracted { title, date, passages, ..Extracted::default() }
}

#[derive(Default)]
struct Reader<'a> {
    text: &'a str,
    outline: Outline,
    line: Mapped,
    tight: bool,
    lists: usize,
    front_matter: bool,
    html: Option<Mapped>,
    table: Table,
    cells: Vec<Cell>,
    rows: usize,
    front_title: Option<String>,
    date: Option<String>,
}

impl Reader<'_> {
    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.front_matter => self.front_matter(&text),
            Event::Text(text) | Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.push(&text, range);
            }
            Event::Html(text) => {
                self.html.get_or_insert_default().push_run(&text, range.start, range.end);
            }
            Event::InlineHtml(tag) if tag.starts_with("<br") => {
                self.line.push_run("\n", range.start, range.end)
            }
            Event::SoftBreak => self.line.push_run(" ", range.start, range.end),
            Event::HardBreak => self.line.push_run("\n", range.start, range.end),
            Event::InlineHtml(_) | Event::Rule | Event::FootnoteReference(_) | Event::TaskListMarker(_) => {}
        }
    }

    /// Appends text that stands in the range, verbatim where it does, else as what its marks mean.
    fn push(&mut self, text: &str, range: Range<usize>) {
        let raw = self.text.get(range.clone()).unwrap_or_default();
        match raw.find(text) {
            Some(at) => self.line.push_even(text, range.start + at),
            None => self.line.push_run(text, range.start, range.end),
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Link { .. } | Tag::Image { .. } => return,
            Tag::TableCell => {}
            Tag::MetadataBlock(_) => self.front_matter = true,
            Tag::List(_) => {
                self.flush();
                self.lists += 1;
            }
            Tag::Table(_) => {
                self.flush();
                self.table = Table::default();
                self.rows = 0;
            }
            _ => self.flush(),
        }
        self.tight = self.lists > 0;
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(level) => {
                let text = std::mem::take(&mut self.line);
                self.outline.heading(level as u8, &text);
            }
            TagEnd::MetadataBlock(_) => self.front_matter = false,
            TagEnd::HtmlBlock => {
                if let Some(html) = self.html.take() {
                    html::read(&html, &mut self.outline);
                }
            }
            TagEnd::TableCell => {
                let text = std::mem::take(&mut self.line).trim();
                self.cells.push(Cell { text, heading: self.rows == 0, columns: 1 });
            }
            TagEnd::TableHead | TagEnd::TableRow => {
                let line = self.table.row(&std::mem::take(&mut self.cells));
                self.outline.block(&line, self.rows > 0);
                self.rows += 1;
            }
            TagEnd::List(_) => {
                self.flush();
                self.lists = self.lists.saturating_sub(1);
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link | TagEnd::Image => {}
            _ => self.flush(),
        }
    }

    fn flush(&mut self) {
        let text = std::mem::take(&mut self.line);
        self.outline.block(&text, self.tight);
    }

    /// The keys of front matter that say something about the document. It is YAML, but those two are plain.
    fn front_matter(&mut self, text: &str) {
        for line in text.lines() {
            let Some((key, value)) = line.split_once(':') else { continue };
            let value = value.trim().trim_matches(['"', '\'']);
            if key == "title" {
                self.front_title = clean_title(value);
            } else if names_a_date(key) && self.date.is_none() {
                self.date = iso_date(value);
            }
        }
    }
}
