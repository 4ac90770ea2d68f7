//! What calls that write have done, or may have: what a cancelled run undoes or lists.

use std::collections::BTreeSet;

use deepgraph_graph::{Call, Compensate, Setting, Verb};
use deepgraph_protocol::{ErrorKind, Map, StepError, StepId, Undo, Value, Written};

use crate::machine::{Machine, Phase};
use crate::names::Local;
use crate::place::{Part, Place, opens_mut};
use crate::run::Work;

/// The longest time of a compensation for whose call the graph gives no `timeout`, in milliseconds.
const COMPENSATION_MS: u64 = 60_000;

/// A call that writes and of which no outcome was learnt when it was out.
#[derive(Clone, Debug)]
pub(crate) struct Unlearnt {
    /// The node or the tool that declares it.
    declared: Declared,
    /// Its attempts that may have been done.
    open: BTreeSet<u32>,
    /// Whether it may be made again under its key: then all of its attempts are one call.
    takes_key: bool,
    /// Whether an answer that came late said that it was done.
    is_done: bool,
    /// The names that are known at it.
    local: Local,
}

/// Where a call is declared.
#[derive(Clone, Copy, Debug)]
enum Declared {
    Node(usize),
    Tool(usize),
}

impl Machine {
    /// Why a call that writes is not made a further time, if it is not: an earlier attempt of the instance made it, or
    /// may have.
    pub(crate) fn not_again(&self, step: &StepId) -> Option<StepError> {
        let unlearnt = self.unlearnt.get(step).filter(|unlearnt| !unlearnt.takes_key)?;
        let why = if unlearnt.is_done {
            "it was done at an earlier attempt, as was heard after its time, so it was not called again"
        } else {
            "it is not known whether it was done at an earlier attempt, so it was not called again"
        };
        Some(StepError::new(ErrorKind::Unknown, why))
    }

    /// Calls of which it is not known whether they were done.
    pub(crate) fn unknown_writes(&self) -> Box<[StepId]> {
        let open = self.unlearnt.iter().filter(|(_, unlearnt)| !unlearnt.open.is_empty());
        open.map(|(step, _)| step.clone()).collect()
    }

    /// Whether it is not known of a call whether it was done.
    pub(crate) fn is_unlearnt(&self, step: &StepId) -> bool {
        self.unlearnt.get(step).is_some_and(|unlearnt| !unlearnt.open.is_empty())
    }

    /// Whether a call of this run is known to have been done.
    fn is_done(&self, step: &StepId) -> bool {
        let of_step = self.writes.iter().filter(|written| written.step == *step);
        of_step.map(|written| &written.undo).any(|undo| !matches!(undo, Undo::Unknown | Undo::Elsewhere))
    }

    /// Of the attempt at a place, which was sent, it is not known whether it was done.
    pub(crate) fn keep_open(&mut self, step: &StepId, place: Place) {
        let Some(claim) = self.claimed_at(place) else { return };
        if claim.takes_key && self.is_done(step) {
            return;
        }
        let Some((declared, call)) = self.declared_at(place) else { return };
        let op = op_of(call);
        let local = self.local_at(place);
        let unlearnt = self.unlearnt.entry(step.clone()).or_insert(Unlearnt {
            declared,
            open: BTreeSet::new(),
            takes_key: true,
            is_done: false,
            local,
        });
        unlearnt.open.insert(claim.attempt);
        unlearnt.takes_key &= claim.takes_key;
        self.drop_unknown(step);
        self.writes.push(Written { step: step.clone(), op, at: self.now, undo: Undo::Unknown });
    }

    fn drop_unknown(&mut self, step: &StepId) {
        self.writes.retain(|written| written.step != *step || written.undo != Undo::Unknown);
    }

    /// A call that writes is done.
    pub(crate) fn note_written(&mut self, step: &StepId, place: Place, result: &Value) {
        let Some(claim) = self.claimed_at(place) else { return };
        let Some((declared, _)) = self.declared_at(place) else { return };
        let local = self.local_at(place);
        let is_same = claim.takes_key && self.is_done(step);
        if !is_same {
            self.keep_written(step, declared, local, result);
        }
        // Under its key it was done once, whichever attempt is heard of; without one, the others stay open.
        if self.unlearnt.get(step).is_some_and(|unlearnt| unlearnt.takes_key && claim.takes_key) {
            self.unlearnt.remove(step);
            self.drop_unknown(step);
        }
    }

    /// What became of an attempt whose outcome was not learnt is known after all: it was done with this result, or was
    /// not.
    pub(crate) fn learnt_late(&mut self, step: &StepId, attempt: u32, result: Option<&Value>) {
        if self.phase == Phase::Ended || self.phase == Phase::Undoing {
            return;
        }
        let Some(unlearnt) = self.unlearnt.get_mut(step).filter(|u| u.open.contains(&attempt)) else {
            return;
        };
        match result {
            // All of its attempts are one call, so that one of them was done tells of all.
            Some(_) if unlearnt.takes_key => unlearnt.open.clear(),
            // That one attempt was not done says nothing of another.
            _ => drop(unlearnt.open.remove(&attempt)),
        }
        unlearnt.is_done |= result.is_some();
        let (declared, local) = (unlearnt.declared, unlearnt.local.clone());
        let (is_settled, is_done) = (unlearnt.open.is_empty(), unlearnt.is_done);
        if is_settled {
            self.drop_unknown(step);
        }
        if is_settled && !is_done {
            self.unlearnt.remove(step);
        }
        if let Some(result) = result {
            self.keep_written(step, declared, local, result);
        }
    }

    fn keep_written(&mut self, step: &StepId, declared: Declared, local: Local, result: &Value) {
        let bundle = self.bundle.clone();
        let graph = bundle.graph(self.graph);
        let (call, timeout) = match declared {
            Declared::Node(node) => match graph.nodes.get(node).map(|node| (&node.verb, &node.timeout)) {
                Some((Verb::Call(call), timeout)) => (call, timeout),
                _ => return,
            },
            Declared::Tool(tool) => match graph.tools.get(tool).map(|tool| (&tool.call, &tool.timeout)) {
                Some((Some(call), timeout)) => (call, timeout),
                _ => return,
            },
        };
        let undo = match &call.compensate {
            None => Undo::Nothing,
            Some(_) if self.is_done(step) => Undo::Twice,
            Some(compensate) => {
                self.undo_by(compensate, timeout.as_ref(), &local.with_result(result.clone()))
            }
        };
        self.writes.push(Written { step: step.clone(), op: op_of(call), at: self.now, undo });
    }

    /// A compensation with its input, as it is when the call completes.
    fn undo_by(&self, compensate: &Compensate, timeout: Option<&Setting>, local: &Local) -> Undo {
        let mut input = Map::new();
        for (name, value) in &compensate.input {
            match self.value(value, &self.view(), local) {
                Ok(Value::Null) => {}
                Ok(value) => drop(input.insert(name.clone(), value)),
                Err(error) => return Undo::Broken(error.message),
            }
        }
        let timeout_ms = timeout.and_then(|t| t.millis(&self.config)).filter(|ms| *ms > 0);
        Undo::Call {
            op: compensate.op.clone(),
            input: input.into(),
            timeout_ms: timeout_ms.unwrap_or(COMPENSATION_MS),
        }
    }

    /// The call at a place, and what declares it.
    fn declared_at(&self, place: Place) -> Option<(Declared, &Call)> {
        let run = self.current.get(place.node)?;
        let graph = self.plan();
        if let (Work::Turn(turn), Part::Call(call)) = (&run.work, place.part) {
            let tool = turn.calls.get(call)?.tool?.0;
            return Some((Declared::Tool(tool), graph.tools.get(tool)?.call.as_ref()?));
        }
        match &graph.nodes.get(run.node.0)?.verb {
            Verb::Call(call) => Some((Declared::Node(run.node.0), call)),
            _ => None,
        }
    }

    /// Whether it has made a call that writes, or may have: one that is over, or one that is out.
    pub fn has_written(&self) -> bool {
        let is_claimed = |open: &crate::run::Open| open.attempts.claimed().is_some();
        !self.writes.is_empty() || self.current.iter().flat_map(crate::place::opens).any(is_claimed)
    }

    /// A fork begins here: what was written so far was written by the run that it comes from. It is not undone by the
    /// fork; and since a key is that of one run, what may have been done is not made again either.
    pub(crate) fn leave_writes(&mut self) {
        for written in &mut self.writes {
            written.undo = Undo::Elsewhere;
        }
        for unlearnt in self.unlearnt.values_mut() {
            unlearnt.takes_key = false;
        }
        let claims =
            self.current.iter_mut().flat_map(opens_mut).filter_map(|open| open.attempts.claim.as_mut());
        claims.for_each(|claim| claim.takes_key = false);
        self.leave_undoing();
    }
}

fn op_of(call: &Call) -> std::sync::Arc<str> {
    match &call.callee {
        deepgraph_graph::Callee::Op(op) => op.clone(),
        deepgraph_graph::Callee::Graph(_) => "".into(),
    }
}
