//! The JSON Schema of the graph file, for editors: keys with what they are for, the words that are allowed, and what
//! stands where.
//!
//! It is made of the vocabulary, so it has every key that is read and no other. It is looser than the check: whether a
//! name is declared, a type fits or a cycle ends can not be said in it. What the check takes, it takes as well.

mod build;
mod places;
mod shape;
#[cfg(test)]
mod tests;
mod words;

use deepgraph_protocol::Value;

use self::build::with;
use crate::vocabulary::{self, Words};

/// The JSON Schema (draft 2020-12) of a graph file.
pub fn graph_schema() -> Value {
    let known = Known;
    let mut definitions: Vec<(&str, Value)> = vec![
        ("graph", places::graph(known, false)),
        ("node", places::node(known)),
        ("tool", places::tool(known)),
        ("limit", places::limit(known)),
        ("way", places::way(known)),
        ("route", places::route()),
        ("field", places::field(known, &[])),
        ("channel", places::field(known, &["channel"])),
        ("type", places::a_type()),
        ("record", places::record()),
        ("messages", places::messages(known)),
        ("truncate", places::plain(known, "truncate")),
        ("retry", places::plain(known, "retry")),
        ("compensate", places::compensate(known)),
        ("concurrency", places::plain(known, "concurrency")),
        ("intent", places::plain(known, "intent")),
    ];
    // Mappings of keys that may not be built yet.
    for (key, definition) in [("upgrade", "upgrade"), ("mcp", "server"), ("schedule", "schedule")] {
        if known.has("graph", key) {
            definitions.push((definition, places::plain(known, definition)));
        }
    }
    if known.has("graph", "profiles") {
        definitions.push(("settings", places::settings()));
    }
    let about = "A graph of the deepgraph runtime. `deepgraph check` tells more than this schema can.";
    with(
        places::graph(known, true),
        [
            ("$schema", Value::from("https://json-schema.org/draft/2020-12/schema")),
            ("$defs", Value::record(definitions)),
            ("title", Value::from("deepgraph graph file")),
            ("description", Value::from(about)),
        ],
    )
}

/// The keys that this version reads.
#[derive(Clone, Copy, Debug)]
struct Known;

impl Known {
    /// Whether a place has a key that is read. A place that the vocabulary does not list has all of its own.
    fn has(self, place: &str, key: &str) -> bool {
        let listed = |words: &Words| words.place == place;
        let found =
            vocabulary::MAPPINGS.iter().find(|w| listed(w)).or(vocabulary::VERBS.iter().find(|w| listed(w)));
        found.is_none_or(|words| words.known.contains(&key))
    }
}
