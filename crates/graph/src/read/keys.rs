//! The keys of a mapping: unknown ones, and those that are not built yet.

use crate::diagnostic::code;
use crate::nearest;
use crate::read::Reader;
use crate::source::{Kind, Node};
use crate::vocabulary;

/// The keys that a mapping may have.
#[derive(Clone, Copy)]
pub(crate) struct Keys<'k> {
    /// What it is, for messages: `node "brief"`.
    pub what: &'k str,
    /// The keys that are read.
    pub known: &'k [&'k str],
    /// The keys of the language that are not built yet.
    pub later: &'k [&'k str],
}

impl<'k> Keys<'k> {
    /// The keys of the vocabulary, for a mapping of this name.
    pub fn of(what: &'k str, words: &vocabulary::Words) -> Keys<'k> {
        Keys { what, known: words.known, later: words.later }
    }
}

impl Reader<'_> {
    /// Reports keys that a mapping must not have, and that it is no mapping. Says whether it is one.
    pub(crate) fn check_keys(&mut self, node: &Node, keys: Keys<'_>) -> bool {
        let Kind::Map(entries) = &node.kind else {
            let message = format!("{} must be a mapping, is {}", keys.what, node.kind_name());
            self.error(code::WRONG_KIND, node.place, message);
            return false;
        };
        for (key, _) in entries {
            if keys.later.contains(&&*key.name) {
                self.not_built(key.place, &format!("the key \"{}\"", key.name));
            } else if !keys.known.contains(&&*key.name) {
                let message = format!("unknown key \"{}\" in {}", nearest::shortened(&key.name), keys.what);
                let names = keys.known.iter().chain(keys.later).copied();
                let help = nearest::hint(&key.name, names);
                self.error(code::UNKNOWN_KEY, key.place, message).hint(help);
            }
        }
        true
    }

    /// Reports a part of the language that is not built yet.
    pub(crate) fn not_built(&mut self, at: crate::source::Place, what: &str) {
        self.error(code::NOT_BUILT, at, format!("{what} is not built yet"))
            .help("it is part of the language, but this version can not run it");
    }
}
