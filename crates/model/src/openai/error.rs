//! Failures of servers and connections as [`StepError`]s.

use std::error::Error;

use deepgraph_protocol::{ErrorKind, Hidden, StepError, keys_in};
use genai::webc;
use reqwest::header::HeaderMap;
use serde_json::Value as Json;

use super::retry::retry_after_ms;

/// Longest quotation of a server's words, in characters.
const LONGEST_QUOTE: usize = 400;

/// Codes and types by which servers say that the request is longer than the model's window.
const OVERFLOW_CODES: [&str; 3] =
    ["context_length_exceeded", "exceed_context_size_error", "model_context_window_exceeded"];

/// Words by which servers without such a code say it.
const OVERFLOW_WORDS: [&str; 9] = [
    "context length",
    "context window",
    "context size",
    "maximum context",
    "prompt is too long",
    "prompt too long",
    "input is too long",
    "too many input tokens",
    "reduce the length of the messages",
];

/// Codes by which servers say that they withhold content.
const REFUSAL_CODES: [&str; 3] =
    ["content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"];

/// Where a request went, for messages.
pub(super) struct Place<'a> {
    /// The model as it is configured.
    pub(super) model: &'a str,
    /// The server's host and port.
    pub(super) host: &'a str,
    /// The environment variable that holds the key.
    pub(super) variable: &'a str,
    /// The key that was sent, to keep it out of messages.
    pub(super) key: &'a str,
}

impl Place<'_> {
    /// The failure that `genai` reports.
    pub(super) fn failure(&self, error: &genai::Error) -> StepError {
        match error {
            genai::Error::WebModelCall { webc_error, .. }
            | genai::Error::WebAdapterCall { webc_error, .. } => self.web_failure(webc_error),
            genai::Error::HttpError { status, body, headers, .. } => {
                self.status(status.as_u16(), Some(headers), body)
            }
            genai::Error::WebStream { error, .. } => self.stream_failure(error.as_ref()),
            other => {
                let problem =
                    format!("the request to {} can not be made: {}", self, self.quote(&other.to_string()));
                StepError::new(ErrorKind::InvalidRequest, problem)
            }
        }
    }

    fn web_failure(&self, error: &webc::Error) -> StepError {
        match error {
            webc::Error::ResponseFailedStatus { status, body, headers } => {
                self.status(status.as_u16(), Some(headers), body)
            }
            webc::Error::ResponseFailedNotJson { body, .. }
            | webc::Error::ResponseFailedInvalidJson { body, .. } => self.no_json(body),
            webc::Error::Reqwest(error) => self.no_connection(error),
            webc::Error::JsonValueExt(error) => self.no_json(&error.to_string()),
        }
    }

    fn stream_failure(&self, error: &(dyn Error + Send + Sync + 'static)) -> StepError {
        if let Some(error) = error.downcast_ref::<genai::Error>() {
            return self.failure(error);
        }
        if let Some(error) = error.downcast_ref::<reqwest::Error>() {
            return self.no_connection(error);
        }
        self.no_json(&error.to_string())
    }

    /// An answer that is no JSON.
    pub(super) fn no_json(&self, body: &str) -> StepError {
        let problem = format!(
            "{self} answered with something that is no JSON: {}; check that the base URL is that of an \
             OpenAI-compatible API (it usually ends in /v1)",
            self.quote(body)
        );
        StepError::new(ErrorKind::InvalidOutput, problem)
    }

    /// A stream that ended before the reply did.
    pub(super) fn broke_off(&self) -> StepError {
        let problem = format!("{self} broke off in the middle of a reply; try again");
        StepError::new(ErrorKind::Network, problem)
    }

    fn no_connection(&self, error: &reqwest::Error) -> StepError {
        let mut cause: &dyn Error = error;
        while let Some(deeper) = cause.source() {
            cause = deeper;
        }
        if error.is_builder() {
            let problem = format!("the request to {self} can not be made: {cause}; check the base URL");
            return StepError::new(ErrorKind::InvalidRequest, problem);
        }
        let (what, advice) = if error.is_connect() {
            ("can not be reached", "check that the server runs there and that the base URL is right")
        } else {
            ("broke off the connection", "try again")
        };
        let failure = StepError::new(ErrorKind::Network, format!("{self} {what}: {cause}; {advice}"));
        if error.is_connect() { failure.unsent() } else { failure }
    }

    /// A failure that is told by an HTTP status.
    pub(super) fn status(&self, status: u16, headers: Option<&HeaderMap>, body: &str) -> StepError {
        let said = serde_json::from_str(body).map_or_else(|_| Said::plain(body), |json| Said::read(&json));
        let mut error = self.failed(status, &said);
        error.retry_after_ms = headers.and_then(retry_after_ms);
        error
    }

    /// A failure that is told inside a successful answer, or in the middle of a stream.
    pub(super) fn told(&self, error: &Json) -> StepError {
        let said = Said::read(error);
        let status = said.code.parse().ok().filter(|status| (400..600).contains(status));
        let status = status.unwrap_or(match (said.kind.as_str(), said.code.as_str()) {
            ("rate_limit_exceeded" | "rate_limit_error", _) | (_, "rate_limit_exceeded") => 429,
            ("invalid_request_error", _) => 400,
            _ => 500,
        });
        self.failed(status, &said)
    }

    fn failed(&self, status: u16, said: &Said) -> StepError {
        let quote = self.quote(&said.message);
        let (kind, problem) = match status {
            401 | 403 => (
                ErrorKind::Unauthorized,
                format!(
                    "{self} refused the key (HTTP {status}): {quote}; check the variable {}",
                    self.variable
                ),
            ),
            429 => (
                ErrorKind::RateLimited,
                format!(
                    "{self} asks to slow down (HTTP 429): {quote}; wait, lower the parallelism, or check the quota"
                ),
            ),
            408 | 425 | 500.. => (
                ErrorKind::Unavailable,
                format!("{self} can not serve now (HTTP {status}): {quote}; try again later"),
            ),
            _ if said.is_overflow() => (
                ErrorKind::ContextOverflow,
                format!(
                    "the request is longer than the context window of {self}: {quote}; send less, or use a \
                         model with a larger window"
                ),
            ),
            _ if said.is_refusal() => (
                ErrorKind::Refusal,
                format!("{self} refused the content: {quote}; change the prompt or the model"),
            ),
            404 => (
                ErrorKind::NotFound,
                format!(
                    "{self} was not found (HTTP 404): {quote}; check the model's name and the base URL (it \
                         usually ends in /v1)"
                ),
            ),
            300..=399 => (
                ErrorKind::InvalidRequest,
                format!("{self} redirects to another address (HTTP {status}); set that one as the base URL"),
            ),
            _ => (
                ErrorKind::InvalidRequest,
                format!(
                    "{self} does not take the request (HTTP {status}): {quote}; change the node's options, \
                         tools or model"
                ),
            ),
        };
        StepError::new(kind, problem)
    }

    /// A server's words, shortened, on one line, without the key.
    fn quote(&self, text: &str) -> String {
        // Servers like to repeat a wrong key, in part or in full.
        let own = self.key.to_owned();
        let text = Hidden::new(keys_in(text)).and([own]).text(text);
        let mut words = Vec::new();
        let mut length = 0;
        for word in text.split_whitespace() {
            length += word.chars().count() + 1;
            if length > LONGEST_QUOTE {
                words.push(word.chars().take(40).collect());
                words.push("...".to_owned());
                break;
            }
            words.push(word.to_owned());
        }
        if words.is_empty() { "no reason given".to_owned() } else { words.join(" ") }
    }
}

impl std::fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at {}", self.model, self.host)
    }
}

/// What an error body says.
struct Said {
    message: String,
    code: String,
    kind: String,
}

impl Said {
    fn plain(text: &str) -> Said {
        Said { message: text.to_owned(), code: String::new(), kind: String::new() }
    }

    /// `{error: {message, type, code}}`, `{error: TEXT}`, `{message: TEXT}`, `{detail: ...}` and their insides.
    fn read(body: &Json) -> Said {
        let error = body.get("error").filter(|error| !error.is_null()).unwrap_or(body);
        let text = |value: Option<&Json>| match value {
            None | Some(Json::Null) => String::new(),
            Some(Json::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        let message = ["message", "detail", "msg"].iter().find_map(|key| error.get(*key));
        let inner = error.pointer("/innererror/code");
        Said {
            message: if message.is_some() { text(message) } else { text(Some(error)) },
            code: text(inner.or_else(|| error.get("code"))),
            kind: text(error.get("type")),
        }
    }

    fn is_overflow(&self) -> bool {
        let words = self.message.to_lowercase();
        OVERFLOW_CODES.iter().any(|code| self.code == *code || self.kind == *code)
            || OVERFLOW_WORDS.iter().any(|w| words.contains(w))
    }

    fn is_refusal(&self) -> bool {
        REFUSAL_CODES.iter().any(|code| self.code == *code || self.kind == *code)
    }
}
