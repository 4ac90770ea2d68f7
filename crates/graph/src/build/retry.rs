//! Repetition after a failed attempt.

use super::tree::{Mapping, Tree};
use super::values::{Expression, Setting};

/// How a failed attempt is repeated. A number, or a key of the configuration, is that of all attempts.
#[derive(Clone, Debug, PartialEq)]
pub struct Retry {
    max: Tree,
    more: Mapping,
}

impl Retry {
    /// So many attempts in all.
    pub fn times(attempts: impl Into<Setting>) -> Retry {
        Retry { max: attempts.into().0, more: Mapping::default() }
    }

    /// The wait before the second attempt.
    pub fn backoff(self, time: impl Into<Setting>) -> Retry {
        self.with("backoff", time.into().0)
    }

    /// Each wait is longer by this factor.
    pub fn factor(self, factor: f64) -> Retry {
        self.with("factor", Tree::number(factor))
    }

    /// Which failures are tried again: a condition over `error`.
    pub fn only_if(self, condition: impl Into<Expression>) -> Retry {
        self.with("if", condition.into().0)
    }

    fn with(self, key: &str, value: Tree) -> Retry {
        Retry { more: self.more.with(key, value), ..self }
    }

    pub(super) fn tree(self) -> Tree {
        if self.more.is_empty() {
            return self.max;
        }
        let mut keys = Mapping::default().with("max", self.max);
        for (key, value) in self.more.entries() {
            keys.set(key, value.clone());
        }
        Tree::Map(keys)
    }
}

impl From<i32> for Retry {
    fn from(attempts: i32) -> Retry {
        Retry::times(attempts)
    }
}

impl From<Setting> for Retry {
    fn from(attempts: Setting) -> Retry {
        Retry::times(attempts)
    }
}
