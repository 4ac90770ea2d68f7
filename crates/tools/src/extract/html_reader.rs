//! Tags and text of a page, one after the other, into blocks.

use html5gum::{StartTag, Token};

use crate::mapped::{Collapser, Mapped};

use super::date::{iso_date, names_a_date};
use super::hidden::{self, Ends, Hidden};
use super::html::{HIDDEN, Head};
use super::outline::Outline;
use super::table::{Cell, Table};
use super::{clean_title, entities, line_breaks};

/// Elements that begin and end a line.
const BLOCKS: [&[u8]; 34] = [
    b"p",
    b"div",
    b"section",
    b"article",
    b"main",
    b"header",
    b"footer",
    b"aside",
    b"ul",
    b"ol",
    b"li",
    b"dl",
    b"dt",
    b"dd",
    b"blockquote",
    b"pre",
    b"hr",
    b"br",
    b"figure",
    b"figcaption",
    b"form",
    b"fieldset",
    b"address",
    b"details",
    b"summary",
    b"body",
    b"html",
    b"caption",
    b"center",
    b"legend",
    b"menu",
    b"hgroup",
    b"dialog",
    b"option",
];
/// Those of them whose lines follow each other without an empty one.
const TIGHT: [&[u8]; 6] = [b"li", b"dt", b"dd", b"br", b"caption", b"option"];

/// A table that is open.
#[derive(Default)]
struct OpenTable {
    table: Table,
    cells: Vec<Cell>,
    has_rows: bool,
    /// Whether it only arranges other content: then its cells are read like any other element.
    layout: bool,
}

/// What is known while going through a page.
pub struct Reader<'a> {
    html: &'a Mapped,
    outline: &'a mut Outline,
    /// Hidden elements that are never closed, and so are read like others.
    unclosed: Vec<&'static [u8]>,
    /// The hidden element that we are in.
    hidden: Option<Hidden>,
    line: Collapser,
    /// The lines before the present one that `<br>` ended.
    lines: Vec<Mapped>,
    tight: bool,
    heading: Option<u8>,
    lists: usize,
    /// Whether the line is a term of a definition list whose definition may follow.
    term: bool,
    preformatted: usize,
    tables: Vec<OpenTable>,
    /// The cell that is open in the innermost table.
    cell: Option<Cell>,
    title: Option<Collapser>,
    head: Head,
}

impl<'a> Reader<'a> {
    /// At the start of a page.
    pub fn new(html: &'a Mapped, outline: &'a mut Outline, unclosed: Vec<&'static [u8]>) -> Reader<'a> {
        Reader {
            html,
            outline,
            unclosed,
            hidden: None,
            line: Collapser::default(),
            lines: Vec::new(),
            tight: false,
            heading: None,
            lists: 0,
            term: false,
            preformatted: 0,
            tables: Vec::new(),
            cell: None,
            title: None,
            head: Head::default(),
        }
    }

    /// Reads the next tag or text.
    pub fn token(&mut self, token: &Token<usize>) {
        match token {
            Token::StartTag(tag) => self.start(tag),
            Token::EndTag(tag) => self.end(&tag.name),
            Token::String(text) if self.hidden.is_none() => self.text(text.span.start, text.span.end),
            _ => {}
        }
    }

    /// At the end of the page.
    pub fn finish(mut self) -> Head {
        while !self.tables.is_empty() {
            self.close_table();
        }
        self.flush();
        self.head
    }

    fn text(&mut self, start: usize, end: usize) {
        let raw = self.html.text().get(start..end).unwrap_or_default();
        let text = entities::decode(raw, start).through(self.html);
        if let Some(title) = &mut self.title {
            title.push(&text);
        } else if self.preformatted > 0 && self.cell.is_none() {
            self.line.push_raw(&text);
        } else {
            self.line.push(&text);
        }
    }

    fn start(&mut self, tag: &StartTag<usize>) {
        let name = tag.name.as_slice();
        if let Some(hidden) = &mut self.hidden {
            if hidden.goes_on_at(name, tag.self_closing) {
                return;
            }
            self.hidden = None;
        }
        let is_unseen = HIDDEN.contains(&name) && !tag.self_closing && !self.unclosed.contains(&name);
        if is_unseen || hidden::is_hidden(tag) {
            self.hidden = Some(Hidden::new(name));
            return;
        }
        match name {
            b"title" if self.head.title.is_none() => self.title = Some(Collapser::default()),
            b"meta" => self.meta(tag),
            b"time" => self.date(&attribute(tag, b"datetime")),
            b"table" => self.open_table(),
            b"tr" => self.end_row(),
            b"td" | b"th" => self.open_cell(name == b"th", &attribute(tag, b"colspan")),
            b"ul" | b"ol" | b"dl" => self.lists += 1,
            b"pre" => self.preformatted += 1,
            _ => {}
        }
        if let Some(level) = heading_level(name) {
            self.lay_out();
            self.flush();
            self.heading = Some(level);
        } else if name == b"dd" && self.term {
            self.join_term();
        } else if BLOCKS.contains(&name) {
            // An element that opens below the words of a heading ends it, though it was not closed.
            if name != b"br" && !self.line.is_empty() {
                self.close_heading();
            }
            self.border(name);
        }
    }

    fn end(&mut self, name: &[u8]) {
        if let Some(hidden) = &mut self.hidden {
            match hidden.end(name) {
                Ends::Nothing => return,
                Ends::Itself => {
                    self.hidden = None;
                    return;
                }
                Ends::Around => self.hidden = None,
            }
        }
        match name {
            b"title" => self.close_title(),
            b"table" => self.close_table(),
            b"tr" => self.end_row(),
            b"td" | b"th" => self.close_cell(),
            b"ul" | b"ol" | b"dl" => self.lists = self.lists.saturating_sub(1),
            b"pre" => self.preformatted = self.preformatted.saturating_sub(1),
            _ => {}
        }
        if heading_level(name).is_some() {
            self.close_heading();
        } else if name == b"dt" && !self.line.is_empty() {
            self.term = true;
        } else if BLOCKS.contains(&name) {
            self.border(name);
        }
    }

    /// Puts a definition on the line of its term.
    fn join_term(&mut self) {
        self.term = false;
        let mut colon = Mapped::default();
        colon.push_added(": ");
        self.line.push_raw(&colon);
    }

    /// Ends the line, except inside of cells and headings, which are one line.
    fn border(&mut self, name: &[u8]) {
        if self.cell.is_some() || self.heading.is_some() {
            self.line.push_space();
            return;
        }
        if name == b"br" && self.preformatted == 0 {
            self.lines.push(self.line.take());
            return;
        }
        self.flush();
        self.tight = self.lists > 0 || TIGHT.contains(&name);
    }

    fn flush(&mut self) {
        self.term = false;
        let mut lines = std::mem::take(&mut self.lines);
        lines.push(self.line.take());
        for (number, text) in line_breaks::joined(&lines).iter().enumerate() {
            self.outline.block(text, self.tight || number > 0);
        }
    }

    fn close_heading(&mut self) {
        if let Some(level) = self.heading.take() {
            self.outline.heading(level, &self.line.take());
            self.tight = false;
        }
    }

    fn close_title(&mut self) {
        if let Some(mut title) = self.title.take() {
            self.head.title = clean_title(title.take().text());
        }
    }

    fn meta(&mut self, tag: &StartTag<usize>) {
        let names = [&b"name"[..], b"property", b"itemprop"];
        if names.iter().any(|name| names_a_date(&attribute(tag, name))) {
            self.date(&attribute(tag, b"content"));
        }
    }

    fn date(&mut self, text: &str) {
        if self.head.date.is_none() {
            self.head.date = iso_date(text);
        }
    }

    fn open_table(&mut self) {
        self.lay_out();
        self.close_heading();
        self.flush();
        self.tight = false;
        self.tables.push(OpenTable::default());
    }

    fn close_table(&mut self) {
        self.end_row();
        self.flush();
        self.tables.pop();
        self.tight = false;
    }

    fn open_cell(&mut self, heading: bool, columns: &str) {
        self.close_cell();
        match self.tables.last() {
            Some(table) if !table.layout => {
                self.flush();
                let columns = columns.trim().parse().unwrap_or(1);
                self.cell = Some(Cell { text: Mapped::default(), heading, columns });
            }
            _ => self.flush(),
        }
    }

    fn close_cell(&mut self) {
        match (self.cell.take(), self.tables.last_mut()) {
            (Some(cell), Some(table)) => table.cells.push(Cell { text: self.line.take().trim(), ..cell }),
            _ => self.flush(),
        }
    }

    fn end_row(&mut self) {
        self.close_cell();
        if let Some(table) = self.tables.last_mut() {
            let cells = std::mem::take(&mut table.cells);
            if !cells.is_empty() {
                let line = table.table.row(&cells);
                self.outline.block(&line, std::mem::replace(&mut table.has_rows, true));
            }
        }
    }

    /// A heading or a table inside of a table: it is there for the layout only, as are those around it.
    fn lay_out(&mut self) {
        // From the inside: around one that is marked all are.
        for table in self.tables.iter_mut().rev().take_while(|table| !table.layout) {
            table.layout = true;
            for cell in std::mem::take(&mut table.cells) {
                self.outline.block(&cell.text, false);
            }
        }
        self.cell = None;
    }
}

fn heading_level(name: &[u8]) -> Option<u8> {
    match name {
        [b'h', digit @ b'1'..=b'6'] => Some(digit - b'0'),
        _ => None,
    }
}

fn attribute(tag: &StartTag<usize>, name: &[u8]) -> String {
    tag.attributes.get(name).map(|value| String::from_utf8_lossy(value).into_owned()).unwrap_or_default()
}
