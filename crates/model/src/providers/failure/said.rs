//! What an error body says, and what it comes down to.

use deepgraph_protocol::ErrorKind;
use serde_json::Value as Json;

use super::{wait, window};

/// What a failure comes down to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// The key is missing or wrong, or may not do this.
    Key,
    /// Too many requests or tokens for now.
    SlowDown,
    /// The account has no quota or credit left.
    UsedUp,
    /// The server can not serve now.
    Unavailable,
    /// The request is longer than the model's window.
    Overflow,
    /// The content is refused.
    Content,
    /// There is no such model or path.
    NotFound,
    /// The address is another one.
    Redirect,
    /// The model wrote what its own server can not read.
    Unreadable,
    /// Output of a given shape can not be asked for in this way.
    NoOutputShape,
    /// The model knows no tools.
    NoTools,
    /// The request is wrong in any other way.
    Request,
}

impl Cause {
    pub(super) fn kind(self) -> ErrorKind {
        match self {
            Cause::Key => ErrorKind::Unauthorized,
            Cause::SlowDown | Cause::UsedUp => ErrorKind::RateLimited,
            Cause::Unavailable => ErrorKind::Unavailable,
            Cause::Overflow => ErrorKind::ContextOverflow,
            Cause::Content => ErrorKind::Refusal,
            Cause::NotFound => ErrorKind::NotFound,
            Cause::Unreadable => ErrorKind::InvalidOutput,
            Cause::Redirect | Cause::NoOutputShape | Cause::NoTools | Cause::Request => {
                ErrorKind::InvalidRequest
            }
        }
    }
}

/// Codes and types by which servers say that they withhold content.
const CONTENT_CODES: [&str; 4] =
    ["content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation", "invalid_prompt"];

/// Codes and types by which servers say that an account has nothing left.
const USED_UP_CODES: [&str; 6] = [
    "insufficient_quota",
    "billing_hard_limit_reached",
    "billing_not_active",
    "billing_error",
    "insufficient_credits",
    "access_terminated",
];

/// Words by which they say it otherwise.
const USED_UP_WORDS: [&str; 4] =
    ["insufficient balance", "insufficient credit", "credit balance is too low", "requires more credits"];

/// Codes by which servers say that the model wrote a call or JSON that they could not read.
const UNREADABLE_CODES: [&str; 2] = ["tool_use_failed", "json_validate_failed"];

/// Words for output of a given shape.
const SHAPE_WORDS: [&str; 14] = [
    "response_format",
    "response format",
    "json_schema",
    "json schema",
    "json_object",
    "structured output",
    "output_config",
    "output_format",
    "text.format",
    "responsemimetype",
    "response mime type",
    "response_mime_type",
    "responsejsonschema",
    "response_json_schema",
];

/// Words by which a complaint of a schema is about that of a tool.
const OF_TOOLS_WORDS: [&str; 5] =
    ["input_schema", "tools.", "tools[", "function_declarations", "schema for function"];

/// Words by which servers say that a model knows no tools.
const NO_TOOLS_WORDS: [&str; 9] = [
    "does not support tools",
    "doesn't support tools",
    "do not support tools",
    "support tool use",
    "does not support function calling",
    "tool calling is not supported",
    "function calling is not supported",
    "function calling is not enabled",
    "tool choice requires --enable-auto-tool-choice",
];

/// What an error body says.
pub(super) struct Said {
    pub(super) message: String,
    /// The code, as text.
    code: String,
    /// The type, or Google's name of the status.
    kind: String,
    /// Whether a gateway says that its moderation flagged the content.
    flagged: bool,
    /// How long it asks to wait.
    pub(super) wait_ms: Option<u64>,
    /// The window that it tells.
    pub(super) window: Option<u64>,
    /// How many tokens of the request it has counted.
    pub(super) tokens: Option<u64>,
}

impl Said {
    /// Words that are no JSON.
    pub(super) fn plain(text: &str) -> Said {
        Said {
            message: text.to_owned(),
            code: String::new(),
            kind: String::new(),
            flagged: false,
            wait_ms: wait::of_words(text),
            window: window::of_words(text),
            tokens: window::counted(text),
        }
    }

    /// `{error: {message, type, code, status, details}}`, `{error: TEXT}`, `{message: TEXT}`, `{detail: ...}`, their
    /// insides, and lists of them.
    pub(super) fn read(body: &Json) -> Said {
        let body = body.get(0).unwrap_or(body);
        let error = body.get("error").filter(|error| !error.is_null()).unwrap_or(body);
        let text = |value: Option<&Json>| match value {
            None | Some(Json::Null) => String::new(),
            Some(Json::String(text)) => text.clone(),
            Some(Json::Array(list)) if list.iter().any(|one| one.get("msg").is_some()) => complaints(list),
            Some(other) => other.to_string(),
        };
        let message = ["message", "detail", "msg"].iter().find_map(|key| error.get(*key));
        let message = if message.is_some() { text(message) } else { text(Some(error)) };
        let details = || error.get("details").and_then(Json::as_array).into_iter().flatten();
        let reason = details().find_map(|detail| detail.get("reason"));
        let inner = error.pointer("/innererror/code");
        let code = text(inner.or(reason).or_else(|| error.get("code")));
        let delay = details().find_map(|detail| detail.get("retryDelay")).and_then(Json::as_str);
        let kind = error.get("status").filter(|status| status.is_string()).or_else(|| error.get("type"));
        // What stands behind a gateway says more than the gateway.
        let behind = text(error.pointer("/metadata/raw"));
        let all = format!("{message} {behind}");
        Said {
            code,
            kind: text(kind),
            flagged: error.pointer("/metadata/reasons").is_some_and(Json::is_array),
            wait_ms: delay.and_then(wait::duration_ms).or_else(|| wait::of_words(&all)),
            window: error.get("n_ctx").and_then(Json::as_u64).or_else(|| window::of_words(&all)),
            tokens: error.get("n_prompt_tokens").and_then(Json::as_u64).or_else(|| window::counted(&all)),
            message: if behind.is_empty() { message } else { all },
        }
    }

    /// The HTTP status that the failure would have had, for one that is told inside an answer.
    pub(super) fn status(&self) -> u16 {
        if let Some(status) = self.code.parse().ok().filter(|status| (400..600).contains(status)) {
            return status;
        }
        for name in [self.kind.as_str(), self.code.as_str()] {
            let status = match name {
                "rate_limit_exceeded" | "rate_limit_error" | "RESOURCE_EXHAUSTED" => 429,
                "invalid_request_error" | "INVALID_ARGUMENT" | "FAILED_PRECONDITION" => 400,
                "authentication_error" | "UNAUTHENTICATED" => 401,
                "billing_error" => 402,
                "permission_error" | "PERMISSION_DENIED" => 403,
                "not_found_error" | "NOT_FOUND" => 404,
                "request_too_large" => 413,
                "overloaded_error" | "overloaded" => 529,
                "UNAVAILABLE" => 503,
                "timeout_error" | "DEADLINE_EXCEEDED" => 504,
                _ => continue,
            };
            return status;
        }
        if window::says_overflow(&self.message) || self.is(&window::OVERFLOW_CODES) { 400 } else { 500 }
    }

    /// What the failure comes down to under an HTTP status.
    pub(super) fn cause(&self, status: u16) -> Cause {
        let words = self.message.to_lowercase();
        let says = |list: &[&str]| list.iter().any(|phrase| words.contains(phrase));
        let is_wrong_request = matches!(status, 400 | 404 | 405 | 415 | 422 | 501);
        match status {
            _ if self.is(&USED_UP_CODES) || says(&USED_UP_WORDS) => Cause::UsedUp,
            402 => Cause::UsedUp,
            403 if self.flagged => Cause::Content,
            // Google says so with a 400.
            _ if self.is(&["API_KEY_INVALID", "API_KEY_EXPIRED", "UNAUTHENTICATED"]) => Cause::Key,
            401 | 403 => Cause::Key,
            429 => Cause::SlowDown,
            _ if self.is(&["overloaded_error", "overloaded"]) => Cause::Unavailable,
            _ if self.is(&window::OVERFLOW_CODES) => Cause::Overflow,
            413 => Cause::Overflow,
            400 | 422 | 500 if window::says_overflow(&self.message) => Cause::Overflow,
            _ if is_wrong_request && self.is(&UNREADABLE_CODES) => Cause::Unreadable,
            _ if is_wrong_request && self.is(&CONTENT_CODES) => Cause::Content,
            _ if is_wrong_request && says(&NO_TOOLS_WORDS) => Cause::NoTools,
            _ if is_wrong_request && says(&SHAPE_WORDS) && !says(&OF_TOOLS_WORDS) => Cause::NoOutputShape,
            408 | 409 | 425 | 498 | 500.. => Cause::Unavailable,
            404 => Cause::NotFound,
            300..=399 => Cause::Redirect,
            _ => Cause::Request,
        }
    }

    fn is(&self, codes: &[&str]) -> bool {
        codes.iter().any(|code| self.code == *code || self.kind == *code)
    }
}

/// What is wrong and where, of each complaint of a list: `{loc: ["body", "messages", 0], msg: "...", input: ...}`. What they
/// say beside it is the request itself, and nothing of that is a server's word.
fn complaints(list: &[Json]) -> String {
    let one = |complaint: &Json| {
        let message = complaint.get("msg")?.as_str()?;
        let place = complaint.get("loc").and_then(Json::as_array).into_iter().flatten();
        let place: Vec<String> =
            place.map(|part| part.as_str().map_or_else(|| part.to_string(), str::to_owned)).collect();
        Some(if place.is_empty() { message.to_owned() } else { format!("{}: {message}", place.join(".")) })
    };
    list.iter().filter_map(one).collect::<Vec<_>>().join("; ")
}
