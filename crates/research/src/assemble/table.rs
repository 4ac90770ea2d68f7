//! The table of a comparison: a row for each subject, a column for each facet.

use super::{Line, marks, split_title};
use crate::question::Question;
use crate::select::{Finding, Selection};
use crate::text::statements::label_end;

/// The longest value of a cell, in characters. With a longer one there is no table.
const LONGEST_CELL: usize = 80;

/// The table with a blank line before it; "" where nothing is compared or the values are no short ones.
pub(super) fn table(asked: &Question, lines: &[Line], covered: &Selection) -> String {
    if !asked.is_comparison() || covered.findings.len() < 2 {
        return String::new();
    }
    let Some(facets) = asked.parts.first().map(|part| &part.facets).filter(|facets| !facets.is_empty())
    else {
        return String::new();
    };
    let mut out = String::from("\n|");
    for head in std::iter::once("").chain(facets.iter().map(|f| f.text.as_str())) {
        let head = cell_text(&capitalised(head));
        out.push_str(&if head.is_empty() { " |".to_owned() } else { format!(" {head} |") });
    }
    out.push_str(&format!("\n|{}\n", "---|".repeat(facets.len() + 1)));
    for (i, part) in asked.parts.iter().enumerate() {
        out.push_str(&format!("| {} |", cell_text(part.subject.as_ref().map_or("", |s| s.text.as_str()))));
        for facet in 0..facets.len() {
            let is_here = |f: &&Finding| f.part == i && f.facet == Some(facet);
            let Some(cell) = cell(covered.findings.iter().find(is_here), lines) else { return String::new() };
            out.push_str(&format!(" {cell} |"));
        }
        out.push('\n');
    }
    out
}

/// A value with its citations, or "not found"; none where the line has no short value.
fn cell(finding: Option<&Finding>, lines: &[Line]) -> Option<String> {
    let Some(finding) = finding else { return Some("not found".to_owned()) };
    let line = finding.source.parse::<usize>().ok().and_then(|i| lines.get(i))?;
    let (_, rest) = split_title(&line.text);
    let value = rest.get(label_end(rest)?..)?.trim().trim_end_matches('.');
    let is_short = !value.is_empty() && value.chars().count() <= LONGEST_CELL;
    is_short.then(|| format!("{} {}", cell_text(value), marks(&line.ids)))
}

fn cell_text(text: &str) -> String {
    text.replace('|', "\\|")
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
