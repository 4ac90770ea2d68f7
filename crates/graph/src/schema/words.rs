//! Every key of the language with its shape and what it is for, by the place where it stands: those that are read and
//! those that are not built yet. A test holds them against the vocabulary.

mod calls;
mod data;
mod graph;
mod node;

use super::shape::Shape;

/// A key of a place.
pub(super) struct Word {
    /// The key.
    pub key: &'static str,
    /// What stands at it.
    pub shape: Shape,
    /// What it is for: whole sentences, with the default.
    pub about: &'static str,
}

const fn word(key: &'static str, shape: Shape, about: &'static str) -> Word {
    Word { key, shape, about }
}

/// The keys of each place, under the name that the vocabulary has for it.
pub(super) const PLACES: &[(&str, &[Word])] = &[
    ("graph", graph::GRAPH),
    ("concurrency", graph::CONCURRENCY),
    ("intent", graph::INTENT),
    ("upgrade", graph::UPGRADE),
    ("server", graph::SERVER),
    ("schedule", graph::SCHEDULE),
    ("field", data::FIELD),
    ("channel", data::CHANNEL),
    ("way", data::WAY),
    ("node", node::NODE),
    ("model", node::MODEL),
    ("run_tools", node::RUN_TOOLS),
    ("call", calls::CALL),
    ("compensate", calls::COMPENSATE),
    ("ask", node::ASK),
    ("messages", node::MESSAGES),
    ("truncate", node::TRUNCATE),
    ("retry", node::RETRY),
    ("tool", calls::TOOL),
    ("limit", calls::LIMIT),
];

/// The keys of a place; none where there is no such place.
pub(super) fn of(place: &str) -> &'static [Word] {
    PLACES.iter().find(|(name, _)| *name == place).map_or(&[], |(_, words)| words)
}
