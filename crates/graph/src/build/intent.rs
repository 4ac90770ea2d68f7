//! Classes of questions.

use deepgraph_protocol::QuestionKind;

use super::tree::{Mapping, Tree};
use super::values::Literal;

/// A class of questions, with the values that the configuration has for them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Intent(Mapping);

impl Intent {
    /// A class that questions belong to by hand only, as long as nothing more is said.
    pub fn new() -> Intent {
        Intent::default()
    }

    /// What questions belong to it.
    pub fn description(self, text: impl Into<String>) -> Intent {
        Intent(self.0.with("description", Tree::Text(text.into())))
    }

    /// Phrases of which one at least stands in its questions; `*` stands for at most two words.
    pub fn when<P: Into<String>>(self, phrases: impl IntoIterator<Item = P>) -> Intent {
        Intent(self.0.with("when", Tree::names(phrases)))
    }

    /// The kind of question that belongs to it where no phrase decides.
    pub fn kind(self, kind: QuestionKind) -> Intent {
        Intent(self.0.with("kind", Tree::Text(kind.name().to_owned())))
    }

    /// The value of a config key for such questions.
    pub fn set(self, key: impl Into<String>, value: impl Into<Literal>) -> Intent {
        Intent(self.0.with_under("set", key, value.into().0))
    }

    pub(super) fn tree(self) -> Tree {
        Tree::Map(self.0)
    }
}
