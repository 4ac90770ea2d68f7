//! A simulated run that was over and goes on, as its next attempt.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_engine::{Machine, NotResumable};
use deepgraph_graph::Bundle;
use deepgraph_protocol::{Entry, EntryBody, Grant, Map, ResumeFrom, ScopePath, StepId};

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
        world.run.flight.clone_from(&before.flight);
        world.run.began = before.began;
        let config = Arc::new(config);
        let mut machines = folded(&world.sim.bundle, &before.rows);
        deepgraph_engine::check_resume(&mut machines, world.now, &config, from)?;
        let attempt = world.machines.get(&ScopePath::root()).map_or(1, Machine::attempt) + 1;
        world.run.end = None;
        world
            .commit(ScopePath::root(), EntryBody::Resumed { attempt, config, grant: Grant::default(), from });
        Ok(world.go_on())
    }

    /// Lets a child go on. After a crash it may go on already, or be over again.
    pub(crate) fn reopen_child(
        &mut self,
        parent: ScopePath,
        step: StepId,
        attempt: u32,
        config: Arc<Map>,
        grant: Grant,
    ) {
        let child = step.scope();
        self.note_out(&step);
        let Some(machine) = self.machines.get(&child) else { return };
        if machine.attempt() < attempt {
            let from = ResumeFrom::Research;
            self.commit(child, EntryBody::Resumed { attempt, config, grant, from });
        } else if let Some(end) = machine.end().cloned() {
            self.commit(parent, EntryBody::ChildEnded { step, end: Box::new(end) });
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
