//! The keys of a graph.

use super::{Word, word};
use crate::schema::shape::Shape::*;

pub(super) const GRAPH: &[Word] = &[
    word("deepgraph", One, "The version of the format."),
    word("name", Text, "The name of the graph. Default: that of the file."),
    word("description", Text, "What the graph does; also for a model that is offered it as a tool."),
    word(
        "config",
        Named("field"),
        "What is set from outside, the same during the whole run. Read as config.KEY.",
    ),
    word(
        "profiles",
        Named("settings"),
        "Named sets of config values. The first one is in force at the start.",
    ),
    word("upgrade", Of("upgrade"), "Who may propose another profile, and when."),
    word("types", Labelled("record"), "Record types, known in this graph and in those below."),
    word("state", Channels, "The channels: named, typed places for what the graph knows."),
    word("input", Names, "The channels that a caller gives. Default: none."),
    word("output", Names, "The channels that a caller gets. Default: none."),
    word("mcp", Named("server"), "MCP servers whose tools can be called. Only here is `secret` known."),
    word("tools", Labelled("tool"), "What models may call."),
    word("limits", Named("limit"), "What is bounded, and what happens at the bound."),
    word(
        "exits",
        ExitClasses,
        "Exits of your own, each with its class, which decides the status of the run.",
    ),
    word(
        "concurrency",
        Of("concurrency"),
        "What may be at work at once in the whole run; what is past that waits.",
    ),
    word(
        "intents",
        Labelled("intent"),
        "Classes of questions, each with values of the configuration that hold for them.",
    ),
    word("schedule", Of("schedule"), "When a server starts the graph by itself."),
    word("start", Of("route"), "Where the graph begins."),
    word("finally", Of("route"), "The stage that every exit passes: in the root, the report."),
    word("nodes", Labelled("node"), "The units of work."),
    word(
        "graphs",
        Labelled("graph"),
        "Graphs that can be called here and below. Names are unique in the file.",
    ),
];

pub(super) const CONCURRENCY: &[Word] = &[
    word("graphs", Whole(1), "Child graphs at work. Default: unbounded."),
    word("model_calls", Whole(1), "Model calls in flight. Default: unbounded."),
    word("tool_calls", Whole(1), "Ops in flight. Default: unbounded."),
];

pub(super) const INTENT: &[Word] = &[
    word("description", Text, "What questions belong to the class."),
    word(
        "when",
        Names,
        "Phrases of which one at least stands in its questions, in any language; * stands for at most two words.",
    ),
    word(
        "kind",
        Words(&["narrow", "broad", "exhaustive"]),
        "The kind of question that belongs to it where no phrase decides, told by English wording.",
    ),
    word("set", Mapping, "Values of config keys for such questions. What a user sets goes before them."),
];

pub(super) const UPGRADE: &[Word] = &[
    word(
        "may_propose",
        ListOf(&["user", "skill", "classifier", "model"]),
        "Who may propose another profile. Default: all.",
    ),
    word(
        "suggest_at",
        Number(0.0, 1.0),
        "The share in use from which the model is told of it. Default: 0.5.",
    ),
    word("refuse_at", Number(0.0, 1.0), "The share in use from which a proposal is refused. Default: 0.8."),
];

pub(super) const SERVER: &[Word] = &[
    word("url", Template, "The address of a server that is reached by HTTP."),
    word(
        "headers",
        Headers,
        "Headers of each request, such as {Authorization: \"Bearer {{ secret.TOKEN }}\"}.",
    ),
    word("command", Command, "The program of a server that is started, with its arguments."),
    word("env", Headers, "Variables in the environment of that program."),
    word(
        "takes_keys",
        Boolean,
        "Whether the server does nothing twice that comes under the same idempotency key. Default: false.",
    ),
    word(
        "required",
        Boolean,
        "Whether a run can not begin without the server. Default: true. One that is not required may be down: its tools are \
         not offered, and calls of those that the graph names fail.",
    ),
];

pub(super) const SCHEDULE: &[Word] = &[
    word("cron", Text, "When: minute, hour, day, month, day of the week."),
    word("timezone", Text, "The time zone of `cron`, such as Europe/Berlin. Default: UTC."),
    word("input", Mapping, "The input of each run."),
    word("overlap", Words(&["skip", "queue"]), "What becomes of a start while a run is still going."),
    word("missed", Words(&["skip", "run_once"]), "What becomes of starts while the server was down."),
];
