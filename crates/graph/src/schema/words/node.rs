//! The keys of nodes, but for those of calls.

use super::{Word, word};
use crate::schema::shape::Shape::*;

/// Of nodes and tools.
pub(super) const OF_TIMEOUT: Word = word(
    "timeout",
    DurationSetting,
    "How long an attempt may take; for `ask`, until it counts as unanswered.",
);

/// Of nodes and tools.
pub(super) const OF_RETRY: Word = word(
    "retry",
    Either(&WholeSetting(1), "retry"),
    "Attempts in all, or {max, backoff, factor, if}. Default: 3.",
);

/// Of nodes and tools.
pub(super) const OF_CACHE: Word = word(
    "cache",
    CacheSetting,
    "How long the result of an equal call is used again in the run. Default: false.",
);

pub(super) const NODE: &[Word] = &[
    word("update", Expressions, "What the node writes: expressions over `result`, by channel."),
    word("next", Of("route"), "Where it leads. Default: the branch ends."),
    word("after", Names, "Nodes that must all have come before it starts."),
    word("defer", Boolean, "Whether it waits until nothing else in the graph is running. Default: false."),
    word(
        "each",
        Expression,
        "A list: the node runs once for each `item`, with its `index`. Results keep the order.",
    ),
    word("max_items", Expression, "The most items of `each` that are run; needed with it."),
    word("parallel", WholeSetting(1), "Items of `each` in flight. Default: unbounded."),
    word(
        "on_error",
        Of("route"),
        "Where a failure leads, with `error` in scope. Default: an exit by the kind of the error.",
    ),
    OF_TIMEOUT,
    OF_RETRY,
    OF_CACHE,
    word("title", Template, "What progress shows. Default: the name of the node."),
];

pub(super) const MODEL: &[Word] = &[
    word("model", TextSetting, "The model: extractive, PROVIDER::NAME, scripted, or config.KEY."),
    word("system", Template, "The system message of each request."),
    word(
        "messages",
        Either(&Name, "messages"),
        "The channel of the conversation: read, and the reply is added; or {read: CHANNEL}, only read.",
    ),
    word("prompt", Template, "The last user message of this request, which is not kept."),
    word("tools", Names, "The tools that are offered; they need `messages`. Default: none."),
    word("returns", Of("field"), "The shape of the answer: structured output, in result.data."),
    word("max_output", WholeSetting(1), "The longest reply in tokens; also what is reserved for it."),
    word("truncate", Of("truncate"), "How a request that is too long for the context window is cut."),
    word("options", Mapping, "Passed on to the provider: temperature and the like."),
];

pub(super) const RUN_TOOLS: &[Word] =
    &[word("run_tools", Name, "The model node whose last reply holds the calls that are run.")];

pub(super) const ASK: &[Word] = &[
    word("ask", Template, "The question to the person."),
    word("returns", Of("field"), "The shape of the answer. Default: a string."),
];

pub(super) const MESSAGES: &[Word] =
    &[word("read", Name, "The channel of a conversation that the reply is not added to.")];

pub(super) const TRUNCATE: &[Word] = &[
    word(
        "cut",
        Names,
        "What goes, in order: tool_results, oldest, or the name of a channel. Default: [tool_results, oldest].",
    ),
    word(
        "to",
        Number(0.05, 1.0),
        "The share of the context window that is filled; where that is not known, of the request that is kept after the first overflow. Default: 0.9.",
    ),
    word("shrink", Number(0.01, 0.9), "How much less is kept after each further one. Default: 0.1."),
    word("tries", Whole(1), "Requests in all. Default: 3."),
];

pub(super) const RETRY: &[Word] = &[
    word("max", WholeSetting(1), "Attempts in all. Default: 3."),
    word("backoff", DurationSetting, "The wait before the second attempt. Default: 1s."),
    word("factor", Number(1.0, 100.0), "Each wait is longer by this factor. Default: 2."),
    word(
        "if",
        Condition,
        "Which failures are tried again: an expression over `error`. Default: those that pass.",
    ),
];
