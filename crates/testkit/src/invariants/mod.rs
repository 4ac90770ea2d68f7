//! What must hold in every run, whatever models, tools and people do, in whatever order, with whatever faults.
//!
//! Each invariant reads a finished run anew: from the journals, from what the Machines put out and from the graph as it
//! is declared, never from the engine's own counters. What is broken comes back as sentences.
//!
//! | file | what must hold |
//! |---|---|
//! | `limits` | counted calls and starts never pass their limits |
//! | `at_once` | never more is out than `parallel` allows |
//! | `answers` | every call of a model is decided on once and answered once, in call order |
//! | `children` | a child is started once; what goes on goes on behind what it handed up |
//! | `exits` | one exit per instance; a parent lists those of its children in delegation order |
//! | `ledger` | the ledger is settled + unknown + reserved, and within its bounds |
//! | `status` | exits are taken by precedence; the trace tells the status that follows from the end |
//! | `closed` | nothing is asked for a step that is over; only the current attempt answers |
//! | `after_end` | after its end an instance does nothing more |
//! | `fencing` | whoever was taken over from commits nothing |
//! | `folds` | the journals fold to what the live Machines did |
//! | `writes` | what writes is claimed before it is sent, and never sent again blindly |
//! | `undone` | in a cancelled run each call that wrote is undone once, or listed |
//! | `attempts` | each attempt that failed leads to the next, to another model or to the end of its step |
//! | `repairs` | a reply that does not fit is shown to its model before a guess at it counts |
//! | `clocks` | what is held by the limiter of an account is no active time |
//! | `schedule` | the trace depends neither on the order of completion nor on crashes |
//!
//! One more, `panics`, is held by [`Simulation`](crate::Simulation): nothing panics.

mod after_end;
mod answers;
mod at_once;
mod attempts;
mod children;
mod clocks;
mod closed;
mod exits;
mod fencing;
mod folds;
mod ledger;
mod limits;
mod repairs;
mod schedule;
mod seen;
mod status;
mod turns;
mod undone;
mod waiting;
mod writes;

use std::fmt;
use std::sync::Arc;

use deepgraph_graph::Bundle;
use deepgraph_protocol::{ScopePath, StepId};

use crate::SimRun;
use seen::Seen;

/// Something that must hold and does not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// The invariant: the name of its file.
    pub invariant: &'static str,
    /// The instance.
    pub scope: ScopePath,
    /// The step, where it is about one.
    pub step: Option<StepId>,
    /// What is wrong, as a sentence.
    pub what: String,
}

/// The name of the invariant that nothing panics.
const PANICS: &str = "panics";

impl Violation {
    /// Something panicked with this message.
    pub(crate) fn of_panic(message: &str) -> Violation {
        Violation::of_scope(PANICS, &ScopePath::root(), format!("panicked: {message}"))
    }

    fn of_scope(invariant: &'static str, scope: &ScopePath, what: String) -> Violation {
        Violation { invariant, scope: scope.clone(), step: None, what }
    }

    fn of_step(invariant: &'static str, scope: &ScopePath, step: &StepId, what: String) -> Violation {
        Violation { invariant, scope: scope.clone(), step: Some(step.clone()), what }
    }
}

/// ``limits: in `supervise.1`: ...``; the root has no path.
impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.invariant)?;
        match (&self.step, self.scope.is_root()) {
            (Some(step), _) => write!(f, "at `{step}`: ")?,
            (None, true) => f.write_str("in the root: ")?,
            (None, false) => write!(f, "in `{}`: ", self.scope)?,
        }
        f.write_str(&self.what)
    }
}

/// What holds a run against one invariant.
type Check = fn(&Seen<'_>) -> Vec<Violation>;

/// The invariants of one run, each with its name.
const ALL: [(&str, Check); 16] = [
    ("limits", limits::check),
    ("at_once", at_once::check),
    ("answers", answers::check),
    ("children", children::check),
    ("exits", exits::check),
    ("ledger", ledger::check),
    ("status", status::check),
    ("closed", closed::check),
    ("after_end", after_end::check),
    ("fencing", fencing::check),
    ("folds", folds::check),
    ("writes", writes::check),
    ("undone", undone::check),
    ("attempts", attempts::check),
    ("repairs", repairs::check),
    ("clocks", clocks::check),
];

/// The names of all invariants.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|(name, _)| *name).chain(["schedule", PANICS])
}

/// What is broken in a run, by all invariants but `schedule` and `panics`. It must have been made by [`Sim::run`](crate::Sim::run), in one go.
pub(crate) fn check(bundle: &Arc<Bundle>, run: &SimRun) -> Vec<Violation> {
    let seen = Seen::of(bundle, run);
    ALL.iter().flat_map(|(_, check)| check(&seen)).collect()
}

/// What tells two runs of the same input, configuration and outside apart, of which each may have been in its own
/// order and have crashed as it liked. None where they can not be compared: a clock, a cancellation or the charge of a
/// lost call may have led them different ways.
pub(crate) fn compare(bundle: &Arc<Bundle>, one: &SimRun, other: &SimRun) -> Option<Vec<Violation>> {
    schedule::compare(bundle, one, other)
}
