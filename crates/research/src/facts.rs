//! Facts: what a source says, as propositions that can be counted (S1).
//!
//! Two wordings are the same fact when they differ only in case, punctuation, the form of numbers, units and
//! dates, or the order of the parts between commas. The order of words inside a part is kept: "Chile sells to Peru"
//! is not "Peru sells to Chile".

use std::collections::BTreeSet;

use deepgraph_protocol::{Fact, Source};
use sha2::{Digest, Sha256};

use crate::text::figures::{self, Amount, Figure};
use crate::text::statements::{Statement, statements};
use crate::text::words;

/// Length of a key, in hexadecimal digits.
const KEY_LEN: usize = 16;

/// The facts of a passage, in order, each once. Text that says nothing (rules, symbols, single words without a
/// label) has none.
pub fn facts(source: &Source) -> Vec<Fact> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for statement in statements(&source.text) {
        let normal = normalise(&proposition(source, &statement));
        let key = hash(&normal);
        if is_proposition(&normal) && seen.insert(key.clone()) {
            let range = statement.range;
            found.push(Fact {
                key,
                text: source.text[range.clone()].to_owned(),
                source: source.id.clone(),
                span: source.locate(range.start, range.len()),
            });
        }
    }
    found
}

/// The key of a proposition: equal for two wordings of the same fact.
pub fn key(proposition: &str) -> String {
    hash(&normalise(proposition))
}

/// The normal form that keys are made from: the parts of the text in alphabetical order, each with its words as
/// stems and its figures in one form.
pub fn normalise(text: &str) -> String {
    let mut figures = figures::find(text);
    figures.extend(
        figures::spelled(text)
            .into_iter()
            .filter(|s| !figures.iter().any(|f| touches(f, s)))
            .collect::<Vec<_>>(),
    );
    figures.sort_by_key(|f| f.at);
    let mut parts = Parts::default();
    let mut at = 0;
    for figure in &figures {
        parts.read(text.get(at..figure.at).unwrap_or(""));
        parts.put_figure(figure);
        at = figure.end();
    }
    parts.read(text.get(at..).unwrap_or(""));
    parts.sorted()
}

/// A statement in full. One with labels says nothing without what stands above it.
fn proposition(source: &Source, statement: &Statement) -> String {
    let line = statement.line(&source.text);
    if statement.labels.is_empty() { line } else { format!("{}: {}: {line}", source.title, source.section) }
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

fn touches(a: &Figure, b: &Figure) -> bool {
    a.at < b.end() && b.at < a.end()
}

/// Ways to write units, as stems, and the one form of each.
const UNITS: &[(&[&str], &str)] = &[
    (&["sq", "km"], "km2"),
    (&["squar", "kilomet"], "km2"),
    (&["squar", "kilometr"], "km2"),
    (&["sq", "mi"], "mi2"),
    (&["squar", "mile"], "mi2"),
    (&["kilomet"], "km"),
    (&["kilometr"], "km"),
    (&["meter"], "m"),
    (&["metr"], "m"),
    (&["kilogram"], "kg"),
    (&["year", "old"], "year"),
    (&["yr"], "year"),
    (&["estim"], "est"),
];

/// Words that are left out: they change the form of a proposition, not what it says.
const FORM: &[&str] = &["a", "an", "be", "been", "has", "have", "in", "it", "of", "on", "the"];

/// Words that stand between two parts as a comma or a colon does.
const BETWEEN: &[&str] = &["and", "are", "is", "was", "were"];

/// The parts of a proposition while it is read.
#[derive(Default)]
struct Parts {
    done: Vec<String>,
    open: Vec<String>,
}

impl Parts {
    /// Reads a stretch of text without figures.
    fn read(&mut self, text: &str) {
        // Folded first, so that `km²` is one word.
        let text = words::fold(text);
        let mut end = 0;
        for (at, word) in words::words(&text) {
            self.separate(text.get(end..at).unwrap_or(""));
            end = at + word.len();
            if BETWEEN.contains(&word) {
                self.close();
            } else if !FORM.contains(&word) {
                self.put(words::stem(word));
            }
        }
        self.separate(text.get(end..).unwrap_or(""));
    }

    /// A date stands as a part of its own wherever it is written; other figures where they stand.
    fn put_figure(&mut self, figure: &Figure) {
        if matches!(figure.amount, Amount::Date { .. }) || figure.year().is_some() {
            self.done.push(figure.canonical());
        } else {
            self.open.push(figure.canonical());
        }
    }

    fn put(&mut self, stem: String) {
        self.open.push(stem);
        for (form, unit) in UNITS {
            if self.open.len() >= form.len()
                && self.open[self.open.len() - form.len()..].iter().eq(form.iter())
            {
                self.open.truncate(self.open.len() - form.len());
                self.open.push((*unit).to_owned());
            }
        }
    }

    /// Closes the open part if the text between two words holds more than space and hyphens.
    fn separate(&mut self, between: &str) {
        if between.contains([',', ';', ':', '(', ')', '›', '|', '–', '—', '、', '。', '，']) {
            self.close();
        }
    }

    fn close(&mut self) {
        let part = std::mem::take(&mut self.open);
        if !part.is_empty() {
            self.done.push(part.join(" "));
        }
    }

    fn sorted(mut self) -> String {
        self.close();
        self.done.sort();
        self.done.dedup();
        self.done.join("|")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_fact_in_other_words() {
        for (a, b) in [
            ("The population is 3,449,444.", "population: 3449444"),
            ("Population (2025 est.): 3.4 million", "population, 3,400,000, est. 2025"),
            ("It has twelve ports.", "has 12 ports"),
            ("Founded on 25 August 1825", "founded 1825-08-25"),
            ("copper, fish and wine", "Wine, copper, fish"),
            ("Area: 176,215 sq km", "AREA — 176215 km²"),
            ("In 2024 the economy grew 3 percent", "The economy grew 3% in 2024"),
        ] {
            assert_eq!(key(a), key(b), "{} / {}", normalise(a), normalise(b));
        }
    }

    #[test]
    fn other_facts_have_other_keys() {
        for (a, b) in [
            ("Chile sells to Peru", "Peru sells to Chile"),
            ("It is open", "It is not open"),
            ("12 ports", "12% ports"),
            ("3.4 million", "3.5 million"),
        ] {
            assert_ne!(key(a), key(b), "{a} / {b}");
        }
    }

    #[test]
    fn facts_stand_in_their_source() {
        let text = "total: 176,215 sq km\n\n---\n\nland: 175,015 sq km\ntotal: 176215 km²";
        let source = Source {
            id: "a-1".into(),
            title: "Uruguay".into(),
            section: "Area".into(),
            text: text.into(),
            ..Source::default()
        };
        let found = facts(&source);
        assert_eq!(
            found.iter().map(|f| f.text.as_str()).collect::<Vec<_>>(),
            ["total: 176,215 sq km", "land: 175,015 sq km"]
        );
        assert_eq!((found[1].span.start, found[1].span.line), (27, 4));
        assert_eq!(found[0].key.len(), KEY_LEN);
        let other = Source { title: "Chile".into(), ..source };
        assert_ne!(facts(&other)[0].key, found[0].key);
    }

    #[test]
    fn noise_holds_no_facts() {
        for text in ["", "---", "x", "12 34 56", "***\n\n|||\n", "@#$ %^&"] {
            let source = Source { text: text.into(), ..Source::default() };
            assert_eq!(facts(&source), [], "{text:?}");
        }
    }
}
