//! Figures: numbers with their units, and dates, whatever way they are written.
//!
//! `3,449,444`, `3 449 444` and `3.449.444` are one number, so are `1.774 million` and `1,774,000`, `12 %` and
//! `12 percent`, `25 August 1825` and `1825-08-25`. Digits that are part of a name (`COVID-19`, `G20`) are no figures.

mod dates;
mod number;
mod spelled;

use super::words::{Stems, content_words, stem};
pub use dates::month;
pub use number::Number;
pub use spelled::spelled;

/// A figure in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// First byte.
    pub at: usize,
    /// Length in bytes.
    pub len: usize,
    /// What it says.
    pub amount: Amount,
}

/// What a figure says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Amount {
    /// A number.
    Number(Number, Unit),
    /// A date; its parts as far as they are given.
    Date {
        /// Year.
        year: Option<u32>,
        /// Month, 1 to 12.
        month: u32,
        /// Day of the month, from 1.
        day: Option<u32>,
    },
}

/// The units that change what a number says. Others (km, births) are words like any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// None, or one that is a plain word.
    Plain,
    /// Per cent.
    Percent,
    /// Money, by its sign: `$`, `€`.
    Money(&'static str),
}

impl Figure {
    /// The byte after the last.
    pub fn end(&self) -> usize {
        self.at + self.len
    }

    /// One text for all ways to write the figure: `3449444`, `-0.06%`, `$31900`, `1825-08-25`.
    pub fn canonical(&self) -> String {
        match &self.amount {
            Amount::Number(number, Unit::Plain) => number.to_string(),
            Amount::Number(number, Unit::Percent) => format!("{number}%"),
            Amount::Number(number, Unit::Money(sign)) => format!("{sign}{number}"),
            Amount::Date { year, month, day } => {
                let year = year.map_or("-".to_owned(), |y| y.to_string());
                day.map_or(format!("{year}-{month:02}"), |day| format!("{year}-{month:02}-{day:02}"))
            }
        }
    }

    /// The year that it is or names: a date's year, or a bare number of four digits from 1000 to 2999.
    pub fn year(&self) -> Option<u32> {
        match &self.amount {
            Amount::Date { year, .. } => *year,
            Amount::Number(number, Unit::Plain) => number.as_year(),
            Amount::Number(..) => None,
        }
    }

    /// Whether a figure of a source says what this one says. Signs are not compared ("fell by 2 %"), a year is
    /// borne out by any date in it, a number without unit bears out one with a unit, not the other way round.
    pub fn is_borne_out_by(&self, source: &Figure) -> bool {
        match (&self.amount, &source.amount) {
            (Amount::Number(mine, unit), Amount::Number(theirs, other)) => {
                mine.is_same_size(theirs) && (unit == other || *other == Unit::Plain)
            }
            (Amount::Number(..), Amount::Date { year, day, .. }) => {
                let mine = self.canonical();
                [year, day].into_iter().flatten().any(|part| part.to_string() == mine)
            }
            (Amount::Date { year, month, day }, Amount::Date { year: y, month: m, day: d }) => {
                month == m && (year.is_none() || year == y) && (day.is_none() || day == d)
            }
            (Amount::Date { .. }, Amount::Number(..)) => false,
        }
    }

    /// Whether a figure of a source, rounded to as many places as this one shows, is this one: what "about 3.4
    /// million" says of 3,449,444.
    pub fn is_rounded_from(&self, source: &Figure) -> bool {
        match (&self.amount, &source.amount) {
            (Amount::Number(mine, unit), Amount::Number(theirs, other)) => {
                (unit == other || *other == Unit::Plain) && mine.is_rounded_from(theirs)
            }
            _ => false,
        }
    }
}

/// The figures of a text, in order.
pub fn find(text: &str) -> Vec<Figure> {
    let mut found: Vec<Figure> = Vec::new();
    let mut at = 0;
    while let Some(start) = next_digit(text, at) {
        let (figure, end) = match dates::at(text, start) {
            Some(date) => (Some(date.clone()), date.end()),
            None => number::at(text, start),
        };
        at = end.max(start + 1);
        found.extend(figure);
    }
    number::share_units(text, &mut found);
    found
}

/// The stems of a text's content words, those that belong to its figures ("million", "March") left out.
pub fn stems_beside(text: &str, figures: &[Figure]) -> Stems {
    let inside = |at: usize| figures.iter().any(|f| f.at <= at && at < f.end());
    content_words(text)
        .filter(|(at, _)| !inside(*at))
        .map(|(_, word)| stem(word))
        .filter(|s| !s.is_empty())
        .collect()
}

/// The latest year that a text names.
pub fn latest_year(text: &str) -> Option<u32> {
    find(text).iter().filter_map(Figure::year).max()
}

/// The next ASCII digit from `at` on that does not continue a word.
fn next_digit(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    rest.char_indices()
        .find(|(offset, c)| c.is_ascii_digit() && !continues_word(text, at + offset))
        .map(|(offset, _)| at + offset)
}

/// Whether the character before `at` ties it to a word: `G20`, `COVID-19`, `k7f2qa-14`.
fn continues_word(text: &str, at: usize) -> bool {
    let mut before = text[..at].chars().rev();
    match before.next() {
        Some(c) if c.is_alphanumeric() || c == '_' => !number::is_currency_code_before(text, at),
        Some('-') => before.next().is_some_and(char::is_alphabetic),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
