//! Calls that write: claimed before they are made, and what is known of them afterwards.
//!
//! The `Dispatched` row of such a call is its claim. It is durable before the call is made, so a call that has none
//! was not made; one that has it may have been. Where no outcome of it is learnt (a crash, a timeout, a connection
//! that broke, a step that was given up), it fails as `unknown`, and is sent again only under a key that its op takes
//! or where the graph says so by `retry.if`.

use deepgraph_graph::{Call, Compensate, Setting, Verb};
use deepgraph_protocol::{ErrorKind, Map, StepError, StepId, Undo, Value, Written};

use crate::machine::{Machine, Phase};
use crate::names::Local;
use crate::place::{Part, Place};
use crate::run::{Claim, Work};

/// The longest time of a compensation for whose call the graph gives no `timeout`, in milliseconds.
const COMPENSATION_MS: u64 = 60_000;

/// Whether a call that writes, and that was sent out and has no outcome, may be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claimed {
    /// It was not claimed, so it was not sent.
    No,
    /// It was, and a second call may do it twice.
    Once,
    /// It was, and its op takes the key of the call: a second call under it does nothing twice.
    Keyed,
}

/// A call that writes and whose outcome is not known.
#[derive(Debug)]
pub(crate) struct Unlearnt {
    /// The node or the tool that declares it.
    declared: Declared,
    /// Its last attempt.
    attempt: u32,
    /// Whether an earlier one may have been done as well.
    several: bool,
    /// Whether it may be made again under its key.
    takes_key: bool,
    /// The names that are known at it.
    local: Local,
}

/// Where a call is declared.
#[derive(Clone, Copy, Debug)]
enum Declared {
    Node(usize),
    Tool(usize),
}

/// Whether a failure leaves open whether something was done: no answer came, of a request that was sent.
pub(crate) fn is_unlearnt(error: &StepError) -> bool {
    let no_answer = matches!(error.kind, ErrorKind::StepTimeout | ErrorKind::Network | ErrorKind::Unknown);
    no_answer && !error.unsent
}

impl Machine {
    /// Whether an open call that writes was claimed: what a driver asks before it sends it (again).
    pub fn claimed(&self, step: &StepId) -> Claimed {
        let undoing = self.undoing.open().filter(|_| self.is_undoing(Some(step)));
        let open = undoing.or_else(|| self.place(step).and_then(|place| self.open_at(place)));
        match open.and_then(|open| open.attempts.claimed()) {
            None => Claimed::No,
            Some(Claim { takes_key: false, .. }) => Claimed::Once,
            Some(Claim { takes_key: true, .. }) => Claimed::Keyed,
        }
    }

    /// An attempt of a call that writes is about to be sent out.
    pub(crate) fn claim(&mut self, step: &StepId, attempt: u32, takes_key: bool) {
        let Some(place) = self.place(step).filter(|place| self.writes_at(*place)) else { return };
        if let Some(attempts) = self.attempts(place).filter(|attempts| attempts.number == attempt) {
            attempts.claim = Some(Claim { attempt, takes_key });
        }
    }

    /// Why a call that writes is not made a further time, if it is not: an earlier attempt of the instance made it, and
    /// its outcome was never learnt.
    pub(crate) fn not_again(&self, step: &StepId) -> Option<StepError> {
        self.unlearnt.get(step).filter(|unlearnt| !unlearnt.takes_key)?;
        let why = "it is not known whether it was done at an earlier attempt, so it was not called again";
        Some(StepError::new(ErrorKind::Unknown, why))
    }

    fn is_claimed(&self, place: Place) -> bool {
        self.open_at(place).is_some_and(|open| open.attempts.claimed().is_some())
    }

    /// Whether a call that failed so may have been done, now or at an earlier attempt.
    pub(crate) fn may_be_done(&self, place: Place, error: &StepError) -> bool {
        let attempts = self.open_at(place).map(|open| open.attempts);
        let is_claimed = attempts.is_some_and(|attempts| attempts.claimed().is_some());
        (is_claimed && is_unlearnt(error)) || attempts.is_some_and(|attempts| attempts.maybe_done)
    }

    /// What a failure is called: where it leaves open whether a call that was claimed was done, `unknown`.
    pub(crate) fn unlearnt_as(&self, place: Place, error: StepError) -> StepError {
        if self.is_claimed(place) && is_unlearnt(&error) { unknown(error) } else { error }
    }

    /// What a call fails as for good. Of one that may have been done, that is kept.
    pub(crate) fn fails_unlearnt(&mut self, step: &StepId, place: Place, error: StepError) -> StepError {
        if !self.may_be_done(place, &error) {
            return error;
        }
        self.keep_unlearnt(step, place);
        unknown(error)
    }

    /// What a call that was given up fails as. That of one that was sent out is not known.
    pub(crate) fn given_up_write(&mut self, step: &StepId, place: Place, error: StepError) -> StepError {
        let was_sent = self.is_claimed(place) && !error.unsent;
        if !was_sent && !self.may_be_done(place, &error) {
            return error;
        }
        self.keep_unlearnt(step, place);
        // Where the way out is decided, nothing is done about it any more but to list it.
        let is_decided = self.giving.is_some() && error.kind == ErrorKind::Cancelled;
        if is_decided { error } else { unknown(error) }
    }

    fn keep_unlearnt(&mut self, step: &StepId, place: Place) {
        let Some((declared, call)) = self.declared_at(place) else { return };
        let op = op_of(call);
        let local = self.local_at(place);
        self.writes.retain(|written| written.step != *step);
        self.writes.push(Written { step: step.clone(), op, at: self.now, undo: Undo::Unknown });
        let Some(attempts) = self.open_at(place).map(|open| open.attempts) else { return };
        let takes_key = attempts.claim.is_some_and(|claim| claim.takes_key);
        let (attempt, several) = (attempts.number, attempts.maybe_done);
        self.unlearnt.insert(step.clone(), Unlearnt { declared, attempt, several, takes_key, local });
    }

    /// A call that writes is done.
    pub(crate) fn note_written(&mut self, step: &StepId, place: Place, result: &Value) {
        if !self.is_claimed(place) {
            return;
        }
        let Some((declared, _)) = self.declared_at(place) else { return };
        let local = self.local_at(place);
        self.keep_written(step, declared, local, result);
    }

    /// What became of a call whose outcome was not learnt is known after all: it was done with this result, or was not.
    pub(crate) fn learnt_late(&mut self, step: &StepId, attempt: u32, result: Option<&Value>) {
        if self.phase == Phase::Ended || self.phase == Phase::Undoing {
            return;
        }
        // That one attempt was not done says nothing of another.
        let settles = |unlearnt: &Unlearnt| unlearnt.attempt == attempt && !unlearnt.several;
        if result.is_none() && !self.unlearnt.get(step).is_some_and(settles) {
            return;
        }
        let Some(Unlearnt { declared, local, .. }) = self.unlearnt.remove(step) else { return };
        self.writes.retain(|written| written.step != *step);
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
            Some(compensate) => {
                self.undo_by(compensate, timeout.as_ref(), &local.with_result(result.clone()))
            }
        };
        self.unlearnt.remove(step);
        self.writes.retain(|written| written.step != *step);
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
}

/// The same failure, told as one that leaves open whether something was done.
fn unknown(error: StepError) -> StepError {
    if error.kind == ErrorKind::Unknown {
        return error;
    }
    let message = format!("it is not known whether it was done: {}", error.message);
    StepError { kind: ErrorKind::Unknown, message, ..error }
}

fn op_of(call: &Call) -> std::sync::Arc<str> {
    match &call.callee {
        deepgraph_graph::Callee::Op(op) => op.clone(),
        deepgraph_graph::Callee::Graph(_) => "".into(),
    }
}
