//! Failures of steps, as data.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{ExitReason, Fee, Usage};

/// What went wrong with a step, by kind. Graphs read it as `error.kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// No answer within the step's timeout.
    StepTimeout,
    /// The provider asks to slow down (HTTP 429).
    RateLimited,
    /// The provider or service can not serve now (HTTP 5xx, overload).
    Unavailable,
    /// The connection failed or broke off.
    Network,
    /// Key missing or refused (HTTP 401, 403).
    Unauthorized,
    /// Model, file or endpoint not found (HTTP 404).
    NotFound,
    /// The request is longer than the model's context window.
    ContextOverflow,
    /// The model refused for reasons of content.
    Refusal,
    /// The request is wrong and will stay wrong (other HTTP 4xx).
    InvalidRequest,
    /// The answer does not have the shape that was asked for.
    InvalidOutput,
    /// Arguments or input do not fit.
    InvalidInput,
    /// Not started: a limit, a grant or a person said no.
    Refused,
    /// A question was not answered in time.
    Unanswered,
    /// A tool failed in its own way.
    Tool,
    /// An expression or template could not be evaluated, or two nodes wrote one channel.
    Graph,
    /// Given up because the run or its parent ended.
    Cancelled,
    /// It is not known whether something that changes the outside was done: no outcome of it was learnt.
    Unknown,
}

/// What a failure counts as when no `on_error` says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// A model call failed.
    Model,
    /// A tool, op or question failed.
    Tool,
}

impl ErrorKind {
    /// Whether trying again may help. Refusals, wrong keys and wrong input never do.
    pub fn is_transient(self) -> bool {
        matches!(
            self,
            ErrorKind::StepTimeout
                | ErrorKind::RateLimited
                | ErrorKind::Unavailable
                | ErrorKind::Network
                | ErrorKind::InvalidOutput
                | ErrorKind::Tool
        )
    }

    /// Whether another model may be asked instead: the trouble is with the one that was asked, not with the request.
    pub fn fails_over(self) -> bool {
        matches!(
            self,
            ErrorKind::StepTimeout
                | ErrorKind::RateLimited
                | ErrorKind::Unavailable
                | ErrorKind::Network
                | ErrorKind::NotFound
        )
    }

    /// Whether such a failure of a model that was asked in another's place is no last word: it says that this one is no
    /// help, and nothing of the one whose trouble led to it.
    pub fn spoils_fallback(self) -> bool {
        matches!(self, ErrorKind::Unauthorized | ErrorKind::InvalidRequest | ErrorKind::ContextOverflow)
    }

    /// The exit of an instance that such a failure ends.
    pub fn exit(self, class: ErrorClass) -> ExitReason {
        match (self, class) {
            (ErrorKind::StepTimeout, _) => ExitReason::StepTimeout,
            (ErrorKind::ContextOverflow, _) => ExitReason::ContextOverflow,
            (ErrorKind::Refusal, _) => ExitReason::Refusal,
            (ErrorKind::Graph, _) => ExitReason::GraphError,
            (ErrorKind::Cancelled, _) => ExitReason::Cancelled,
            (ErrorKind::Unanswered, _) => ExitReason::ClarificationNeeded,
            (ErrorKind::Unknown, _) => ExitReason::ToolError,
            (_, ErrorClass::Model) => ExitReason::ModelError,
            (_, ErrorClass::Tool) => ExitReason::ToolError,
        }
    }

    /// The name that graphs and traces use.
    pub fn name(self) -> &'static str {
        match self {
            ErrorKind::StepTimeout => "step_timeout",
            ErrorKind::RateLimited => "rate_limited",
            ErrorKind::Unavailable => "unavailable",
            ErrorKind::Network => "network",
            ErrorKind::Unauthorized => "unauthorized",
            ErrorKind::NotFound => "not_found",
            ErrorKind::ContextOverflow => "context_overflow",
            ErrorKind::Refusal => "refusal",
            ErrorKind::InvalidRequest => "invalid_request",
            ErrorKind::InvalidOutput => "invalid_output",
            ErrorKind::InvalidInput => "invalid_input",
            ErrorKind::Refused => "refused",
            ErrorKind::Unanswered => "unanswered",
            ErrorKind::Tool => "tool",
            ErrorKind::Graph => "graph",
            ErrorKind::Cancelled => "cancelled",
            ErrorKind::Unknown => "unknown",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A failure of a step. Graphs read it as `error`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepError {
    /// What went wrong.
    pub kind: ErrorKind,
    /// What a person should know: what was wrong, where, what to do. Never holds keys.
    pub message: String,
    /// How long the provider asks to wait before another try, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// Whether the request surely never reached the service, so that nothing can have been used.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsent: bool,
    /// The context window of the model in tokens, where the provider told it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// The tokens of the request as the provider counted them, where it told them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// What a model call used although it failed, on the way from the model to the journal, where it stands beside the
    /// failure ([`AttemptFailed`](crate::EntryBody::AttemptFailed)); none: nothing that is known.
    #[serde(skip)]
    pub used: Option<Box<UsedInVain>>,
}

/// What a model call used that gave no reply: a refusal, one that broke off amid its reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsedInVain {
    /// Its tokens.
    pub usage: Usage,
    /// What it cost as the provider says; none: as the model's price has it.
    pub cost_micro_usd: Option<u64>,
}

impl UsedInVain {
    /// The tokens, and what they cost where `price` tells what a usage costs; without tokens nothing.
    pub fn charged(&self, price: impl FnOnce(&Usage) -> Option<u64>) -> (Usage, Fee) {
        if self.usage.tokens() == 0 {
            return (self.usage, Fee::NONE);
        }
        let cost = self.cost_micro_usd.or_else(|| price(&self.usage));
        (self.usage, Fee { micro_usd: cost.unwrap_or(0), unknown: u64::from(cost.is_none()) })
    }
}

impl StepError {
    /// A failure without a waiting time.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> StepError {
        StepError {
            kind,
            message: message.into(),
            retry_after_ms: None,
            unsent: false,
            window: None,
            tokens: None,
            used: None,
        }
    }

    /// The same failure, of a call that used something nevertheless.
    pub fn having_used(self, used: UsedInVain) -> StepError {
        StepError { used: Some(Box::new(used)), ..self }
    }

    /// Whether a call that was sent out may have been done although it failed so. Only what says that it was not is
    /// trusted: a request that did not get there, and a service or a tool that refuses. No answer, an answer that can
    /// not be read and trouble inside of the service (HTTP 5xx) leave it open.
    pub fn leaves_open(&self) -> bool {
        let is_refused = match self.kind {
            ErrorKind::RateLimited
            | ErrorKind::Unauthorized
            | ErrorKind::NotFound
            | ErrorKind::Refusal
            | ErrorKind::InvalidInput
            | ErrorKind::Refused
            | ErrorKind::Unanswered
            | ErrorKind::Tool
            | ErrorKind::Graph => true,
            ErrorKind::StepTimeout
            | ErrorKind::Unavailable
            | ErrorKind::Network
            | ErrorKind::ContextOverflow
            | ErrorKind::InvalidRequest
            | ErrorKind::InvalidOutput
            | ErrorKind::Cancelled
            | ErrorKind::Unknown => false,
        };
        !self.unsent && !is_refused
    }

    /// The same failure, of a request that surely never reached the service.
    pub fn unsent(self) -> StepError {
        StepError { unsent: true, ..self }
    }
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.message)
    }
}

impl std::error::Error for StepError {}
