//! How a run under other limits differs from the recorded one.

use deepgraph_protocol::{Exit, ExitReason, ScopePath, Spent, StepId};
use serde::Serialize;

use super::Refold;
use super::findings::{Found, FoundCounts, Missed};

/// What a run would have been under other limits, as far as its record tells.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WhatIf {
    /// The instances that end otherwise, parents first; empty where all is as it was.
    pub changes: Vec<ScopeChange>,
    /// Whether some instance would have gone on to where nothing is recorded. Nothing is said then of what would have been
    /// saved or missed.
    pub is_open_ended: bool,
    /// Attempts of the run that are taken with the values that they had: under the others they would have gone on beyond
    /// their end, as the next attempt did.
    pub as_they_were: Vec<u32>,
    /// The attempt that would have been refused, so that the run would have been over before it.
    pub not_begun: Option<NotBegun>,
    /// Distinct steps of the record that were completed.
    pub steps_recorded: u64,
    /// Those of them that would have been taken; none where it is open-ended.
    pub steps: Option<u64>,
    /// What model calls of the record were charged.
    pub used_recorded: Spent,
    /// What those that would have been made are charged, by the record; none where it is open-ended.
    pub used: Option<Spent>,
    /// What was found.
    pub found_recorded: FoundCounts,
    /// What of it would have been found; none where it is open-ended.
    pub found: Option<FoundCounts>,
    /// What would have been missed; empty where it is open-ended.
    pub missed: Vec<Missed>,
    /// Steps that would have been asked something else than they were: the recorded reply stands in for one that nobody
    /// knows.
    pub otherwise: Vec<StepId>,
}

/// An attempt of a run that would have been refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotBegun {
    /// The attempt.
    pub attempt: u32,
    /// Why, in words.
    pub why: String,
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
    if is_open_ended {
        // What a caller that goes on would have started, nobody knows.
        changes
            .retain(|change| change.change != Change::NotStarted || has_caller_ended(refold, &change.scope));
    }
    let (now, before) = (Found::of(&refold.machines), Found::of(&refold.recorded));
    let (used, used_recorded) = refold.used();
    let (steps, steps_recorded) = refold.steps;
    let known = !is_open_ended;
    WhatIf {
        is_open_ended,
        changes,
        as_they_were: refold.as_they_were.iter().copied().collect(),
        not_begun: refold.not_begun.clone(),
        steps_recorded,
        steps: known.then_some(steps),
        used_recorded,
        used: known.then_some(used),
        found_recorded: before.counts(),
        found: known.then(|| now.kept(&before)),
        missed: if known { now.missed(&before) } else { Vec::new() },
        otherwise: refold.otherwise.clone(),
    }
}

/// Whether the instance that starts another one is over.
fn has_caller_ended(refold: &Refold, scope: &ScopePath) -> bool {
    let Some(step) = scope.step() else { return false };
    let callers = refold.machines.iter().filter(|(caller, _)| {
        caller.is_root() || caller.step().is_some_and(|caller| step.below(&caller).is_some())
    });
    callers.max_by_key(|(caller, _)| caller.as_str().len()).is_some_and(|(_, caller)| caller.end().is_some())
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
        self.changes.is_empty() && self.not_begun.is_none() && self.steps == Some(self.steps_recorded)
    }

    /// Whether some instance would have stopped otherwise.
    pub fn stops(&self) -> bool {
        self.changes.iter().any(|change| !matches!(change.change, Change::GoesOn { .. }))
    }
}
