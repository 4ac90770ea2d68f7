//! Failures of servers and connections as [`StepError`]s.

mod said;
mod wait;
mod window;

use std::error::Error;
use std::fmt;

use deepgraph_protocol::{ErrorKind, Hidden, StepError, keys_in};
use reqwest::header::HeaderMap;
use serde_json::Value as Json;

use self::said::{Cause, Said};
use super::connection::{Connection, Secrets};
use super::in_vain::Came;
use crate::limiter::Account;
use crate::settings::Protocol;

/// Longest quotation of a server's words, in characters.
const LONGEST_QUOTE: usize = 400;

/// What of a request a server does not take, where there is another way of asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// The way in which output of a given shape was asked for.
    Output,
    /// The tools.
    Tools,
}

/// Why a call gave no reply.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) error: StepError,
    /// What could be asked otherwise.
    pub(super) refused: Option<Refused>,
    /// What had come of a reply; none: nothing.
    pub(super) came: Option<Box<Came>>,
}

impl From<StepError> for Failure {
    fn from(error: StepError) -> Failure {
        Failure { error, refused: None, came: None }
    }
}

/// Where a request went, for messages.
pub(super) struct Place<'a> {
    /// The model as it is configured.
    model: &'a str,
    /// The server's host and port.
    host: &'a str,
    provider: &'a str,
    protocol: Protocol,
    /// The environment variables that hold the key and secret headers.
    variables: Vec<&'a str>,
    account: &'a Account,
    /// What was sent and must not be shown.
    secrets: Vec<String>,
}

impl<'a> Place<'a> {
    pub(super) fn new(model: &'a str, connection: &'a Connection, secrets: &Secrets) -> Place<'a> {
        Place {
            model,
            host: &connection.host,
            provider: &connection.endpoint.provider,
            protocol: connection.endpoint.protocol,
            variables: connection.endpoint.variables().collect(),
            account: &connection.account,
            secrets: secrets.values().map(str::to_owned).collect(),
        }
    }

    /// An answer that is no JSON.
    pub(super) fn no_json(&self, body: &str) -> StepError {
        let (api, end) = match self.protocol {
            Protocol::OpenAi => ("an OpenAI-compatible API", " (it usually ends in /v1)"),
            Protocol::OpenAiResp => ("OpenAI's Responses API", " (it usually ends in /v1)"),
            Protocol::Anthropic => ("Anthropic's Messages API", " (it usually ends in /v1)"),
            Protocol::Gemini => ("the Gemini API", " (it usually ends in /v1beta)"),
            Protocol::Ollama => ("Ollama", ""),
        };
        let problem = format!(
            "{self} answered with something that is no JSON: {}; check that the base URL is that of {api}{end}",
            self.quote(body)
        );
        StepError::new(ErrorKind::InvalidOutput, problem)
    }

    /// An answer without a single event, where a stream of them was asked for; `head` is what it begins with.
    pub(super) fn no_events(&self, head: &str) -> StepError {
        let head = head.trim_start_matches('\u{feff}').trim();
        // Nothing, or what keeps a stream alive: it was cut.
        if head.is_empty() || [":", "data:", "event:"].iter().any(|mark| head.starts_with(mark)) {
            let problem = format!("{self} broke off before the first word of a reply; try again");
            return StepError::new(ErrorKind::Network, problem);
        }
        if head.starts_with('<') {
            return self.no_json(head);
        }
        let problem = format!(
            "{self} sent no event stream: {}; turn streaming off for this server by \"stream: false\" under \
             services.providers.{}, or for all by --no-stream",
            self.quote(head),
            self.provider
        );
        StepError::new(ErrorKind::InvalidOutput, problem)
    }

    /// A stream that ended before the reply did.
    pub(super) fn broke_off(&self) -> StepError {
        let problem = format!("{self} broke off in the middle of a reply; try again");
        StepError::new(ErrorKind::Network, problem)
    }

    /// A request that did not get there, or no answer that came back.
    pub(super) fn no_connection(&self, error: &reqwest::Error) -> StepError {
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
    pub(super) fn status(&self, status: u16, headers: &HeaderMap, body: &str) -> Failure {
        let said = serde_json::from_str(body).map_or_else(|_| Said::plain(body), |json| Said::read(&json));
        let mut failure = self.failed(status, &said);
        failure.error.retry_after_ms = wait::of_headers(headers).or(failure.error.retry_after_ms);
        failure
    }

    /// Takes what headers say of the account's limits.
    pub(super) fn learn(&self, headers: &HeaderMap) {
        let readable = headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
        self.account.learn(self.model, readable);
    }

    /// A failure that is told inside a successful answer, or in the middle of a stream.
    pub(super) fn told(&self, error: &Json) -> Failure {
        let said = Said::read(error);
        self.failed(said.status(), &said)
    }

    fn failed(&self, status: u16, said: &Said) -> Failure {
        let cause = said.cause(status);
        let mut error = StepError::new(cause.kind(), self.words(cause, status, &self.quote(&said.message)));
        if matches!(cause, Cause::SlowDown | Cause::Unavailable) {
            error.retry_after_ms = said.wait_ms;
        }
        if cause == Cause::Overflow {
            error.window = said.window;
            error.tokens = said.tokens;
            // What the request has is no window.
            error.window = error.window.filter(|window| Some(*window) != error.tokens);
        }
        let refused = match cause {
            Cause::NoOutputShape => Some(Refused::Output),
            Cause::NoTools => Some(Refused::Tools),
            _ => None,
        };
        Failure { error, refused, came: None }
    }

    /// What a person should know of a failure.
    fn words(&self, cause: Cause, status: u16, quote: &str) -> String {
        match cause {
            Cause::Key => {
                let advice = match self.variables.as_slice() {
                    [] => format!("name the variable with its key as key_env of \"{}\"", self.provider),
                    [variable] => format!("check the variable {variable}"),
                    several => format!("check the variables {}", several.join(" and ")),
                };
                format!("{self} refused the key (HTTP {status}): {quote}; {advice}")
            }
            Cause::SlowDown => format!(
                "{self} asks to slow down (HTTP {status}): {quote}; wait, lower the parallelism, or check the quota"
            ),
            Cause::UsedUp => format!(
                "the quota or credit of the account at {self} is used up (HTTP {status}): {quote}; top it up, or use \
                 another model"
            ),
            Cause::Unavailable => {
                format!("{self} can not serve now (HTTP {status}): {quote}; try again later")
            }
            Cause::Overflow => format!(
                "the request is longer than the context window of {self}: {quote}; send less, or use a model with a \
                 larger window"
            ),
            Cause::Content => format!("{self} refused the content: {quote}; change the prompt or the model"),
            Cause::NotFound => format!(
                "{self} was not found (HTTP {status}): {quote}; check the model's name and the base URL (it usually \
                 ends in /v1)"
            ),
            Cause::Redirect => {
                format!("{self} redirects to another address (HTTP {status}); set that one as the base URL")
            }
            Cause::Unreadable => {
                format!(
                    "{self} could not make sense of what the model wrote (HTTP {status}): {quote}; try again"
                )
            }
            Cause::NoTools => format!(
                "{self} does not take tools (HTTP {status}): {quote}; use a model that does, or say \"tools: schema\" \
                 in its facts"
            ),
            Cause::NoOutputShape | Cause::Request => format!(
                "{self} does not take the request (HTTP {status}): {quote}; change the node's options, tools or model"
            ),
        }
    }

    /// A server's words, shortened, on one line, without keys.
    pub(super) fn quote(&self, text: &str) -> String {
        // Servers like to repeat a wrong key, in part or in full.
        let text = Hidden::new(keys_in(text)).and(self.secrets.iter().cloned()).text(text);
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

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.model, self.host)
    }
}
