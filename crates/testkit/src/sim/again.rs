//! A simulated run that was over and goes on, as its next attempt.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_engine::{Machine, NotResumable, Opening, opening};
use deepgraph_graph::Bundle;
use deepgraph_protocol::{Effect, Entry, EntryBody, Grant, Map, ResumeFrom, ScopePath};

use super::world::World;
use super::{Sim, SimRun};

impl<'a> World<'a> {
    /// Goes on from a run that is over, under another configuration.
    pub(crate) fn again(
        sim: Sim<'a>,
        before: &SimRun,
        config: Map,
        from: ResumeFrom,
    ) -> Result<SimRun, NotResumable> {
        let mut world = World::of_rows(sim, before.rows.clone());
        world.run.outputs.clone_from(&before.outputs);
        world.run.events.clone_from(&before.events);
        world.run.sent.clone_from(&before.sent);
        world.run.writes.clone_from(&before.writes);
        world.run.flight.clone_from(&before.flight);
        world.run.began = before.began;
        let config = Arc::new(config);
        let mut machines = folded(&world.sim.bundle, &before.rows);
        deepgraph_engine::check_resume(&mut machines, world.now, &config, from)?;
        let attempt = world.machines.get(&ScopePath::root()).map_or(1, Machine::attempt).saturating_add(1);
        world.run.end = None;
        world.run.longest_route = before.longest_route;
        world
            .commit(ScopePath::root(), EntryBody::Resumed { attempt, config, grant: Grant::default(), from });
        Ok(world.go_on())
    }

    /// Does for a child what its effect asks for, by what is there of it.
    pub(crate) fn open_child(&mut self, parent: ScopePath, effect: &Effect) {
        let Some(step) = effect.step() else { return };
        let child = step.scope();
        match opening(effect, self.machines.get(&child), &self.sim.bundle) {
            Some(Opening::Start(body)) => {
                let EntryBody::Started(started) = &body else { return };
                let Some(graph) = self.sim.bundle.find(&started.graph) else { return };
                let machine = Machine::new(self.sim.bundle.clone(), graph, child.clone());
                self.machines.insert(child.clone(), machine);
                self.note_alive(&started.graph);
                self.note_out(step);
                self.commit(child, body);
            }
            Some(Opening::GoOn(body)) => {
                self.note_out(step);
                self.commit(child, body);
            }
            Some(Opening::AtWork) => drop(self.out.insert(step.clone())),
            Some(Opening::Over(end)) => {
                self.commit(parent, EntryBody::ChildEnded { step: step.clone(), end })
            }
            Some(Opening::Gone(error)) => {
                self.commit(parent, EntryBody::Failed { step: step.clone(), error })
            }
            None => {}
        }
    }
}

/// The Machines that journals fold to.
fn folded(bundle: &Arc<Bundle>, rows: &[(ScopePath, Entry)]) -> BTreeMap<ScopePath, Machine> {
    let mut machines: BTreeMap<ScopePath, Machine> = BTreeMap::new();
    for (scope, entry) in rows {
        if let EntryBody::Started(started) = &entry.body
            && let Some(graph) = bundle.find(&started.graph)
        {
            let machine = || Machine::new(bundle.clone(), graph, scope.clone());
            machines.entry(scope.clone()).or_insert_with(machine);
        }
        if let Some(machine) = machines.get_mut(scope) {
            machine.apply(entry);
        }
    }
    machines
}
