//! Where the parts of a graph stand in the file, for checks of the plan.

use crate::NodeIx;
use crate::source::Place;

/// Places of one graph.
#[derive(Debug, Default)]
pub(crate) struct Sites {
    pub graph: Place,
    pub start: Place,
    pub finally: Place,
    pub nodes: Vec<Place>,
    pub tools: Vec<Place>,
    pub limits: Vec<Place>,
    /// Ways that lead to several nodes at once.
    pub fans: Vec<(Place, Vec<NodeIx>)>,
    /// What `after` names: the node that waits, the node that it waits for, where that stands.
    pub waits: Vec<(NodeIx, NodeIx, Place)>,
    /// A route of this graph could not be read: what it would lead to is not known.
    pub routes_broken: bool,
    /// A limit of this graph could not be read.
    pub limits_broken: bool,
    /// Calls of graphs that could not be checked.
    pub calls: Vec<(Place, usize)>,
}
