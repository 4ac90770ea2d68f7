//! Types, fields and record types.

use super::channel::Channel;
use super::tree::{Mapping, Tree};
use super::values::Literal;
use crate::Reducer;

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub struct Type(pub(super) Tree);

/// A type with what is said about its values. Every [`Type`] is one of which nothing is said.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// None where only the values to choose from are given.
    ty: Option<Tree>,
    more: Mapping,
}

/// Named fields: a record type, written out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record(pub(super) Mapping);

impl Type {
    /// Text.
    pub fn string() -> Type {
        Type::named("string")
    }

    /// A whole number.
    pub fn integer() -> Type {
        Type::named("integer")
    }

    /// Any number.
    pub fn number() -> Type {
        Type::named("number")
    }

    /// True or false.
    pub fn boolean() -> Type {
        Type::named("boolean")
    }

    /// A length of time; as a value, seconds.
    pub fn duration() -> Type {
        Type::named("duration")
    }

    /// Anything.
    pub fn any() -> Type {
        Type::named("any")
    }

    /// A conversation.
    pub fn messages() -> Type {
        Type::named("messages")
    }

    /// A type by its name: built in (`source`, `fact`, `handoff`, `citation`), or declared by [`Graph::record`].
    ///
    /// [`Graph::record`]: super::Graph::record
    pub fn named(name: impl Into<String>) -> Type {
        Type(Tree::Text(name.into()))
    }

    /// A list.
    pub fn list(item: Type) -> Type {
        Type(Tree::List(vec![item.0]))
    }

    /// A map from texts.
    pub fn map(item: Type) -> Type {
        Type(Tree::Map(Mapping::default().with("string", item.0)))
    }

    /// A record that has no name. Its only field can not be called `string`: so a map is written.
    pub fn record(record: Record) -> Type {
        Type(Tree::Map(record.0))
    }

    /// The value where none is given.
    pub fn default(self, value: impl Into<Literal>) -> Field {
        Field::of(self).default(value)
    }

    /// The values that are allowed.
    pub fn one_of<L: Into<Literal>>(self, values: impl IntoIterator<Item = L>) -> Field {
        Field::of(self).one_of(values)
    }

    /// The least number or length of time that is allowed.
    pub fn minimum(self, least: impl Into<Literal>) -> Field {
        Field::of(self).minimum(least)
    }

    /// The greatest number or length of time that is allowed.
    pub fn maximum(self, greatest: impl Into<Literal>) -> Field {
        Field::of(self).maximum(greatest)
    }

    /// The longest list that is allowed.
    pub fn max_items(self, longest: u32) -> Field {
        Field::of(self).max_items(longest)
    }

    /// It may be missing or null.
    pub fn optional(self) -> Field {
        Field::of(self).optional()
    }

    /// What it is, for people and models.
    pub fn description(self, text: impl Into<String>) -> Field {
        Field::of(self).description(text)
    }

    /// A channel whose writes are joined by this reducer.
    pub fn reduce(self, reducer: Reducer) -> Channel {
        Channel::from(self).reduce(reducer)
    }
}

impl Field {
    /// A field of a type.
    pub fn of(ty: Type) -> Field {
        Field { ty: Some(ty.0), more: Mapping::default() }
    }

    /// A field of one of these values, whose type follows from them.
    pub fn choice<L: Into<Literal>>(values: impl IntoIterator<Item = L>) -> Field {
        Field { ty: None, more: Mapping::default() }.one_of(values)
    }

    /// The values that are allowed.
    pub fn one_of<L: Into<Literal>>(self, values: impl IntoIterator<Item = L>) -> Field {
        self.with("enum", Tree::List(values.into_iter().map(|value| value.into().0).collect()))
    }

    /// The value where none is given.
    pub fn default(self, value: impl Into<Literal>) -> Field {
        self.with("default", value.into().0)
    }

    /// The least number or length of time that is allowed.
    pub fn minimum(self, least: impl Into<Literal>) -> Field {
        self.with("minimum", least.into().0)
    }

    /// The greatest number or length of time that is allowed.
    pub fn maximum(self, greatest: impl Into<Literal>) -> Field {
        self.with("maximum", greatest.into().0)
    }

    /// The longest list that is allowed.
    pub fn max_items(self, longest: u32) -> Field {
        self.with("max_items", Tree::Int(longest.into()))
    }

    /// It may be missing or null.
    pub fn optional(self) -> Field {
        self.with("optional", Tree::Bool(true))
    }

    /// What it is, for people and models.
    pub fn description(self, text: impl Into<String>) -> Field {
        self.with("description", Tree::Text(text.into()))
    }

    /// A channel whose writes are joined by this reducer.
    pub fn reduce(self, reducer: Reducer) -> Channel {
        Channel::from(self).reduce(reducer)
    }

    fn with(mut self, key: &str, value: Tree) -> Field {
        self.more.set(key, value);
        self
    }

    /// As a file has it: the type alone where nothing else is said.
    pub(super) fn tree(self) -> Tree {
        match self.ty {
            Some(ty) if self.more.is_empty() && !reads_as_field(&ty) => ty,
            _ => Tree::Map(self.written_out()),
        }
    }

    /// As a mapping with `type`.
    pub(super) fn written_out(self) -> Mapping {
        let mut keys = Mapping::default();
        if let Some(ty) = self.ty {
            keys.set("type", ty);
        }
        for (key, value) in self.more.entries() {
            keys.set(key, value.clone());
        }
        keys
    }
}

/// Whether a record would be taken for a field written out, because a field of it is called as one of its keys.
fn reads_as_field(ty: &Tree) -> bool {
    let Tree::Map(record) = ty else { return false };
    ["type", "enum"].iter().any(|key| record.get(key).is_some())
}

impl From<Type> for Field {
    fn from(ty: Type) -> Field {
        Field::of(ty)
    }
}

impl Record {
    /// No fields yet.
    pub fn new() -> Record {
        Record::default()
    }

    /// The same with a field more.
    pub fn field(mut self, name: impl Into<String>, field: impl Into<Field>) -> Record {
        self.0.add(name, field.into().tree());
        self
    }
}
