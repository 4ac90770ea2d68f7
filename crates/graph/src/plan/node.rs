//! Nodes and tools.

use std::sync::Arc;

use deepgraph_protocol::{Map, Meter, OutputShape, ToolSpec};

use super::{ChannelIx, GraphIx, NodeIx, Route, Setting, ToolIx, Write};
use crate::{Field, Text, ValueExpr};

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
    /// The nodes that it waits for: it runs once each of them has led here since it last ran.
    pub after: Vec<NodeIx>,
    /// Whether it waits until nothing else in the instance runs.
    pub defer: bool,
    /// The list that it runs over, once per item; none: it runs once.
    pub each: Option<Each>,
    /// Whether it is reachable from `finally`: part of the report stage.
    pub in_finally: bool,
}

/// A node that runs once per item of a list.
#[derive(Debug)]
pub struct Each {
    /// The list, read at the start of the super-step.
    pub list: ValueExpr,
    /// How many items are run at most; those beyond are left out, and told.
    pub max_items: ValueExpr,
    /// Items in flight; none: all at once.
    pub parallel: Option<Setting>,
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

impl Verb {
    /// Whether it is a step: something that one would rather not do twice.
    pub fn is_step(&self) -> bool {
        matches!(self, Verb::Model(_) | Verb::Call(_) | Verb::Ask(_))
    }
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
    /// The item of `each`: the longest text in it, from its end.
    Item,
}

/// A call of a graph or an op.
#[derive(Debug)]
pub struct Call {
    /// What is called.
    pub callee: Callee,
    /// Its input, by name.
    pub input: Vec<(Arc<str>, ValueExpr)>,
    /// Whether the arguments that `input` does not name are passed on as they are: a tool of a server whose schema
    /// lets them, offered with the parameters of its server. False in nodes.
    pub rest: bool,
    /// Configuration that is different in the child and below it, by key.
    pub config: Vec<(Arc<str>, Setting)>,
    /// What the child may use at most, by meter, in the meter's unit (seconds, dollars, tokens, calls); meters
    /// that are not named get an equal share.
    pub grant: Vec<(Meter, ValueExpr)>,
    /// Whether it changes anything outside: as declared by `effect`, else as the op says. False for graphs.
    pub writes: bool,
    /// What undoes it when the run is cancelled; none: nothing does.
    pub compensate: Option<Compensate>,
}

/// The call that undoes a call that wrote.
#[derive(Debug)]
pub struct Compensate {
    /// The op that is called.
    pub op: Arc<str>,
    /// Its input, by name, evaluated when the call completes that it undoes.
    pub input: Vec<(Arc<str>, ValueExpr)>,
}

/// What a call calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Callee {
    /// A graph of the bundle.
    Graph(GraphIx),
    /// An op, by name. A tool of an MCP server is the op `SERVER.TOOL`.
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
    /// When a person is asked before a call is run; none: never.
    pub approve: Option<ValueExpr>,
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
