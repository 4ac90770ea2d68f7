//! What providers say of an account's limits in the headers of their replies.
//!
//! OpenAI: `x-ratelimit-{limit,remaining,reset}-{requests,tokens}`, the reset as a time from now (`1s`, `6m0s`, `20ms`), by
//! <https://platform.openai.com/docs/guides/rate-limits>. Anthropic:
//! `anthropic-ratelimit-{requests,tokens,input-tokens}-{limit,remaining,reset}`, the reset as an RFC 3339 moment, by
//! <https://docs.anthropic.com/en/api/rate-limits>.

use std::time::Duration;

use jiff::Timestamp;

/// What was said of one limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Told {
    /// The most that may be sent.
    pub(super) limit: Option<u64>,
    /// What may be sent now.
    pub(super) remaining: Option<u64>,
    /// How long it is until all of it may be sent again.
    pub(super) reset: Option<Duration>,
}

/// What was said of an account.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Headers {
    pub(super) requests: Told,
    pub(super) tokens: Told,
    /// How long nobody is to send.
    pub(super) wait: Option<Duration>,
}

pub(super) fn read<'h>(headers: impl IntoIterator<Item = (&'h str, &'h str)>, now: Timestamp) -> Headers {
    let mut told = Headers::default();
    // Of input tokens a limit of their own is told, beside that of all tokens: the tightest is `tokens`.
    let mut input = Told::default();
    let mut milliseconds = None;
    for (name, value) in headers {
        let value = value.trim();
        match name {
            "retry-after-ms" => milliseconds = number(value).map(|ms| seconds(ms / 1000.0)),
            "retry-after" => told.wait = told.wait.or_else(|| wait(value, now)),
            _ => {
                if let Some((limit, what)) = named(name, &mut told, &mut input) {
                    note(limit, what, value, now);
                }
            }
        }
    }
    if told.tokens == Told::default() {
        told.tokens = input;
    }
    told.wait = milliseconds.or(told.wait);
    told
}

/// The limit that a header is about, and what it says of it.
fn named<'t, 'n>(
    name: &'n str,
    told: &'t mut Headers,
    input: &'t mut Told,
) -> Option<(&'t mut Told, &'n str)> {
    if let Some(rest) = name.strip_prefix("x-ratelimit-") {
        let (what, of) = rest.split_once('-')?;
        let limit = match of {
            "requests" => &mut told.requests,
            "tokens" => &mut told.tokens,
            _ => return None,
        };
        return Some((limit, what));
    }
    let (of, what) = name.strip_prefix("anthropic-ratelimit-")?.rsplit_once('-')?;
    let limit = match of {
        "requests" => &mut told.requests,
        "tokens" => &mut told.tokens,
        "input-tokens" => input,
        _ => return None,
    };
    Some((limit, what))
}

fn note(limit: &mut Told, what: &str, value: &str, now: Timestamp) {
    match what {
        "limit" => limit.limit = value.parse().ok(),
        "remaining" => limit.remaining = value.parse().ok(),
        "reset" => limit.reset = moment(value, now).or_else(|| span(value)),
        _ => {}
    }
}

/// Seconds with a fraction if need be, or an HTTP date.
fn wait(value: &str, now: Timestamp) -> Option<Duration> {
    if let Some(wait) = number(value) {
        return Some(seconds(wait));
    }
    let at = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(value).ok()?;
    Some(from_now(at, now))
}

/// From here on a plain number is no time to wait but a moment: seconds since 1970, or milliseconds.
const MOMENT: f64 = 1e9;

/// `1h2m3.5s`, `20ms`, or plain seconds.
fn span(value: &str) -> Option<Duration> {
    if let Some(plain) = number(value) {
        return Some(seconds(plain));
    }
    let (mut rest, mut sum) = (value, 0.0);
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (digits, behind) = rest.split_at(end);
        let unit = behind.find(|c: char| c.is_ascii_digit()).unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(unit);
        let in_seconds = match unit {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            _ => return None,
        };
        sum += number(digits)? * in_seconds;
        rest = behind;
    }
    (!value.is_empty()).then(|| seconds(sum))
}

/// An RFC 3339 moment, or one in seconds or milliseconds since 1970.
fn moment(value: &str, now: Timestamp) -> Option<Duration> {
    let Some(since) = number(value).filter(|since| *since >= MOMENT) else {
        return value.parse().ok().map(|at: Timestamp| from_now(at, now));
    };
    let ms = if since >= MOMENT * 1000.0 { since } else { since * 1000.0 };
    Timestamp::from_millisecond(ms as i64).ok().map(|at| from_now(at, now))
}

fn from_now(at: Timestamp, now: Timestamp) -> Duration {
    let ms = at.as_millisecond().saturating_sub(now.as_millisecond());
    Duration::from_millis(u64::try_from(ms).unwrap_or(0))
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|n: &f64| n.is_finite() && *n >= 0.0)
}

/// Never more than a day: nobody waits for longer.
fn seconds(n: f64) -> Duration {
    Duration::from_secs_f64(n.clamp(0.0, 86_400.0))
}
