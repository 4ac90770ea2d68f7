//! One of the two sides of a refold: its Machines, and what they asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use deepgraph_engine::{Machine, Phase};
use deepgraph_graph::Bundle;
use deepgraph_protocol::{Effect, Entry, EntryBody, Event, ExitReason, Millis, Output, ScopePath, StepId};

/// A timer of an instance.
pub(super) type Timer = (ScopePath, Arc<str>);

/// Machines with what they put out.
#[derive(Debug)]
pub(super) struct Side {
    bundle: Arc<Bundle>,
    pub(super) machines: BTreeMap<ScopePath, Machine>,
    /// What each step asked for last, with the instance that it belongs to and its number in the order of asking.
    pub(super) asked: BTreeMap<StepId, Asked>,
    /// Moments at which instances are to be woken.
    pub(super) timers: BTreeMap<Timer, Millis>,
    /// Steps that were given up.
    pub(super) abandoned: BTreeSet<StepId>,
    /// Steps that came to an end, failed ones included.
    pub(super) over: BTreeSet<StepId>,
    /// Those of them that were completed.
    pub(super) completed: BTreeSet<StepId>,
    /// The last of them in each instance before its `finally` stage.
    pub(super) last: BTreeMap<ScopePath, StepId>,
    /// Why the work of each instance ended whose `finally` stage has begun.
    pub(super) finishing: BTreeMap<ScopePath, ExitReason>,
    /// How often something was asked for.
    times: usize,
}

/// What a step asked for.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) scope: ScopePath,
    pub(super) effect: Effect,
    pub(super) number: usize,
}

/// What an entry led to.
#[derive(Debug, Default)]
pub(super) struct Followed {
    /// Steps that are asked for something now.
    pub(super) opened: Vec<StepId>,
    /// What is given up.
    pub(super) abandons: Vec<Effect>,
    /// Whether the instance ended with it.
    pub(super) ended: bool,
}

impl Side {
    pub(super) fn new(bundle: &Arc<Bundle>) -> Side {
        Side {
            bundle: bundle.clone(),
            machines: BTreeMap::new(),
            asked: BTreeMap::new(),
            timers: BTreeMap::new(),
            abandoned: BTreeSet::new(),
            over: BTreeSet::new(),
            completed: BTreeSet::new(),
            last: BTreeMap::new(),
            finishing: BTreeMap::new(),
            times: 0,
        }
    }

    /// Applies an entry. One of an instance that has not started changes nothing.
    ///
    /// # Errors
    ///
    /// The name of a graph that the bundle does not have.
    pub(super) fn apply(&mut self, scope: &ScopePath, entry: &Entry) -> Result<Followed, String> {
        if let EntryBody::Started(started) = &entry.body
            && !self.machines.contains_key(scope)
        {
            let graph = self.bundle.find(&started.graph).ok_or_else(|| started.graph.to_string())?;
            self.machines.insert(scope.clone(), Machine::new(self.bundle.clone(), graph, scope.clone()));
        }
        let mut followed = Followed::default();
        let Some(machine) = self.machines.get_mut(scope) else { return Ok(followed) };
        if let EntryBody::TimerFired { timer } = &entry.body {
            self.timers.remove(&(scope.clone(), timer.clone()));
        }
        let (before, mut in_main) = (machine.end().is_some(), machine.phase() == Phase::Main);
        let outputs = machine.apply(entry);
        followed.ended = !before && machine.end().is_some();
        for output in outputs {
            match output {
                Output::Event(
                    ref event @ (Event::StepCompleted { ref step } | Event::StepFailed { ref step, .. }),
                ) => {
                    let step = step.clone();
                    if matches!(event, Event::StepCompleted { .. }) {
                        self.completed.insert(step.clone());
                    }
                    self.over.insert(step.clone());
                    if in_main {
                        self.last.insert(scope.clone(), step);
                    }
                }
                Output::Event(Event::Finishing { reason, .. }) => {
                    in_main = false;
                    self.finishing.insert(scope.clone(), reason);
                }
                Output::Event(Event::Resumed { .. }) => drop(self.finishing.remove(scope)),
                Output::Event(_) => {}
                Output::Effect(Effect::WakeAt { timer, at }) => {
                    self.timers.insert((scope.clone(), timer), at);
                }
                Output::Effect(effect @ Effect::Abandon { .. }) => {
                    self.abandoned.extend(effect.step().cloned());
                    followed.abandons.push(effect);
                }
                Output::Effect(effect) => {
                    let Some(step) = effect.step().cloned() else { continue };
                    followed.opened.push(step.clone());
                    self.times += 1;
                    let number = self.times;
                    self.asked.insert(step, Asked { scope: scope.clone(), effect, number });
                }
            }
        }
        Ok(followed)
    }

    /// Whether a step of an instance is out.
    pub(super) fn is_open(&self, scope: &ScopePath, step: &StepId) -> bool {
        self.machines.get(scope).is_some_and(|machine| machine.is_open(step))
    }

    /// Whether an instance has ended.
    pub(super) fn has_ended(&self, scope: &ScopePath) -> bool {
        self.machines.get(scope).is_some_and(|machine| machine.end().is_some())
    }
}
