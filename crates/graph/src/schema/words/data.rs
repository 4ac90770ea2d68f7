//! The keys of fields, channels and ways.

use super::{Word, word};
use crate::schema::shape::Shape::*;

pub(super) const FIELD: &[Word] = &[
    word("type", Of("type"), "What the values are: string, [T], {string: T}, {field: type}, or a name."),
    word("enum", Options, "The values that are allowed."),
    word("default", Any, "What holds where none is given."),
    word("minimum", Bound, "The least number or duration that is allowed."),
    word("maximum", Bound, "The greatest number or duration that is allowed."),
    word("max_items", Whole(0), "The longest list that is allowed."),
    word("optional", Boolean, "Whether it may be missing or null. Default: false."),
    word("description", Text, "What it is, for people and models."),
];

pub(super) const CHANNEL: &[Word] = &[
    word(
        "reduce",
        Reducer,
        "How a write is joined with what is there. Default: messages for the type messages, else replace.",
    ),
    word(
        "persist",
        Template,
        "Keeps the value beyond the run: `thread`, or the name of the place, as a template.",
    ),
];

pub(super) const WAY: &[Word] = &[
    word("if", Condition, "When the way is taken: a bare expression, no template. Default: always."),
    word("update", Expressions, "What is written when it is taken, by channel."),
    word(
        "to",
        Targets,
        "Where it leads: a node, or several that run together. In `on_error` also the word next.",
    ),
    word("exit", WayExit, "Out, by this exit. `inherit`: as the graph that the node called has ended."),
];
