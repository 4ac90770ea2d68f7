//! The shape of a trace.

use std::sync::Arc;

use deepgraph_protocol::{
    Exit, Grant, Map, Millis, ModelReply, ModelRequest, ReportOutcome, RunStatus, ScopePath, Spent,
    StepError, StepId, Value,
};
use serde::Serialize;

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
    /// Its super-steps, in order.
    pub super_steps: Vec<SuperStep>,
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
        /// Its input.
        input: Map,
    },
    /// Starts a child graph.
    Graph,
    /// Asks a person.
    Ask {
        /// The question.
        question: Arc<str>,
    },
}

/// An attempt that failed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Attempt {
    /// Its number, from 1.
    pub number: u32,
    /// Why.
    pub error: StepError,
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
