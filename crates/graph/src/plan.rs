//! The compiled form of a graph file: what the engine runs.

mod limit;
mod node;
mod route;
mod setting;

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_protocol::{ExitClass, Value};

pub use limit::{Counted, Limit, OnReach, Reserve};
pub use node::{Ask, Call, Callee, Cut, ModelNode, Node, Overflow, Retry, Returns, Tool, Truncate, Verb};
pub use route::{Route, Target, Way, Write};
pub use setting::Setting;

use crate::{Field, OpTable, Programs};

/// A graph file with all graphs below it. Immutable; shared by every scope of a run.
#[derive(Debug)]
pub struct Bundle {
    /// All graphs; the root is the first.
    pub graphs: Vec<Graph>,
    /// The declared configuration, one value per key run-wide.
    pub config: BTreeMap<Arc<str>, Field>,
    /// Run-wide caps of the driver.
    pub concurrency: Concurrency,
    /// The ops that it was checked against.
    pub ops: OpTable,
    /// Compiled expressions and templates.
    pub programs: Programs,
    /// The files that it was made from.
    pub source: BundleSource,
    /// SHA-256 over `source`, hexadecimal.
    pub hash: Arc<str>,
}

/// The texts that a bundle is made from: enough to compile it again.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct BundleSource {
    /// Path of the graph file, as given.
    pub entry: String,
    /// Every file read, by path relative to the graph file's folder.
    pub files: BTreeMap<String, String>,
}

/// Run-wide caps, held by queueing. None: unbounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Concurrency {
    /// Child graphs that work at once.
    pub graphs: Option<usize>,
    /// Model calls in flight.
    pub model_calls: Option<usize>,
    /// Tool calls in flight.
    pub tool_calls: Option<usize>,
}

/// Index of a graph in its bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GraphIx(pub usize);

/// Index of a node in its graph: its place in plan order, which is the order of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIx(pub usize);

/// Index of a channel in its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChannelIx(pub usize);

/// Index of a tool in its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolIx(pub usize);

/// One graph.
#[derive(Debug)]
pub struct Graph {
    /// Its name.
    pub name: Arc<str>,
    /// Its path in the bundle: `deep_research`, `deep_research/supervisor`. Local graphs are always listed
    /// directly under the root's name.
    pub path: Arc<str>,
    /// What it is for.
    pub description: Arc<str>,
    /// Its channels.
    pub channels: Vec<Channel>,
    /// The channels that a caller gives.
    pub input: Vec<ChannelIx>,
    /// The channels that a caller gets.
    pub output: Vec<ChannelIx>,
    /// Its tools.
    pub tools: Vec<Tool>,
    /// Its limits, in file order.
    pub limits: Vec<Limit>,
    /// The exits that it declares.
    pub exits: BTreeMap<Arc<str>, ExitClass>,
    /// Where it begins.
    pub start: Route,
    /// The stage that every exit passes.
    pub finally: Option<Route>,
    /// Its nodes, in plan order.
    pub nodes: Vec<Node>,
}

/// A typed place of the state.
#[derive(Debug)]
pub struct Channel {
    /// Its name.
    pub name: Arc<str>,
    /// Its type and description.
    pub field: Field,
    /// How writes are joined with what is there.
    pub reducer: Reducer,
    /// What it reads as before anything is written.
    pub initial: Value,
}

/// How a write is joined with what a channel holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reducer {
    /// The new value takes the place of the old; two writers in one super-step are an error.
    Replace,
    /// A list: items (or one item) are added at the end.
    Append,
    /// A map: keys are set, others stay.
    Merge,
    /// Messages: added at the end; a known id is replaced in place.
    Messages,
    /// A number: added up.
    Sum,
    /// The greater of both.
    Max,
    /// A list: items that are not there yet are added at the end. Facts are the same when their keys are.
    Union,
}

impl Bundle {
    /// The graph of an index.
    pub fn graph(&self, ix: GraphIx) -> &Graph {
        &self.graphs[ix.0]
    }

    /// The root graph.
    pub fn root(&self) -> &Graph {
        &self.graphs[0]
    }

    /// The graph of a path.
    pub fn find(&self, path: &str) -> Option<GraphIx> {
        self.graphs.iter().position(|g| &*g.path == path).map(GraphIx)
    }
}

impl Graph {
    /// The channel of a name.
    pub fn channel(&self, name: &str) -> Option<ChannelIx> {
        self.channels.iter().position(|c| &*c.name == name).map(ChannelIx)
    }

    /// The node of a name.
    pub fn node(&self, name: &str) -> Option<NodeIx> {
        self.nodes.iter().position(|n| &*n.name == name).map(NodeIx)
    }

    /// The tool of a name.
    pub fn tool(&self, name: &str) -> Option<ToolIx> {
        self.tools.iter().position(|t| &*t.name == name).map(ToolIx)
    }
}
