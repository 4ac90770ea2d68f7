//! The simulated run while it runs: Machines, a queue of what comes back when, and the clock.
//!
//! Time moves only when nothing is due. What is due at the same moment comes back in the order that the seed
//! draws; a timer of that moment fires after it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use deepgraph_engine::Machine;
use deepgraph_graph::GraphIx;
use deepgraph_protocol::{
    Effect, Entry, EntryBody, ErrorKind, Map, Millis, ModelRequest, Output, SEMANTICS, ScopePath, Started,
    StepError, StepId, StepOutput, Usage,
};

use crate::sim_outside::Said;
use crate::sim_queue::{Item, Queue, What};
use crate::{CancelAt, Passage, Sim, SimRun};

/// A run with more entries than these is taken to go on for ever and left.
const MOST_ENTRIES: usize = 200_000;

pub(crate) struct World<'a> {
    pub(crate) sim: Sim<'a>,
    pub(crate) machines: BTreeMap<ScopePath, Machine>,
    pub(crate) queue: Queue,
    pub(crate) now: Millis,
    cancelled: bool,
    /// Steps that are out.
    out: BTreeSet<StepId>,
    run: SimRun,
}

impl<'a> World<'a> {
    fn new(sim: Sim<'a>) -> World<'a> {
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
            now: begin,
            cancelled: false,
            out: BTreeSet::new(),
            run: SimRun::new(begin),
        }
    }

    pub(crate) fn start(sim: Sim<'a>, input: Map, config: Map) -> SimRun {
        let bundle = sim.bundle.clone();
        let mut world = World::new(sim);
        let started = Started {
            graph: bundle.root().path.clone(),
            input: Arc::new(input),
            config: Arc::new(config),
            attempt: 1,
            semantics: SEMANTICS,
            bundle: bundle.hash.clone(),
            persisted: world.sim.kept.clone(),
            ..Started::default()
        };
        world.machines.insert(ScopePath::root(), Machine::new(bundle, GraphIx(0), ScopePath::root()));
        world.commit(ScopePath::root(), EntryBody::Started(started));
        world.go_on()
    }

    pub(crate) fn resume(sim: Sim<'a>, rows: &[(ScopePath, Entry)]) -> SimRun {
        let mut world = World::folded(sim, rows);
        world.reopen();
        world.go_on()
    }

    /// Goes on from journals in which channels of one instance are set by hand. Children that its steps started
    /// are started anew over them.
    pub(crate) fn fork(sim: Sim<'a>, rows: &[(ScopePath, Entry)], scope: &ScopePath, state: Map) -> SimRun {
        let mut world = World::folded(sim, rows);
        let entry = Entry { at: world.now, body: EntryBody::StateEdited { state } };
        let outputs = world.machines.get_mut(scope).map(|machine| machine.apply(&entry)).unwrap_or_default();
        for output in outputs {
            match output {
                Output::Effect(Effect::Spawn { step, .. }) => world.forget(&step),
                Output::Effect(_) => {}
                Output::Event(event) => world.run.events.push(event),
            }
        }
        world.run.rows.push((scope.clone(), entry));
        world.reopen();
        world.go_on()
    }

    /// The Machines as journals leave them.
    fn folded(sim: Sim<'a>, rows: &[(ScopePath, Entry)]) -> World<'a> {
        let bundle = sim.bundle.clone();
        let mut world = World::new(sim);
        for (scope, entry) in rows {
            if let EntryBody::Started(started) = &entry.body
                && let Some(graph) = bundle.find(&started.graph)
            {
                world.machines.insert(scope.clone(), Machine::new(bundle.clone(), graph, scope.clone()));
            }
            if let Some(machine) = world.machines.get_mut(scope) {
                machine.apply(entry);
            }
            world.cancelled |= scope.is_root() && matches!(entry.body, EntryBody::CancelRequested { .. });
            world.now = world.now.max(entry.at);
        }
        world.run.rows = rows.to_vec();
        world.run.end = world.machines.get(&ScopePath::root()).and_then(|root| root.end()).cloned();
        world
    }

    /// Takes the instance that a step started, and all below it, out of the journals.
    fn forget(&mut self, step: &StepId) {
        let gone = |scope: &ScopePath| scope.step().is_some_and(|of| of == *step || of.below(step).is_some());
        self.machines.retain(|scope, _| !gone(scope));
        self.run.rows.retain(|(scope, _)| !gone(scope));
    }

    /// Puts the open effects of all Machines out again.
    fn reopen(&mut self) {
        let open: Vec<(ScopePath, Effect)> = self
            .machines
            .iter()
            .flat_map(|(scope, m)| m.open_effects().into_iter().map(move |e| (scope.clone(), e)))
            .collect();
        for (scope, effect) in open {
            match &effect {
                Effect::Spawn { step, .. } => match self.machines.get(&step.scope()).map(Machine::end) {
                    None => self.put(scope, effect),
                    Some(None) => drop(self.out.insert(step.clone())),
                    Some(Some(end)) => {
                        let ended = EntryBody::ChildEnded { step: step.clone(), end: end.clone() };
                        self.commit(scope, ended);
                    }
                },
                _ => self.put(scope, effect),
            }
        }
    }

    fn stopped(&self) -> bool {
        self.run.rows.len() >= self.sim.stop_at.unwrap_or(MOST_ENTRIES)
    }

    fn go_on(mut self) -> SimRun {
        while !self.stopped() && self.run.end.is_none() {
            if self.is_to_be_cancelled() {
                self.cancel();
                continue;
            }
            let Some(item) = self.queue.next(&mut self.now, self.sim.order) else { break };
            self.happen(item);
        }
        self.run.now = self.now;
        self.run
    }

    fn is_to_be_cancelled(&self) -> bool {
        !self.cancelled
            && match &self.sim.cancel {
                None | Some(CancelAt::Time(_)) => false,
                Some(CancelAt::Entries(n)) => self.run.rows.len() >= *n,
                Some(CancelAt::Sent(step)) => self.run.flight.iter().any(|p| p.out && p.step == *step),
                Some(CancelAt::Over(step)) => self.run.flight.iter().any(|p| !p.out && p.step == *step),
            }
    }

    fn cancel(&mut self) {
        if !std::mem::replace(&mut self.cancelled, true) {
            self.commit(ScopePath::root(), EntryBody::CancelRequested { detail: None, reason: None });
        }
    }

    fn happen(&mut self, item: Item) {
        let Item { scope, what, .. } = item;
        match what {
            What::Send(effect) => self.send(scope, effect),
            What::Model { step, attempt, request, late } => {
                if late || self.is_open(&scope, &step) {
                    self.model_is_back(scope, step, attempt, &request);
                }
            }
            What::Op { step, attempt, op, input, late } => {
                if late || self.is_open(&scope, &step) {
                    *self.run.carried_out.entry(step.clone()).or_default() += 1;
                    let body = match self.sim.outside().op(&step, attempt, &op, &input) {
                        Ok(value) => EntryBody::Completed { step, attempt, output: StepOutput::Op(value) },
                        Err(error) => failure(step, attempt, error),
                    };
                    self.commit(scope, body);
                }
            }
            What::TimedOut { step, attempt, ms } => {
                let message = format!("no answer within {} s", ms as f64 / 1000.0);
                self.commit(scope, failure(step, attempt, StepError::new(ErrorKind::StepTimeout, message)));
            }
            What::Says { step, said, question } => self.person_says(scope, step, said, question),
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
        }
    }

    pub(crate) fn is_open(&self, scope: &ScopePath, step: &StepId) -> bool {
        self.machines.get(scope).is_some_and(|machine| machine.is_open(step))
    }

    fn model_is_back(&mut self, scope: ScopePath, step: StepId, attempt: u32, request: &ModelRequest) {
        *self.run.carried_out.entry(step.clone()).or_default() += 1;
        let result = self.sim.outside().model(&step, attempt, request);
        self.run.requests.push((step.clone(), request.clone()));
        let body = match result {
            Ok(reply) => EntryBody::Completed { step, attempt, output: StepOutput::Model(reply) },
            Err(error) => failure(step, attempt, error),
        };
        self.commit(scope, body);
    }

    fn person_says(&mut self, scope: ScopePath, step: StepId, said: Said, question: Arc<str>) {
        match said {
            Said::Answer(answer) => {
                self.commit(scope.clone(), EntryBody::Answered { step: step.clone(), answer });
                if self.ask(scope, step.clone(), question) {
                    self.queue.put_off(&step);
                }
            }
            Said::Declined(error) => self.commit(scope, EntryBody::Failed { step, error }),
            Said::Nothing | Said::Later => {}
        }
    }

    /// Learns what the person says next to a question, and when. True where the question is put off.
    fn ask(&mut self, scope: ScopePath, step: StepId, question: Arc<str>) -> bool {
        let is_answer =
            |entry: &Entry| matches!(&entry.body, EntryBody::Answered { step: s, .. } if *s == step);
        let answered = self.run.rows.iter().filter(|(_, entry)| is_answer(entry)).count();
        let said = self.sim.outside().person(&step, answered, &question);
        if matches!(said, Said::Answer(_) | Said::Declined(_)) {
            let nth = u32::try_from(answered + 1).unwrap_or(u32::MAX);
            let takes = self.sim.outside().takes(&step, None, nth);
            let at = self.now.saturating_add(takes);
            self.queue.push(Item { at, scope, what: What::Says { step, said, question } });
            return false;
        }
        said == Said::Later
    }

    pub(crate) fn commit(&mut self, scope: ScopePath, body: EntryBody) {
        if self.stopped() {
            return;
        }
        let Some(machine) = self.machines.get_mut(&scope) else { return };
        self.now = self.now.saturating_add(self.sim.step_ms);
        let entry = Entry { at: self.now, body };
        let outputs = machine.apply(&entry);
        self.note_over(&scope, &entry.body);
        self.run.rows.push((scope.clone(), entry));
        for output in outputs {
            match output {
                Output::Event(event) => self.run.events.push(event),
                Output::Effect(effect) => self.put(scope.clone(), effect),
            }
        }
        self.hand_up(&scope);
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
            let entries = self.run.rows.len() + 1;
            self.run.flight.push(Passage { step: step.clone(), out: false, entries });
            self.queue.note_over(step, self.sim.order);
        }
    }

    pub(crate) fn note_out(&mut self, step: &StepId) {
        if self.out.insert(step.clone()) {
            let entries = self.run.rows.len();
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
            self.commit(parent, EntryBody::ChildEnded { step, end });
        }
    }

    fn put(&mut self, scope: ScopePath, effect: Effect) {
        match effect {
            Effect::CallModel { delay_ms, .. } | Effect::RunOp { delay_ms, .. } => {
                if delay_ms == 0 {
                    return self.send(scope, effect);
                }
                let at = self.now.saturating_add(Millis::try_from(delay_ms).unwrap_or(Millis::MAX));
                self.queue.push(Item { at, scope, what: What::Send(effect) });
            }
            Effect::Spawn { step, graph, input, config, grant, nesting } => {
                let Some(ix) = self.sim.bundle.find(&graph) else { return };
                let child = step.scope();
                let bundle = self.sim.bundle.clone();
                self.machines.insert(child.clone(), Machine::new(bundle.clone(), ix, child.clone()));
                self.note_alive(&graph);
                self.note_out(&step);
                let started = Started {
                    graph,
                    input,
                    config,
                    grant,
                    attempt: 1,
                    semantics: SEMANTICS,
                    bundle: bundle.hash.clone(),
                    nesting,
                    ..Started::default()
                };
                self.commit(child, EntryBody::Started(started));
            }
            Effect::Ask { step, question, timeout_ms, .. } => {
                self.note_out(&step);
                let is_put_off = self.ask(scope.clone(), step.clone(), question);
                if let (Some(ms), false) = (timeout_ms, is_put_off) {
                    let at = self.now.saturating_add(Millis::try_from(ms).unwrap_or(Millis::MAX));
                    self.queue.push(Item { at, scope, what: What::Unanswered { step } });
                }
            }
            Effect::WakeAt { timer, at } => self.queue.push(Item { at, scope, what: What::Timer(timer) }),
            Effect::Abandon { step, grace_ms, reason } => self.abandon(scope, step, grace_ms, reason),
        }
    }

    fn note_alive(&mut self, graph: &str) {
        let alive = self.machines.values().filter(|m| &*m.plan().path == graph && m.end().is_none()).count();
        let most = self.run.most_alive.entry(graph.to_owned()).or_default();
        *most = (*most).max(alive);
    }
}

fn failure(step: StepId, attempt: u32, error: StepError) -> EntryBody {
    EntryBody::AttemptFailed { step, attempt, error, usage: Usage::default() }
}
