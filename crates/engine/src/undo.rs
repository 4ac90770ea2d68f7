//! Undoing what a cancelled run has changed outside.
//!
//! When the root is cancelled and nothing is out any more, the compensations of all completed writes are called, those
//! of children included: one after the other, the latest write first. Each is a step of the root, `STEP/compensation`,
//! and a write itself: claimed, keyed, bounded in time, never repeated blindly. What could not be undone is listed in
//! the exit.

use deepgraph_protocol::{
    Effect, EntryBody, ErrorKind, Event, Fee, NotUndone, StepError, StepId, Undo, Written,
};

use crate::fee::paid;
use crate::machine::{Machine, Phase};
use crate::run::{Claim, Open};

/// Why a fork leaves a write alone that was made before it began.
const ELSEWHERE: &str = "the run that this one was forked from made it, and it is for that run to undo";

/// How far undoing is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Undoing {
    /// Whether no compensation is to begin any more.
    pub(crate) at_once: bool,
    /// What is to be undone, in order of completion: the last is next.
    todo: Vec<Written>,
    /// The compensation that is out, and what it undoes.
    out: Option<(Written, Open)>,
    /// What was not undone, the latest first.
    pub(crate) left: Vec<NotUndone>,
}

impl Undoing {
    /// The compensation that is out.
    pub(crate) fn open(&self) -> Option<&Open> {
        self.out.as_ref().map(|(_, open)| open)
    }

    fn leave(&mut self, written: &Written, why: impl Into<String>) {
        let Written { step, op, .. } = written.clone();
        self.left.push(NotUndone { step, op, why: why.into() });
    }
}

impl Machine {
    /// Whether somebody, or the parent, has cancelled it.
    pub fn is_cancelled(&self) -> bool {
        self.cancelling.is_some()
    }

    /// Whether it is cancelled and nothing is to be waited for.
    pub fn is_cancelled_at_once(&self) -> bool {
        self.cancelling.is_some() && self.undoing.at_once
    }

    /// Whether this is the compensation that is out.
    pub(crate) fn is_undoing(&self, step: Option<&StepId>) -> bool {
        let effect = self.undoing.open().and_then(|open| open.effect.as_ref());
        effect.is_some_and(|effect| step.is_some() && effect.step() == step)
    }

    /// Begins to undo what a cancelled run has changed. False where there is nothing, or all of it is through.
    pub(crate) fn undoes_first(&mut self) -> bool {
        let is_due = self.scope.is_root() && self.cancelling.is_some() && self.phase != Phase::Undoing;
        if !is_due || self.writes.is_empty() {
            return false;
        }
        self.phase = Phase::Undoing;
        self.clear_current();
        self.timers.clear();
        self.undoing.todo = self.writes.clone();
        // Writes of children came with their ends. Times never go back, so they tell the order.
        self.undoing.todo.sort_by_key(|written| written.at);
        self.undo_next();
        true
    }

    /// Calls the next compensation; where there is none left, the run is over.
    fn undo_next(&mut self) {
        while let Some(written) = self.undoing.todo.pop() {
            let why = match &written.undo {
                Undo::Call { .. } if !self.undoing.at_once => return self.begin_undo(written),
                Undo::Call { .. } => {
                    "its compensation was not begun: the run was cancelled at once".to_owned()
                }
                Undo::Nothing => "the graph declares no compensation for it".to_owned(),
                Undo::Broken(why) => format!("its compensation has no input: {why}"),
                Undo::Unknown => "it is not known whether it was done".to_owned(),
                Undo::Elsewhere => ELSEWHERE.to_owned(),
                Undo::Twice => {
                    "more than one attempt of it was done, and only one of them is undone".to_owned()
                }
            };
            self.undoing.leave(&written, why);
        }
        self.conclude();
    }

    fn begin_undo(&mut self, written: Written) {
        let Undo::Call { op, input, timeout_ms } = &written.undo else { return };
        let step = written.step.compensation();
        self.tell(Event::CompensationStarted { step: step.clone(), op: op.clone() });
        let open = self.send_open(Effect::RunOp {
            step,
            attempt: 1,
            delay_ms: 0,
            timeout_ms: Some(*timeout_ms),
            op: op.clone(),
            input: input.clone(),
            writes: true,
            cache_ms: None,
        });
        self.undoing.out = Some((written, *open));
    }

    /// Takes an entry about the compensation that is out.
    pub(crate) fn undone(&mut self, entry: &EntryBody) {
        let Some((_, open)) = &mut self.undoing.out else { return };
        let number = open.attempts.number;
        let mut fee = Fee::NONE;
        let failure = match entry {
            EntryBody::Dispatched { attempt, takes_key, .. } => {
                open.attempts.claim = Some(Claim { attempt: *attempt, takes_key: *takes_key });
                return;
            }
            EntryBody::Completed { attempt, fee: paid, .. } if *attempt == number => {
                fee = *paid;
                None
            }
            EntryBody::AttemptFailed { attempt, error, fee: paid, .. } if *attempt == number => {
                fee = *paid;
                Some(error.clone())
            }
            EntryBody::Failed { error, .. } => Some(error.clone()),
            _ => return,
        };
        let Some((written, open)) = self.undoing.out.take() else { return };
        let step = written.step.compensation();
        // Nothing was reserved: what is to be undone is undone whatever it costs.
        self.ledger.settle(&step, number, paid(fee));
        self.end_of(&step, &open);
        match failure {
            None => self.tell(Event::StepCompleted { step }),
            Some(error) => {
                let why = told(&error, open.attempts.claimed().is_some());
                self.tell(Event::StepFailed { step, error });
                self.undoing.leave(&written, why);
            }
        }
        self.undo_next();
    }
}

impl Machine {
    /// What was to be undone in a fork is not: another run made it. So is what that run had begun to undo.
    pub(crate) fn leave_undoing(&mut self) {
        for written in &mut self.undoing.todo {
            written.undo = Undo::Elsewhere;
        }
        if let Some((written, open)) = self.undoing.out.take() {
            let step = written.step.compensation();
            self.end_of(&step, &open);
            self.tell(Event::StepFailed { step, error: StepError::new(ErrorKind::Cancelled, ELSEWHERE) });
            self.undoing.leave(&written, ELSEWHERE);
            self.undo_next();
        }
    }
}

/// Why a compensation left what it was to undo.
fn told(error: &StepError, was_sent: bool) -> String {
    if was_sent && error.leaves_open() {
        return format!("it is not known whether its compensation was done: {}", error.message);
    }
    format!("its compensation failed: {error}")
}
