//! What undoes a call that writes.

use super::tree::{Mapping, Tree};
use super::values::Expression;

/// The call that undoes another one when the run is cancelled.
#[derive(Clone, Debug, PartialEq)]
pub struct Compensation(Mapping);

impl Compensation {
    /// The call of an op or of a tool of a server (`SERVER.TOOL`).
    pub fn call(op: impl Into<String>) -> Compensation {
        Compensation(Mapping::default().with("call", Tree::Text(op.into())))
    }

    /// An input of the op, by name: an expression over `args` and `result` of the call that is undone.
    pub fn input(self, name: impl Into<String>, value: impl Into<Expression>) -> Compensation {
        Compensation(self.0.with_under("input", name, value.into().0))
    }

    pub(super) fn tree(self) -> Tree {
        Tree::Map(self.0)
    }
}
