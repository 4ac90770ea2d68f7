//! The normal form of a proposition: what wordings of the same fact have in common.

use super::plain::plain;
use crate::text::figures::{self, Amount, Figure};
use crate::text::words;

/// The normal form that keys are made from: the parts of the text in alphabetical order, each with its words as
/// stems and its figures in one form.
pub fn normalise(text: &str) -> String {
    let text = plain(text);
    let mut parts = Parts::default();
    let mut at = 0;
    for figure in figures_of(&text) {
        parts.read(text.get(at..figure.at).unwrap_or(""));
        at = figure.end();
        parts.put_figure(&figure, text.get(at..).unwrap_or(""));
    }
    parts.read(text.get(at..).unwrap_or(""));
    parts.sorted()
}

/// The figures of a text in digits and in words, in order.
pub(crate) fn figures_of(text: &str) -> Vec<Figure> {
    let mut found = figures::find(text);
    let spelled = figures::spelled(text);
    let apart: Vec<Figure> = spelled.into_iter().filter(|s| !found.iter().any(|f| touches(f, s))).collect();
    found.extend(apart);
    found.sort_by_key(|f| f.at);
    found
}

fn touches(a: &Figure, b: &Figure) -> bool {
    a.at < b.end() && b.at < a.end()
}

/// Ways to write units, as stems, and the one form of each.
const UNITS: &[(&[&str], &str)] = &[
    (&["sq", "km"], "km2"),
    (&["squar", "kilomet"], "km2"),
    (&["squar", "km"], "km2"),
    (&["sq", "mi"], "mi2"),
    (&["squar", "mi"], "mi2"),
    (&["sq", "m"], "m2"),
    (&["squar", "m"], "m2"),
    (&["cu", "m"], "m3"),
    (&["cubic", "m"], "m3"),
    (&["km", "per", "h"], "km/h"),
    (&["km", "h"], "km/h"),
    (&["kph"], "km/h"),
    (&["kmh"], "km/h"),
    (&["mi", "per", "h"], "mph"),
    (&["degre", "celsius"], "c"),
    (&["degre", "c"], "c"),
    (&["degre", "fahrenheit"], "f"),
    (&["degre", "f"], "f"),
    (&["metric", "t"], "t"),
    (&["year", "old"], "year"),
    (&["kilomet"], "km"),
    (&["kilometr"], "km"),
    (&["centimet"], "cm"),
    (&["centimetr"], "cm"),
    (&["millimet"], "mm"),
    (&["millimetr"], "mm"),
    (&["meter"], "m"),
    (&["metr"], "m"),
    (&["mile"], "mi"),
    (&["foot"], "ft"),
    (&["feet"], "ft"),
    (&["kilogram"], "kg"),
    (&["ton"], "t"),
    (&["tonn"], "t"),
    (&["hectar"], "ha"),
    (&["liter"], "l"),
    (&["litr"], "l"),
    (&["hour"], "h"),
    (&["hr"], "h"),
    (&["minut"], "min"),
    (&["yr"], "year"),
    (&["kilowatt"], "kw"),
    (&["megawatt"], "mw"),
    (&["gigawatt"], "gw"),
    (&["estim"], "est"),
];

/// Words that are left out: they change the form of a proposition, not what it says.
const FORM: &[&str] = &["a", "an", "be", "been", "has", "have", "in", "it", "of", "on", "the"];

/// Words that stand between two parts as a comma or a colon does.
const BETWEEN: &[&str] = &["and", "are", "is", "was", "were"];

/// Whether a text begins with a unit of measure.
fn begins_with_unit(text: &str) -> bool {
    let is_beside =
        |at: usize| text.get(..at).is_some_and(|gap| gap.chars().all(|c| matches!(c, ' ' | '-' | '°')));
    let first = words::words(text).next().filter(|(at, _)| is_beside(*at)).map(|(_, word)| words::stem(word));
    let measures = UNITS.iter().filter(|(_, unit)| !matches!(*unit, "year" | "est" | "c" | "f"));
    first.is_some_and(|word| {
        measures
            .into_iter()
            .any(|(form, unit)| *unit == word || form.first().is_some_and(|part| *part == word))
    })
}

/// Whether the last words are these, a unit that is one word in the end: no form stands for itself.
fn ends_with(words: &[String], form: &[&str]) -> bool {
    words.len() >= form.len() && words.iter().rev().zip(form.iter().rev()).all(|(word, form)| word == form)
}

/// The parts of a proposition while it is read.
#[derive(Default)]
struct Parts {
    done: Vec<String>,
    open: Vec<String>,
}

impl Parts {
    /// Reads a stretch of text without figures.
    fn read(&mut self, text: &str) {
        // Folded first, so that `km²` is one word. Temperatures: `°C` stands for degrees.
        let text = words::fold(&text.replace('°', " "));
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

    /// A date stands as a part of its own wherever it is written; other figures where they stand. Four digits with a
    /// unit behind them (`1234 kg`) are no year.
    fn put_figure(&mut self, figure: &Figure, behind: &str) {
        let is_year = figure.year().is_some() && !begins_with_unit(behind);
        if matches!(figure.amount, Amount::Date { .. }) || is_year {
            self.done.push(figure.canonical());
        } else {
            self.open.push(figure.canonical());
        }
    }

    fn put(&mut self, stem: String) {
        self.open.push(stem);
        // A unit of several words is made from units of one: "square kilometres" is "squar", "km".
        while let Some((form, unit)) = UNITS.iter().find(|(form, _)| ends_with(&self.open, form)) {
            self.open.truncate(self.open.len() - form.len());
            self.open.push((*unit).to_owned());
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
