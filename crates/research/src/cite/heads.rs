//! What a table's cell is the cell of: its column's head and its row's first cell.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::marks::without_marks;
use crate::text::blocks::{BlockKind, blocks};

/// The rows of the tables of a draft.
pub(super) struct Heads<'d> {
    draft: &'d str,
    /// Each row below a head, with that head.
    rows: Vec<(Range<usize>, Range<usize>)>,
}

impl<'d> Heads<'d> {
    pub fn of(draft: &'d str) -> Heads<'d> {
        let mut rows = Vec::new();
        let mut head: Option<Range<usize>> = None;
        let mut last: Option<Range<usize>> = None;
        for block in blocks(draft) {
            match block.kind {
                BlockKind::RowRule => head = last.take(),
                BlockKind::Row => {
                    rows.extend(head.iter().map(|head| (block.range.clone(), head.clone())));
                    last = Some(block.range);
                }
                _ => (head, last) = (None, None),
            }
        }
        Heads { draft, rows }
    }

    /// Column's head and row's first cell of the cell that begins at a byte of the draft; "" where there is no table.
    pub fn of_cell(&self, at: usize, known: &BTreeSet<&str>) -> String {
        let Some((row, head)) = self.rows.iter().find(|(row, _)| row.contains(&at)) else {
            return String::new();
        };
        let text = |range: &Range<usize>| self.draft.get(range.clone()).unwrap_or("");
        let cells = cells(text(row));
        let is_before = |cell: &&Range<usize>| cell.start + row.start <= at;
        let column = cells.iter().filter(is_before).count().saturating_sub(1);
        let first = cells.first().filter(|_| column > 0).and_then(|cell| text(row).get(cell.clone()));
        let heads = self::cells(text(head));
        let above = heads.get(column).and_then(|cell| text(head).get(cell.clone()));
        let parts: Vec<&str> = above.into_iter().chain(first).collect();
        without_marks(&parts.join(" "), known)
    }
}

/// The cells of a row; a bar behind a backslash belongs to its cell.
fn cells(row: &str) -> Vec<Range<usize>> {
    let mut start = usize::from(row.starts_with('|'));
    let mut found = Vec::new();
    let bars = row.match_indices('|').map(|(at, _)| at).filter(|at| !row[..*at].ends_with('\\'));
    for bar in bars.filter(|bar| *bar > 0) {
        found.push(start..bar);
        start = bar + 1;
    }
    if start < row.len() {
        found.push(start..row.len());
    }
    found
}
