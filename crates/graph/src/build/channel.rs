//! Channels.

use super::tree::{Mapping, Tree};
use super::types::{Field, Type};
use crate::Reducer;

/// A channel: a field with how writes are joined, and where its value is kept between runs. Every [`Type`] and every
/// [`Field`] is one that is replaced by each write, or extended where it is of the type messages.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    field: Field,
    more: Mapping,
}

impl Channel {
    /// How a write is joined with what is there.
    pub fn reduce(self, reducer: Reducer) -> Channel {
        self.with("reduce", reducer.name())
    }

    /// Its value is kept with the thread of the run.
    pub fn persist_with_thread(self) -> Channel {
        self.with("persist", "thread")
    }

    /// Its value is kept under a key: a template over the input of the run.
    pub fn persist_under(self, key: &str) -> Channel {
        self.with("persist", key)
    }

    fn with(mut self, key: &str, value: &str) -> Channel {
        self.more.set(key, Tree::Text(value.to_owned()));
        self
    }

    pub(super) fn tree(self) -> Tree {
        if self.more.is_empty() {
            return self.field.tree();
        }
        let mut keys = self.field.written_out();
        for (key, value) in self.more.entries() {
            keys.set(key, value.clone());
        }
        Tree::Map(keys)
    }
}

impl From<Field> for Channel {
    fn from(field: Field) -> Channel {
        Channel { field, more: Mapping::default() }
    }
}

impl From<Type> for Channel {
    fn from(ty: Type) -> Channel {
        Channel::from(Field::of(ty))
    }
}
