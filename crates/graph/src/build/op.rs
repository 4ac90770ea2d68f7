//! Signatures of ops.

use super::tree::{Mapping, Tree};
use super::types::Field;
use super::yaml;
use crate::{Diagnostics, OpTable};

/// What an op takes and gives, as graphs see it.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    name: String,
    keys: Mapping,
}

impl Signature {
    /// An op of this name, which changes something outside until [`Signature::reads`] is said.
    pub fn new(name: impl Into<String>) -> Signature {
        Signature { name: name.into(), keys: Mapping::default() }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it does, for models.
    pub fn description(self, text: impl Into<String>) -> Signature {
        self.with("description", Tree::Text(text.into()))
    }

    /// It changes nothing outside.
    pub fn reads(self) -> Signature {
        self.with("effect", Tree::Text("read".to_owned()))
    }

    /// It changes something outside.
    pub fn writes(self) -> Signature {
        self.with("effect", Tree::Text("write".to_owned()))
    }

    /// An input, by name. Types are the built-in ones and records written out.
    pub fn input(self, name: impl Into<String>, field: impl Into<Field>) -> Signature {
        Signature { keys: self.keys.with_under("input", name, field.into().tree()), ..self }
    }

    /// A field of the result. There is always one called `text`.
    pub fn result(self, name: impl Into<String>, field: impl Into<Field>) -> Signature {
        Signature { keys: self.keys.with_under("result", name, field.into().tree()), ..self }
    }

    fn with(self, key: &str, value: Tree) -> Signature {
        Signature { keys: self.keys.with(key, value), ..self }
    }
}

impl OpTable {
    /// Adds an op, or puts it in place of one of the same name.
    ///
    /// # Errors
    ///
    /// Its types have mistakes.
    pub fn with_op(self, op: &Signature) -> Result<OpTable, Diagnostics> {
        self.with(&yaml::write(&Mapping::default().with(&op.name, Tree::Map(op.keys.clone()))))
    }
}
