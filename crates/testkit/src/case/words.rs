//! The words of case files: what is read, and what the documents list.

use deepgraph_protocol::{ErrorKind, FinishReason};
use deepgraph_trace::Detail;

/// The keys of a case.
pub const CASE: [&str; 21] = [
    "case",
    "graph",
    "files",
    "servers",
    "date",
    "input",
    "kept",
    "config",
    "fallbacks",
    "windows",
    "models",
    "ops",
    "answers",
    "latency",
    "order",
    "seeds",
    "crash",
    "cancel",
    "expect",
    "forks",
    "attempts",
];

/// A tool of an MCP server.
pub const SERVER_TOOL: [&str; 3] = ["description", "input_schema", "read_only"];

/// What a model answers, written out.
pub const MODEL: [&str; 12] = [
    "text",
    "data",
    "guess",
    "calls",
    "finish",
    "error",
    "fail_over",
    "takes",
    "held",
    "tokens",
    "cost",
    "expect",
];

/// What a request to a model must be.
pub const REQUEST: [&str; 7] = ["contains", "lacks", "system", "last", "messages", "tools", "model"];

/// What an op brings back has its own fields and these.
pub const OP: [&str; 5] = ["result", "error", "takes", "fee", "expect"];

/// The tokens of a model call.
pub const TOKENS: [&str; 3] = ["input", "output", "reserve"];

/// The price of a model call, and the fee of an op's.
pub const COST: [&str; 2] = ["used", "reserve"];

/// A failure, written out.
pub const ERROR: [&str; 6] = ["kind", "message", "after", "unsent", "window", "tokens"];

/// What a person says, written out.
pub const PERSON: [&str; 4] = ["answer", "error", "later", "takes"];

/// When a run is cancelled.
pub const CANCEL: [&str; 3] = ["during", "after", "at"];

/// A fork of the run.
pub const FORK: [&str; 8] = ["after", "of", "state", "models", "ops", "answers", "latency", "expect"];

/// A further attempt of the run.
pub const ATTEMPT: [&str; 8] = ["config", "from", "models", "ops", "answers", "latency", "refused", "expect"];

/// What is expected of an instance: of the root, or under `scopes`.
pub const EXPECT_OF_SCOPE: [&str; 13] = [
    "exit",
    "report",
    "report_error",
    "input",
    "output",
    "state",
    "kept",
    "counters",
    "limits",
    "used",
    "grant",
    "clocks",
    "super_steps",
];

/// What is expected of the run as a whole.
pub const EXPECT_OF_RUN: [&str; 18] = [
    "status",
    "steps",
    "took",
    "not_taken",
    "attempts",
    "answers",
    "refused",
    "malformed",
    "failed",
    "questions",
    "left_out",
    "at_once",
    "elapsed",
    "history",
    "scopes",
    "warnings",
    "load_error",
    "trace",
];

/// What is expected of an exit, written out.
pub const EXIT: [&str; 10] = [
    "reason",
    "class",
    "limit",
    "also",
    "detail",
    "findings",
    "last_step",
    "attempt",
    "unknown_writes",
    "not_undone",
];

/// All kinds of errors.
pub const ERROR_KINDS: [ErrorKind; 17] = [
    ErrorKind::StepTimeout,
    ErrorKind::RateLimited,
    ErrorKind::Unavailable,
    ErrorKind::Network,
    ErrorKind::Unauthorized,
    ErrorKind::NotFound,
    ErrorKind::ContextOverflow,
    ErrorKind::Refusal,
    ErrorKind::InvalidRequest,
    ErrorKind::InvalidOutput,
    ErrorKind::InvalidInput,
    ErrorKind::Refused,
    ErrorKind::Unanswered,
    ErrorKind::Tool,
    ErrorKind::Graph,
    ErrorKind::Cancelled,
    ErrorKind::Unknown,
];

/// Why a model may stop.
pub const FINISH: [(&str, FinishReason); 7] = [
    ("stop", FinishReason::Stop),
    ("tool_calls", FinishReason::ToolCalls),
    ("length", FinishReason::Length),
    ("refusal", FinishReason::Refusal),
    ("empty", FinishReason::Empty),
    ("repetition", FinishReason::Repetition),
    ("other", FinishReason::Other),
];

/// How much of a trace is kept as a snapshot.
pub const TRACE: [(&str, Detail); 2] = [("snapshot", Detail::Short), ("full", Detail::Full)];
