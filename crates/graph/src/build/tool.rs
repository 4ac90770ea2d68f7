//! Tools: the keys that all have.

use std::marker::PhantomData;

use super::retry::Retry;
use super::route::Route;
use super::tree::{Mapping, Tree};
use super::types::Field;
use super::values::{Expression, Setting};
use super::verb::{Ask, Call, Pass};
use crate::Overflow;

/// A tool that model nodes may offer.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool<V> {
    keys: Mapping,
    verb: PhantomData<V>,
}

impl Tool<Call> {
    /// A tool that calls a graph, a file, an op, a tool of a server (`SERVER.TOOL`) or stands for all of them
    /// (`SERVER.*`). Its description and parameters are those of what it calls unless it has its own.
    pub fn call(callee: impl Into<String>) -> Tool<Call> {
        Tool::of("call", callee)
    }
}

impl Tool<Ask> {
    /// A tool that asks a person: a template over `args`.
    pub fn ask(question: impl Into<String>) -> Tool<Ask> {
        Tool::of("ask", question)
    }
}

impl Tool<Pass> {
    /// A tool that calls nothing: it writes, answers or leads somewhere.
    pub fn pass() -> Tool<Pass> {
        Tool { keys: Mapping::default(), verb: PhantomData }
    }
}

impl<V> Tool<V> {
    fn of(key: &str, value: impl Into<String>) -> Tool<V> {
        Tool { keys: Mapping::default().with(key, Tree::Text(value.into())), verb: PhantomData }
    }

    /// What it does and when to use it, for the model.
    pub fn description(self, text: impl Into<String>) -> Tool<V> {
        self.with("description", Tree::Text(text.into()))
    }

    /// An argument, read as `args.NAME`.
    pub fn parameter(self, name: impl Into<String>, field: impl Into<Field>) -> Tool<V> {
        self.with_under("parameters", name, field.into().tree())
    }

    /// What it writes to a channel, over `args` and `result`.
    pub fn update(self, channel: impl Into<String>, value: impl Into<Expression>) -> Tool<V> {
        self.with_under("update", channel, value.into().0)
    }

    /// Where it leads. Without it: where the node leads that runs the calls.
    pub fn next(self, route: impl Into<Route>) -> Tool<V> {
        self.with("next", route.into().tree())
    }

    /// Where a failed call leads. Without it the failure is answered.
    pub fn on_error(self, route: impl Into<Route>) -> Tool<V> {
        self.with("on_error", route.into().tree())
    }

    /// How long an attempt may take.
    pub fn timeout(self, time: impl Into<Setting>) -> Tool<V> {
        self.with("timeout", time.into().0)
    }

    /// How a failed attempt is repeated; a number is that of all attempts.
    pub fn retry(self, retry: impl Into<Retry>) -> Tool<V> {
        self.with("retry", retry.into().tree())
    }

    /// How long the result of an equal call is used again in the run.
    pub fn cache(self, time: impl Into<Setting>) -> Tool<V> {
        self.with("cache", time.into().0)
    }

    /// What the model is told: a template.
    pub fn answer(self, text: impl Into<String>) -> Tool<V> {
        self.with("answer", Tree::Text(text.into()))
    }

    /// Tokens of the answer that go back to the model.
    pub fn answer_max(self, tokens: impl Into<Setting>) -> Tool<V> {
        self.with("answer_max", tokens.into().0)
    }

    /// When a person is asked before a call is run: `true`, or a condition over `args`.
    pub fn approve(self, condition: impl Into<Expression>) -> Tool<V> {
        self.with("approve", condition.into().0)
    }

    /// How many calls of one turn run, and what becomes of those past them.
    pub fn parallel(self, calls: impl Into<Setting>, overflow: Overflow) -> Tool<V> {
        let word = match overflow {
            Overflow::Refuse => "refuse",
            Overflow::Queue => "queue",
        };
        self.with("parallel", calls.into().0).with("overflow", Tree::Text(word.to_owned()))
    }

    pub(super) fn with(mut self, key: &str, value: Tree) -> Tool<V> {
        self.keys.set(key, value);
        self
    }

    pub(super) fn with_under(mut self, key: &str, name: impl Into<String>, value: Tree) -> Tool<V> {
        self.keys.add_under(key, name, value);
        self
    }

    pub(super) fn tree(self) -> Tree {
        Tree::Map(self.keys)
    }
}
