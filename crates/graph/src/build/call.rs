//! What nodes and tools share that call something or ask somebody.

use super::compensation::Compensation;
use super::node::Node;
use super::tool::Tool;
use super::tree::Tree;
use super::types::Field;
use super::values::{Expression, Setting};
use super::verb::{Ask, Call};
use deepgraph_protocol::Meter;

impl Node<Call> {
    /// An input of what is called, by name.
    pub fn input(self, name: impl Into<String>, value: impl Into<Expression>) -> Node<Call> {
        self.with_under("input", name, value.into().0)
    }

    /// A config value of the called graph and of all below it.
    pub fn config(self, key: impl Into<String>, value: impl Into<Setting>) -> Node<Call> {
        self.with_under("config", key, value.into().0)
    }

    /// What the called graph may use of a meter.
    pub fn grant(self, meter: Meter, amount: impl Into<Expression>) -> Node<Call> {
        self.with_under("grant", meter.name(), amount.into().0)
    }

    /// The call changes nothing outside.
    pub fn reads(self) -> Node<Call> {
        self.with("effect", Tree::Text("read".to_owned()))
    }

    /// The call changes something outside.
    pub fn writes(self) -> Node<Call> {
        self.with("effect", Tree::Text("write".to_owned()))
    }
}

impl Node<Call> {
    /// What undoes the call when the run is cancelled. Only of a call that writes.
    pub fn compensate(self, compensation: Compensation) -> Node<Call> {
        self.with("compensate", compensation.tree())
    }
}

impl Tool<Call> {
    /// What undoes the call when the run is cancelled, over `args` and `result`. Only of a call that writes.
    pub fn compensate(self, compensation: Compensation) -> Tool<Call> {
        self.with("compensate", compensation.tree())
    }
}

impl Node<Ask> {
    /// The shape of the answer; without it a text.
    pub fn returns(self, shape: impl Into<Field>) -> Node<Ask> {
        self.with("returns", shape.into().tree())
    }
}

impl Tool<Call> {
    /// An input of what is called, by name, over `args`. Without any, each argument is given by its own name.
    pub fn input(self, name: impl Into<String>, value: impl Into<Expression>) -> Tool<Call> {
        self.with_under("input", name, value.into().0)
    }

    /// A config value of the called graph and of all below it.
    pub fn config(self, key: impl Into<String>, value: impl Into<Setting>) -> Tool<Call> {
        self.with_under("config", key, value.into().0)
    }

    /// What the called graph may use of a meter.
    pub fn grant(self, meter: Meter, amount: impl Into<Expression>) -> Tool<Call> {
        self.with_under("grant", meter.name(), amount.into().0)
    }

    /// The call changes nothing outside.
    pub fn reads(self) -> Tool<Call> {
        self.with("effect", Tree::Text("read".to_owned()))
    }

    /// The call changes something outside.
    pub fn writes(self) -> Tool<Call> {
        self.with("effect", Tree::Text("write".to_owned()))
    }

    /// Which tools of a server are offered, where the call is `SERVER.*`.
    pub fn only<N: Into<String>>(self, tools: impl IntoIterator<Item = N>) -> Tool<Call> {
        self.with("only", Tree::names(tools))
    }
}

impl Tool<Ask> {
    /// The shape of the answer; without it a text.
    pub fn returns(self, shape: impl Into<Field>) -> Tool<Ask> {
        self.with("returns", shape.into().tree())
    }
}
