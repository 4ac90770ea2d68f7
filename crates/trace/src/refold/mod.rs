//! The journals of a run, folded under other conditions.
//!
//! [`refold`] drives Machines anew from the start, under another configuration or another version of the graph, and
//! answers every effect with the outcome that was recorded for it, in the recorded order. Where something is asked that
//! was not recorded, that branch stands still and the others go on. Nothing is ever sent out.
//!
//! An outcome belongs to an effect where its step does: step ids are positions in the graph, so they mean the same in
//! both runs. Whether what is asked has to be the same too is the choice of [`Matching`].
//!
//! | file | holds |
//! |---|---|
//! | `world` | the drive: rows one after the other, what follows from them, what waits |
//! | `commit` | what a recorded row becomes |
//! | `close` | what it came to |
//! | `side` | one of the two sides, recorded and new: its Machines and what they asked for |
//! | `matching` | whether a recorded outcome answers what is asked now |
//! | `changes` | how the ends of instances differ: [`WhatIf`] |
//! | `findings` | what was found, on either side |
//! | `judged` | which keys of the configuration a refold can judge |

mod changes;
mod close;
mod commit;
mod findings;
mod judged;
mod matching;
mod side;
mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use deepgraph_engine::Machine;
use deepgraph_graph::Bundle;
use deepgraph_protocol::{Entry, ExitReason, Map, ScopePath, Spent, StepId};

use crate::{FoldError, Row};

pub use changes::{Change, NotBegun, ScopeChange, WhatIf, what_if};
pub use findings::{FoundCounts, Missed, MissedKind};
pub use judged::judged_keys;
pub use matching::{Difference, Mismatch};

/// What a run is folded under.
#[derive(Clone, Debug)]
pub struct Conditions {
    /// The graph.
    pub bundle: Arc<Bundle>,
    /// The effective configuration of the root when it starts. What of it is not as recorded holds for later attempts
    /// too.
    pub config: Map,
    /// Values that are tried, in every attempt: each is folded under the configuration that it had, with these in it.
    ///
    /// An attempt that would have gone on under them beyond its recorded end, and was taken up by another one, is taken
    /// with the values that it had ([`Refold::as_they_were`]): the next one tells how it went on. An attempt that would
    /// have been refused is not begun ([`Refold::not_begun`]), and the run is over there.
    pub set: Map,
    /// When a recorded outcome answers an effect.
    pub matching: Matching,
}

/// When a recorded outcome answers an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matching {
    /// Where it is that of the same step: for other limits of the same graph. Requests are rendered and compared
    /// nevertheless, so that [`Refold::otherwise`] can tell which of them read differently.
    ById,
    /// The same, and no request is rendered: for many folds of many runs.
    ByIdUnseen,
    /// Where step and arguments are the same: the hash of a model's request, an op's name and input, a question's
    /// text, a child's graph and input. For another version of the graph.
    Exact,
}

/// One entry that holds under the new conditions.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// The recorded row that it is, by its index; none: it follows from the new conditions alone.
    pub of: Option<usize>,
    /// The instance.
    pub scope: ScopePath,
    /// The entry, at its recorded time; never before the one ahead of it.
    pub entry: Entry,
}

/// Something that is asked under the new conditions and has no recorded outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct Unanswered {
    /// The instance.
    pub scope: ScopePath,
    /// The step.
    pub step: StepId,
    /// Whether the recorded run had asked the same and was left before an answer came.
    pub is_open_in_both: bool,
}

/// What a run becomes under other conditions.
#[derive(Debug)]
pub struct Refold {
    /// The entries that hold, in order.
    pub rows: Vec<Held>,
    /// The Machines as these entries leave them.
    pub machines: BTreeMap<ScopePath, Machine>,
    /// The Machines of the recorded run as its rows leave them.
    pub recorded: BTreeMap<ScopePath, Machine>,
    /// What is asked and was not recorded, in the order in which it was asked.
    pub unanswered: Vec<Unanswered>,
    /// Steps of the record whose arguments are others now, in canonical order; empty but for [`Matching::Exact`].
    pub mismatches: Vec<Mismatch>,
    /// Steps of the record that came to an end there and not here, failed ones included: in canonical order for
    /// [`Matching::Exact`], else in recorded order.
    pub not_taken: Vec<StepId>,
    /// Steps whose recorded outcome was taken although what is asked of them reads differently now, in order.
    pub otherwise: Vec<StepId>,
    /// Distinct steps that were completed: those of the record that are here too, and all of the record.
    pub steps: (u64, u64),
    /// Attempts that are taken with the values that they had.
    pub as_they_were: BTreeSet<u32>,
    /// The attempt that would have been refused; none: none would have been.
    pub not_begun: Option<NotBegun>,
    /// The last step of each instance before its `finally` stage: here, and in the record.
    pub(crate) last: (BTreeMap<ScopePath, StepId>, BTreeMap<ScopePath, StepId>),
    /// Why the work of each instance ended whose `finally` stage has begun and is not through.
    pub(crate) finishing: BTreeMap<ScopePath, ExitReason>,
}

/// Folds the journals of a run under other conditions. `recorded` is the graph that they were written under; rows in the
/// order in which they were committed.
///
/// # Errors
///
/// The journals do not fold under their own graph.
pub fn refold(
    recorded: &Arc<Bundle>,
    rows: &[Row<'_>],
    conditions: &Conditions,
) -> Result<Refold, FoldError> {
    let mut as_they_were = BTreeSet::new();
    loop {
        match world::World::new(recorded, conditions, rows, as_they_were.clone()).run(recorded)? {
            world::Ran::Whole(refold) => return Ok(*refold),
            world::Ran::GoesOn { attempt } => drop(as_they_were.insert(attempt)),
        }
    }
}

impl Refold {
    /// What model calls are charged: here, and in the record. Where a branch stands still, what it would have gone on to
    /// use is not known and not in it.
    pub fn used(&self) -> (Spent, Spent) {
        (charged(&self.machines), charged(&self.recorded))
    }

    /// The first step that is asked and was not recorded, beyond what the recorded run itself had left open.
    pub fn first_unanswered(&self) -> Option<&Unanswered> {
        self.unanswered.iter().find(|asked| !asked.is_open_in_both)
    }
}

/// What the calls of all these instances are charged together.
pub fn charged(machines: &BTreeMap<ScopePath, Machine>) -> Spent {
    machines.values().fold(Spent::default(), |mut sum, machine| {
        sum += machine.charged().used;
        sum
    })
}
