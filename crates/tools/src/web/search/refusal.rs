//! What an engine says where it does not answer: by its status, its headers and its words. A page that tells of a limit is
//! a failure whatever its status: 200 and 202 as well.

use std::time::Duration;

use deepgraph_protocol::{ErrorKind, Hidden, StepError};
use reqwest::header::HeaderMap;
use serde_json::Value as Json;

use super::engine::Engine;
use super::pace::USUAL_PEACE;
use super::text::{of_markup, plain};

/// Bytes of a body that are looked at for words.
const LOOKED_AT: usize = 8 * 1024;
/// Characters of an engine's own words that are told.
const TOLD: usize = 200;

const LIMITED: [&str; 13] = [
    "rate limit",
    "rate-limit",
    "ratelimit",
    "rate_limit",
    "rate exceeded",
    "too many requests",
    "throttl",
    "captcha",
    "unusual traffic",
    "are you a robot",
    "not a robot",
    "automated queries",
    "anomaly",
];
const NO_CREDIT: [&str; 7] = [
    "not enough credits",
    "insufficient credit",
    "credits limit",
    "usage limit",
    "exceeds your plan",
    "quota",
    "payment required",
];
const NO_KEY: [&str; 6] = [
    "invalid api key",
    "api key is invalid",
    "unauthorized",
    "subscription_token_invalid",
    "api_key_invalid",
    "missing api key",
];

/// Who is asked, as errors tell it.
#[derive(Clone, Debug)]
pub(super) struct Who {
    pub(super) engine: Engine,
    /// The variable of its key, where it has one.
    pub(super) key_env: Option<String>,
    /// Its key.
    pub(super) hidden: Hidden,
}

impl Who {
    /// A failure of it, with its name before it.
    pub(super) fn error(&self, kind: ErrorKind, what: impl AsRef<str>) -> StepError {
        StepError::new(kind, format!("{}: {}", self.engine, self.hidden.text(what.as_ref())))
    }

    /// It had too many requests.
    pub(super) fn limited(&self, words: &str, wait: Option<Duration>) -> StepError {
        let ms = u64::try_from(wait.unwrap_or(USUAL_PEACE).as_millis()).unwrap_or(u64::MAX);
        let error = self.error(ErrorKind::RateLimited, with_words("it had too many requests", words));
        StepError { retry_after_ms: Some(ms), ..error }
    }

    fn no_credit(&self, words: &str) -> StepError {
        self.error(
            ErrorKind::Unauthorized,
            with_words("the account has nothing left to pay this search with", words),
        )
    }

    pub(super) fn no_key(&self, words: &str) -> StepError {
        let what = match &self.key_env {
            Some(name) => format!("it does not take the key in {name}: look whether it is right"),
            None => "it refuses to answer us".to_owned(),
        };
        self.error(ErrorKind::Unauthorized, with_words(&what, words))
    }

    /// What an answer with this status and these headers that is none says; none: it may be an answer.
    pub(super) fn refusal(&self, status: u16, headers: &HeaderMap, body: &[u8]) -> Option<StepError> {
        if (200..300).contains(&status) && status != 202 {
            return None;
        }
        let (words, all) = words_of(body);
        let wait = wait_of(headers);
        let says = |words: &[&str]| words.iter().any(|word| all.contains(word));
        let error = match status {
            202 | 429 => self.limited(&words, wait),
            402 | 432 | 433 => self.no_credit(&words),
            400 | 403 | 422 if says(&NO_CREDIT) => self.no_credit(&words),
            _ if says(&LIMITED) => self.limited(&words, wait),
            401 | 403 => self.no_key(&words),
            422 if says(&NO_KEY) => self.no_key(&words),
            300..400 => {
                let to = headers.get("location").and_then(|to| to.to_str().ok()).unwrap_or("another place");
                let what = format!("it leads to {to}; set its base_url in services.search.options");
                self.error(ErrorKind::InvalidRequest, what)
            }
            404 | 410 => self.error(
                ErrorKind::NotFound,
                with_words("there is no such API at its address; look at its base_url", &words),
            ),
            408 | 500.. => {
                let error = self.error(ErrorKind::Unavailable, with_words(&format!("HTTP {status}"), &words));
                let ms = wait.and_then(|wait| u64::try_from(wait.as_millis()).ok());
                StepError { retry_after_ms: ms, ..error }
            }
            _ => self.error(ErrorKind::InvalidRequest, with_words(&format!("HTTP {status}"), &words)),
        };
        Some(error)
    }

    /// What a body that is not what was asked for says: a page instead of data, or data that tells of an error.
    pub(super) fn no_answer(&self, body: &[u8], headers: &HeaderMap, what: &str) -> StepError {
        let (words, all) = words_of(body);
        self.by_words(&all, &words, wait_of(headers))
            .unwrap_or_else(|| self.error(ErrorKind::Unavailable, with_words(what, &words)))
    }

    /// What the error says that JSON tells with status 200.
    pub(super) fn told(&self, error: &Json, wait: Option<Duration>) -> StepError {
        let words = cut(&strings_of(error).join(": "));
        let all = words.to_lowercase();
        self.by_words(&all, &words, wait).unwrap_or_else(|| {
            self.error(ErrorKind::InvalidRequest, with_words("it tells of an error", &words))
        })
    }

    fn by_words(&self, all: &str, words: &str, wait: Option<Duration>) -> Option<StepError> {
        let says = |list: &[&str]| list.iter().any(|word| all.contains(word));
        if says(&NO_CREDIT) {
            Some(self.no_credit(words))
        } else if says(&LIMITED) {
            Some(self.limited(words, wait))
        } else if says(&NO_KEY) {
            Some(self.no_key(words))
        } else {
            None
        }
    }
}

/// How long the headers ask to wait: `Retry-After` in seconds, or the first window of `X-RateLimit-Reset` (Brave: seconds
/// until each window is over).
pub(super) fn wait_of(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| {
        let first = headers.get(name)?.to_str().ok()?.split(',').next()?;
        first.trim().parse::<f64>().ok().filter(|seconds| (0.0..1e7).contains(seconds))
    };
    number("retry-after").or_else(|| number("x-ratelimit-reset")).map(Duration::from_secs_f64)
}

fn with_words(what: &str, words: &str) -> String {
    if words.is_empty() { what.to_owned() } else { format!("{what} (it says: {words})") }
}

/// The words of a body that are told, and all that is looked at, in lower case.
fn words_of(body: &[u8]) -> (String, String) {
    let head = String::from_utf8_lossy(body.get(..LOOKED_AT).unwrap_or(body));
    let all = head.to_lowercase();
    let words = match serde_json::from_slice::<Json>(body) {
        Ok(json) => strings_of(&json).join(": "),
        Err(_) if head.trim_start().starts_with('<') => of_markup(&head),
        Err(_) => plain(&head),
    };
    (cut(&words), all)
}

/// The texts in JSON that may tell what is wrong.
fn strings_of(json: &Json) -> Vec<String> {
    const TELLING: [&str; 9] =
        ["error", "errors", "detail", "message", "info", "code", "title", "tag", "ERROR"];
    match json {
        Json::String(text) => vec![plain(text)],
        Json::Array(items) => items.iter().take(3).flat_map(strings_of).collect(),
        Json::Object(fields) => {
            let telling = fields.iter().filter(|(name, _)| TELLING.contains(&name.as_str()));
            telling.flat_map(|(_, value)| strings_of(value)).collect()
        }
        _ => Vec::new(),
    }
}

fn cut(words: &str) -> String {
    super::text::cut_at_word(words, TOLD).0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn who() -> Who {
        let hidden = Hidden::new(["tvly-secret-key".to_owned()]);
        Who { engine: Engine::Tavily, key_env: Some("TAVILY_API_KEY".into()), hidden }
    }

    fn kind(status: u16, body: &str) -> Option<ErrorKind> {
        who().refusal(status, &HeaderMap::new(), body.as_bytes()).map(|error| error.kind)
    }

    #[test]
    fn each_status_is_a_failure_of_its_kind() {
        for (status, body, expected) in [
            (200, "{}", None),
            (202, "<html>one moment</html>", Some(ErrorKind::RateLimited)),
            (301, "", Some(ErrorKind::InvalidRequest)),
            (400, r#"{"message":"Not enough credits","statusCode":400}"#, Some(ErrorKind::Unauthorized)),
            (400, r#"{"detail":{"error":"Query is too long."}}"#, Some(ErrorKind::InvalidRequest)),
            (401, r#"{"detail":{"error":"wrong"}}"#, Some(ErrorKind::Unauthorized)),
            (402, "", Some(ErrorKind::Unauthorized)),
            (403, "<h1>Rate limit exceeded</h1>", Some(ErrorKind::RateLimited)),
            (404, "", Some(ErrorKind::NotFound)),
            (422, r#"{"error":{"code":"SUBSCRIPTION_TOKEN_INVALID"}}"#, Some(ErrorKind::Unauthorized)),
            (422, r#"{"error":{"code":"VALIDATION"}}"#, Some(ErrorKind::InvalidRequest)),
            (429, "", Some(ErrorKind::RateLimited)),
            (432, r#"{"detail":{"error":"over"}}"#, Some(ErrorKind::Unauthorized)),
            (500, "", Some(ErrorKind::Unavailable)),
            (503, "Rate exceeded.", Some(ErrorKind::RateLimited)),
        ] {
            assert_eq!(kind(status, body), expected, "{status} {body}");
        }
    }

    #[test]
    fn errors_name_the_variable_and_never_hold_the_key() {
        let body = r#"{"detail":{"error":"tvly-secret-key is no key"}}"#;
        let error = who().refusal(401, &HeaderMap::new(), body.as_bytes()).unwrap();
        assert!(error.message.contains("TAVILY_API_KEY"), "{error}");
        assert!(!error.message.contains("secret"), "{error}");
    }

    #[test]
    fn the_wait_is_what_the_headers_say() {
        let headers = |name: &'static str, value: &'static str| {
            HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())])
        };
        let wait =
            |headers: &HeaderMap| who().refusal(429, headers, b"").and_then(|error| error.retry_after_ms);
        assert_eq!(wait(&headers("retry-after", "7")), Some(7_000));
        assert_eq!(wait(&headers("x-ratelimit-reset", "1, 1419704")), Some(1_000));
        for unusable in ["soon", "-5", "1e300", "NaN"] {
            assert_eq!(wait(&headers("retry-after", unusable)), Some(10_000), "{unusable}");
        }
    }
}
