//! Routes and writes.

use deepgraph_protocol::{ExitClass, ExitReason};

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
