//! Tables as values with commas, semicolons or tabs between them: a line of text for each row.

use csv::{Reader, ReaderBuilder, StringRecord};

use crate::mapped::Mapped;
use crate::passage::{Block, Origin};
use crate::report::SkipReason;

use super::table::{Cell, Table};
use super::{Extracted, stem};

/// So many rows at the beginning show what stands between the values.
const SHOWING: usize = 20;

/// Of a hundred rows of a table so many have as many values as the first.
const EVEN: usize = 60;

/// What stands between the values: the letter that gives most of the first rows the same number of values, at least
/// two; of equals the one that the file's name stands for, else the one with more values.
pub fn delimiter(text: &str, named: u8) -> u8 {
    let score = |delimiter: u8| {
        let mut reader = reader(text, delimiter);
        let rows = reader.records().take(SHOWING).map_while(Result::ok);
        let counts: Vec<usize> = rows.map(|row| row.len()).filter(|count| *count > 0).collect();
        let width = counts.first().copied().unwrap_or(0);
        let even = counts.iter().filter(|count| **count == width).count();
        let share = even * 100 / counts.len().max(1);
        (if width < 2 || share < EVEN { 0 } else { share }, delimiter == named, width)
    };
    [b',', b';', b'\t'].into_iter().max_by_key(|letter| score(*letter)).unwrap_or(named)
}

fn reader(text: &str, delimiter: u8) -> Reader<&[u8]> {
    ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_reader(text.as_bytes())
}

/// Reads a table. The first row gives the column headings where it looks like headings.
pub fn extract(name: &str, text: &str, base: usize, delimiter: u8) -> Result<Extracted, SkipReason> {
    let mut reader = reader(text, delimiter);
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
