//! The compiled form of a graph file: what the engine runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_protocol::{ExitClass, ExitReason, Map, Meter, OutputShape, ToolSpec, Value};

use crate::{Expr, Field, OpTable, Programs, Text, ValueExpr};

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

/// A node: one unit of work, with its ways out.
#[derive(Debug)]
pub struct Node {
    /// Its name.
    pub name: Arc<str>,
    /// Progress text; none: the name.
    pub title: Option<Text>,
    /// What it does.
    pub verb: Verb,
    /// What it writes.
    pub update: Vec<Write>,
    /// The ways out; none: the branch ends here.
    pub next: Option<Route>,
    /// Where a failure leads; none: exit by error class.
    pub on_error: Option<Route>,
    /// Longest time per attempt.
    pub timeout: Option<Setting>,
    /// Repetition after a failed attempt.
    pub retry: Retry,
    /// How long an equal call's result may be reused.
    pub cache: Option<Setting>,
    /// Whether it is reachable from `finally`: part of the report stage.
    pub in_finally: bool,
}

/// What a node does.
#[derive(Debug)]
pub enum Verb {
    /// Nothing but its `update`.
    Pass,
    /// Calls a model.
    Model(Box<ModelNode>),
    /// Runs the tool calls of the last reply of a model node.
    RunTools(NodeIx),
    /// Calls a graph or an op.
    Call(Call),
    /// Asks a person.
    Ask(Ask),
}

/// A call of a model.
#[derive(Debug)]
pub struct ModelNode {
    /// The model's name.
    pub model: Setting,
    /// System message.
    pub system: Option<Text>,
    /// The conversation.
    pub messages: Option<ChannelIx>,
    /// Whether the reply is added to the conversation (false with `{read: ...}`).
    pub extends: bool,
    /// Last user message; not stored.
    pub prompt: Option<Text>,
    /// The tools that it offers.
    pub tools: Vec<ToolIx>,
    /// The tools as models see them, in the same order.
    pub specs: Vec<ToolSpec>,
    /// Structured output.
    pub returns: Option<Returns>,
    /// Upper bound of the reply, in tokens.
    pub max_output: Option<Setting>,
    /// How the request is made to fit the context window.
    pub truncate: Truncate,
    /// Provider options.
    pub options: Map,
    /// The channels that `system` and `prompt` read, without that of `messages`.
    pub reads: Vec<ChannelIx>,
}

/// The shape of a structured answer.
#[derive(Debug)]
pub struct Returns {
    /// Its type.
    pub field: Field,
    /// Its name and JSON Schema.
    pub shape: OutputShape,
}

/// What is cut, in order, when a request does not fit the context window.
#[derive(Clone, Debug, PartialEq)]
pub struct Truncate {
    /// What to cut, in order.
    pub cut: Vec<Cut>,
    /// Share of the window to fill.
    pub to: f64,
    /// Share taken off after each overflow.
    pub shrink: f64,
    /// Requests in all.
    pub tries: u32,
}

/// Something that may be cut from a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Contents of tool answers, oldest first.
    ToolResults,
    /// Whole messages, oldest first.
    Oldest,
    /// Items of a list channel (oldest first) or the end of a text channel.
    Channel(ChannelIx),
}

/// A call of a graph or an op.
#[derive(Debug)]
pub struct Call {
    /// What is called.
    pub callee: Callee,
    /// Its input, by name.
    pub input: Vec<(Arc<str>, ValueExpr)>,
}

/// What a call calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Callee {
    /// A graph of the bundle.
    Graph(GraphIx),
    /// An op, by name.
    Op(Arc<str>),
}

/// A question to a person.
#[derive(Debug)]
pub struct Ask {
    /// The question.
    pub question: Text,
    /// The shape of the answer.
    pub returns: Returns,
}

/// A tool that model nodes may offer.
#[derive(Debug)]
pub struct Tool {
    /// Its name.
    pub name: Arc<str>,
    /// Its arguments, by name.
    pub parameters: Vec<(Arc<str>, Field)>,
    /// What it does; none: it only writes, answers or leads somewhere.
    pub call: Option<Call>,
    /// What it asks a person (instead of `call`).
    pub ask: Option<Ask>,
    /// What it writes.
    pub update: Vec<Write>,
    /// What the model is told; none: the default answer.
    pub answer: Option<Text>,
    /// Longest answer that goes back to the model, in tokens.
    pub answer_max: Setting,
    /// Where it leads.
    pub next: Option<Route>,
    /// Where a failed call leads; none: the failure is answered and the loop goes on.
    pub on_error: Option<Route>,
    /// Longest time per attempt.
    pub timeout: Option<Setting>,
    /// Repetition after a failed attempt.
    pub retry: Retry,
    /// How long an equal call's result may be reused.
    pub cache: Option<Setting>,
    /// Calls of one turn that may run.
    pub parallel: Option<Setting>,
    /// What becomes of those past `parallel`.
    pub overflow: Overflow,
}

/// What becomes of calls of one turn past `parallel`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// They are refused with an answer.
    Refuse,
    /// They run in later waves of the same turn.
    Queue,
}

/// Repetition after a failed attempt.
#[derive(Clone, Debug)]
pub struct Retry {
    /// Attempts in all, at least 1.
    pub max: Setting,
    /// Wait before the second attempt.
    pub backoff: Setting,
    /// The wait grows by this factor.
    pub factor: f64,
    /// Which errors are repeated; none: the transient kinds.
    pub condition: Option<ValueExpr>,
}

/// A limit.
#[derive(Debug)]
pub struct Limit {
    /// Its name.
    pub name: Arc<str>,
    /// What is counted.
    pub counted: Counted,
    /// The bound; none: the grant. A setting that reads as null switches the limit off.
    pub max: Option<Setting>,
    /// What then.
    pub on_reach: OnReach,
    /// What is kept for `finally`.
    pub reserve: Reserve,
    /// Whether children's use is left out (`scope: own`).
    pub own: bool,
}

/// What a limit counts.
#[derive(Debug)]
pub enum Counted {
    /// Calls of tools and visits of nodes.
    Names {
        /// The tools.
        tools: Vec<ToolIx>,
        /// The nodes.
        nodes: Vec<NodeIx>,
    },
    /// A meter.
    Meter(Meter),
    /// New items per step: new ÷ (known + 1), each time a step writes the channel.
    Gain {
        /// The channel.
        channel: ChannelIx,
        /// The threshold; 0 switches the limit off.
        below: Setting,
        /// How many of the last steps are looked at.
        window: Setting,
        /// Steps before which it does not fire.
        min_steps: Setting,
        /// Whether each of the window is below, or their sum.
        sum: bool,
    },
}

/// What happens when a limit is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OnReach {
    /// The instance ends.
    Exit(ExitReason, ExitClass),
    /// A node runs instead.
    To(NodeIx),
    /// The start is refused.
    Refuse,
}

/// What of a limit is kept for `finally`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reserve {
    /// A share of the bound, 0 to below 1.
    Share(f64),
    /// Units of what is counted (tokens, dollars, seconds, calls).
    Units(f64),
}

/// A literal, or a key of the configuration.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// A literal.
    Literal(Value),
    /// `config.KEY`.
    Config(Arc<str>),
}

impl Setting {
    /// The value in force under this configuration.
    pub fn resolve<'a>(&'a self, config: &'a Map) -> &'a Value {
        match self {
            Setting::Literal(value) => value,
            Setting::Config(key) => config.get(key).unwrap_or(&Value::Null),
        }
    }

    /// As a duration in milliseconds. Durations are values in seconds.
    pub fn millis(&self, config: &Map) -> Option<u64> {
        self.resolve(config).as_float().map(|seconds| (seconds.max(0.0) * 1000.0).round() as u64)
    }

    /// As a whole number of at least 0.
    pub fn count(&self, config: &Map) -> Option<u64> {
        self.resolve(config).as_int().and_then(|n| u64::try_from(n).ok())
    }

    /// As a number.
    pub fn number(&self, config: &Map) -> Option<f64> {
        self.resolve(config).as_float()
    }
}

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

/// An expression whose value is a text template or bare expression, for callers that need its source.
impl From<Expr> for ValueExpr {
    fn from(expr: Expr) -> ValueExpr {
        ValueExpr::Expr(expr)
    }
}
