//! The simulated run while it runs: Machines, a queue of what comes back when, and the clock.
//!
//! Time moves only when nothing is due. What is due at the same moment comes back in the order that the seed
//! draws; a timer of that moment fires after it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use deepgraph_engine::Machine;
use deepgraph_protocol::{Effect, Entry, EntryBody, ErrorKind, Millis, Output, ScopePath, StepError, StepId};

use super::answers::failure;
use super::faults::Fault;
use super::journals::Journals;
use super::queue::{Item, Queue, What};
use super::{CancelAt, Passage, Sim, SimRun};

/// A run with more entries than these is taken to go on for ever and left.
const MOST_ENTRIES: usize = 200_000;

/// How much of what comes late is looked at after the end of a run.
const MOST_LATE: usize = 64;

pub(crate) struct World<'a> {
    pub(crate) sim: Sim<'a>,
    pub(crate) machines: BTreeMap<ScopePath, Machine>,
    pub(crate) queue: Queue,
    pub(crate) journals: Journals,
    /// Under which it writes.
    pub(crate) epoch: u64,
    /// How many entries of each journal it knows.
    pub(crate) known: BTreeMap<ScopePath, u64>,
    pub(crate) now: Millis,
    pub(crate) cancelled: bool,
    /// Attempts of model calls that their account has let out.
    pub(crate) let_out: BTreeSet<(StepId, u32)>,
    /// Steps that are out.
    pub(crate) out: BTreeSet<StepId>,
    /// What follows from the last entries, in order.
    pub(crate) pending: VecDeque<(ScopePath, Todo)>,
    /// Whether the driver has crashed: it does nothing more.
    pub(crate) down: bool,
    pub(crate) run: SimRun,
}

/// What follows from an entry.
pub(crate) enum Todo {
    /// An effect is put out.
    Put(Effect),
    /// Where the instance has ended, its parent learns of it.
    HandUp,
}

impl<'a> World<'a> {
    pub(crate) fn new(sim: Sim<'a>, mut journals: Journals) -> World<'a> {
        let begin = sim.begin;
        let mut queue = Queue::new(sim.seed);
        if let Some(CancelAt::Time(after)) = sim.cancel {
            queue.push(Item {
                at: begin.saturating_add(after),
                scope: ScopePath::root(),
                what: What::Cancel,
            });
        }
        World {
            sim,
            machines: BTreeMap::new(),
            queue,
            epoch: journals.claim(),
            journals,
            known: BTreeMap::new(),
            now: begin,
            cancelled: false,
            let_out: BTreeSet::new(),
            out: BTreeSet::new(),
            pending: VecDeque::new(),
            down: false,
            run: SimRun::new(begin),
        }
    }

    fn stopped(&self) -> bool {
        self.journals.rows().len() >= self.sim.stop_at.unwrap_or(MOST_ENTRIES)
    }

    pub(crate) fn note(&mut self, fault: Fault) {
        *self.run.faults.entry(fault).or_default() += 1;
    }

    pub(crate) fn go_on(mut self) -> SimRun {
        self.carry_on();
        while !self.stopped() {
            if self.down {
                self.take_up();
            } else if self.run.end.is_some() {
                break;
            } else if self.is_to_be_cancelled() {
                self.cancel();
            } else if let Some(item) = self.queue.next(&mut self.now, self.sim.order) {
                self.happen(item);
            } else if self.sim.chances.has_lost(|step| self.out.contains(step)) {
                // Nothing will come back any more: somebody starts the driver anew.
                self.down = true;
                continue;
            } else {
                break;
            }
            self.carry_on();
        }
        self.take_late();
        self.run.now = self.now;
        self.run.machines = self.machines;
        (self.run.rows, self.run.epochs) = self.journals.into_rows();
        self.run
    }

    /// What comes after the end of the run.
    fn take_late(&mut self) {
        if self.run.end.is_none() || self.sim.chances.faults.late == 0 {
            return;
        }
        for _ in 0..MOST_LATE {
            let Some(item) = self.queue.next(&mut self.now, None) else { return };
            match &item.what {
                What::Model { late: true, .. } | What::Op { late: true, .. } | What::Again(_) => {}
                What::OfFormer { .. } => {}
                _ => continue,
            }
            self.happen(item);
            self.carry_on();
        }
    }

    fn is_to_be_cancelled(&self) -> bool {
        let entries = self.journals.rows().len();
        let by_chance = self.sim.chances.cancel.is_some_and(|at| entries >= at);
        !self.cancelled
            && match &self.sim.cancel {
                None | Some(CancelAt::Time(_)) => by_chance,
                Some(CancelAt::Entries(n)) => entries >= *n,
                Some(CancelAt::Sent(step)) => self.run.flight.iter().any(|p| p.out && p.step == *step),
                Some(CancelAt::Over(step)) => self.run.flight.iter().any(|p| !p.out && p.step == *step),
            }
    }

    fn cancel(&mut self) {
        if !std::mem::replace(&mut self.cancelled, true) {
            self.note(Fault::Cancelled);
            self.commit(
                ScopePath::root(),
                EntryBody::CancelRequested { detail: None, reason: None, at_once: false },
            );
        }
    }

    fn happen(&mut self, item: Item) {
        let Item { scope, what, .. } = item;
        match what {
            What::Send(effect) => self.send(scope, effect),
            What::Model { step, attempt, request, has_next, late } => {
                if late || self.is_open(&scope, &step) {
                    self.note_if_late(late);
                    self.run.requests.push((step.clone(), (*request).clone()));
                    *self.run.carried_out.entry(step.clone()).or_default() += 1;
                    let body = self.model_result(step, attempt, &request, has_next);
                    self.commit(scope, body);
                }
            }
            What::Op { step, attempt, op, input, late } => {
                if late || self.is_open(&scope, &step) {
                    self.note_if_late(late);
                    *self.run.carried_out.entry(step.clone()).or_default() += 1;
                    let body = self.op_result(step, attempt, &op, &input);
                    self.commit(scope, body);
                }
            }
            What::TimedOut { step, attempt, has_next, ms } => {
                self.note(Fault::TimedOut);
                let message = format!("no answer within {} s", ms as f64 / 1000.0);
                let error = StepError::new(ErrorKind::StepTimeout, message);
                let body = match has_next {
                    true => self.model_failure(step, attempt, error, has_next),
                    false => failure(step, attempt, error),
                };
                self.commit(scope, body);
            }
            What::Says { step, said, question, shape } => {
                self.person_says(scope, step, said, question, shape);
            }
            What::Unanswered { step } => {
                if self.is_open(&scope, &step) {
                    let error =
                        StepError::new(ErrorKind::Unanswered, "the question was not answered in time");
                    self.commit(scope, EntryBody::Failed { step, error });
                }
            }
            What::GiveUp { step } => self.give_up(scope, step),
            What::Timer(timer) => self.commit(scope, EntryBody::TimerFired { timer }),
            What::Cancel => self.cancel(),
            What::Again(body) => {
                self.note(Fault::Duplicate);
                self.commit(scope, body);
            }
            What::OfFormer { epoch, position, body } => self.former_commits(&scope, epoch, position, body),
        }
    }

    fn note_if_late(&mut self, late: bool) {
        if late {
            self.note(Fault::Late);
        }
    }

    pub(crate) fn is_open(&self, scope: &ScopePath, step: &StepId) -> bool {
        self.machines.get(scope).is_some_and(|machine| machine.is_open(step))
    }

    /// Commits an entry and applies it. What follows from it is carried out by [`World::carry_on`].
    pub(crate) fn commit(&mut self, scope: ScopePath, body: EntryBody) {
        if self.stopped() || self.down {
            return;
        }
        let Some(machine) = self.machines.get_mut(&scope) else { return };
        self.now = self.now.saturating_add(self.sim.step_ms);
        let entry = Entry { at: self.now, body };
        let known = self.known.entry(scope.clone()).or_default();
        let rows = match self.journals.append(self.epoch, &scope, *known, entry.clone()) {
            Ok(rows) => rows,
            Err(why) => return self.run.not_appended.push(why),
        };
        *known += 1;
        let outputs = machine.apply(&entry);
        self.note_over(&scope, &entry.body);
        self.pending.push_front((scope.clone(), Todo::HandUp));
        for output in outputs.iter().rev() {
            if let Output::Effect(effect) = output {
                self.pending.push_front((scope.clone(), Todo::Put(effect.clone())));
            }
        }
        self.run.events.extend(outputs.iter().filter_map(|output| match output {
            Output::Event(event) => Some(event.clone()),
            Output::Effect(_) => None,
        }));
        self.run.outputs.push(outputs);
        self.repeat(scope, entry.body, rows);
        self.down = self.sim.chances.crashes(rows);
    }

    /// Where the entry of this number comes a second time, it is put among what will happen.
    fn repeat(&mut self, scope: ScopePath, body: EntryBody, rows: usize) {
        let came_back = matches!(
            body,
            EntryBody::Completed { .. }
                | EntryBody::AttemptFailed { .. }
                | EntryBody::Failed { .. }
                | EntryBody::ChildEnded { .. }
                | EntryBody::Answered { .. }
        );
        if let Some(later) = self.sim.chances.again(rows).filter(|_| came_back) {
            self.queue.push(Item { at: self.now.saturating_add(later), scope, what: What::Again(body) });
        }
    }

    /// Carries out what follows from the last entries, and what follows from that. A driver that has crashed does
    /// nothing more.
    pub(crate) fn carry_on(&mut self) {
        while let Some((scope, todo)) = self.pending.pop_front() {
            if self.down {
                self.pending.clear();
                return;
            }
            match todo {
                Todo::Put(effect) => self.put(scope, effect),
                Todo::HandUp => self.hand_up(&scope),
            }
        }
    }

    fn note_over(&mut self, scope: &ScopePath, body: &EntryBody) {
        let (EntryBody::Completed { step, .. }
        | EntryBody::AttemptFailed { step, .. }
        | EntryBody::Failed { step, .. }
        | EntryBody::ChildEnded { step, .. }
        | EntryBody::Answered { step, .. }
        | EntryBody::Dispatched { step, .. }) = body
        else {
            return;
        };
        if !self.is_open(scope, step) && self.out.remove(step) {
            let entries = self.journals.rows().len();
            self.run.flight.push(Passage { step: step.clone(), out: false, entries });
            self.queue.note_over(step, self.sim.order);
        }
    }

    pub(crate) fn note_out(&mut self, step: &StepId) {
        if self.out.insert(step.clone()) {
            let entries = self.journals.rows().len();
            self.run.flight.push(Passage { step: step.clone(), out: true, entries });
        }
    }

    /// Where an instance has ended, its parent learns of it.
    fn hand_up(&mut self, scope: &ScopePath) {
        let Some(end) = self.machines.get(scope).and_then(|m| m.end()).cloned() else { return };
        let Some(step) = scope.step() else {
            self.run.end = Some(end);
            return;
        };
        let parent = self.machines.iter().find(|(_, m)| m.is_open(&step)).map(|(p, _)| p.clone());
        if let Some(parent) = parent {
            self.commit(parent, EntryBody::ChildEnded { step, end: Box::new(end) });
        }
    }

    pub(crate) fn put(&mut self, scope: ScopePath, effect: Effect) {
        match effect {
            Effect::CallModel { delay_ms, .. } | Effect::RunOp { delay_ms, .. } => {
                let delay_ms = delay_ms.saturating_add(self.hold(&scope, &effect));
                if delay_ms == 0 {
                    return self.send(scope, effect);
                }
                let at = self.now.saturating_add(Millis::try_from(delay_ms).unwrap_or(Millis::MAX));
                self.queue.push(Item { at, scope, what: What::Send(effect) });
            }
            Effect::Spawn { .. } | Effect::Reopen { .. } => self.open_child(scope, &effect),
            Effect::Ask { step, question, timeout_ms, shape } => {
                self.note_out(&step);
                let is_put_off = self.ask(scope.clone(), step.clone(), question, Arc::new(shape));
                if let (Some(ms), false) = (timeout_ms, is_put_off) {
                    let at = self.now.saturating_add(Millis::try_from(ms).unwrap_or(Millis::MAX));
                    self.queue.push(Item { at, scope, what: What::Unanswered { step } });
                }
            }
            Effect::WakeAt { timer, at } => self.queue.push(Item { at, scope, what: What::Timer(timer) }),
            Effect::Abandon { step, grace_ms, reason } => self.abandon(scope, step, grace_ms, reason),
        }
    }

    pub(super) fn note_alive(&mut self, graph: &str) {
        let alive = self.machines.values().filter(|m| &*m.plan().path == graph && m.end().is_none()).count();
        let most = self.run.most_alive.entry(graph.to_owned()).or_default();
        *most = (*most).max(alive);
    }
}
