//! A driver with virtual time and a seeded order of completion.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_engine::Machine;
use deepgraph_graph::{Bundle, GraphIx};
use deepgraph_protocol::{
    Effect, Entry, EntryBody, ErrorKind, Map, Millis, ModelReply, ModelRequest, Output, SEMANTICS, ScopePath,
    Started, StepError, StepId, StepOutput, Usage, Value,
};

use crate::SimRun;

type Model<'a> = dyn FnMut(&StepId, &ModelRequest) -> Result<ModelReply, StepError> + 'a;
type Ops<'a> = dyn FnMut(&StepId, &str, &Map) -> Result<Value, StepError> + 'a;
type Person<'a> = dyn FnMut(&StepId, &str) -> Option<Value> + 'a;

/// When virtual time begins: 2026-01-01 UTC.
const BEGIN: Millis = 1_767_225_600_000;

/// A simulated run.
///
/// The model, the ops and the person are functions of what they are asked; they must not depend on the order in
/// which they are asked if the order is to make no difference.
pub struct Sim<'a> {
    bundle: Arc<Bundle>,
    model: Box<Model<'a>>,
    ops: Box<Ops<'a>>,
    person: Box<Person<'a>>,
    seed: u64,
    step_ms: Millis,
    nobody: bool,
    cancel_at: Option<usize>,
    stop_at: Option<usize>,
}

impl<'a> Sim<'a> {
    /// A run of a bundle whose models answer by `model`. Ops give an empty text, nobody answers questions.
    pub fn new(
        bundle: &Arc<Bundle>,
        model: impl FnMut(&StepId, &ModelRequest) -> Result<ModelReply, StepError> + 'a,
    ) -> Sim<'a> {
        Sim {
            bundle: bundle.clone(),
            model: Box::new(model),
            ops: Box::new(|_, _, _| Ok(Value::record([("text", Value::from("ok"))]))),
            person: Box::new(|_, _| None),
            seed: 0,
            step_ms: 1,
            nobody: false,
            cancel_at: None,
            stop_at: None,
        }
    }

    /// With ops that answer so.
    pub fn ops(mut self, ops: impl FnMut(&StepId, &str, &Map) -> Result<Value, StepError> + 'a) -> Sim<'a> {
        self.ops = Box::new(ops);
        self
    }

    /// With a person who answers so; none: the question stays open.
    pub fn person(mut self, person: impl FnMut(&StepId, &str) -> Option<Value> + 'a) -> Sim<'a> {
        self.person = Box::new(person);
        self
    }

    /// Where nobody can be asked: questions fail as unanswered.
    pub fn nobody(mut self) -> Sim<'a> {
        self.nobody = true;
        self
    }

    /// With another order of completion. Seed 0 is first in, first out.
    pub fn seed(mut self, seed: u64) -> Sim<'a> {
        self.seed = seed;
        self
    }

    /// With this much virtual time between two entries, in milliseconds.
    pub fn step_ms(mut self, ms: Millis) -> Sim<'a> {
        self.step_ms = ms;
        self
    }

    /// Cancelled once this many entries are committed.
    pub fn cancel_at(mut self, entries: usize) -> Sim<'a> {
        self.cancel_at = Some(entries);
        self
    }

    /// Killed once this many entries are committed.
    pub fn stop_at(mut self, entries: usize) -> Sim<'a> {
        self.stop_at = Some(entries);
        self
    }

    /// Runs with this input and configuration.
    pub fn run(self, input: Map, config: Map) -> SimRun {
        let bundle = self.bundle.clone();
        let mut world = World::new(self);
        let started = Started {
            graph: bundle.root().path.clone(),
            input: Arc::new(input),
            config: Arc::new(config),
            attempt: 1,
            semantics: SEMANTICS,
            bundle: bundle.hash.clone(),
            ..Started::default()
        };
        world.machines.insert(ScopePath::root(), Machine::new(bundle, GraphIx(0), ScopePath::root()));
        world.commit(ScopePath::root(), EntryBody::Started(started));
        world.go_on()
    }

    /// Goes on from journals, as after a crash.
    pub fn resume(self, rows: &[(ScopePath, Entry)]) -> SimRun {
        let bundle = self.bundle.clone();
        let mut world = World::new(self);
        for (scope, entry) in rows {
            if let EntryBody::Started(started) = &entry.body
                && let Some(graph) = bundle.find(&started.graph)
            {
                world.machines.insert(scope.clone(), Machine::new(bundle.clone(), graph, scope.clone()));
            }
            if let Some(machine) = world.machines.get_mut(scope) {
                machine.apply(entry);
            }
            world.now = world.now.max(entry.at);
        }
        world.run.rows = rows.to_vec();
        let open: Vec<(ScopePath, Effect)> = world
            .machines
            .iter()
            .flat_map(|(scope, m)| m.open_effects().into_iter().map(move |e| (scope.clone(), e)))
            .collect();
        for (scope, effect) in open {
            match &effect {
                Effect::Spawn { step, .. } => match world.machines.get(&step.scope()) {
                    None => world.put(scope, effect),
                    Some(child) => {
                        if let Some(end) = child.end().cloned() {
                            world.commit(scope, EntryBody::ChildEnded { step: step.clone(), end });
                        }
                    }
                },
                _ => world.put(scope, effect),
            }
        }
        world.go_on()
    }
}

struct World<'a> {
    sim: Sim<'a>,
    machines: BTreeMap<ScopePath, Machine>,
    open: Vec<(ScopePath, Effect)>,
    timers: Vec<(Millis, ScopePath, Arc<str>)>,
    now: Millis,
    random: u64,
    cancelled: bool,
    run: SimRun,
}

impl<'a> World<'a> {
    fn new(sim: Sim<'a>) -> World<'a> {
        World {
            random: sim.seed,
            sim,
            machines: BTreeMap::new(),
            open: Vec::new(),
            timers: Vec::new(),
            now: BEGIN,
            cancelled: false,
            run: SimRun {
                end: None,
                rows: Vec::new(),
                events: Vec::new(),
                requests: Vec::new(),
                most_alive: BTreeMap::new(),
                carried_out: BTreeMap::new(),
            },
        }
    }

    fn stopped(&self) -> bool {
        self.sim.stop_at.is_some_and(|n| self.run.rows.len() >= n)
    }

    fn go_on(mut self) -> SimRun {
        while !self.stopped() && self.run.end.is_none() {
            if self.sim.cancel_at.is_some_and(|n| self.run.rows.len() >= n) && !self.cancelled {
                self.cancelled = true;
                self.commit(ScopePath::root(), EntryBody::CancelRequested { detail: None, reason: None });
                continue;
            }
            if !self.complete_one() && !self.fire_timer() {
                break;
            }
        }
        self.run
    }

    /// Carries out one open effect, drawn by the seed. False where none is left that can come back.
    fn complete_one(&mut self) -> bool {
        while !self.open.is_empty() {
            let at = if self.sim.seed == 0 { 0 } else { self.draw(self.open.len()) };
            let (scope, effect) = self.open.remove(at);
            if self.carry_out(scope, effect) {
                return true;
            }
        }
        false
    }

    fn fire_timer(&mut self) -> bool {
        let Some(first) = self.timers.iter().enumerate().min_by_key(|(_, t)| t.0).map(|(i, _)| i) else {
            return false;
        };
        let (at, scope, timer) = self.timers.remove(first);
        self.now = self.now.max(at);
        self.commit(scope, EntryBody::TimerFired { timer });
        true
    }

    /// A number below `n`, from a linear congruential generator (Knuth, MMIX).
    fn draw(&mut self, n: usize) -> usize {
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) as usize % n
    }

    fn carry_out(&mut self, scope: ScopePath, effect: Effect) -> bool {
        let body = match effect {
            Effect::CallModel { step, attempt, .. } => {
                let Some(machine) = self.machines.get(&scope).filter(|m| m.is_open(&step)) else {
                    return false;
                };
                *self.run.carried_out.entry(step.clone()).or_default() += 1;
                match machine.model_request(&step) {
                    Err(error) => EntryBody::Failed { step, error },
                    Ok(request) => {
                        let result = (self.sim.model)(&step, &request);
                        self.run.requests.push((step.clone(), request));
                        match result {
                            Ok(reply) => {
                                EntryBody::Completed { step, attempt, output: StepOutput::Model(reply) }
                            }
                            Err(error) => {
                                EntryBody::AttemptFailed { step, attempt, error, usage: Usage::default() }
                            }
                        }
                    }
                }
            }
            Effect::RunOp { step, attempt, op, input, .. } => {
                if !self.machines.get(&scope).is_some_and(|m| m.is_open(&step)) {
                    return false;
                }
                *self.run.carried_out.entry(step.clone()).or_default() += 1;
                match (self.sim.ops)(&step, &op, &input) {
                    Ok(value) => EntryBody::Completed { step, attempt, output: StepOutput::Op(value) },
                    Err(error) => EntryBody::AttemptFailed { step, attempt, error, usage: Usage::default() },
                }
            }
            Effect::Ask { step, question, .. } => match (self.sim.person)(&step, &question) {
                Some(answer) => EntryBody::Answered { step, answer },
                None if self.sim.nobody => {
                    let error = StepError::new(ErrorKind::Unanswered, "nobody can be asked");
                    EntryBody::Failed { step, error }
                }
                None => return false,
            },
            Effect::Spawn { .. } | Effect::WakeAt { .. } | Effect::Abandon { .. } => return false,
        };
        self.commit(scope, body);
        true
    }

    fn commit(&mut self, scope: ScopePath, body: EntryBody) {
        if self.stopped() {
            return;
        }
        let Some(machine) = self.machines.get_mut(&scope) else { return };
        self.now += self.sim.step_ms;
        let entry = Entry { at: self.now, body };
        let outputs = machine.apply(&entry);
        self.run.rows.push((scope.clone(), entry));
        for output in outputs {
            match output {
                Output::Event(event) => self.run.events.push(event),
                Output::Effect(effect) => self.put(scope.clone(), effect),
            }
        }
        self.after(&scope);
        self.fire_due();
    }

    /// Timers whose time has come while other things happened.
    fn fire_due(&mut self) {
        while let Some(i) = self.timers.iter().position(|t| t.0 <= self.now) {
            let (_, scope, timer) = self.timers.remove(i);
            self.commit(scope, EntryBody::TimerFired { timer });
        }
    }

    fn after(&mut self, scope: &ScopePath) {
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
            Effect::CallModel { ref step, attempt, .. } => {
                let tokens = match self.machines.get(&scope).map(|m| m.model_request(step)) {
                    Some(Ok(request)) => request.estimate_tokens() + request.max_output.unwrap_or(0),
                    _ => 0,
                };
                let dispatched = EntryBody::Dispatched {
                    step: step.clone(),
                    attempt,
                    request: None,
                    reserve_tokens: tokens,
                    reserve_micro_usd: Some(0),
                };
                self.open.push((scope.clone(), effect));
                self.commit(scope, dispatched);
            }
            Effect::Spawn { step, graph, input, config, grant, nesting } => {
                let Some(ix) = self.bundle().find(&graph) else { return };
                let child = step.scope();
                self.machines.insert(child.clone(), Machine::new(self.bundle(), ix, child.clone()));
                self.note_alive(&graph);
                let started = Started {
                    graph,
                    input,
                    config,
                    grant,
                    attempt: 1,
                    semantics: SEMANTICS,
                    bundle: self.bundle().hash.clone(),
                    nesting,
                    ..Started::default()
                };
                self.commit(child, EntryBody::Started(started));
            }
            Effect::WakeAt { timer, at } => self.timers.push((at, scope, timer)),
            Effect::Abandon { step, reason, .. } => {
                let child = step.scope();
                if self.machines.contains_key(&child) {
                    self.commit(child, EntryBody::CancelRequested { detail: None, reason });
                } else {
                    let error = StepError::new(ErrorKind::Cancelled, "given up");
                    self.commit(scope, EntryBody::Failed { step, error });
                }
            }
            other => self.open.push((scope, other)),
        }
    }

    fn bundle(&self) -> Arc<Bundle> {
        self.sim.bundle.clone()
    }

    fn note_alive(&mut self, graph: &str) {
        let alive = self.machines.values().filter(|m| &*m.plan().path == graph && m.end().is_none()).count();
        let most = self.run.most_alive.entry(graph.to_owned()).or_default();
        *most = (*most).max(alive);
    }
}
