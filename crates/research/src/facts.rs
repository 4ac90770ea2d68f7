//! Facts: what a source says, as propositions that can be counted (S1).
//!
//! Two wordings are the same fact when they differ only in case, punctuation, the form of letters, numbers, units and
//! dates, or the order of the parts between commas. The order of words inside a part is kept: "Chile sells to Peru"
//! is not "Peru sells to Chile". What can not be read, and what belongs to the page instead of to what it says, holds
//! no facts: see [`readable`](crate::readable).

mod normal;
mod plain;

use std::collections::BTreeSet;

use deepgraph_protocol::{Fact, Source};
use sha2::{Digest, Sha256};

use crate::readable::{is_furniture, unreadable};
use crate::text::statements::{Statement, statements};
pub(crate) use normal::figures_of;
pub use normal::normalise;
pub(crate) use plain::plain;

/// Length of a key, in hexadecimal digits.
const KEY_LEN: usize = 16;

/// The facts of a passage, in order, each once. A passage that can not be read has none; nor has text that says
/// nothing (rules, symbols, single words without a label, links, the date of the page).
pub fn facts(source: &Source) -> Vec<Fact> {
    if unreadable(&source.text).is_some() {
        return Vec::new();
    }
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for statement in statements(&source.text) {
        let line = statement.line(&source.text);
        let about = about(source, &statement);
        let normal = normalise(&if about.is_empty() { line.clone() } else { format!("{about}: {line}") });
        let value = source.text.get(statement.value.clone()).unwrap_or("");
        let key = hash(&normal);
        if is_proposition(&normal) && !is_furniture(&line, value) && seen.insert(key.clone()) {
            let range = statement.range;
            found.push(Fact {
                key,
                text: source.text.get(range.clone()).unwrap_or("").to_owned(),
                source: source.id.clone(),
                span: source.locate(range.start, range.len()),
                about,
            });
        }
    }
    found
}

/// The key of a proposition: equal for two wordings of the same fact.
pub fn key(proposition: &str) -> String {
    hash(&normalise(proposition))
}

/// What stands above a statement. One with labels says nothing without it.
fn about(source: &Source, statement: &Statement) -> String {
    if statement.labels.is_empty() { String::new() } else { format!("{}: {}", source.title, source.section) }
}

/// At least two words, or a word and a figure.
fn is_proposition(normal: &str) -> bool {
    let tokens = || normal.split(['|', ' ']).filter(|t| !t.is_empty());
    tokens().count() >= 2 && tokens().any(|t| t.chars().filter(|c| c.is_alphabetic()).count() >= 2)
}

fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(KEY_LEN / 2).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
