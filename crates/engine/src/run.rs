//! What is running: the nodes of the current super-step, their steps and the calls of their turns.

use std::sync::Arc;

use deepgraph_graph::{NodeIx, ToolIx};
use deepgraph_protocol::{ModelReply, ScopeEnd, StepError, StepId, ToolCall, Value};

/// A node of the current super-step.
#[derive(Debug)]
pub(crate) struct NodeRun {
    pub(crate) node: NodeIx,
    pub(crate) step: StepId,
    pub(crate) work: Work,
}

/// What a node is at.
#[derive(Debug)]
pub(crate) enum Work {
    /// One step.
    Step(Progress),
    /// The calls of a turn.
    Turn(Turn),
}

/// How far a step or a call is.
#[derive(Debug)]
pub(crate) enum Progress {
    /// Sent out.
    Open(Attempts),
    /// Back.
    Done(Outcome),
}

/// The tries of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attempts {
    /// The number of the attempt that is out, from 1.
    pub(crate) number: u32,
    /// Attempts that failed, context overflows left out.
    pub(crate) failed: u32,
    /// Context overflows.
    pub(crate) overflows: u32,
    /// Estimated tokens of the last request.
    pub(crate) estimate: u64,
}

impl Attempts {
    pub(crate) const FIRST: Attempts = Attempts { number: 1, failed: 0, overflows: 0, estimate: 0 };
}

/// What came of a step.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// Nothing was to be done.
    Nothing,
    /// A model's reply, with its structured output checked.
    Reply(Box<ModelReply>),
    /// An op's record, or a person's answer as `{text, data}`.
    Record(Value),
    /// A child's end.
    Child(Box<ScopeEnd>),
    /// It failed.
    Failed(StepError),
}

/// The calls of one turn.
#[derive(Debug)]
pub(crate) struct Turn {
    /// The model node whose reply it is.
    pub(crate) model: NodeIx,
    pub(crate) calls: Vec<CallRun>,
}

/// One call of a turn.
#[derive(Debug)]
pub(crate) struct CallRun {
    pub(crate) step: StepId,
    pub(crate) call: ToolCall,
    /// The tool, where the name is known and offered.
    pub(crate) tool: Option<ToolIx>,
    /// The arguments, checked; null where they do not fit.
    pub(crate) args: Value,
    pub(crate) stage: Stage,
}

/// How far a call is.
#[derive(Debug)]
pub(crate) enum Stage {
    /// Refused, with the reason that the model gets.
    Refused(Arc<str>),
    /// Not readable, with the reason that the model gets.
    Malformed(Arc<str>),
    /// Admitted; waits for a place among `parallel`.
    Queued,
    /// Admitted.
    Admitted(Progress),
}

impl NodeRun {
    /// Whether all its steps are back.
    pub(crate) fn is_done(&self) -> bool {
        match &self.work {
            Work::Step(progress) => matches!(progress, Progress::Done(_)),
            Work::Turn(turn) => turn.calls.iter().all(CallRun::is_done),
        }
    }
}

impl CallRun {
    /// Whether it needs nothing more.
    pub(crate) fn is_done(&self) -> bool {
        !matches!(self.stage, Stage::Queued | Stage::Admitted(Progress::Open(_)))
    }

    /// Whether it is out.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.stage, Stage::Admitted(Progress::Open(_)))
    }
}
