//! What a built graph is made of: the data that a graph file writes down, in its order.

use deepgraph_protocol::Value;

/// What stands at a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other number; finite.
    Float(f64),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Tree>),
    /// A mapping.
    Map(Mapping),
}

/// A mapping in the order in which it was made. A key may be there twice: the check tells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mapping(Vec<(String, Tree)>);

impl Tree {
    /// A list of names.
    pub fn names<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Tree {
        Tree::List(names.into_iter().map(|name| Tree::Text(name.into())).collect())
    }

    /// A number. What is none is text, which no key for numbers takes.
    pub fn number(n: f64) -> Tree {
        if n.is_finite() { Tree::Float(n) } else { Tree::Text(n.to_string()) }
    }

    /// Plain data.
    pub fn data(value: &Value) -> Tree {
        match value {
            Value::Null => Tree::Null,
            Value::Bool(b) => Tree::Bool(*b),
            Value::Int(i) => Tree::Int(*i),
            Value::Float(f) => Tree::number(*f),
            Value::Text(text) => Tree::Text(text.to_string()),
            Value::List(items) => Tree::List(items.iter().map(Tree::data).collect()),
            Value::Map(fields) => {
                Tree::Map(Mapping(fields.iter().map(|(k, v)| (k.to_string(), Tree::data(v))).collect()))
            }
        }
    }
}

impl Mapping {
    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The entries.
    pub fn entries(&self) -> &[(String, Tree)] {
        &self.0
    }

    /// What stands at a key.
    pub fn get(&self, key: &str) -> Option<&Tree> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, value)| value)
    }

    /// Sets a key, or sets it again.
    pub fn set(&mut self, key: &str, value: Tree) {
        match self.0.iter_mut().find(|(known, _)| known == key) {
            Some((_, old)) => *old = value,
            None => self.0.push((key.to_owned(), value)),
        }
    }

    /// Adds an entry, be there one of this name or not.
    pub fn add(&mut self, name: impl Into<String>, value: Tree) {
        self.0.push((name.into(), value));
    }

    /// Adds an entry to the mapping at a key.
    pub fn add_under(&mut self, key: &str, name: impl Into<String>, value: Tree) {
        match self.0.iter_mut().find(|(known, _)| known == key) {
            Some((_, Tree::Map(entries))) => entries.add(name, value),
            _ => {
                let mut entries = Mapping::default();
                entries.add(name, value);
                self.set(key, Tree::Map(entries));
            }
        }
    }

    /// The same with a key set.
    pub fn with(mut self, key: &str, value: Tree) -> Mapping {
        self.set(key, value);
        self
    }

    /// The same with an entry more at a key.
    pub fn with_under(mut self, key: &str, name: impl Into<String>, value: Tree) -> Mapping {
        self.add_under(key, name, value);
        self
    }
}
