//! What a run went through, as a drawing shows it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{GraphIx, NodeIx, ToolIx};

/// What of a bundle a run went through, and how often. Each graph is summed over its instances.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// The graphs that had an instance.
    pub graphs: BTreeMap<GraphIx, TakenGraph>,
}

/// What of one graph a run went through: counts, over all its instances.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TakenGraph {
    /// Instances that started.
    pub instances: u64,
    /// Instances whose `finally` stage began.
    pub finishing: u64,
    /// Visits, by node.
    pub visits: BTreeMap<NodeIx, u64>,
    /// Visits that are not over yet, by node.
    pub open: BTreeMap<NodeIx, u64>,
    /// Items that were started, by the node that runs over them.
    pub items: BTreeMap<NodeIx, u64>,
    /// Calls that were admitted, by the node that ran them and the tool.
    pub calls: BTreeMap<(NodeIx, ToolIx), u64>,
    /// Child graphs that were started by nodes.
    pub spawned: BTreeMap<NodeIx, u64>,
    /// Child graphs that were started by tools.
    pub called: BTreeMap<ToolIx, u64>,
    /// How often a limit was reached, by its index.
    pub reached: BTreeMap<usize, u64>,
    /// How often each passage was gone.
    pub passages: BTreeMap<Passage, u64>,
    /// The ends of instances: by what, under which name.
    pub exits: BTreeMap<(Passage, Arc<str>), u64>,
}

/// A line of a drawing that leads on or out, as a run knows it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Passage {
    /// A way of a route, to one of its nodes; without a node it leads out or ends the branch.
    Way {
        /// The route.
        of: RouteOf,
        /// The way, by its index.
        way: usize,
        /// The node that it leads to.
        to: Option<NodeIx>,
    },
    /// The branch ended after this node: it has no `next`, or no way of it held.
    Ended(NodeIx),
    /// Nothing was started: no way of `start` held.
    NotStarted,
    /// A limit of the graph, by its index: to its exit or node.
    Limit(usize),
    /// What the caller granted was used up, by the name of the exit.
    Grant(Arc<str>),
    /// A step failed and no `on_error` took it up, by the name of the exit.
    Failure(Arc<str>),
    /// It was cancelled from outside, by the name of the exit.
    Cancelled(Arc<str>),
    /// The graph was at fault: an expression, or two writers.
    Fault,
}

/// Whose route it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RouteOf {
    /// `start` of the graph.
    Start,
    /// `finally` of the graph.
    Finally,
    /// `next` of a node.
    Next(NodeIx),
    /// `on_error` of a node.
    Error(NodeIx),
    /// `next` of a node, after a way of its `on_error` (by its index) that carries on; of a node that runs over a
    /// list, once for each item that failed so.
    Carried(NodeIx, usize),
    /// `next` of a tool.
    Tool(ToolIx),
    /// `on_error` of a tool.
    ToolError(ToolIx),
}
