//! How long a server asks to wait.

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use reqwest::header::HeaderMap;

/// Reads `retry-after-ms` (milliseconds) or `retry-after` (seconds, with a fraction if need be, or a date).
/// What is neither, or a date in the past, is no wish or no wait.
pub(super) fn retry_after_ms(headers: &HeaderMap) -> Option<u64> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let milliseconds = header("retry-after-ms").and_then(|text| whole(text, 1.0));
    milliseconds.or_else(|| {
        let text = header("retry-after")?;
        whole(text, 1000.0).or_else(|| until(text, Timestamp::now()))
    })
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
        retry_after_ms(&headers)
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
    fn nonsense_is_no_wish() {
        for value in ["", "soon", "-1", "NaN", "inf"] {
            assert_eq!(asked("retry-after", value), None, "{value}");
        }
        assert_eq!(asked("retry-after", "1e300"), Some(u64::MAX));
        assert_eq!(asked("other", "1"), None);
    }
}
