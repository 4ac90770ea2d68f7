//! What observers are told, and the run's record.

use std::collections::BTreeSet;

use deepgraph_protocol::{Event, Exit, Millis, RunStatus, ScopeEnd, StepId};
use deepgraph_store::{RunId, RunUpdate};

use crate::run::Outcome;

/// One event, with where it stands in the run.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Told {
    /// The seq of the entry that it follows from: the cursor for clients. Several events may share one.
    pub seq: u64,
    /// When the entry was committed.
    pub at: Millis,
    /// Whether it happened before this driver took the run over.
    pub replayed: bool,
    /// The event.
    #[serde(flatten)]
    pub event: Event,
}

/// Somebody who watches a run.
pub trait Observer: Send {
    /// Something was committed.
    fn told(&mut self, told: &Told);
    /// A model is writing. Never state; may be dropped or repeated.
    fn preview(&mut self, step: &StepId, piece: &str) {
        let _ = (step, piece);
    }
    /// A call of a step waits so many milliseconds until its model may be asked again. Never state.
    fn waits(&mut self, step: &StepId, model: &str, ms: u64) {
        let _ = (step, model, ms);
    }
    /// The run ended as [`RunStatus::Exhausted`]: somebody may take it up, as a fork with higher limits or by other means.
    /// Told once it is recorded; again where a run that is over is driven again.
    fn exhausted(&mut self, run: &RunId, outcome: &Outcome) {
        let _ = (run, outcome);
    }
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Observer for Quiet {
    fn told(&mut self, _: &Told) {}
}

/// The figures of the run's record, kept from events.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Each once: one whose child went on in another attempt was completed before.
    completed: BTreeSet<StepId>,
    current: Option<StepId>,
    exits: Vec<Exit>,
}

impl Tally {
    pub(crate) fn note(&mut self, event: &Event) {
        match event {
            Event::StepCompleted { step } => {
                self.completed.insert(step.clone());
                self.current = Some(step.clone());
            }
            Event::NodeStarted { step, .. } => self.current = Some(step.clone()),
            Event::Exited { exit } => self.exits.push(exit.clone()),
            _ => {}
        }
    }

    /// The record of a run that is still going.
    pub(crate) fn update(&self, status: RunStatus) -> RunUpdate {
        RunUpdate {
            status: Some(status),
            current_step: Some(self.current.clone()),
            completed_steps: Some(self.completed.len() as u64),
            exits: Some(self.exits.clone()),
            ..RunUpdate::default()
        }
    }

    /// The record of a run that is over.
    pub(crate) fn ended(&self, status: RunStatus, end: &ScopeEnd) -> RunUpdate {
        let mut exits = vec![end.exit.clone()];
        exits.extend(end.children.iter().cloned());
        // How earlier attempts ended stays known.
        let is_listed =
            |exit: &Exit| exits.iter().any(|e| e.scope == exit.scope && e.attempt == exit.attempt);
        let earlier: Vec<Exit> = self.exits.iter().filter(|exit| !is_listed(exit)).cloned().collect();
        if end.exit.attempt > 1 {
            exits.extend(earlier);
        }
        let known = end.settled.cost_unknown == 0;
        RunUpdate {
            report: Some(end.report),
            output: Some(end.output.clone()),
            cost_cents: Some(known.then(|| end.settled.cost_micro_usd.div_ceil(10_000))),
            exits: Some(exits),
            ..self.update(status)
        }
    }
}
