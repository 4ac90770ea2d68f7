//! The shape of a trace.

use std::sync::Arc;

use deepgraph_protocol::{
    Cut, Exit, Fee, Grant, Map, Meter, Millis, ModelReply, ModelRequest, ReportOutcome, ResumeFrom,
    RunStatus, ScopePath, Spent, StepError, StepId, Value,
};
use serde::Serialize;

use crate::given;

/// A run in canonical order.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trace {
    /// The run's id; none when redacted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Its status as the journals have it; none while it is going on.
    pub status: Option<RunStatus>,
    /// The bundle's hash.
    pub bundle: Arc<str>,
    /// The effective configuration.
    pub config: Map,
    /// The root instance, all others within it.
    pub root: ScopeTrace,
    /// What was used and reserved at each moment; empty when redacted. For drawings only: it follows from the steps.
    #[serde(skip)]
    pub ledger: Vec<LedgerPoint>,
}

/// What a run had used and reserved at one moment, all its instances together. What was granted to a child and not
/// yet reserved by one of its own calls is not in it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LedgerPoint {
    /// The moment.
    pub at: Millis,
    /// Settled, calls whose outcome was never learnt included: tokens and micro-dollars.
    pub used: Spent,
    /// Reserved by calls that are out: tokens and micro-dollars.
    pub reserved: Spent,
}

/// One graph instance.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ScopeTrace {
    /// Where it is.
    pub scope: ScopePath,
    /// The graph.
    pub graph: Arc<str>,
    /// Its input.
    pub input: Map,
    /// What it was granted; none when redacted, since the deadline is a moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grant: Option<Grant>,
    /// Its limits, those that follow from its grant included.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<LimitInForce>,
    /// Warning marks of its limits that were crossed, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warned: Vec<Warned>,
    /// What the steps brought that its gain limits count, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gains: Vec<Gain>,
    /// Its super-steps, in order.
    pub super_steps: Vec<SuperStep>,
    /// The attempts that were over before it went on, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<Earlier>,
    /// How it ended; none while it has not.
    pub exit: Option<Exit>,
    /// How its `finally` stage went.
    pub report: Option<ReportOutcome>,
    /// What went wrong in the `finally` stage, if something did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report_error: Option<StepError>,
    /// What it handed up.
    pub output: Map,
    /// What it and all below it used.
    pub settled: Spent,
    /// When its first and its last entry were committed; none when redacted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<(Millis, Millis)>,
}

impl ScopeTrace {
    /// Its steps in reading order: each node, then the calls that it ran.
    pub fn steps(&self) -> impl Iterator<Item = &Node> {
        let nodes = self.super_steps.iter().flat_map(|s| &s.nodes);
        nodes.flat_map(|node| std::iter::once(node).chain(&node.calls))
    }

    /// The instances that its steps started, in delegation order.
    pub fn children(&self) -> impl Iterator<Item = &ScopeTrace> {
        self.steps().filter_map(|step| step.child.as_deref())
    }

    /// Its steps and all below them in reading order: each step, then its calls, then those of its child.
    pub fn all_steps(&self) -> Vec<&Node> {
        let mut all = Vec::new();
        for step in self.steps() {
            all.push(step);
            all.extend(step.child.iter().flat_map(|child| child.all_steps()));
        }
        all
    }

    /// It and all instances below it, each parent before its children, in delegation order.
    pub fn instances(&self) -> Vec<&ScopeTrace> {
        let mut all = vec![self];
        self.children().for_each(|child| all.extend(child.instances()));
        all
    }
}

/// An attempt of an instance that was over before the instance went on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Earlier {
    /// How it ended.
    pub exit: Exit,
    /// How its `finally` stage went.
    pub report: Option<ReportOutcome>,
    /// What went wrong in the `finally` stage, if something did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report_error: Option<StepError>,
    /// How many super-steps there were then.
    pub super_steps: usize,
    /// Where the next attempt went on.
    pub then_from: ResumeFrom,
    /// What of the configuration was set to something else for it.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub then_set: Map,
}

/// A limit of an instance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LimitInForce {
    /// Its name.
    pub name: Arc<str>,
    /// What it measures; none where it counts names or gain.
    pub meter: Option<Meter>,
    /// The bound in the unit of the graph file (calls, tokens, dollars, seconds); none where there is none.
    pub max: Option<f64>,
    /// What of it only the `finally` stage may use, in the same unit.
    pub kept: f64,
}

/// A limit whose warning mark was crossed. Figures in base units: calls, tokens, micro-dollars, milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warned {
    /// Its name.
    pub limit: Arc<str>,
    /// What was counted then.
    pub value: u64,
    /// The mark.
    pub mark: u64,
    /// The bound.
    pub bound: u64,
}

/// What one step brought that was new, by a gain limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Gain {
    /// The limit's name.
    pub limit: Arc<str>,
    /// The number of the step among those that the limit counts, from 1.
    pub number: u64,
    /// Items that were new.
    pub new: u64,
    /// Items that were known before.
    pub known: u64,
}

impl Gain {
    /// The marginal gain of the step: new ÷ (known + 1).
    pub fn share(&self) -> f64 {
        self.new as f64 / (self.known as f64 + 1.0)
    }
}

/// One super-step: nodes that ran together.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SuperStep {
    /// Its number in the instance, from 1.
    pub number: u64,
    /// Whether it belongs to the `finally` stage.
    pub in_finally: bool,
    /// Its nodes, in plan order.
    pub nodes: Vec<Node>,
}

/// A node's visit, or a call of a turn.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Node {
    /// The step.
    pub step: StepId,
    /// What it does, with its input.
    pub kind: NodeKind,
    /// The arguments of a call, as they were checked; none for a node, and for a call that was not admitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
    /// Whether it is a call that waits for a place among the calls of its turn, or waited in vain.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub queued: bool,
    /// The hash that the driver recorded of the request that it sent last; none when redacted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_hash: Option<String>,
    /// What the call of a model or of an op that costs something was charged, all its attempts together.
    #[serde(skip_serializing_if = "is_nothing")]
    pub charged: Spent,
    /// What the call of an op cost that was answered.
    #[serde(skip_serializing_if = "Fee::is_none")]
    pub fee: Fee,
    /// How the last attempt of a model call was sent.
    #[serde(skip_serializing_if = "Sending::is_plain")]
    pub sent: Sending,
    /// Attempts that failed before the last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_attempts: Vec<Attempt>,
    /// What came of it; none while it is open, and for a turn, whose calls tell.
    pub outcome: Option<Outcome>,
    /// The calls of a turn, in call order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Node>,
    /// The instance that it started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub child: Option<Box<ScopeTrace>>,
    /// When it began and ended; none when redacted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<(Millis, Millis)>,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    /// Only writes, or runs the calls of a turn.
    Plain,
    /// Calls a model, with this request.
    Model(Box<ModelRequest>),
    /// Runs an op.
    Op {
        /// Its name.
        op: Arc<str>,
        /// Its input, without what only graphs give.
        input: Map,
        /// What only graphs give ([`deepgraph_graph::Op::given`]). JSON holds the size and the hash of each.
        #[serde(serialize_with = "given::as_digests", skip_serializing_if = "Map::is_empty")]
        given: Map,
    },
    /// Starts a child graph.
    Graph,
    /// Asks a person.
    Ask {
        /// The question.
        question: Arc<str>,
    },
}

/// How a request was sent to a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sending {
    /// The model that was asked, where it is not the configured one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Arc<str>>,
    /// The context window that the request was made to fit, in tokens; none: none was known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// What was cut from it so that it fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
}

impl Sending {
    /// Whether the configured model was asked, with the whole request, whatever its window.
    pub fn is_plain(&self) -> bool {
        *self == Sending::default()
    }

    /// What was cut from the request, in words; none: nothing.
    pub fn cut_told(&self) -> Option<String> {
        let cut = self.cut?;
        let counted = [
            (cut.tool_results, "tool answer", "tool answers"),
            (cut.messages, "message", "messages"),
            (cut.parts, "part", "parts"),
        ];
        let counted = counted.iter().filter(|(n, ..)| *n > 0);
        let what: Vec<String> =
            counted.map(|(n, one, many)| format!("{n} {}", if *n == 1 { one } else { many })).collect();
        let window = self.window.map_or(String::new(), |window| format!(" to fit {window} tokens"));
        Some(format!("cut {}: {} bytes{window}", what.join(", "), cut.bytes))
    }
}

/// An attempt that failed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Attempt {
    /// Its number, from 1.
    pub number: u32,
    /// Why.
    pub error: StepError,
    /// How it was sent, where it called a model.
    #[serde(skip_serializing_if = "Sending::is_plain")]
    pub sent: Sending,
    /// Whether the next model of the route was asked then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fail_over: bool,
    /// When it failed, and when the wait before the next one is over; none when redacted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<(Millis, Millis)>,
}

/// What came of a step.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A model's reply.
    Reply(Box<ModelReply>),
    /// An op's record, or a person's answer.
    Value(Value),
    /// Done, with nothing to show.
    Done,
    /// Refused, with the reason.
    Refused(Arc<str>),
    /// Not readable, with the reason.
    Malformed(Arc<str>),
    /// It failed.
    Failed(StepError),
}

fn is_nothing(spent: &Spent) -> bool {
    *spent == Spent::default()
}
