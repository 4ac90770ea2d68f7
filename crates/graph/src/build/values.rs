//! Values: expressions, settings and plain data.

use std::time::Duration;

use deepgraph_protocol::Value;

use super::tree::{Mapping, Tree};
use crate::types::duration;

/// What stands at an expression key. A text is an expression as in a graph file, or a template where it holds
/// `{{ }}`; numbers and booleans stand for themselves. For a fixed text there is [`fixed`].
#[derive(Clone, Debug, PartialEq)]
pub struct Expression(pub(super) Tree);

/// A literal, or a key of the configuration ([`config`]). Lengths of time are [`Duration`]s or texts such as `30m`.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting(pub(super) Tree);

/// Plain data: a default, a value to choose from, an option for a provider.
#[derive(Clone, Debug, PartialEq)]
pub struct Literal(pub(super) Tree);

/// What all three take: it pays because a conversion written out by hand would be there nineteen times.
macro_rules! from_plain {
    ($($kind:ident),*) => {$(
        impl From<bool> for $kind {
            fn from(b: bool) -> $kind {
                $kind(Tree::Bool(b))
            }
        }
        impl From<i32> for $kind {
            fn from(n: i32) -> $kind {
                $kind(Tree::Int(n.into()))
            }
        }
        impl From<i64> for $kind {
            fn from(n: i64) -> $kind {
                $kind(Tree::Int(n))
            }
        }
        impl From<u32> for $kind {
            fn from(n: u32) -> $kind {
                $kind(Tree::Int(n.into()))
            }
        }
        impl From<f64> for $kind {
            fn from(n: f64) -> $kind {
                $kind(Tree::number(n))
            }
        }
        impl From<&str> for $kind {
            fn from(text: &str) -> $kind {
                $kind(Tree::Text(text.to_owned()))
            }
        }
        impl From<String> for $kind {
            fn from(text: String) -> $kind {
                $kind(Tree::Text(text))
            }
        }
        impl From<Duration> for $kind {
            fn from(time: Duration) -> $kind {
                $kind(Tree::Text(duration::text(time)))
            }
        }
    )*};
}

from_plain!(Expression, Setting, Literal);

impl From<Setting> for Expression {
    fn from(setting: Setting) -> Expression {
        Expression(setting.0)
    }
}

impl From<Value> for Literal {
    fn from(value: Value) -> Literal {
        Literal(Tree::data(&value))
    }
}

impl<L: Into<Literal>> From<Vec<L>> for Literal {
    fn from(items: Vec<L>) -> Literal {
        Literal(Tree::List(items.into_iter().map(|item| item.into().0).collect()))
    }
}

/// A key of the configuration: `config.KEY`.
pub fn config(key: &str) -> Setting {
    Setting(Tree::Text(format!("config.{key}")))
}

/// Fixed data, never an expression: a text or any other value.
pub fn fixed(value: impl Into<Value>) -> Expression {
    Expression(quoted(Tree::data(&value.into())))
}

/// Nothing.
pub fn null() -> Expression {
    Expression(Tree::Null)
}

/// A list of expressions.
pub fn list<E: Into<Expression>>(items: impl IntoIterator<Item = E>) -> Expression {
    Expression(Tree::List(items.into_iter().map(|item| item.into().0).collect()))
}

/// A record of expressions.
pub fn record<N: Into<String>, E: Into<Expression>>(fields: impl IntoIterator<Item = (N, E)>) -> Expression {
    let mut record = Mapping::default();
    for (name, value) in fields {
        record.add(name, value.into().0);
    }
    Expression(Tree::Map(record))
}

/// The same data with its texts as expressions that give them.
fn quoted(data: Tree) -> Tree {
    match data {
        Tree::Text(text) => Tree::Text(text_literal(&text)),
        Tree::List(items) => Tree::List(items.into_iter().map(quoted).collect()),
        Tree::Map(entries) => {
            let mut fields = Mapping::default();
            for (name, value) in entries.entries() {
                fields.add(name.as_str(), quoted(value.clone()));
            }
            Tree::Map(fields)
        }
        plain => plain,
    }
}

/// A text as the expression language writes it. What begins a template is escaped: it would make one of the whole.
fn text_literal(text: &str) -> String {
    let mut out = String::from("'");
    for c in text.chars() {
        match c {
            '\'' | '\\' => out.extend(['\\', c]),
            '\n' => out += "\\n",
            '{' => out += "\\u007b",
            c if c.is_control() => out += &format!("\\u{:04x}", u32::from(c)),
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}
