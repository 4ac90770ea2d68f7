//! Nodes: the keys that all have.

use std::marker::PhantomData;

use super::retry::Retry;
use super::route::Route;
use super::tree::{Mapping, Tree};
use super::values::{Expression, Setting};
use super::verb::{Ask, Call, Model, Pass, RunTools};

/// A node: one verb, what it writes, its ways out.
#[derive(Clone, Debug, PartialEq)]
pub struct Node<V> {
    keys: Mapping,
    verb: PhantomData<V>,
}

/// The list that a node runs over, once per item, with its bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Each {
    list: Expression,
    max_items: Expression,
    parallel: Option<Setting>,
}

impl Node<Model> {
    /// A node that calls a model: a name such as `extractive` or `openai::gpt-4.1`, or a key of the configuration.
    /// It needs a `prompt` or `messages`.
    pub fn model(model: impl Into<Setting>) -> Node<Model> {
        Node::of("model", model.into().0)
    }
}

impl Node<RunTools> {
    /// A node that runs the tool calls of the last reply of a model node.
    pub fn run_tools(node: impl Into<String>) -> Node<RunTools> {
        Node::of("run_tools", Tree::Text(node.into()))
    }
}

impl Node<Call> {
    /// A node that calls a graph, a file (`FILE` or `FILE#GRAPH`), an op, or a tool of a server (`SERVER.TOOL`).
    pub fn call(callee: impl Into<String>) -> Node<Call> {
        Node::of("call", Tree::Text(callee.into()))
    }
}

impl Node<Ask> {
    /// A node that asks a person: a template.
    pub fn ask(question: impl Into<String>) -> Node<Ask> {
        Node::of("ask", Tree::Text(question.into()))
    }
}

impl Node<Pass> {
    /// A node without a verb, which only writes.
    pub fn pass() -> Node<Pass> {
        Node { keys: Mapping::default(), verb: PhantomData }
    }
}

impl<V> Node<V> {
    fn of(key: &str, value: Tree) -> Node<V> {
        Node { keys: Mapping::default().with(key, value), verb: PhantomData }
    }

    /// What it writes to a channel, over `result`.
    pub fn update(self, channel: impl Into<String>, value: impl Into<Expression>) -> Node<V> {
        self.with_under("update", channel, value.into().0)
    }

    /// The ways out. Without it the branch ends here.
    pub fn next(self, route: impl Into<Route>) -> Node<V> {
        self.with("next", route.into().tree())
    }

    /// It waits until all of these nodes have come.
    pub fn after<N: Into<String>>(self, nodes: impl IntoIterator<Item = N>) -> Node<V> {
        self.with("after", Tree::names(nodes))
    }

    /// It waits until nothing else in the graph runs.
    pub fn defer(self) -> Node<V> {
        self.with("defer", Tree::Bool(true))
    }

    /// It runs once per item of a list.
    pub fn each(self, each: Each) -> Node<V> {
        let node = self.with("each", each.list.0).with("max_items", each.max_items.0);
        match each.parallel {
            Some(parallel) => node.with("parallel", parallel.0),
            None => node,
        }
    }

    /// Where a failure leads, with `error` in scope.
    pub fn on_error(self, route: impl Into<Route>) -> Node<V> {
        self.with("on_error", route.into().tree())
    }

    /// How long an attempt may take.
    pub fn timeout(self, time: impl Into<Setting>) -> Node<V> {
        self.with("timeout", time.into().0)
    }

    /// How a failed attempt is repeated; a number is that of all attempts.
    pub fn retry(self, retry: impl Into<Retry>) -> Node<V> {
        self.with("retry", retry.into().tree())
    }

    /// How long the result of an equal call is used again in the run.
    pub fn cache(self, time: impl Into<Setting>) -> Node<V> {
        self.with("cache", time.into().0)
    }

    /// What progress shows: a template.
    pub fn title(self, text: impl Into<String>) -> Node<V> {
        self.with("title", Tree::Text(text.into()))
    }

    pub(super) fn with(mut self, key: &str, value: Tree) -> Node<V> {
        self.keys.set(key, value);
        self
    }

    pub(super) fn with_under(mut self, key: &str, name: impl Into<String>, value: Tree) -> Node<V> {
        self.keys.add_under(key, name, value);
        self
    }

    /// The same keys under another verb.
    pub(super) fn under_verb<W>(self) -> Node<W> {
        Node { keys: self.keys, verb: PhantomData }
    }

    pub(super) fn tree(self) -> Tree {
        Tree::Map(self.keys)
    }
}

impl Each {
    /// Over a list, at most so many of its items.
    pub fn over(list: impl Into<Expression>, max_items: impl Into<Expression>) -> Each {
        Each { list: list.into(), max_items: max_items.into(), parallel: None }
    }

    /// How many items are at work at once.
    pub fn parallel(self, items: impl Into<Setting>) -> Each {
        Each { parallel: Some(items.into()), ..self }
    }
}
