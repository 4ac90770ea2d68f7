//! Numbers written in words.

use super::number::{Number, unit_behind};
use super::{Amount, Figure, Unit};
use crate::text::words;

const SMALL: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];

const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

const LARGE: [(&str, u64); 5] = [
    ("hundred", 100),
    ("thousand", 1_000),
    ("million", 1_000_000),
    ("billion", 1_000_000_000),
    ("trillion", 1_000_000_000_000),
];

/// The numbers that a text spells out (`twelve`, `twenty-five`, `two hundred and five thousand`), in order, with the
/// unit behind them (`twelve percent`).
pub fn spelled(text: &str) -> Vec<Figure> {
    let mut found = Vec::new();
    let mut open: Option<Open> = None;
    for (at, word) in words::words(text) {
        let folded = words::fold(word);
        if folded == "and" && open.as_ref().is_some_and(|run| text.get(run.end..at) == Some(" ")) {
            continue;
        }
        let continued = open.take().and_then(|run| {
            let gap = text.get(run.end..at).unwrap_or("");
            let next = run.with(&folded, gap, at + word.len());
            next.map_err(|run| found.push(run.figure())).ok()
        });
        open = continued.or_else(|| Open::start(&folded, at, at + word.len()));
    }
    found.extend(open.map(|run| run.figure()));
    found.into_iter().map(|figure| with_unit(text, figure)).collect()
}

fn with_unit(text: &str, figure: Figure) -> Figure {
    let Amount::Number(number, _) = figure.amount else { return figure };
    let (unit, end) = unit_behind(text, figure.at + figure.len, None);
    Figure { at: figure.at, len: end - figure.at, amount: Amount::Number(number, unit) }
}

/// A number that is being read.
struct Open {
    at: usize,
    end: usize,
    /// What thousands and millions have closed.
    closed: u64,
    /// What may still be multiplied.
    current: u64,
}

impl Open {
    fn start(word: &str, at: usize, end: usize) -> Option<Open> {
        unit(word).map(|current| Open { at, end, closed: 0, current })
    }

    /// With one more word, or as it is when the word does not continue it.
    fn with(self, word: &str, gap: &str, end: usize) -> Result<Open, Open> {
        // "one hundred and five"
        let is_joined = gap == " and " && self.current.max(self.closed) >= 100;
        if !matches!(gap, " " | "-") && !is_joined {
            return Err(self);
        }
        if is_joined && unit(word).is_none_or(|value| value >= 100) {
            return Err(self);
        }
        if let Some((_, factor)) = LARGE.iter().find(|(name, _)| *name == word) {
            let current = self.current.saturating_mul(*factor);
            return Ok(if *factor == 100 {
                Open { end, current, ..self }
            } else {
                Open { end, closed: self.closed.saturating_add(current), current: 0, ..self }
            });
        }
        match unit(word) {
            Some(value) if fits_below(self.current, value) => {
                Ok(Open { end, current: self.current + value, ..self })
            }
            _ => Err(self),
        }
    }

    fn figure(self) -> Figure {
        let digits = self.closed.saturating_add(self.current).to_string();
        let number = Number::new(false, &digits, "", 0);
        Figure { at: self.at, len: self.end - self.at, amount: Amount::Number(number, Unit::Plain) }
    }
}

fn unit(word: &str) -> Option<u64> {
    let small = SMALL.iter().position(|name| *name == word);
    let value = small.or_else(|| TENS.iter().position(|name| *name == word).map(|i| (i + 2) * 10))?;
    u64::try_from(value).ok()
}

/// Whether a value may follow: units after tens, both after hundreds or after a closed thousand.
fn fits_below(current: u64, value: u64) -> bool {
    match current % 100 {
        0 => current == 0 || current >= 100,
        tens if tens >= 20 && tens % 10 == 0 => (1..10).contains(&value),
        _ => false,
    }
}
