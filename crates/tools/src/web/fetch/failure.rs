//! What a page that could not be fetched counts as.

use std::error::Error;

use deepgraph_protocol::{ErrorKind, StepError};
use http::{HeaderMap, StatusCode, header};
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use url::Url;

use super::super::canonical::address;
use super::super::guard::{advice, refused_by_resolver};

/// Longest wait that is taken over from a site, in milliseconds: a day.
const LONGEST_WAIT: u64 = 24 * 60 * 60 * 1000;

/// A failure that begins with the URL.
pub fn failure(kind: ErrorKind, url: &Url, what: &str) -> StepError {
    StepError::new(kind, format!("{} {what}", address(url)))
}

/// The failure of a request that had no answer, or only a part of one.
pub fn of_request(url: &Url, error: &reqwest::Error) -> StepError {
    if let Some(what) = refused_by_resolver(error) {
        return failure(ErrorKind::Refused, url, &format!("leads to {what}; {}", advice(url))).unsent();
    }
    let cause = root_cause(error);
    if error.is_timeout() {
        return failure(ErrorKind::Network, url, "did not answer in time");
    }
    if error.is_connect() {
        return failure(ErrorKind::Network, url, &format!("can not be reached: {cause}")).unsent();
    }
    failure(ErrorKind::Network, url, &format!("broke off: {cause}"))
}

/// The failure that a status tells.
pub fn of_status(url: &Url, status: StatusCode, headers: &HeaderMap) -> StepError {
    let shown = shown(status);
    match status.as_u16() {
        404 | 410 => failure(ErrorKind::NotFound, url, &format!("does not exist ({shown})")),
        401 | 402 | 403 | 407 => failure(
            ErrorKind::Unauthorized,
            url,
            &format!("is behind a login or closed to us ({shown}): use another source"),
        ),
        429 => {
            let failed = failure(ErrorKind::RateLimited, url, &format!("asks to slow down ({shown})"));
            StepError { retry_after_ms: retry_after_ms(headers), ..failed }
        }
        451 => failure(ErrorKind::Refused, url, &format!("may not be shown for legal reasons ({shown})")),
        408 | 425 | 500..=599 => {
            let failed = failure(ErrorKind::Unavailable, url, &format!("can not be had now ({shown})"));
            StepError { retry_after_ms: retry_after_ms(headers), ..failed }
        }
        _ => failure(ErrorKind::InvalidRequest, url, &format!("answers with {shown}")),
    }
}

fn shown(status: StatusCode) -> String {
    match status.canonical_reason() {
        Some(reason) => format!("HTTP {} {reason}", status.as_u16()),
        None => format!("HTTP {}", status.as_u16()),
    }
}

/// How long a site asks to wait: seconds, or a date.
fn retry_after_ms(headers: &HeaderMap) -> Option<u64> {
    let text = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    let wait = match text.parse::<u64>() {
        Ok(seconds) => seconds.saturating_mul(1000),
        Err(_) => {
            let until = rfc2822::parse(text).ok()?.timestamp().as_millisecond();
            u64::try_from(until.saturating_sub(Timestamp::now().as_millisecond())).unwrap_or(0)
        }
    };
    Some(wait.min(LONGEST_WAIT))
}

/// The first cause of an error: what the system says.
pub fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_have_kinds() {
        let url = Url::parse("https://user:secret@example.com/a?utm_source=x").expect("a URL");
        for (status, kind) in [
            (404, ErrorKind::NotFound),
            (410, ErrorKind::NotFound),
            (401, ErrorKind::Unauthorized),
            (403, ErrorKind::Unauthorized),
            (407, ErrorKind::Unauthorized),
            (429, ErrorKind::RateLimited),
            (451, ErrorKind::Refused),
            (408, ErrorKind::Unavailable),
            (500, ErrorKind::Unavailable),
            (503, ErrorKind::Unavailable),
            (529, ErrorKind::Unavailable),
            (400, ErrorKind::InvalidRequest),
            (418, ErrorKind::InvalidRequest),
        ] {
            let failed = of_status(&url, StatusCode::from_u16(status).expect("a status"), &HeaderMap::new());
            assert_eq!(failed.kind, kind, "{status}");
            assert!(failed.message.starts_with("https://example.com/a "), "{}", failed.message);
            assert!(failed.message.contains(&status.to_string()), "{}", failed.message);
        }
    }

    #[test]
    fn waits_are_read_from_seconds_and_dates() {
        let wait = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::RETRY_AFTER, text.parse().expect("a header"));
            retry_after_ms(&headers)
        };
        assert_eq!(wait("7"), Some(7000));
        assert_eq!(wait("99999999999999999999"), None);
        assert_eq!(wait("9999999999"), Some(LONGEST_WAIT));
        assert_eq!(wait("Wed, 21 Oct 2015 07:28:00 GMT"), Some(0));
        assert_eq!(wait("Fri, 31 Dec 2100 23:59:59 GMT"), Some(LONGEST_WAIT));
        assert_eq!(wait("soon"), None);
    }
}
