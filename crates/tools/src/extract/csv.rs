//! Tables as comma- or tab-separated values: a line of text for each row.

use csv::{ReaderBuilder, StringRecord};

use crate::mapped::Mapped;
use crate::passage::{Block, Origin};
use crate::report::SkipReason;

use super::table::{Cell, Table};
use super::{Extracted, stem};

/// Reads a table. The first row gives the column headings where it looks like headings.
pub fn extract(name: &str, text: &str, base: usize, delimiter: u8) -> Result<Extracted, SkipReason> {
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let mut table = Table::default();
    let mut blocks = Vec::new();
    let mut record = StringRecord::new();
    loop {
        let start = reader.position().byte() as usize;
        let more = reader
            .read_record(&mut record)
            .map_err(|error| SkipReason::Broken { format: "CSV".into(), detail: error.to_string() })?;
        if !more {
            break;
        }
        let end = reader.position().byte() as usize;
        let heading = blocks.is_empty() && looks_like_headings(&record);
        let cells = cells(&record, text.get(start..end).unwrap_or_default(), start, heading);
        blocks.push(Block { text: table.row(&cells), tight: true, ..Block::default() });
    }
    Ok(Extracted {
        title: stem(name),
        passages: Origin::file(text, base).passages(&blocks),
        ..Extracted::default()
    })
}

/// Headings are all there, all different, and no figures.
fn looks_like_headings(record: &StringRecord) -> bool {
    record.len() > 1
        && record.iter().enumerate().all(|(number, cell)| {
            cell.chars().any(char::is_alphabetic) && record.iter().take(number).all(|before| before != cell)
        })
}

/// The cells of a row, found again in its bytes, where they stand in the same order.
fn cells(record: &StringRecord, row: &str, row_start: usize, heading: bool) -> Vec<Cell> {
    let mut from = 0;
    let mut cells = Vec::new();
    for value in record {
        let quoted = value.replace('"', "\"\"");
        let rest = row.get(from..).unwrap_or_default();
        let found = [quoted.as_str(), value]
            .into_iter()
            .find_map(|raw| rest.find(raw).map(|at| (from + at, raw.len())));
        let mut text = Mapped::default();
        if let Some((at, len)) = found {
            text.push_run(value, row_start + at, row_start + at + len);
            from = at + len;
        } else {
            text.push_added(value);
        }
        cells.push(Cell { text: text.trim(), heading, columns: 1 });
    }
    cells
}
