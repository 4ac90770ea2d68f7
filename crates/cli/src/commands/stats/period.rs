//! The beginning and the end of a period.

use deepgraph_protocol::Millis;
use jiff::civil::Date;
use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp, ToSpan};

use crate::error::CliError;

/// The moment from which on runs are counted.
///
/// # Errors
///
/// It is neither an age nor a date.
pub fn since(text: &str, now: Timestamp) -> Result<Millis, CliError> {
    moment("since", text, now, false)
}

/// The last moment at which runs are counted: of a date, that day's last.
///
/// # Errors
///
/// It is neither an age nor a date.
pub fn until(text: &str, now: Timestamp) -> Result<Millis, CliError> {
    moment("until", text, now, true)
}

/// The moment before which runs are removed.
///
/// # Errors
///
/// It is neither an age nor a date.
pub fn older_than(text: &str, now: Timestamp) -> Result<Millis, CliError> {
    moment("older-than", text, now, false)
}

fn moment(option: &'static str, text: &str, now: Timestamp, is_end: bool) -> Result<Millis, CliError> {
    let refused = |problem: String| CliError::Period { option, given: text.to_owned(), problem };
    let text = text.trim();
    if let Some(age) = age(text) {
        return now
            .checked_sub(age)
            .map(|moment| moment.as_millisecond())
            .map_err(|_| refused("is too long ago".to_owned()));
    }
    if let Ok(date) = text.parse::<Date>()
        && !text.contains(['T', 't'])
    {
        let date = if is_end { date.checked_add(1.day()) } else { Ok(date) };
        let start = date.and_then(|date| Offset::UTC.to_timestamp(date.at(0, 0, 0, 0)));
        let start = start.map_err(|_| refused("is out of the calendar".to_owned()))?;
        return Ok(start.as_millisecond() - i64::from(is_end));
    }
    text.parse::<Timestamp>()
        .map(|moment| moment.as_millisecond())
        .map_err(|_| refused("is neither an age nor a date".to_owned()))
}

/// A length of time: a whole number of minutes, hours, days or weeks.
fn age(text: &str) -> Option<SignedDuration> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let seconds: i64 = match unit {
        "m" | "min" => 60,
        "h" => 3600,
        "d" => 86_400,
        "w" => 7 * 86_400,
        _ => return None,
    };
    Some(SignedDuration::from_secs(number.parse::<i64>().ok()?.checked_mul(seconds)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_and_dates_are_moments() {
        let now: Timestamp = "2026-03-10T12:00:00Z".parse().unwrap();
        let at = |text: &str| text.parse::<Timestamp>().unwrap().as_millisecond();
        for (text, wanted) in [
            ("7d", "2026-03-03T12:00:00Z"),
            ("12h", "2026-03-10T00:00:00Z"),
            ("90m", "2026-03-10T10:30:00Z"),
            ("2w", "2026-02-24T12:00:00Z"),
            ("2026-03-01", "2026-03-01T00:00:00Z"),
            ("2026-03-01T06:30:00+02:00", "2026-03-01T04:30:00Z"),
        ] {
            assert_eq!(since(text, now).unwrap(), at(wanted), "{text}");
        }
        assert_eq!(
            until("2026-02-28", now).unwrap(),
            at("2026-03-01T00:00:00Z") - 1,
            "the day is counted in"
        );
        for text in ["", "7", "d", "7x", "yesterday", "2026-13-01", "99999999999999999d", "900000000w", "-1d"]
        {
            let error = since(text, now).unwrap_err().to_string();
            assert!(error.contains("--since") && error.contains("7d"), "{text}: {error}");
        }
    }
}
