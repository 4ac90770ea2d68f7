//! How long a server asks to wait.

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use reqwest::header::HeaderMap;

/// Reads `retry-after-ms` (milliseconds) or `retry-after` (seconds, with a fraction if need be, or a date).
/// What is neither, or a date in the past, is no wish or no wait.
pub(super) fn of_headers(headers: &HeaderMap) -> Option<u64> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let milliseconds = header("retry-after-ms").and_then(|text| whole(text, 1.0));
    milliseconds.or_else(|| {
        let text = header("retry-after")?;
        whole(text, 1000.0).or_else(|| until(text, Timestamp::now()))
    })
}

/// What stands before the time to wait in words.
const BEFORE_TIME: [&str; 4] = ["try again in ", "retry in ", "retry after ", "wait for "];

/// Reads the time to wait from words: `Please try again in 2.3s.`, `retry after 20 seconds`.
pub(super) fn of_words(words: &str) -> Option<u64> {
    let words = words.to_lowercase();
    BEFORE_TIME.iter().find_map(|phrase| duration_ms(words.split_once(phrase)?.1))
}

/// A duration at the beginning of a text, in milliseconds, rounded up: `34s`, `1m30.5s`, `250ms`, `20 seconds`. A number
/// without a unit is none: in words it may count anything.
pub(super) fn duration_ms(text: &str) -> Option<u64> {
    let mut rest = text.trim_start();
    let mut sum = None;
    loop {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, behind) = rest.split_at(end);
        let behind = if sum.is_none() { behind.trim_start() } else { behind };
        let end = behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(end);
        let milliseconds = match unit {
            "ms" | "milliseconds" => 1.0,
            "s" | "sec" | "second" | "seconds" => 1000.0,
            "m" | "min" | "minute" | "minutes" => 60_000.0,
            "h" | "hour" | "hours" => 3_600_000.0,
            _ => return sum,
        };
        let Some(part) = whole(number, milliseconds) else { return sum };
        sum = Some(part.saturating_add(sum.unwrap_or(0)));
        rest = behind;
    }
}

/// A number of some unit, in milliseconds, rounded up.
fn whole(text: &str, milliseconds: f64) -> Option<u64> {
    let number: f64 = text.parse().ok()?;
    (number.is_finite() && number >= 0.0).then(|| (number * milliseconds).ceil() as u64)
}

/// The milliseconds from now to an HTTP date.
fn until(date: &str, now: Timestamp) -> Option<u64> {
    let date = DateTimeParser::new().parse_timestamp(date).ok()?;
    let wait = date.as_millisecond().saturating_sub(now.as_millisecond());
    Some(u64::try_from(wait).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    fn asked(name: &'static str, value: &'static str) -> Option<u64> {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_static(value));
        of_headers(&headers)
    }

    #[test]
    fn seconds_milliseconds_and_dates_are_read() {
        assert_eq!(asked("retry-after", "2"), Some(2000));
        assert_eq!(asked("retry-after", " 0.5"), Some(500));
        assert_eq!(asked("retry-after-ms", "20"), Some(20));
        assert_eq!(asked("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"), Some(0));
        let now: Timestamp = "1994-11-06T08:49:30Z".parse().unwrap_or_default();
        assert_eq!(until("Sun, 06 Nov 1994 08:49:37 GMT", now), Some(7000));
    }

    #[test]
    fn words_are_read() {
        assert_eq!(of_words("Rate limit reached. Please try again in 2.3s. Visit ..."), Some(2300));
        assert_eq!(of_words("Please try again in 250ms."), Some(250));
        assert_eq!(of_words("try again in 1m30.5s"), Some(90_500));
        assert_eq!(of_words("Please retry in 34.074824224s."), Some(34_075));
        assert_eq!(of_words("Please retry after 20 seconds."), Some(20_000));
        assert_eq!(duration_ms("34s"), Some(34_000));
        for nonsense in ["try again in a while", "try again in 5", "retry in -1s", "", "s", "1.2.3s"] {
            assert_eq!(of_words(nonsense).or(duration_ms(nonsense)), None, "{nonsense}");
        }
    }

    #[test]
    fn nonsense_is_no_wish() {
        for value in ["", "soon", "-1", "NaN", "inf"] {
            assert_eq!(asked("retry-after", value), None, "{value}");
        }
        assert_eq!(asked("retry-after", "1e300"), Some(u64::MAX));
        assert_eq!(asked("other", "1"), None);
    }
}
