//! Routes and their ways.

use super::tree::{Mapping, Tree};
use super::values::Expression;

/// One way out: where it leads, and what is written when it is taken. Made by [`to`], [`to_all`], [`exit`],
/// [`inherit`], [`carry_on`] and [`write()`], or with a condition by [`when`].
#[derive(Clone, Debug, PartialEq)]
pub struct Way {
    condition: Option<Expression>,
    update: Mapping,
    target: Target,
}

/// Where a way leads.
#[derive(Clone, Debug, PartialEq)]
enum Target {
    /// To nodes.
    Nodes(Vec<String>),
    /// Out.
    Exit(String),
    /// Nowhere else: it only writes.
    Here,
}

/// The condition of a way that has no target yet.
#[derive(Clone, Debug)]
pub struct When(Expression);

/// Ways out, tried in order. A name is the way to the node of that name.
#[derive(Clone, Debug, PartialEq)]
pub struct Route(Tree);

/// The way that is taken when a condition holds.
pub fn when(condition: impl Into<Expression>) -> When {
    When(condition.into())
}

/// The way to a node.
pub fn to(node: impl Into<String>) -> Way {
    Way::of(Target::Nodes(vec![node.into()]))
}

/// The way to several nodes, which run together.
pub fn to_all<N: Into<String>>(nodes: impl IntoIterator<Item = N>) -> Way {
    Way::of(Target::Nodes(nodes.into_iter().map(Into::into).collect()))
}

/// The way out by an exit.
pub fn exit(name: impl Into<String>) -> Way {
    Way::of(Target::Exit(name.into()))
}

/// The way out by the exit of the graph that the node called.
pub fn inherit() -> Way {
    exit("inherit")
}

/// The way on to the node's own `next`, in `on_error`.
pub fn carry_on() -> Way {
    to("next")
}

/// A way that writes a channel and leads on as if nothing had been said.
pub fn write(channel: impl Into<String>, value: impl Into<Expression>) -> Way {
    Way::of(Target::Here).update(channel, value)
}

impl When {
    /// The way to a node.
    pub fn to(self, node: impl Into<String>) -> Way {
        self.way(to(node))
    }

    /// The way to several nodes, which run together.
    pub fn to_all<N: Into<String>>(self, nodes: impl IntoIterator<Item = N>) -> Way {
        self.way(to_all(nodes))
    }

    /// The way out by an exit.
    pub fn exit(self, name: impl Into<String>) -> Way {
        self.way(exit(name))
    }

    /// The way out by the exit of the graph that the node called.
    pub fn inherit(self) -> Way {
        self.way(inherit())
    }

    /// The way on to the node's own `next`, in `on_error`.
    pub fn carry_on(self) -> Way {
        self.way(carry_on())
    }

    /// A way that writes a channel and leads on as if nothing had been said.
    pub fn write(self, channel: impl Into<String>, value: impl Into<Expression>) -> Way {
        self.way(write(channel, value))
    }

    fn way(self, way: Way) -> Way {
        Way { condition: Some(self.0), ..way }
    }
}

impl Way {
    fn of(target: Target) -> Way {
        Way { condition: None, update: Mapping::default(), target }
    }

    /// The same, and it writes a channel when it is taken.
    pub fn update(mut self, channel: impl Into<String>, value: impl Into<Expression>) -> Way {
        self.update.add(channel, value.into().0);
        self
    }

    fn tree(self) -> Tree {
        let to = match self.target {
            Target::Nodes(nodes) => match <[String; 1]>::try_from(nodes) {
                Ok([node]) if self.condition.is_none() && self.update.is_empty() => return Tree::Text(node),
                Ok([node]) => Some(("to", Tree::Text(node))),
                Err(nodes) => Some(("to", Tree::names(nodes))),
            },
            Target::Exit(name) => Some(("exit", Tree::Text(name))),
            Target::Here => None,
        };
        let mut keys = Mapping::default();
        if let Some(condition) = self.condition {
            keys.set("if", condition.0);
        }
        if !self.update.is_empty() {
            keys.set("update", Tree::Map(self.update));
        }
        if let Some((key, value)) = to {
            keys.set(key, value);
        }
        Tree::Map(keys)
    }
}

impl Route {
    pub(super) fn tree(self) -> Tree {
        self.0
    }
}

impl From<Way> for Route {
    fn from(way: Way) -> Route {
        Route(way.tree())
    }
}

impl From<&str> for Route {
    fn from(node: &str) -> Route {
        to(node).into()
    }
}

impl From<String> for Route {
    fn from(node: String) -> Route {
        to(node).into()
    }
}

impl From<Vec<Way>> for Route {
    fn from(ways: Vec<Way>) -> Route {
        Route(Tree::List(ways.into_iter().map(Way::tree).collect()))
    }
}

impl<const N: usize> From<[Way; N]> for Route {
    fn from(ways: [Way; N]) -> Route {
        Vec::from(ways).into()
    }
}
