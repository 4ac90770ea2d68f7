//! Where a step stands in the current super-step, and what is open.

use std::sync::Arc;

use deepgraph_protocol::{Effect, Event, StepId};

use crate::machine::Machine;
use crate::run::{Attempts, ItemStage, NodeRun, Open, Outcome, Progress, Stage, Work};

/// Where a step belongs in the current super-step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The node, by its place in `current`.
    pub(crate) node: usize,
    pub(crate) part: Part,
}

/// What of a node it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Its one step.
    Whole,
    /// A call of its turn.
    Call(usize),
    /// The question whether a call of its turn may be run.
    Approval(usize),
    /// An item of its list.
    Item(usize),
}

impl Machine {
    /// Where an open step stands; none where it is not open.
    pub(crate) fn place(&self, step: &StepId) -> Option<Place> {
        let node = self.slot_of(step)?;
        let run = &self.current[node];
        let part = match &run.work {
            Work::Step(_) => (run.step == *step).then_some(Part::Whole)?,
            Work::Turn(turn) => {
                let rest = step.below(&run.step)?;
                let (call, part): (&str, fn(usize) -> Part) = match rest.strip_suffix("/approval") {
                    Some(call) => (call, Part::Approval),
                    None => (rest, Part::Call),
                };
                let k = number(call)?;
                (turn.calls.get(k)?.step.below(&run.step)? == call).then(|| part(k))?
            }
            Work::Each(_) => {
                // What stands deeper belongs to a child.
                let own = |rest: &&str| rest.starts_with("item.") && !rest.contains('/');
                Part::Item(number(step.below(&run.step).filter(own)?)?)
            }
        };
        let place = Place { node, part };
        self.open_at(place).is_some().then_some(place)
    }

    /// The place in `current` of the node that a step belongs to.
    fn slot_of(&self, step: &StepId) -> Option<usize> {
        let own = match self.scope.step() {
            Some(scope) => step.below(&scope)?,
            None => step.as_str(),
        };
        let segment = own.split('/').next()?;
        let (name, _) = segment.rsplit_once('.')?;
        self.slots.get(&self.plan().node(name)?).copied()
    }

    /// What is open at a place.
    pub(crate) fn open_at(&self, place: Place) -> Option<&Open> {
        let progress = match (&self.current.get(place.node)?.work, place.part) {
            (Work::Step(progress), Part::Whole) => progress,
            (Work::Turn(turn), Part::Call(call)) => match &turn.calls.get(call)?.stage {
                Stage::Admitted(progress) => progress,
                _ => return None,
            },
            (Work::Turn(turn), Part::Approval(call)) => match &turn.calls.get(call)?.stage {
                Stage::Approving(open) => return Some(open),
                _ => return None,
            },
            (Work::Each(items), Part::Item(item)) => match &items.items.get(item)?.stage {
                ItemStage::Started(progress) => progress,
                ItemStage::Waiting(_) => return None,
            },
            _ => return None,
        };
        if let Progress::Open(open) = progress { Some(open) } else { None }
    }

    /// How far the step at a place is.
    pub(crate) fn progress(&mut self, place: Place) -> Option<&mut Progress> {
        match (&mut self.current.get_mut(place.node)?.work, place.part) {
            (Work::Step(progress), Part::Whole) => Some(progress),
            (Work::Turn(turn), Part::Call(call)) => match &mut turn.calls.get_mut(call)?.stage {
                Stage::Admitted(progress) => Some(progress),
                _ => None,
            },
            (Work::Each(items), Part::Item(item)) => match &mut items.items.get_mut(item)?.stage {
                ItemStage::Started(progress) => Some(progress),
                ItemStage::Waiting(_) => None,
            },
            _ => None,
        }
    }

    pub(crate) fn attempts(&mut self, place: Place) -> Option<&mut Attempts> {
        match self.progress(place)? {
            Progress::Open(open) => Some(&mut open.attempts),
            Progress::Done(_) => None,
        }
    }

    /// Puts an effect out for a step that starts.
    pub(crate) fn send(&mut self, effect: Effect) -> Progress {
        Progress::Open(self.send_open(effect))
    }

    pub(crate) fn send_open(&mut self, mut effect: Effect) -> Box<Open> {
        let attempts = self.next_try(&mut effect);
        self.clock.sent(&effect);
        self.out.push(effect.clone().into());
        Box::new(Open { attempts, effect: Some(effect), repair: None })
    }

    /// What a step that ends leaves: it is no longer out.
    pub(crate) fn end_of(&mut self, step: &StepId, open: &Open) {
        if let Some(effect) = &open.effect {
            self.clock.back(step, effect);
            let never_sent = !open.attempts.dispatched && matches!(effect, Effect::CallModel { .. });
            self.coming = self.coming.saturating_sub(u64::from(never_sent));
        }
    }

    /// The step at a place is over.
    pub(crate) fn finish(&mut self, step: &StepId, place: Place, outcome: Outcome) {
        match &outcome {
            Outcome::Failed(error) => {
                self.tell(Event::StepFailed { step: step.clone(), error: error.clone() });
            }
            _ => self.tell(Event::StepCompleted { step: step.clone() }),
        }
        let Some(progress) = self.progress(place) else { return };
        let failed = matches!(outcome, Outcome::Failed(_));
        if let Progress::Open(open) = std::mem::replace(progress, Progress::Done(outcome)) {
            if failed {
                self.tried.insert(step.clone(), open.attempts.number);
            }
            self.end_of(step, &open);
            self.unfinished = self.unfinished.saturating_sub(1);
        }
        match place.part {
            Part::Item(_) => self.release_items(place.node),
            Part::Call(_) if self.cancelling.is_none() => self.release_queued(place.node),
            _ => {}
        }
    }

    /// The effects that are open, as they were put out last, waiting times left out: what a new driver has to
    /// carry out after a crash.
    pub fn open_effects(&self) -> Vec<Effect> {
        // What is given up is not sent out again. A child may have ended meanwhile, so its start is put out too.
        let kept = |effect: &Effect| self.giving.is_none() || effect.is_child();
        let steps = self.current.iter().flat_map(opens).chain(self.undoing.open());
        let steps = steps.filter_map(|open| open.effect.clone()).filter(|e| kept(e));
        let abandons = self.giving.iter().flat_map(|giving| self.abandons(giving));
        let timers = self.timers.iter().map(|(timer, at)| Effect::WakeAt { timer: timer.clone(), at: *at });
        steps
            .map(|mut effect| {
                if let Effect::CallModel { delay_ms, .. } | Effect::RunOp { delay_ms, .. } = &mut effect {
                    *delay_ms = 0;
                }
                effect
            })
            .chain(abandons)
            .chain(timers)
            .collect()
    }

    /// Whether it does something itself, rather than only wait for child graphs.
    pub fn is_working(&self) -> bool {
        self.end.is_none() && !self.clock.only_children()
    }

    /// Whether a step is open.
    pub fn is_open(&self, step: &StepId) -> bool {
        self.place(step).is_some() || self.is_undoing(Some(step))
    }

    /// Asks to be woken at a moment.
    pub(crate) fn wake(&mut self, timer: Arc<str>, at: deepgraph_protocol::Millis) {
        self.timers.insert(timer.clone(), at);
        self.out.push(Effect::WakeAt { timer, at }.into());
    }
}

/// What is open of a node, in call and item order.
pub(crate) fn opens(run: &NodeRun) -> Vec<&Open> {
    fn of(progress: &Progress) -> Option<&Open> {
        if let Progress::Open(open) = progress { Some(open) } else { None }
    }
    match &run.work {
        Work::Step(progress) => of(progress).into_iter().collect(),
        Work::Turn(turn) => turn
            .calls
            .iter()
            .filter_map(|c| match &c.stage {
                Stage::Admitted(progress) => of(progress),
                Stage::Approving(open) => Some(open),
                Stage::Refused(_) | Stage::Malformed(_) | Stage::Queued(_) => None,
            })
            .collect(),
        Work::Each(items) => items
            .items
            .iter()
            .filter_map(|i| match &i.stage {
                ItemStage::Started(progress) => of(progress),
                ItemStage::Waiting(_) => None,
            })
            .collect(),
    }
}

/// The index that `NAME.K` stands for: K counts from 1.
fn number(segment: &str) -> Option<usize> {
    segment.rsplit_once('.')?.1.parse::<usize>().ok()?.checked_sub(1)
}

/// What is open of a node, in call and item order, to be changed.
pub(crate) fn opens_mut(run: &mut NodeRun) -> Vec<&mut Open> {
    fn of(progress: &mut Progress) -> Option<&mut Open> {
        if let Progress::Open(open) = progress { Some(open) } else { None }
    }
    match &mut run.work {
        Work::Step(progress) => of(progress).into_iter().collect(),
        Work::Turn(turn) => turn
            .calls
            .iter_mut()
            .filter_map(|c| match &mut c.stage {
                Stage::Admitted(progress) => of(progress),
                Stage::Approving(open) => Some(open),
                Stage::Refused(_) | Stage::Malformed(_) | Stage::Queued(_) => None,
            })
            .collect(),
        Work::Each(items) => items
            .items
            .iter_mut()
            .filter_map(|i| match &mut i.stage {
                ItemStage::Started(progress) => of(progress),
                ItemStage::Waiting(_) => None,
            })
            .collect(),
    }
}
