//! Dates as engines write them.

use jiff::civil::Date;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// The date in a text, ISO 8601, as exact as it is there: `2024-05-31`, `2024-05`, `2024`. Read are ISO 8601 with or without
/// a time (`2024-05-31T10:00:00Z`, `2024/05/31 00:00`), dates in English (`May 31, 2024`, `31 May 2024`,
/// `Fri, 31 May 2024 10:00:00 GMT`, `2024 May 31`), and, seen from `today`, `3 days ago`.
pub(super) fn read(text: &str, today: Date) -> Option<String> {
    let text = text.trim();
    numeric(text).or_else(|| ago(text, today)).or_else(|| in_words(text))
}

/// The date of its parts: a year, with or without month and day. None where there is no such date.
pub(super) fn of_parts(parts: &[i64]) -> Option<String> {
    let year = i16::try_from(*parts.first()?).ok().filter(|year| (1..=9999).contains(year))?;
    let part = |at: usize| parts.get(at).and_then(|part| i8::try_from(*part).ok());
    match (part(1), part(2)) {
        (Some(month), Some(day)) => Date::new(year, month, day).ok().map(|date| date.to_string()),
        (Some(month @ 1..=12), None) => Some(format!("{year:04}-{month:02}")),
        _ => Some(format!("{year:04}")),
    }
}

/// Numbers alone, the year first.
fn numeric(text: &str) -> Option<String> {
    let date = text.split(['T', 't', ' ']).next()?;
    let separator = if date.contains('/') { '/' } else { '-' };
    let mut parts = Vec::new();
    for (at, part) in date.split(separator).enumerate() {
        let is_long = if at == 0 { part.len() == 4 } else { matches!(part.len(), 1 | 2) };
        let number =
            part.parse::<i64>().ok().filter(|_| is_long && part.bytes().all(|b| b.is_ascii_digit()))?;
        parts.push(number);
    }
    let is_year_of_words = parts.len() == 1 && date.len() != text.len();
    if parts.len() > 3 || is_year_of_words { None } else { of_parts(&parts) }
}

/// `3 days ago`.
fn ago(text: &str, today: Date) -> Option<String> {
    let text = text.to_lowercase();
    let (number, rest) = text.strip_suffix(" ago")?.trim().split_once(' ')?;
    let number: i64 = match number {
        "a" | "an" | "one" => 1,
        number => number.parse().ok()?,
    };
    let days = match rest.trim_end_matches('s') {
        "second" | "minute" | "hour" | "min" | "sec" => 0,
        "day" => number,
        "week" => number.checked_mul(7)?,
        "month" => number.checked_mul(30)?,
        "year" => number.checked_mul(365)?,
        _ => return None,
    };
    before(today, days).map(|date| date.to_string())
}

/// So many days before a date.
pub(super) fn before(date: Date, days: i64) -> Option<Date> {
    let days = jiff::SignedDuration::from_hours(days.checked_mul(24)?);
    date.checked_sub(days).ok()
}

/// A month in English, with a year and perhaps a day.
fn in_words(text: &str) -> Option<String> {
    let (mut year, mut month, mut day) = (None, None, None);
    for word in text.split(|c: char| !c.is_alphanumeric() && c != ':').filter(|word| !word.is_empty()) {
        match word.parse::<i64>() {
            Ok(number) if word.len() == 4 => year = year.or(Some(number)),
            Ok(number @ 1..=31) => day = day.or(Some(number)),
            Ok(_) => return None,
            Err(_) => {
                let start = word.get(..3).unwrap_or_default().to_lowercase();
                let at = MONTHS.iter().position(|month| *month == start);
                month = month.or(at.map(|at| at as i64 + 1));
            }
        }
    }
    match (year?, month, day) {
        (year, Some(month), Some(day)) => of_parts(&[year, month, day]),
        (year, Some(month), None) => of_parts(&[year, month]),
        (..) => None,
    }
}

/// Whether a date, as exact as it is, may lie within a range.
pub(super) fn is_within(date: &str, from: Option<Date>, to: Option<Date>) -> bool {
    let as_exact = |bound: Date| bound.to_string().chars().take(date.len()).collect::<String>();
    from.is_none_or(|from| date >= as_exact(from).as_str())
        && to.is_none_or(|to| date <= as_exact(to).as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Date {
        text.parse().unwrap()
    }

    #[test]
    fn dates_of_all_kinds_are_read() {
        for (text, date) in [
            ("2024-05-31", "2024-05-31"),
            ("2024-05-31T10:00:00Z", "2024-05-31"),
            ("2024/05/31 00:00", "2024-05-31"),
            ("2024-5-1", "2024-05-01"),
            ("2024-05", "2024-05"),
            ("2024", "2024"),
            ("May 31, 2024", "2024-05-31"),
            ("31 May 2024", "2024-05-31"),
            ("Fri, 31 May 2024 10:00:00 GMT", "2024-05-31"),
            ("2024 May 31", "2024-05-31"),
            ("2024 May", "2024-05"),
            ("3 days ago", "2024-05-28"),
            ("1 hour ago", "2024-05-31"),
            ("2 weeks ago", "2024-05-17"),
        ] {
            assert_eq!(read(text, day("2024-05-31")).as_deref(), Some(date), "{text}");
        }
        for none in [
            "",
            "yesterday",
            "2023-02-30",
            "31.05.2024",
            "20245-05-31",
            "99 days",
            "May",
            "9999999999999 days ago",
        ] {
            assert_eq!(read(none, day("2024-05-31")), None, "{none}");
        }
    }

    #[test]
    fn a_date_is_held_against_a_range_as_exactly_as_it_is() {
        let (from, to) = (Some(day("2024-03-10")), Some(day("2024-05-31")));
        for inside in ["2024", "2024-03", "2024-03-10", "2024-05-31"] {
            assert!(is_within(inside, from, to), "{inside}");
        }
        for outside in ["2023", "2024-02", "2024-03-09", "2024-06-01", "2025"] {
            assert!(!is_within(outside, from, to), "{outside}");
        }
        assert!(is_within("1066", None, to));
    }
}
