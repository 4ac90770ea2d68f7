//! Rows of tables as lines that can stand alone.

use crate::mapped::Mapped;

/// A cell of a row.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// Its text.
    pub text: Mapped,
    /// Whether it is a heading of its row or column.
    pub heading: bool,
    /// How many columns it spans, at least 1.
    pub columns: usize,
}

/// The column headings met so far in a table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    headings: Vec<String>,
    rows: usize,
}

impl Table {
    /// The line of a row: `Heading: cell | Heading: cell` below column headings, `Heading: cell` beside a row
    /// heading, else `cell | cell`. A row of headings is kept for the rows below it.
    pub fn row(&mut self, cells: &[Cell]) -> Mapped {
        let row = self.rows;
        self.rows += 1;
        if cells.len() > 1 && row == 0 && cells.iter().all(|cell| cell.heading) {
            self.headings = columns(cells).map(|cell| cell.text.text().to_owned()).collect();
            return joined(cells, |_| "");
        }
        if !self.headings.is_empty() && columns(cells).count() == self.headings.len() {
            let headings = &self.headings;
            return joined(cells, |column| headings.get(column).map_or("", String::as_str));
        }
        match cells {
            [heading, rest @ ..] if heading.heading && !rest.is_empty() && !heading.text.is_empty() => {
                let mut line = heading.text.clone();
                line.push_added(": ");
                line.push(&joined(rest, |_| ""));
                line
            }
            _ => joined(cells, |_| ""),
        }
    }
}

/// The cell of each column. Spans are cut at 1000 columns: they come from the document.
fn columns(cells: &[Cell]) -> impl Iterator<Item = &Cell> {
    cells.iter().flat_map(|cell| std::iter::repeat_n(cell, cell.columns.clamp(1, 1000)))
}

fn joined<'a>(cells: &[Cell], heading: impl Fn(usize) -> &'a str) -> Mapped {
    let mut line = Mapped::default();
    let mut column = 0;
    for cell in cells {
        if !cell.text.is_empty() {
            if !line.is_empty() {
                line.push_added(" | ");
            }
            let heading = heading(column);
            if !heading.is_empty() {
                line.push_added(heading);
                line.push_added(": ");
            }
            line.push(&cell.text);
        }
        column += cell.columns.clamp(1, 1000);
    }
    line
}
