//! The words of the graph language by the place where they stand: what is read, and what the reference lists.

pub use crate::infer::{FILTERS, FUNCTIONS, TESTS};
pub use crate::ops::NOT_BUILT as LATER_OPS;
pub use crate::read::ROOTS;
pub use crate::types::builtin::{PLAIN, RECORDS, built_in};

/// The keys of one kind of mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words {
    /// What has them.
    pub place: &'static str,
    /// Those that are read.
    pub known: &'static [&'static str],
    /// Those that are part of the language and not built yet: refused as such.
    pub later: &'static [&'static str],
}

const fn words(place: &'static str, known: &'static [&'static str], later: &'static [&'static str]) -> Words {
    Words { place, known, later }
}

/// A graph: the root or a local one.
pub const GRAPH: Words = words(
    "graph",
    &[
        "deepgraph",
        "name",
        "description",
        "config",
        "types",
        "state",
        "input",
        "output",
        "mcp",
        "tools",
        "limits",
        "exits",
        "concurrency",
        "intents",
        "start",
        "finally",
        "nodes",
        "graphs",
    ],
    &["profiles", "upgrade", "schedule"],
);

/// Keys that only the root graph has.
pub const ROOT_ONLY: [&str; 5] = ["deepgraph", "name", "concurrency", "intents", "schedule"];

/// The run-wide caps.
pub const CONCURRENCY: Words = words("concurrency", &["graphs", "model_calls", "tool_calls"], &[]);

/// A class of questions.
pub const INTENT: Words = words("intent", &["description", "when", "kind", "set"], &[]);

/// A field written out: of a type, a parameter, a config key.
pub const FIELD: Words = words(
    "field",
    &["type", "enum", "default", "minimum", "maximum", "max_items", "optional", "description"],
    &[],
);

/// What a channel has beside the keys of a field.
pub const CHANNEL: Words = words("channel", &["reduce", "persist"], &[]);

/// An MCP server.
pub const SERVER: Words =
    words("server", &["url", "headers", "command", "env", "takes_keys", "required"], &[]);

/// A way of a route, written out.
pub const WAY: Words = words("way", &["if", "update", "to", "exit"], &[]);

/// What every node may have.
pub const NODE: Words = words(
    "node",
    &[
        "update",
        "next",
        "after",
        "defer",
        "each",
        "max_items",
        "parallel",
        "on_error",
        "timeout",
        "retry",
        "cache",
        "title",
    ],
    &[],
);

/// What the verbs of nodes have beside that, by verb.
pub const VERBS: [Words; 4] = [
    words(
        "model",
        &["model", "system", "messages", "prompt", "tools", "returns", "max_output", "truncate", "options"],
        &[],
    ),
    words("run_tools", &["run_tools"], &[]),
    words("call", &["call", "input", "config", "grant", "effect", "compensate"], &[]),
    words("ask", &["ask", "returns"], &[]),
];

/// A conversation that is only read.
pub const MESSAGES: Words = words("messages", &["read"], &[]);

/// How a request is made to fit.
pub const TRUNCATE: Words = words("truncate", &["cut", "to", "shrink", "tries"], &[]);

/// Repetition, written out.
pub const RETRY: Words = words("retry", &["max", "backoff", "factor", "if"], &[]);

/// What undoes a call that writes.
pub const COMPENSATE: Words = words("compensate", &["call", "input"], &[]);

/// A tool.
pub const TOOL: Words = words(
    "tool",
    &[
        "description",
        "parameters",
        "call",
        "ask",
        "only",
        "input",
        "config",
        "grant",
        "effect",
        "compensate",
        "update",
        "next",
        "on_error",
        "timeout",
        "retry",
        "cache",
        "returns",
        "answer",
        "answer_max",
        "approve",
        "parallel",
        "overflow",
    ],
    &[],
);

/// A limit.
pub const LIMIT: Words = words(
    "limit",
    &[
        "count",
        "if",
        "per",
        "max",
        "gain",
        "below",
        "window",
        "min_steps",
        "mode",
        "exit",
        "to",
        "refuse",
        "reserve",
        "warn",
        "scope",
    ],
    &[],
);

/// Every kind of mapping, those of the verbs apart.
pub const MAPPINGS: [Words; 14] = [
    GRAPH,
    CONCURRENCY,
    INTENT,
    FIELD,
    CHANNEL,
    SERVER,
    WAY,
    NODE,
    MESSAGES,
    TRUNCATE,
    RETRY,
    COMPENSATE,
    TOOL,
    LIMIT,
];
