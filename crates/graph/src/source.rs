//! The positioned tree of a YAML or JSON text.
//!
//! JSON is read by the same parser: it is a part of YAML.

mod parse;
#[cfg(test)]
mod tests;
mod text;

use std::fmt;
use std::sync::Arc;

use deepgraph_protocol::Value;

pub(crate) use parse::{SourceError, parse};
pub(crate) use text::FileText;

/// A place in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A node of the tree.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// What stands there.
    pub kind: Kind,
    /// Where it begins.
    pub place: Place,
}

/// What stands at a node.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// Nothing, `null` or `~`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// Text.
    Text(Scalar),
    /// A list.
    List(Vec<Node>),
    /// A mapping, in file order, keys unique.
    Map(Vec<(Key, Node)>),
}

/// A text with what is needed to find a place inside it.
#[derive(Clone, Debug)]
pub(crate) struct Scalar {
    /// The text.
    pub text: Arc<str>,
    /// How it is written.
    pub style: Style,
}

/// How a text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Bare.
    Plain,
    /// In quotes.
    Quoted,
    /// As a block, after `|` or `>`.
    Block,
}

/// A key of a mapping.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    /// Its text.
    pub name: Arc<str>,
    /// Where it begins.
    pub place: Place,
}

impl Node {
    /// The value of a key, if this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries().iter().find(|(k, _)| &*k.name == key).map(|(_, v)| v)
    }

    /// Key and value of a key.
    pub fn entry(&self, key: &str) -> Option<(&Key, &Node)> {
        self.entries().iter().find(|(k, _)| &*k.name == key).map(|(k, v)| (k, v))
    }

    /// The entries, if this is a mapping.
    pub fn entries(&self) -> &[(Key, Node)] {
        if let Kind::Map(entries) = &self.kind { entries } else { &[] }
    }

    /// The text, if this is one.
    pub fn text(&self) -> Option<&Arc<str>> {
        if let Kind::Text(scalar) = &self.kind { Some(&scalar.text) } else { None }
    }

    /// Whether this is nothing or null.
    pub fn is_null(&self) -> bool {
        matches!(self.kind, Kind::Null)
    }

    /// What it is, as error messages name it.
    pub fn kind_name(&self) -> &'static str {
        match self.kind {
            Kind::Null => "nothing",
            Kind::Bool(_) => "a boolean",
            Kind::Int(_) | Kind::Float(_) => "a number",
            Kind::Text(_) => "text",
            Kind::List(_) => "a list",
            Kind::Map(_) => "a mapping",
        }
    }

    /// The plain data that it writes down.
    pub fn to_value(&self) -> Value {
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(b) => Value::Bool(*b),
            Kind::Int(i) => Value::Int(*i),
            Kind::Float(f) => Value::from(*f),
            Kind::Text(scalar) => Value::Text(scalar.text.clone()),
            Kind::List(items) => items.iter().map(Node::to_value).collect(),
            Kind::Map(entries) => Value::record(entries.iter().map(|(k, v)| (k.name.clone(), v.to_value()))),
        }
    }
}

/// The plain data of a small YAML or JSON text.
pub(crate) fn value_of(text: &str) -> Result<Value, String> {
    let parsed = parse(text);
    match (parsed.node, parsed.errors.into_iter().next()) {
        (Some(node), None) => Ok(node.to_value()),
        (_, error) => Err(error.map_or_else(String::new, |e| e.message)),
    }
}
