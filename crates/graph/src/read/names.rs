//! What names look like.

use crate::diagnostic::code;
use crate::nearest;
use crate::read::Reader;
use crate::source::Key;

/// Roots of expressions that no channel may be called, and `exit`.
pub const ROOTS: [&str; 11] =
    ["config", "limits", "profile", "run", "args", "result", "error", "item", "index", "secret", "exit"];

/// Words of the expression language.
const WORDS: [&str; 16] = [
    "true", "false", "none", "null", "True", "False", "None", "not", "and", "or", "in", "is", "if", "else",
    "loop", "self",
];

/// Whether a name can stand in an expression.
pub(crate) fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    let first = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    first && name.len() <= 64 && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether a name can stand in a step id and be offered to a model.
pub(crate) fn is_label(name: &str) -> bool {
    let first = name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    first && name.len() <= 64 && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

impl Reader<'_> {
    /// Checks the name of something that expressions read: a channel, a config key, a limit, a field.
    pub(crate) fn check_name(&mut self, key: &Key, what: &str) -> bool {
        if !is_name(&key.name) {
            let message = format!("\"{}\" can not be the name of {what}", nearest::shortened(&key.name));
            self.error(code::BAD_NAME, key.place, message).help(
                "a name has letters, digits and `_`, begins with no digit and has at most 64 characters",
            );
            return false;
        }
        if WORDS.contains(&&*key.name) {
            let message =
                format!("\"{}\" is a word of expressions and can not be the name of {what}", key.name);
            self.error(code::RESERVED, key.place, message);
            return false;
        }
        true
    }

    /// Checks the name of a channel, which stands bare in expressions.
    pub(crate) fn check_channel_name(&mut self, key: &Key) -> bool {
        if ROOTS.contains(&&*key.name) {
            let message = format!("\"{}\" is reserved and can not be the name of a channel", key.name);
            self.error(code::RESERVED, key.place, message).help(format!("reserved are {}", ROOTS.join(", ")));
            return false;
        }
        self.check_name(key, "a channel")
    }

    /// Checks the name of a node, a tool or a graph.
    pub(crate) fn check_label(&mut self, key: &Key, what: &str) -> bool {
        if !is_label(&key.name) {
            let message = format!("\"{}\" can not be the name of {what}", nearest::shortened(&key.name));
            self.error(code::BAD_NAME, key.place, message)
                .help("a name has letters, digits, `_` and `-` and at most 64 characters");
            return false;
        }
        if what == "a node" && matches!(&*key.name, "next" | "inherit") {
            let message = format!("\"{}\" is a word of routes and can not be the name of a node", key.name);
            self.error(code::RESERVED, key.place, message);
            return false;
        }
        true
    }
}
