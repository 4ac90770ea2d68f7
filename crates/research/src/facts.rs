//! Facts: what a source says, as propositions that can be counted (S1).
//!
//! Two wordings are the same fact when they differ only in case, punctuation, the form of letters, numbers, units and
//! dates, or trivially in order. Order is trivial in two places, and kept everywhere else:
//!
//! * a time at the beginning or the end of a proposition of one clause, with one time and at most one other figure: "In
//!   2024 the economy grew 3 %", "The economy grew 3 % in 2024";
//! * the items of a list without figures that is all that is said, or all behind its label: "Exports: copper, fish".
//!
//! "Chile sells to Peru" is not "Peru sells to Chile", "5 in 2010 and 6 in 2020" not "6 in 2010 and 5 in 2020". In
//! doubt, wordings are two facts: a fact that is counted twice costs a step, one that is not counted ends research early.
//! What can not be read, and what belongs to the page instead of to what it says, holds no facts: see
//! [`readable`](crate::readable).

mod normal;
mod order;
mod plain;
mod tokens;
mod units;

use std::collections::BTreeSet;
use std::ops::Range;

use deepgraph_protocol::{Fact, Source};
use sha2::{Digest, Sha256};

use crate::readable::{is_empty_field, is_furniture, unreadable};
use crate::text::statements::{Statement, statements};
use crate::text::words::is_written_without_spaces;
pub(crate) use normal::figures_of;
pub use normal::normalise;
pub(crate) use plain::plain;

/// Length of a key, in hexadecimal digits.
const KEY_LEN: usize = 16;
/// The longest row of a table that stands in each fact of its cells, in bytes; of a longer one each has its cell.
const LONGEST_ROW: usize = 1_000;
/// The longest title and the longest section that stand above a fact, in characters each.
const LONGEST_ABOVE: usize = 300;

/// The facts of a passage, in order, each once. A passage that can not be read has none; nor has text that says
/// nothing (rules, symbols, single words without a label, links, the date of the page).
pub fn facts(source: &Source) -> Vec<Fact> {
    if unreadable(&source.text).is_some() {
        return Vec::new();
    }
    let above = Above::of(source);
    let locator = source.locator();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for statement in statements(&source.text) {
        let has_labels = !statement.labels.is_empty();
        let line = statement.line(&source.text);
        let said = normalise(&line);
        let normal = if has_labels { format!("{} = {said}", above.normal) } else { said };
        let value = source.text.get(statement.value.clone()).unwrap_or("");
        let key = hash(&normal);
        if is_proposition(&normal) && !is_empty(&statement, &line, value) && seen.insert(key.clone()) {
            let range = placed(statement);
            found.push(Fact {
                key,
                text: source.text.get(range.clone()).unwrap_or("").to_owned(),
                source: source.id.clone(),
                span: locator.locate(range.start, range.len()),
                about: if has_labels { above.text.clone() } else { String::new() },
            });
        }
    }
    found
}

/// The key of a proposition: equal for two wordings of the same fact.
pub fn key(proposition: &str) -> String {
    hash(&normalise(proposition))
}

/// What stands above the statements of a source. One with labels says nothing without it.
struct Above {
    text: String,
    normal: String,
}

impl Above {
    fn of(source: &Source) -> Above {
        let short = |text: &str| text.chars().take(LONGEST_ABOVE).collect::<String>();
        Above {
            text: format!("{}: {}", short(&source.title), short(&source.section)),
            normal: normalise(&format!("{}: {}", source.title, source.section)),
        }
    }
}

/// Where the text of a fact stands: label and all, but for a cell of a long row.
fn placed(statement: Statement) -> Range<usize> {
    let is_long = statement.range.len() > LONGEST_ROW && !statement.labels.is_empty();
    if is_long { statement.value } else { statement.range }
}

/// Whether a statement belongs to the page, or says that there is no value. What has a label is no link: "Legal status:
/// in use".
fn is_empty(statement: &Statement, line: &str, value: &str) -> bool {
    if statement.labels.is_empty() { is_furniture(line, value) } else { is_empty_field(line, value) }
}

/// At least two words, or a word and a figure. Scripts without spaces between words have about two characters a word.
fn is_proposition(normal: &str) -> bool {
    let (mut words, mut is_read) = (0, false);
    for token in normal.split(['|', ' ']) {
        let unspaced = token.chars().filter(|c| is_written_without_spaces(*c)).count();
        let letters = token.chars().filter(|c| c.is_alphabetic()).count();
        let is_word = token.chars().any(char::is_alphanumeric);
        words += unspaced.div_ceil(2) + usize::from(is_word && unspaced == 0);
        is_read |= letters >= 2 || unspaced > 0;
    }
    words >= 2 && is_read
}

fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(KEY_LEN / 2).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
