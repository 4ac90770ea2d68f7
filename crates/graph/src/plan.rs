//! The compiled form of a graph file: what the engine runs.

mod in_force;
mod intent;
mod limit;
mod node;
mod reads;
mod route;
mod setting;

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_protocol::{ExitClass, Value};

pub use in_force::{Counts, InForce};
pub use intent::Intent;
pub use limit::{Counted, Limit, OnReach, Reserve};
pub use node::{
    Ask, Call, Callee, Compensate, Cut, Each, ModelNode, Node, Overflow, Retry, Returns, Tool, Truncate, Verb,
};
pub use route::{Route, Target, Way, Write};
pub use setting::{ConfigUse, Setting};

use crate::{Field, OpTable, Programs, ServerTool, Text};

/// A graph file with all graphs below it. Immutable; shared by every scope of a run.
#[derive(Debug)]
pub struct Bundle {
    /// All graphs; the root is the first.
    pub graphs: Vec<Graph>,
    /// The declared configuration, one value per key run-wide.
    pub config: BTreeMap<Arc<str>, Field>,
    /// Where the graphs read keys of it as settings.
    pub config_uses: Vec<ConfigUse>,
    /// Classes of questions with configuration of their own, in file order.
    pub intents: Vec<Intent>,
    /// Run-wide caps of the driver.
    pub concurrency: Concurrency,
    /// The ops that it was checked against; tools of servers among them, as `SERVER.TOOL`.
    pub ops: OpTable,
    /// The servers that it calls tools of, of all graphs. Their tools are known where `ops` has them.
    pub servers: Vec<Server>,
    /// Whether it offers the tools of the servers in a user's own configuration (`mcp.*`). They are in `ops` under
    /// [`USER_SERVERS`](crate::USER_SERVERS), where there are any.
    pub user_tools: bool,
    /// Compiled expressions and templates.
    pub programs: Programs,
    /// The files that it was made from.
    pub source: BundleSource,
    /// SHA-256 over `source`, hexadecimal; the folder of `entry` is no part of it.
    pub hash: Arc<str>,
}

/// The texts that a bundle is made from: enough to compile it again.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct BundleSource {
    /// Path of the graph file, as given.
    pub entry: String,
    /// Every file read, by path relative to the graph file's folder.
    pub files: BTreeMap<String, String>,
    /// The tools of the servers that were asked, by server.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<Arc<str>, Vec<ServerTool>>,
    /// The number of the stock ops that it was made with.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stock_ops: u32,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
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
    /// directly under the root's name. A graph of another file has the path by which it is called:
    /// `lib/other.yaml`, `lib/other.yaml#researcher`.
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
    /// Its channels and nodes by name.
    pub lookup: Arc<Lookup>,
}

/// What the names of one graph mean.
#[derive(Debug, Default)]
pub struct Lookup {
    channels: BTreeMap<Arc<str>, ChannelIx>,
    nodes: BTreeMap<Arc<str>, NodeIx>,
}

impl Lookup {
    /// Of these channels and nodes.
    pub fn of(channels: &[Channel], nodes: &[Node]) -> Lookup {
        Lookup {
            channels: channels.iter().enumerate().map(|(i, c)| (c.name.clone(), ChannelIx(i))).collect(),
            nodes: nodes.iter().enumerate().map(|(i, n)| (n.name.clone(), NodeIx(i))).collect(),
        }
    }

    /// The channel of a name.
    pub fn channel(&self, name: &str) -> Option<ChannelIx> {
        self.channels.get(name).copied()
    }

    /// The node of a name.
    pub fn node(&self, name: &str) -> Option<NodeIx> {
        self.nodes.get(name).copied()
    }
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
    /// Where its value is kept between runs; none: nowhere. Only channels of the graph that is run are kept, and
    /// only those of the root instance: a called one begins empty.
    pub persist: Option<Persist>,
}

impl Channel {
    /// Whether an input of it has to be given: lists, maps and messages are empty where they are not, and so are
    /// channels with a default.
    pub fn is_required(&self) -> bool {
        !self.field.optional && self.initial.is_null()
    }
}

/// Where the value of a channel is kept between runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Persist {
    /// With the thread of the run (a conversation): nowhere where the run has none.
    Thread,
    /// Under a key, rendered over the input of the run: it reads input channels only. Channels with the same key are
    /// kept side by side, each under its own name.
    Key(Text),
}

/// An MCP server: a source of tools outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Its name in the file.
    pub name: Arc<str>,
    /// How it is reached.
    pub transport: Transport,
    /// The secrets that its texts read as `secret.NAME`, by name, in byte order. One that is not there is empty text
    /// when they are rendered, so whoever does it looks first.
    pub secrets: Vec<Arc<str>>,
    /// Whether it does nothing twice that comes under the same idempotency key.
    pub takes_keys: bool,
    /// Whether a run can not begin without it. One that is not required and can not be reached has no tools; calls of
    /// tools that the graph names fail then.
    pub required: bool,
}

/// How a server is reached. `secret.NAME` is all that its texts can read: they are rendered by
/// [`Programs::render`](crate::Programs::render) with names of which `secret` is a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Streamable HTTP.
    Http {
        /// Its address.
        url: Text,
        /// Headers of every request.
        headers: Vec<(Arc<str>, Text)>,
    },
    /// A program that talks over its standard input and output.
    Command {
        /// The program and its arguments; at least one.
        command: Vec<Text>,
        /// Variables of its environment.
        env: Vec<(Arc<str>, Text)>,
    },
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
        self.lookup.channel(name)
    }

    /// The node of a name.
    pub fn node(&self, name: &str) -> Option<NodeIx> {
        self.lookup.node(name)
    }

    /// What it calls: by its nodes, then by its tools.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        let nodes = self.nodes.iter().filter_map(|node| match &node.verb {
            Verb::Call(call) => Some(call),
            _ => None,
        });
        nodes.chain(self.tools.iter().filter_map(|tool| tool.call.as_ref()))
    }

    /// The tool of a name.
    pub fn tool(&self, name: &str) -> Option<ToolIx> {
        self.tools.iter().position(|t| &*t.name == name).map(ToolIx)
    }
}
