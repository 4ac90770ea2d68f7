//! Nodes that call a model.

use super::node::Node;
use super::tree::{Mapping, Tree};
use super::types::Field;
use super::values::{Literal, Setting};
use super::verb::{CallsModel, Model, Talk};

/// How a request is made to fit the context window. What is not said stays as it is by default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Truncate(Mapping);

impl Node<Model> {
    /// The channel of the conversation, which is read and extended by the reply. Only then can it offer tools.
    pub fn messages(self, channel: impl Into<String>) -> Node<Talk> {
        self.with("messages", Tree::Text(channel.into())).under_verb()
    }

    /// The channel of a conversation that is only read.
    pub fn read_messages(self, channel: impl Into<String>) -> Node<Model> {
        let read = Mapping::default().with("read", Tree::Text(channel.into()));
        self.with("messages", Tree::Map(read))
    }
}

impl Node<Talk> {
    /// The tools that it offers, by name.
    pub fn tools<N: Into<String>>(self, tools: impl IntoIterator<Item = N>) -> Node<Talk> {
        self.with("tools", Tree::names(tools))
    }
}

impl<V: CallsModel> Node<V> {
    /// The system message: a template, or the name of a file such as `prompts/agent.md` (see [`Graph::file`]).
    ///
    /// [`Graph::file`]: super::Graph::file
    pub fn system(self, text: impl Into<String>) -> Node<V> {
        self.with("system", Tree::Text(text.into()))
    }

    /// The last user message of this request, which is not kept: a template, or the name of a file.
    pub fn prompt(self, text: impl Into<String>) -> Node<V> {
        self.with("prompt", Tree::Text(text.into()))
    }

    /// The shape of the answer: structured output, in `result.data`.
    pub fn returns(self, shape: impl Into<Field>) -> Node<V> {
        self.with("returns", shape.into().tree())
    }

    /// The longest reply in tokens.
    pub fn max_output(self, tokens: impl Into<Setting>) -> Node<V> {
        self.with("max_output", tokens.into().0)
    }

    /// How a request that is too long is cut.
    pub fn truncate(self, truncate: Truncate) -> Node<V> {
        self.with("truncate", Tree::Map(truncate.0))
    }

    /// An option that is passed on to the provider, such as `temperature`.
    pub fn option(self, name: impl Into<String>, value: impl Into<Literal>) -> Node<V> {
        self.with_under("options", name, value.into().0)
    }
}

impl Truncate {
    /// What goes, in order: `tool_results`, `oldest`, `item`, or the name of a channel.
    pub fn cut<N: Into<String>>(parts: impl IntoIterator<Item = N>) -> Truncate {
        Truncate(Mapping::default().with("cut", Tree::names(parts)))
    }

    /// The share of the window that is filled.
    pub fn to(self, share: f64) -> Truncate {
        Truncate(self.0.with("to", Tree::number(share)))
    }

    /// How much less is kept after each overflow.
    pub fn shrink(self, share: f64) -> Truncate {
        Truncate(self.0.with("shrink", Tree::number(share)))
    }

    /// Requests in all.
    pub fn tries(self, requests: u32) -> Truncate {
        Truncate(self.0.with("tries", Tree::Int(requests.into())))
    }
}
