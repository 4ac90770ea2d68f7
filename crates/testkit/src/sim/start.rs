//! How a simulated run begins, is taken up from its journals, and goes on after a crash.

use std::sync::Arc;

use deepgraph_engine::Machine;
use deepgraph_graph::GraphIx;
use deepgraph_protocol::{Effect, Entry, EntryBody, Map, Output, ScopePath, Started, StepId};

use super::faults::Fault;
use super::journals::Journals;
use super::queue::{Item, What};
use super::world::World;
use super::{Sim, SimRun};

impl<'a> World<'a> {
    pub(crate) fn start(sim: Sim<'a>, input: Map, config: Map) -> SimRun {
        let bundle = sim.bundle.clone();
        let mut world = World::new(sim, Journals::default());
        let (graph, persisted) = (bundle.root().path.clone(), world.sim.kept.clone());
        let started = Started::first(graph, Arc::new(input), Arc::new(config), bundle.hash.clone());
        let started = Started { persisted, ..started };
        world.machines.insert(ScopePath::root(), Machine::new(bundle, GraphIx(0), ScopePath::root()));
        world.commit(ScopePath::root(), EntryBody::Started(started));
        world.go_on()
    }

    pub(crate) fn resume(sim: Sim<'a>, rows: &[(ScopePath, Entry)]) -> SimRun {
        let mut world = World::of_rows(sim, rows.to_vec());
        world.reopen();
        world.go_on()
    }

    /// Goes on from journals in which channels of one instance are set by hand. Children that its steps started
    /// are started anew over them.
    pub(crate) fn fork(sim: Sim<'a>, rows: &[(ScopePath, Entry)], scope: &ScopePath, state: Map) -> SimRun {
        let mut world = World::of_rows(sim, rows.to_vec());
        let entry = Entry { at: world.now, body: EntryBody::StateEdited { state } };
        let outputs = world.machines.get_mut(scope).map(|machine| machine.apply(&entry)).unwrap_or_default();
        // Their journals are not those of this run any more.
        let anew: Vec<StepId> = outputs
            .iter()
            .filter_map(|output| match output {
                Output::Effect(Effect::Spawn { step, .. }) => Some(step.clone()),
                _ => None,
            })
            .collect();
        let gone = |scope: &ScopePath| {
            let of = scope.step();
            of.is_some_and(|of| anew.iter().any(|step| of == *step || of.below(step).is_some()))
        };
        let events = outputs.iter().filter_map(|output| match output {
            Output::Event(event) => Some(event.clone()),
            Output::Effect(_) => None,
        });
        world.run.events.extend(events);
        world.machines.retain(|scope, _| !gone(scope));
        let kept = world.journals.rows().iter().filter(|(scope, _)| !gone(scope)).cloned();
        // In all others the fork begins as well.
        let begins = |scope: &ScopePath| {
            (scope.clone(), Entry { at: entry.at, body: EntryBody::StateEdited { state: Map::new() } })
        };
        let others = world.machines.keys().filter(|other| *other != scope).map(begins);
        let kept: Vec<_> = kept.chain([(scope.clone(), entry.clone())]).chain(others).collect();
        world.own(kept);
        world.refold();
        world.reopen();
        world.go_on()
    }

    pub(crate) fn of_rows(sim: Sim<'a>, rows: Vec<(ScopePath, Entry)>) -> World<'a> {
        let mut world = World::new(sim, Journals::default());
        world.own(rows);
        world.refold();
        world
    }

    /// The journals are these rows from now on.
    fn own(&mut self, rows: Vec<(ScopePath, Entry)>) {
        self.run.outputs = vec![Vec::new(); rows.len()];
        self.journals = Journals::of(rows);
        self.epoch = self.journals.claim();
        self.known.clear();
        for (scope, _) in self.journals.rows() {
            *self.known.entry(scope.clone()).or_default() += 1;
        }
    }

    /// The Machines as the journals leave them.
    fn refold(&mut self) {
        self.machines.clear();
        self.known.clear();
        let bundle = self.sim.bundle.clone();
        for (scope, entry) in self.journals.rows() {
            if let EntryBody::Started(started) = &entry.body
                && let Some(graph) = bundle.find(&started.graph)
                && !self.machines.contains_key(scope)
            {
                self.machines.insert(scope.clone(), Machine::new(bundle.clone(), graph, scope.clone()));
            }
            if let Some(machine) = self.machines.get_mut(scope) {
                machine.apply(entry);
            }
            *self.known.entry(scope.clone()).or_default() += 1;
            self.cancelled |= scope.is_root() && matches!(entry.body, EntryBody::CancelRequested { .. });
            self.now = self.now.max(entry.at);
        }
        self.run.end = self.machines.get(&ScopePath::root()).and_then(|root| root.end()).cloned();
    }

    /// Puts the open effects of all Machines out again.
    fn reopen(&mut self) {
        let open: Vec<(ScopePath, Effect)> = self
            .machines
            .iter()
            .flat_map(|(scope, m)| m.open_effects().into_iter().map(move |e| (scope.clone(), e)))
            .collect();
        for (scope, effect) in open {
            self.put(scope, effect);
            self.carry_on();
        }
    }

    /// Takes the run up after a crash. Where its owner was not dead, what it still brings comes under its old epoch.
    pub(crate) fn take_up(&mut self) {
        self.down = false;
        self.pending.clear();
        let (pause, is_alive) = self.sim.chances.takeover(self.journals.rows().len());
        self.note(if is_alive { Fault::Takeover } else { Fault::Crash });
        for Item { at, scope, what } in self.queue.take() {
            match what {
                // These are not the owner's.
                What::Cancel | What::OfFormer { .. } => self.queue.push(Item { at, scope, what }),
                _ if is_alive => {
                    let position = self.known.get(&scope).copied().unwrap_or(0);
                    if let Some(body) = self.brought(what) {
                        let what = What::OfFormer { epoch: self.epoch, position, body };
                        self.queue.push(Item { at, scope, what });
                    }
                }
                _ => {}
            }
        }
        self.now = self.now.saturating_add(pause);
        self.epoch = self.journals.claim();
        self.out.clear();
        self.let_out.clear();
        self.refold();
        self.reopen();
    }

    /// What something that was out would have brought to the journal.
    fn brought(&mut self, what: What) -> Option<EntryBody> {
        match what {
            What::Model { step, attempt, request, has_next, .. } => {
                Some(self.model_result(step, attempt, &request, has_next))
            }
            What::Op { step, attempt, op, input, .. } => Some(self.op_result(step, attempt, &op, &input)),
            What::Timer(timer) => Some(EntryBody::TimerFired { timer }),
            What::Again(body) => Some(body),
            _ => None,
        }
    }

    /// Tries to commit what a former owner brings.
    pub(crate) fn former_commits(&mut self, scope: &ScopePath, epoch: u64, position: u64, body: EntryBody) {
        let entry = Entry { at: self.now, body };
        match self.journals.append(epoch, scope, position, entry) {
            Err(_) => self.note(Fault::Fenced),
            // The row is there: its epoch tells.
            Ok(_) => self.run.outputs.push(Vec::new()),
        }
    }
}
