//! The types of channels, parameters and answers.

use std::fmt;
use std::sync::Arc;

use deepgraph_protocol::Value;

pub(crate) mod builtin;
mod check;
pub(crate) mod duration;
pub(crate) mod from_schema;
pub(crate) mod schema;
#[cfg(test)]
mod tests;
mod text;

/// A type of the graph language.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// Text.
    String,
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A length of time; as a value, seconds.
    Duration,
    /// Anything.
    Any,
    /// A list.
    List(Box<Type>),
    /// A map from texts.
    Map(Box<Type>),
    /// A record.
    Record(Arc<RecordType>),
}

/// As a graph file writes it: `[string]`, `{string: source}`, `plan`.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::String => f.write_str("string"),
            Type::Integer => f.write_str("integer"),
            Type::Number => f.write_str("number"),
            Type::Boolean => f.write_str("boolean"),
            Type::Duration => f.write_str("duration"),
            Type::Any => f.write_str("any"),
            Type::List(item) => write!(f, "[{item}]"),
            Type::Map(item) => write!(f, "{{string: {item}}}"),
            Type::Record(record) => match &record.name {
                Some(name) => f.write_str(name),
                None => {
                    let fields: Vec<String> =
                        record.fields.iter().map(|(n, field)| format!("{n}: {}", field.ty)).collect();
                    write!(f, "{{{}}}", fields.join(", "))
                }
            },
        }
    }
}

/// A record type: named (built in or declared) or inline.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordType {
    /// Its name, if it has one.
    pub name: Option<Arc<str>>,
    /// Its fields, in file order.
    pub fields: Vec<(Arc<str>, Field)>,
    /// Whether fields beyond these are let through (built-in types).
    pub open: bool,
}

/// A type with what is said about its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The type.
    pub ty: Type,
    /// The values that are allowed, where they are listed.
    pub options: Vec<Value>,
    /// The value where none is given.
    pub default: Option<Value>,
    /// The least number allowed.
    pub minimum: Option<f64>,
    /// The greatest number allowed.
    pub maximum: Option<f64>,
    /// The longest list allowed.
    pub max_items: Option<u64>,
    /// Whether it may be missing or null.
    pub optional: bool,
    /// What it is, for people and models.
    pub description: Arc<str>,
}

/// A value that does not fit a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Where in the value: `plan.sub_questions[2]`; "" for the value itself.
    pub path: String,
    /// What was wanted and what was found.
    pub message: String,
}

/// `PATH: MESSAGE`.
impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.path, self.message)
        }
    }
}

impl Field {
    /// A required field of a type, with nothing else said.
    pub fn of(ty: Type) -> Field {
        Field {
            ty,
            options: Vec::new(),
            default: None,
            minimum: None,
            maximum: None,
            max_items: None,
            optional: false,
            description: "".into(),
        }
    }
}
