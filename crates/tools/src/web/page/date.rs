//! Dates as pages write them in their tags.

use jiff::fmt::rfc2822;

use crate::extract::date::iso_date;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// A date as `YYYY-MM-DD`: of ISO 8601 with any of its separators, RFC 2822, or in English words.
pub fn date(text: &str) -> Option<String> {
    let text = text.trim();
    iso_date(text).or_else(|| numbers(text)).or_else(|| mail(text)).or_else(|| words(text))
}

/// `2024/03/01`, `2024.3.1`, `20240301`.
fn numbers(text: &str) -> Option<String> {
    let day = text.split(['T', ' ']).next()?;
    if day.len() == 8 && day.bytes().all(|byte| byte.is_ascii_digit()) {
        return checked(day.get(..4)?, day.get(4..6)?, day.get(6..)?);
    }
    let parts: Vec<&str> = day.split(['/', '.', '-']).collect();
    match parts.as_slice() {
        [year, month, day] if year.len() == 4 => checked(year, month, day),
        _ => None,
    }
}

fn mail(text: &str) -> Option<String> {
    rfc2822::parse(text).ok().map(|time| time.date().to_string())
}

/// `March 1, 2024`, `1 Mar 2024`.
fn words(text: &str) -> Option<String> {
    if text.len() > 40 {
        return None;
    }
    let parts: Vec<&str> = text.split([' ', ',', '.']).filter(|part| !part.is_empty()).collect();
    match parts.as_slice() {
        [first, second, year, ..] => {
            let (month, day) = match (month(first), month(second)) {
                (Some(month), None) => (month, second),
                (None, Some(month)) => (month, first),
                _ => return None,
            };
            checked(year, &month.to_string(), day)
        }
        _ => None,
    }
}

fn month(name: &str) -> Option<usize> {
    let name = name.to_ascii_lowercase();
    let start = name.get(..3).filter(|_| name.bytes().all(|byte| byte.is_ascii_lowercase()))?;
    MONTHS.iter().position(|month| *month == start).map(|at| at + 1)
}

fn checked(year: &str, month: &str, day: &str) -> Option<String> {
    let number =
        |text: &str| text.parse::<u16>().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
    iso_date(&format!("{:04}-{:02}-{:02}", number(year)?, number(month)?, number(day)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read() {
        for (text, expected) in [
            ("2024-03-01", Some("2024-03-01")),
            ("2024-03-01T10:00:00+02:00", Some("2024-03-01")),
            ("2024/3/1", Some("2024-03-01")),
            ("20240301", Some("2024-03-01")),
            ("Fri, 01 Mar 2024 10:00:00 GMT", Some("2024-03-01")),
            ("March 1, 2024", Some("2024-03-01")),
            ("1 Mar 2024", Some("2024-03-01")),
            ("2024-02-30", None),
            ("01/03/2024", None),
            ("2024", None),
            ("soon", None),
            ("", None),
            ("é é é", None),
        ] {
            assert_eq!(date(text).as_deref(), expected, "{text}");
        }
    }
}
