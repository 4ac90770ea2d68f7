//! What can be timed, repeated and reused: calls of models and ops, and questions in part.

use super::Reader;
use crate::diagnostic::code;
use crate::source::{Kind, Node};

/// What a node or tool does, as far as it matters for attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Model,
    Op,
    Graph,
    Ask,
    /// Only writes, or runs tools that have attempts of their own.
    Nothing,
    /// Could not be read.
    Unknown,
}

/// What becomes of a key.
enum Use {
    Read,
    /// It has a meaning that is not built.
    Later,
    /// It has none.
    Senseless,
}

impl Reader<'_> {
    /// Reports `timeout`, `retry` and `cache` where nothing would read them.
    pub(crate) fn check_attempt_keys(&mut self, node: &Node, what: &str, work: Work) {
        for name in ["timeout", "retry", "cache"] {
            let Some((key, value)) = node.entry(name) else { continue };
            if matches!(value.kind, Kind::Bool(false)) {
                continue;
            }
            match use_of(name, work) {
                Use::Read => {}
                Use::Later => {
                    let of = if work == Work::Graph { "a graph" } else { "a model" };
                    self.not_built(key.place, &format!("the key \"{name}\" where {of} is called"));
                }
                Use::Senseless => {
                    let message = format!("{what} calls no model or op, so `{name}` means nothing here");
                    self.error(code::CONFLICT, key.place, message);
                }
            }
        }
    }
}

fn use_of(key: &str, work: Work) -> Use {
    match (work, key) {
        (Work::Unknown | Work::Op, _) => Use::Read,
        (Work::Model, "cache") | (Work::Graph, _) => Use::Later,
        (Work::Model, _) | (Work::Ask, "timeout") => Use::Read,
        (Work::Ask | Work::Nothing, _) => Use::Senseless,
    }
}
