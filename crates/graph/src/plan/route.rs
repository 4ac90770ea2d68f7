//! Routes and writes.

use deepgraph_protocol::{ExitClass, ExitReason, Value};

use super::{ChannelIx, NodeIx};
use crate::ValueExpr;

/// A write to a channel.
#[derive(Debug)]
pub struct Write {
    /// The channel.
    pub channel: ChannelIx,
    /// What is written.
    pub value: ValueExpr,
}

/// Ways out, tried in order; the first that holds is taken.
#[derive(Debug)]
pub struct Route(pub Vec<Way>);

impl Route {
    /// Whether one of its ways is always taken, so that it never leads nowhere.
    pub fn is_sure(&self) -> bool {
        self.0.iter().any(Way::is_always)
    }
}

/// One way out.
#[derive(Debug)]
pub struct Way {
    /// When it holds; none: always.
    pub condition: Option<ValueExpr>,
    /// What is written when it is taken.
    pub update: Vec<Write>,
    /// Where it leads.
    pub to: Target,
}

impl Way {
    /// Whether it is taken whenever it is come to: it has no condition, or `if: true`.
    pub fn is_always(&self) -> bool {
        match &self.condition {
            None => true,
            Some(condition) => *condition == ValueExpr::Literal(Value::Bool(true)),
        }
    }
}

/// Where a way leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// To these nodes, in the next super-step.
    Nodes(Vec<NodeIx>),
    /// Out, by this reason.
    Exit(ExitReason, ExitClass),
    /// Out, as the child that this node called ended.
    Inherit,
    /// On to the node's own `next` (in `on_error`), or nowhere further.
    CarryOn,
}
