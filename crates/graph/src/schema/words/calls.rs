//! The keys of calls, tools and limits.

use super::node::{OF_CACHE, OF_RETRY, OF_TIMEOUT};
use super::{Word, word};
use crate::schema::shape::Shape::*;

const EFFECT: Word = word(
    "effect",
    Words(&["read", "write"]),
    "Whether the call changes anything outside. Default: what the op says.",
);
const CONFIG: Word = word("config", Settings, "Config values of the called graph and all below it, by key.");
const GRANT: Word = word("grant", Grant, "What the called graph may use, by meter. Default: an equal share.");

const OF_COMPENSATE: Word = word(
    "compensate",
    Of("compensate"),
    "What undoes the call when the run is cancelled; only of a call that writes. Default: nothing.",
);

pub(super) const COMPENSATE: &[Word] = &[
    word("call", Callee, "The op or tool of a server that undoes it."),
    word("input", Expressions, "What it is given, by name: expressions over `args` and `result`."),
];

pub(super) const CALL: &[Word] = &[
    word("call", Callee, "The graph or op that is called."),
    word("input", Expressions, "What it is given, by name: expressions, checked against its types."),
    CONFIG,
    GRANT,
    EFFECT,
    OF_COMPENSATE,
];

pub(super) const TOOL: &[Word] = &[
    word("description", Text, "What the tool does, for the model. Default: that of what it calls."),
    word("parameters", Named("field"), "Its arguments, read as `args`. Default: the input of what it calls."),
    word("call", Callee, "The graph or op that it calls."),
    word("ask", Template, "What it asks a person instead of calling something."),
    word("only", Names, "Which tools of a server are offered, where `call` names them all. Default: all."),
    word(
        "input",
        Expressions,
        "What is given to what it calls, by name. Default: each argument by its own name.",
    ),
    word("update", Expressions, "What it writes: expressions over `args` and `result`, by channel."),
    word("next", Of("route"), "Where it leads. Default: where the `run_tools` node leads."),
    word("on_error", Of("route"), "Where a failure leads. Default: it is answered and the loop goes on."),
    OF_TIMEOUT,
    OF_RETRY,
    OF_CACHE,
    word("returns", Of("field"), "The shape of the answer of `ask`. Default: a string."),
    word("answer", Template, "What the model is told. Default: result.text, else the result as JSON."),
    word(
        "answer_max",
        WholeSetting(1),
        "Tokens of the answer; a longer one is cut and says so. Default: 8000.",
    ),
    word(
        "approve",
        Condition,
        "Whether a person is asked before each call, or an expression over `args`. Default: false.",
    ),
    word("parallel", WholeSetting(1), "Calls of one turn. Default: unbounded."),
    word(
        "overflow",
        Words(&["refuse", "queue"]),
        "What becomes of calls past `parallel`: refused, or run later in the turn. Default: refuse.",
    ),
    CONFIG,
    GRANT,
    EFFECT,
    OF_COMPENSATE,
];

pub(super) const LIMIT: &[Word] = &[
    word("count", Counted, "What is counted: a meter, or a list of tools and nodes."),
    word("if", Condition, "Which calls are counted: an expression over `args`. Default: all."),
    word("per", Expression, "One count for each value of this expression over `args`."),
    word("max", LimitSetting, "The bound; null: none. In a child graph it may be left out: the grant."),
    word("gain", Name, "A channel with a list or map: the limit looks at what is new in it."),
    word("below", NumberSetting, "The gain below which a step brought too little; 0: never. Default: 0.02."),
    word("window", WholeSetting(1), "How many of the last steps are looked at. Default: 3."),
    word("min_steps", WholeSetting(0), "Steps before which it does not act. Default: 3."),
    word(
        "mode",
        WordsSetting(&["each", "sum"]),
        "Whether each gain of the window is below, or their sum. Default: each.",
    ),
    word("exit", Exit, "At the bound the graph ends by this exit."),
    word("to", Name, "At the bound it goes on with this node, which the limit does not count."),
    word("refuse", True, "At the bound the start or call is refused."),
    word(
        "reserve",
        Reserve,
        "Kept for `finally`: a share below 1, or units. Default: 0.1 of tokens, money and time with a `finally`, else 0.",
    ),
    word(
        "warn",
        NumberSetting,
        "The share of the bound, 0 to 1, at which it warns once. Default: it does not.",
    ),
    word(
        "scope",
        Words(&["tree", "own"]),
        "Whether the use of child graphs counts, and is granted from this limit.",
    ),
];
