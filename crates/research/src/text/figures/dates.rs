//! Dates.

use super::{Amount, Figure};

/// Full names; a name of four letters or more may be cut to three, September also to four.
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The date to which the digits at `start` belong: `2025-08-25`, `25.08.2025`, `25/08/2025`, `25 August 2025`,
/// `August 25, 2025`, `August 2025`. `05/06/2025` may be May or June, so it is none.
pub(super) fn at(text: &str, start: usize) -> Option<Figure> {
    iso(text, start)
        .or_else(|| in_numbers(text, start))
        .or_else(|| month_first(text, start))
        .or_else(|| day_first(text, start))
}

/// The number of a month's name, from 1.
pub fn month(word: &str) -> Option<u32> {
    let name = word.to_lowercase();
    let is = |full: &str| {
        name == full
            || (name.len() == 3 && full.starts_with(&name))
            || (name == "sept" && full == "september")
    };
    let index = MONTHS.iter().position(|full| is(full))?;
    u32::try_from(index).ok().map(|i| i + 1)
}

fn iso(text: &str, start: usize) -> Option<Figure> {
    let date = text.get(start..start + 10)?;
    let after = text[start + 10..].chars().next();
    let mut parts = date.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let fits = year.len() == 4
        && month.len() == 2
        && day.len() == 2
        && date.bytes().all(|b| b == b'-' || b.is_ascii_digit());
    // `2025-08-25T12:00` is a date too.
    if !fits || after.is_some_and(|c| c.is_ascii_digit() || c == '-') {
        return None;
    }
    date_of(Some(year.parse().ok()?), month.parse().ok()?, Some(day.parse().ok()?), start, start + 10)
}

/// `25.08.2025`, `25/08/2025`, `08/25/2025`, `2025/08/25`, `2025.8.25`.
fn in_numbers(text: &str, start: usize) -> Option<Figure> {
    let (first, end) = digits(text, start)?;
    let mark = text[end..].chars().next().filter(|c| matches!(c, '.' | '/'))?;
    let (second, end) = digits(text, end + 1)?;
    let third_at = end + text[end..].strip_prefix(mark).map(|_| 1)?;
    let (third, end) = digits(text, third_at)?;
    let goes_on = text[end..]
        .strip_prefix(['.', '/', '-'])
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    if goes_on || text[end..].starts_with(|c: char| c.is_alphanumeric()) {
        return None;
    }
    let is_year = |number: u32, len: usize| len == 4 && (1000..3000).contains(&number);
    let lengths = (digits(text, start)?.1 - start, end - third_at);
    let (year, month, day) = if is_year(first, lengths.0) {
        (first, second, third)
    } else if is_year(third, lengths.1) {
        match (mark, first, second) {
            ('.', day, month) => (third, month, day),
            (_, day, month) if day > 12 || day == month => (third, month, day),
            (_, month, day) if day > 12 => (third, month, day),
            _ => return None,
        }
    } else {
        return None;
    };
    date_of(Some(year), month, Some(day), start, end)
}

/// A run of at most four digits at `start`, whatever follows, and the byte after it.
fn digits(text: &str, start: usize) -> Option<(u32, usize)> {
    let rest = text.get(start..)?;
    let len = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    if len > 4 { None } else { Some((rest[..len].parse().ok()?, start + len)) }
}

/// `August 25, 2025`, `August 25`, `August 2025`, with `start` at the first digit.
fn month_first(text: &str, start: usize) -> Option<Figure> {
    let before = text[..start].trim_end_matches([' ', '\u{a0}', '.', ',']);
    if before.len() == start {
        return None;
    }
    let name_at = before
        .rfind(|c: char| !c.is_alphabetic())
        .map_or(0, |i| i + before[i..].chars().next().map_or(1, char::len_utf8));
    let month = month(&before[name_at..])?;
    let (number, end) = small_number(text, start)?;
    if end - start == 4 {
        return date_of(Some(number), month, None, name_at, end);
    }
    let end = end + ordinal(&text[end..]);
    let rest = &text[end..];
    let year_at = end + rest.len() - rest.trim_start_matches([' ', ',', '\u{a0}']).len();
    match small_number(text, year_at) {
        Some((year, year_end)) if year_end - year_at == 4 && year_at > end => {
            date_of(Some(year), month, Some(number), name_at, year_end)
        }
        _ => date_of(None, month, Some(number), name_at, end),
    }
}

/// `25 August 2025`, `25 August`, with `start` at the day.
fn day_first(text: &str, start: usize) -> Option<Figure> {
    let (day, end) = small_number(text, start)?;
    let end = end + ordinal(&text[end..]);
    let rest = &text[end..];
    let name_at = end + rest.len() - rest.trim_start_matches([' ', '\u{a0}', '-']).len();
    if name_at == end {
        return None;
    }
    // "25th of August"
    let name_at = if text[name_at..].starts_with("of ") { name_at + 3 } else { name_at };
    let name_len = text[name_at..].find(|c: char| !c.is_alphabetic()).unwrap_or(text.len() - name_at);
    let month = month(&text[name_at..name_at + name_len])?;
    let name_end = name_at + name_len;
    let rest = &text[name_end..];
    let year_at = name_end + rest.len() - rest.trim_start_matches([' ', ',', '.', '-', '\u{a0}']).len();
    match small_number(text, year_at) {
        Some((year, year_end)) if year_end - year_at == 4 => {
            date_of(Some(year), month, Some(day), start, year_end)
        }
        _ => date_of(None, month, Some(day), start, name_end),
    }
}

/// A run of at most four digits at `start` and the byte after it.
fn small_number(text: &str, start: usize) -> Option<(u32, usize)> {
    let rest = text.get(start..)?;
    let len = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let decimals =
        rest[len..].starts_with(['.', ',']) && rest[len + 1..].starts_with(|c: char| c.is_ascii_digit());
    if len > 4 || decimals { None } else { Some((rest[..len].parse().ok()?, start + len)) }
}

/// Length of `st`, `nd`, `rd` or `th`.
fn ordinal(text: &str) -> usize {
    if ["st", "nd", "rd", "th"].iter().any(|ending| text.starts_with(ending)) { 2 } else { 0 }
}

fn date_of(year: Option<u32>, month: u32, day: Option<u32>, at: usize, end: usize) -> Option<Figure> {
    let fits = (1..=12).contains(&month) && day.is_none_or(|d| (1..=31).contains(&d));
    fits.then_some(Figure { at, len: end - at, amount: Amount::Date { year, month, day } })
}
