//! What the work of an instance leaves when it ends: what a further attempt goes on from.
//!
//! Normally that is the state and the nodes that would have run next. Where a step failed, did not fit a limit or was
//! given up, and where the exit is that of a child, the super-step in which that happened is kept as it stood before
//! it was joined: it is opened again, what was done in it is joined as it is, and the rest is done anew.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use deepgraph_graph::{Node, NodeIx, Target};
use deepgraph_protocol::{Effect, ErrorKind, Exit, ExitClass, ScopeEnd, StepError, StepId, ToolCall};

use crate::channel::State;
use crate::exit::Came;
use crate::join::Arrival;
use crate::machine::{Machine, Phase};
use crate::run::{Attempts, ItemStage, NodeRun, Outcome, Progress, Work};

/// What was left when the main stage ended.
#[derive(Clone, Debug)]
pub(crate) struct Left {
    pub(crate) state: State,
    pub(crate) ready: BTreeSet<NodeIx>,
    /// Nodes that a limit did not let start.
    pub(crate) stopped: BTreeSet<NodeIx>,
    pub(crate) deferred: BTreeSet<NodeIx>,
    pub(crate) arrived: BTreeMap<NodeIx, BTreeSet<NodeIx>>,
    /// Calls of replies that were not run yet.
    pub(crate) replies: BTreeMap<NodeIx, Vec<ToolCall>>,
    /// The last attempt of each step that failed in the last super-step.
    pub(crate) tried: BTreeMap<StepId, u32>,
    /// The last super-step, where it is to be opened again.
    pub(crate) before: Option<Box<Before>>,
}

/// A super-step as it stood before it was joined.
#[derive(Clone, Debug)]
pub(crate) struct Before {
    pub(crate) state: State,
    pub(crate) runs: Vec<NodeRun>,
    pub(crate) ready: BTreeSet<NodeIx>,
    pub(crate) deferred: BTreeSet<NodeIx>,
    pub(crate) arrived: BTreeMap<NodeIx, BTreeSet<NodeIx>>,
    /// How many gains each limit had seen, by its name.
    pub(crate) gains: Vec<(Arc<str>, usize)>,
    /// How many exits of children were known.
    pub(crate) children: usize,
    /// The nodes that something is left of, each with what.
    pub(crate) left: BTreeMap<NodeIx, Rest>,
}

/// What of the steps of a node is left to be done; of a list, item by item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rest {
    /// Those that failed or were not run.
    pub(crate) failures: bool,
    /// Children that ended short of their work.
    pub(crate) children: bool,
}

impl Left {
    /// Whether there is work to go on with.
    pub(crate) fn has_work(&self) -> bool {
        let nothing = self.before.is_none()
            && self.ready.is_empty()
            && self.stopped.is_empty()
            && self.deferred.is_empty();
        !nothing
    }

    /// Whether all that is done first had started before: steps that are tried anew, and children.
    pub(crate) fn begins_with_what_was_counted(&self) -> bool {
        let Some(before) = self.before.as_ref().filter(|_| self.stopped.is_empty()) else { return false };
        let is_left = |run: &&NodeRun| before.left.contains_key(&run.node);
        let mut failed = before.runs.iter().filter(is_left).flat_map(|run| failures(&run.work));
        failed.all(|error| error.kind != ErrorKind::Refused)
    }

    /// Whether it is left to children.
    pub(crate) fn is_of_children(&self) -> bool {
        self.before.as_ref().is_some_and(|before| before.left.values().any(|rest| rest.children))
    }
}

impl Machine {
    /// Keeps the super-step that is about to be joined, where something may be left of it. Where all went well,
    /// nothing is kept and nothing copied.
    pub(crate) fn keep_super_step(&mut self) {
        self.before = None;
        if self.phase != Phase::Main || !self.current.iter().any(|run| self.may_leave(run)) {
            return;
        }
        self.before = Some(Box::new(Before {
            state: self.state.clone(),
            runs: self.current.clone(),
            ready: self.ready.clone(),
            deferred: self.deferred.clone(),
            arrived: self.arrived.clone(),
            gains: self.limits.iter().map(|limit| (limit.name.clone(), limit.gains.len())).collect(),
            children: self.children.len(),
            left: BTreeMap::new(),
        }));
    }

    fn may_leave(&self, run: &NodeRun) -> bool {
        let inherits = || inherits(&self.plan().nodes[run.node.0]);
        failures(&run.work).next().is_some()
            || (children(&run.work).any(|end| falls_short(&end.exit)) && inherits())
    }

    /// Notes what is left of a node of the super-step that is being joined, by where it led.
    pub(crate) fn mark_left(&mut self, node: NodeIx, led: &Result<Arrival, StepError>) {
        let Some(before) = &self.before else { return };
        let Some(run) = before.runs.iter().find(|run| run.node == node) else { return };
        let failures = match led {
            Ok(Arrival::Out(out)) => out.came == Came::Failure,
            Ok(Arrival::Nowhere) => failures(&run.work).any(|error| self.is_given_up(error)),
            _ => false,
        };
        let inherited =
            matches!(led, Ok(Arrival::Out(out)) if out.came == Came::Inherited && goes_on(out.class));
        // A list that is opened again for items that were not run would inherit how its children had ended before.
        let would_be = failures && inherits(&self.plan().nodes[node.0]);
        let short = |end: &ScopeEnd| falls_short(&end.exit);
        let children = (inherited || would_be) && children(&run.work).any(short);
        if let (true, Some(before)) = (failures || children, &mut self.before) {
            before.left.insert(node, Rest { failures, children });
        }
    }

    /// The main stage ends: what is there is kept.
    pub(crate) fn keep_left(&mut self) {
        if self.phase != Phase::Main {
            return;
        }
        self.left = Some(Box::new(Left {
            state: self.state.clone(),
            ready: self.ready.clone(),
            stopped: std::mem::take(&mut self.stopped),
            deferred: self.deferred.clone(),
            arrived: self.arrived.clone(),
            replies: self.replies.clone(),
            tried: std::mem::take(&mut self.tried),
            before: self.before.take().filter(|before| !before.left.is_empty()),
        }));
    }

    /// The super-step is joined and nothing ended the instance: nothing of it is needed any more.
    pub(crate) fn let_go(&mut self) {
        self.before = None;
        if !self.tried.is_empty() {
            self.tried.clear();
        }
    }

    /// The attempt with which a step is sent out: its first, or, where it failed in an earlier attempt of the instance,
    /// the one behind its last, so that what still comes of that one is told from it.
    pub(crate) fn next_try(&self, effect: &mut Effect) -> Attempts {
        let last = effect.step().filter(|_| !self.tried.is_empty()).and_then(|step| self.tried.get(step));
        let number = last.map_or(1, |last| last.saturating_add(1));
        if let Effect::CallModel { attempt, .. } | Effect::RunOp { attempt, .. } = effect {
            *attempt = number;
        }
        if let Effect::CallModel { route, .. } = effect {
            *route = 0;
        }
        Attempts { number, ..Attempts::FIRST }
    }
}

/// Whether an end of this class leaves work that a raised limit, or a model that answers again, lets go on.
pub(crate) fn goes_on(class: ExitClass) -> bool {
    matches!(class, ExitClass::Error | ExitClass::Budget | ExitClass::Cap | ExitClass::Gain)
}

/// Whether a child ended short of its work.
pub(crate) fn falls_short(exit: &Exit) -> bool {
    goes_on(exit.class)
}

/// Whether a node's `next` may end the instance as a child ended.
fn inherits(node: &Node) -> bool {
    node.next.iter().flat_map(|route| &route.0).any(|way| way.to == Target::Inherit)
}

/// What came of the steps of a node, the calls of a turn apart: those are answered, whatever comes of them.
fn outcomes(work: &Work) -> impl Iterator<Item = &Outcome> {
    let (step, items) = match work {
        Work::Step(progress) => (Some(progress), None),
        Work::Each(items) => (None, Some(&items.items)),
        Work::Turn(_) => (None, None),
    };
    let items = items.into_iter().flatten().filter_map(|item| match &item.stage {
        ItemStage::Started(progress) => Some(progress),
        ItemStage::Waiting(_) => None,
    });
    step.into_iter().chain(items).filter_map(|progress| match progress {
        Progress::Done(outcome) => Some(outcome),
        Progress::Open(_) => None,
    })
}

fn failures(work: &Work) -> impl Iterator<Item = &StepError> {
    outcomes(work).filter_map(|outcome| if let Outcome::Failed(error) = outcome { Some(error) } else { None })
}

pub(crate) fn children(work: &Work) -> impl Iterator<Item = &ScopeEnd> {
    outcomes(work).filter_map(|outcome| if let Outcome::Child(end) = outcome { Some(&**end) } else { None })
}
