//! What is running: the nodes of the current super-step, their steps, calls and items.

use std::sync::Arc;

use deepgraph_graph::{NodeIx, ToolIx};
use deepgraph_protocol::{Effect, ErrorKind, ModelReply, ScopeEnd, StepError, StepId, ToolCall, Value};

/// A node of the current super-step.
#[derive(Clone, Debug)]
pub(crate) struct NodeRun {
    pub(crate) node: NodeIx,
    pub(crate) step: StepId,
    pub(crate) work: Work,
}

/// What a node is at.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    /// One step.
    Step(Progress),
    /// The calls of a turn.
    Turn(Turn),
    /// One step per item of a list.
    Each(Items),
}

/// How far a step, a call or an item is.
#[derive(Clone, Debug)]
pub(crate) enum Progress {
    /// Sent out.
    Open(Box<Open>),
    /// Back.
    Done(Outcome),
}

/// A step that is out.
#[derive(Clone, Debug)]
pub(crate) struct Open {
    pub(crate) attempts: Attempts,
    /// What was asked of the outside; none: a child whose share is not known yet.
    pub(crate) effect: Option<Effect>,
    /// The first reply of a model that could not be taken.
    pub(crate) repair: Option<Box<crate::repair::Repair>>,
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
    /// Whether it was told to be sent out.
    pub(crate) dispatched: bool,
    /// The last attempt of a call that writes which was claimed.
    pub(crate) claim: Option<Claim>,
    /// Which model of the route is asked, from 0.
    pub(crate) route: u32,
    /// The trouble of the configured model that led to the one that is asked; none: it is asked itself, or was in trouble
    /// before the step came.
    pub(crate) led: Option<ErrorKind>,
    /// Whether the one that is asked was told to stand in for the configured one.
    pub(crate) in_place: bool,
    /// What is known of how much fits its context window.
    pub(crate) room: Room,
}

/// What the attempts of a model step told of the context window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Room {
    /// The window that the attempt which is out was made to fit, in tokens.
    pub(crate) sent_within: Option<u64>,
    /// The window that a failure told, in tokens.
    pub(crate) told: Option<u64>,
    /// Of a request that was too long: its tokens as they are estimated, and as the provider counted them, or at least
    /// must have.
    pub(crate) counted: Option<(u64, u64)>,
}

impl Attempts {
    /// The claim of the attempt that is out, if it was claimed.
    pub(crate) fn claimed(&self) -> Option<Claim> {
        self.claim.filter(|claim| claim.attempt == self.number)
    }

    pub(crate) const FIRST: Attempts = Attempts {
        number: 1,
        failed: 0,
        overflows: 0,
        dispatched: false,
        claim: None,
        route: 0,
        led: None,
        in_place: false,
        room: Room { sent_within: None, told: None, counted: None },
    };
}

/// That an attempt of a call that writes may be under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    /// The attempt.
    pub(crate) attempt: u32,
    /// Whether the op takes the key of the call, so that it may be sent again under it.
    pub(crate) takes_key: bool,
}

/// What came of a step.
#[derive(Clone, Debug)]
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
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    /// The model node whose reply it is.
    pub(crate) model: NodeIx,
    pub(crate) calls: Vec<CallRun>,
}

/// One call of a turn.
#[derive(Clone, Debug)]
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
#[derive(Clone, Debug)]
pub(crate) enum Stage {
    /// Refused, with the reason that the model gets.
    Refused(Arc<str>),
    /// Not readable, with the reason that the model gets.
    Malformed(Arc<str>),
    /// A person is asked whether it may be run.
    Approving(Box<Open>),
    /// Admitted; waits for a place among `parallel`. With the child to start, once its share is known.
    Queued(Option<Box<Effect>>),
    /// Admitted.
    Admitted(Progress),
}

/// The items of a list that a node runs over.
#[derive(Clone, Debug)]
pub(crate) struct Items {
    pub(crate) items: Vec<Item>,
    /// How many may be out at once.
    pub(crate) cap: usize,
    /// How many are out.
    pub(crate) out: usize,
    /// The first that was not sent out yet.
    pub(crate) next: usize,
}

/// One item.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) value: Value,
    pub(crate) stage: ItemStage,
}

/// How far an item is.
#[derive(Clone, Debug)]
pub(crate) enum ItemStage {
    /// Waits for a place among `parallel`.
    Waiting(Waiting),
    /// Sent out, or back.
    Started(Progress),
}

/// An item that waits for a place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waiting {
    /// The child to start or to let go on, once its share is known.
    pub(crate) child: Option<Box<Effect>>,
    /// How its child had ended, where it is one that goes on.
    pub(crate) before: Option<Box<ScopeEnd>>,
}

impl Waiting {
    /// What becomes of it where it is not sent out any more. A child that was to go on stays as it had ended, with what
    /// it had handed up.
    pub(crate) fn given_up(self, why: &str) -> Outcome {
        match self.before {
            Some(end) => Outcome::Child(end),
            None => Outcome::Failed(StepError::new(ErrorKind::Cancelled, why)),
        }
    }
}

impl NodeRun {
    /// How many of its steps are not back.
    pub(crate) fn unfinished(&self) -> usize {
        match &self.work {
            Work::Step(progress) => usize::from(!progress.is_done()),
            Work::Turn(turn) => turn.calls.iter().filter(|c| !c.is_done()).count(),
            Work::Each(items) => items.items.iter().filter(|i| !i.is_done()).count(),
        }
    }
}

impl Progress {
    pub(crate) fn is_done(&self) -> bool {
        matches!(self, Progress::Done(_))
    }
}

impl CallRun {
    /// Whether it needs nothing more.
    pub(crate) fn is_done(&self) -> bool {
        match &self.stage {
            Stage::Refused(_) | Stage::Malformed(_) => true,
            Stage::Approving(_) | Stage::Queued(_) => false,
            Stage::Admitted(progress) => progress.is_done(),
        }
    }

    /// Whether it is out.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.stage, Stage::Admitted(Progress::Open(_)))
    }
}

impl Item {
    fn is_done(&self) -> bool {
        matches!(&self.stage, ItemStage::Started(progress) if progress.is_done())
    }
}
