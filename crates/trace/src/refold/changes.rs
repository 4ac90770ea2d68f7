//! How a run under other limits differs from the recorded one.

use deepgraph_protocol::{Exit, ExitReason, ScopePath, Spent, StepId};
use serde::Serialize;

use super::Refold;
use super::findings::{Finding, Found};

/// What a run would have been under other limits, as far as its record tells.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WhatIf {
    /// The instances that end otherwise, parents first; empty where all is as it was.
    pub changes: Vec<ScopeChange>,
    /// Whether some instance would have gone on to where nothing is recorded: then what is saved and missed is only what
    /// is known.
    pub is_open_ended: bool,
    /// Steps of the record, failed ones included.
    pub steps_recorded: u64,
    /// Those of them that would have been taken.
    pub steps: u64,
    /// What model calls of the record were charged.
    pub used_recorded: Spent,
    /// What those that would have been made are charged, by the record.
    pub used: Spent,
    /// Findings of the record: facts, else lines of handoffs, else passages.
    pub findings_recorded: u64,
    /// Those of them that would have been found.
    pub findings: u64,
    /// What would have been missed.
    pub missed: Vec<Finding>,
    /// Steps that would have been asked something else than they were: the recorded reply stands in for one that nobody
    /// knows.
    pub otherwise: Vec<StepId>,
}

/// An instance that ends otherwise.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScopeChange {
    /// The instance.
    pub scope: ScopePath,
    /// The graph.
    pub graph: String,
    /// What becomes of it.
    pub change: Change,
    /// How it ended in the record; none where it had not.
    pub recorded: Option<Exit>,
}

/// What becomes of an instance.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Change {
    /// It ends by another exit, or at another step.
    Stops {
        /// The last step of its work; none where it did nothing.
        after: Option<StepId>,
        /// The exit, with the limit that fired.
        exit: Box<Exit>,
    },
    /// Its work ends, and its `finally` stage takes a way that was not recorded.
    Closes {
        /// The last step of its work; none where it did nothing.
        after: Option<StepId>,
        /// The exit.
        reason: ExitReason,
        /// What the stage asks.
        asks: StepId,
    },
    /// It goes on to where nothing is recorded.
    GoesOn {
        /// The last step of its work that is known.
        after: Option<StepId>,
        /// What it asks next.
        asks: StepId,
    },
    /// It is not started.
    NotStarted,
}

/// Compares a refold with the record that it was made of.
pub fn what_if(refold: &Refold) -> WhatIf {
    let mut changes = Vec::new();
    for (scope, before) in &refold.recorded {
        let recorded = before.end().map(|end| end.exit.clone());
        let change = match refold.machines.get(scope) {
            None => Some(Change::NotStarted),
            Some(now) => match now.end() {
                Some(end) => stops(refold, scope, &end.exit, recorded.as_ref()),
                None => goes_on(refold, scope),
            },
        };
        let graph = before.plan().path.to_string();
        changes.extend(change.map(|change| ScopeChange { scope: scope.clone(), graph, change, recorded }));
    }
    // What an instance that is not started would have started is not started either.
    let gone: Vec<ScopePath> = changes
        .iter()
        .filter(|change| change.change == Change::NotStarted)
        .map(|change| change.scope.clone())
        .collect();
    changes.retain(|change| {
        let step = change.scope.step();
        let above = gone.iter().filter_map(ScopePath::step);
        !above.into_iter().any(|above| step.as_ref().is_some_and(|step| step.below(&above).is_some()))
    });
    // Where only the report is not known, all that it is written from is.
    let reports = |scope: &ScopePath| scope.is_root() && refold.finishing.contains_key(scope);
    let is_open_ended =
        refold.unanswered.iter().any(|asked| !asked.is_open_in_both && !reports(&asked.scope));
    let (found, before) = (Found::of(&refold.machines), Found::of(&refold.recorded));
    let (used, used_recorded) = refold.used();
    let (_, steps_recorded) = refold.steps;
    WhatIf {
        is_open_ended,
        changes,
        steps_recorded,
        steps: steps_recorded.saturating_sub(refold.not_taken.len() as u64),
        used_recorded,
        used,
        findings_recorded: before.count(),
        findings: found.kept(&before),
        missed: found.missed(&before),
        otherwise: refold.otherwise.clone(),
    }
}

/// Where an instance ends otherwise than it did.
fn stops(refold: &Refold, scope: &ScopePath, exit: &Exit, recorded: Option<&Exit>) -> Option<Change> {
    let (last, last_before) = (refold.last.0.get(scope), refold.last.1.get(scope));
    let name = |exit: &Exit| exit.limit.as_ref().map(|hit| hit.name.clone());
    let is_same = recorded.is_some_and(|before| {
        before.reason == exit.reason && name(before) == name(exit) && last == last_before
    });
    (!is_same).then(|| Change::Stops { after: last.cloned(), exit: Box::new(exit.clone()) })
}

/// Where an instance asks what was not recorded. One that only waits for such a one is not told by itself.
fn goes_on(refold: &Refold, scope: &ScopePath) -> Option<Change> {
    let asks = refold.unanswered.iter().find(|asked| asked.scope == *scope && !asked.is_open_in_both)?;
    let (after, asks) = (refold.last.0.get(scope).cloned(), asks.step.clone());
    Some(match refold.finishing.get(scope) {
        Some(reason) => Change::Closes { after, reason: reason.clone(), asks },
        None => Change::GoesOn { after, asks },
    })
}

impl WhatIf {
    /// Whether everything would have been as it was.
    pub fn is_unchanged(&self) -> bool {
        self.changes.is_empty() && !self.is_open_ended && self.steps == self.steps_recorded
    }

    /// Whether some instance would have stopped otherwise.
    pub fn stops(&self) -> bool {
        self.changes.iter().any(|change| !matches!(change.change, Change::GoesOn { .. }))
    }
}
