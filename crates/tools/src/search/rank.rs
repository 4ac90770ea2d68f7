//! How well a passage answers a query.
//!
//! Full-text search alone is not enough here: it does not see that "Population" as the whole key of a line says
//! more about "Uruguay population" than "Population growth rate", and it counts a word that is there five times
//! for more than two words that are there once. So its best candidates are ranked again by where the words
//! stand, each word once.

use crate::index::Row;

use super::query::Query;

/// What a word counts by where it stands; the first that holds.
const IN_TITLE: f64 = 1.0;
const IN_HEADING: f64 = 1.0;
const IN_KEY: f64 = 0.95;
const IN_TEXT: f64 = 0.8;
const IN_NAMES: f64 = 0.85;
/// What a word counts again in a heading or key, or in a title, that has no other words.
const EXACT: f64 = 0.5;
const EXACT_TITLE: f64 = 0.8;
/// What a word counts again on the line that has most of the words.
const SAME_LINE: f64 = 0.3;
/// Longest key of a line in bytes.
const LONGEST_KEY: usize = 160;

/// The score of a passage, from 0; higher is better. Comparable within one query only.
pub fn score(query: &Query, row: &Row) -> f64 {
    let source = &row.source;
    let title = query.matches(&source.title);
    let names = query.matches(&row.names).terms;
    let (heading, heading_exact) = components(query, &source.section);
    let above = title.terms | names | heading;
    let mut lines = Lines { best: query.weight(above), ..Lines::default() };
    for line in source.text.lines() {
        lines.read(query, line, above);
    }
    let places = [(heading, IN_HEADING), (lines.keys, IN_KEY), (names, IN_NAMES), (lines.text, IN_TEXT)];
    let mut score = IN_TITLE * query.title_weight(title.terms);
    let mut seen = title.terms;
    for (terms, counts) in places {
        score += counts * query.weight(terms & !seen);
        seen |= terms;
    }
    if title.is_exact {
        score += EXACT_TITLE * query.title_weight(title.terms);
    }
    // A word of the title says nothing more about the passage when it is there again.
    score += EXACT * query.weight((heading_exact | lines.exact) & !title.terms);
    score + SAME_LINE * lines.best
}

/// What the lines of a passage hold.
#[derive(Default)]
struct Lines {
    keys: u64,
    text: u64,
    /// Terms of the line whose exact keys weigh most, and their weight.
    exact: u64,
    exact_weight: f64,
    /// Weight of the terms of the best line, with those that stand above it.
    best: f64,
}

impl Lines {
    fn read(&mut self, query: &Query, line: &str, above: u64) {
        let terms = query.matches(line).terms;
        if terms == 0 {
            return;
        }
        self.text |= terms;
        self.best = self.best.max(query.weight(terms | above));
        let Some((key, _)) = line.split_once(": ").filter(|(key, _)| key.len() <= LONGEST_KEY) else {
            return;
        };
        let (keys, exact) = components(query, key);
        self.keys |= keys;
        let weight = query.weight(exact);
        if weight > self.exact_weight {
            (self.exact, self.exact_weight) = (exact, weight);
        }
    }
}

/// The terms in headings or keys, and those in ones that have no other words.
fn components(query: &Query, path: &str) -> (u64, u64) {
    path.split(" › ").fold((0, 0), |(all, exact), part| {
        let matches = query.matches(part);
        (all | matches.terms, if matches.is_exact { exact | matches.terms } else { exact })
    })
}
