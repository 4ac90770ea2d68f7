//! Children: their input, their share of what is left; the times at which a stage is over.

use deepgraph_graph::GraphIx;
use deepgraph_protocol::{Effect, ErrorKind, Grant, Map, Meter, StepError, StepId};

use crate::limits::What;
use crate::machine::Machine;

/// A child that will be started once the number of children of this super-step is known.
#[derive(Debug)]
pub(crate) struct PendingSpawn {
    pub(crate) step: StepId,
    pub(crate) graph: GraphIx,
    pub(crate) input: Map,
    /// Waits for a place among the calls of its turn: its share is reserved, it is not sent out.
    pub(crate) queued: bool,
}

impl Machine {
    /// Checks a child's input against its declared types.
    pub(crate) fn fits_child(&self, graph: GraphIx, input: &Map) -> Result<(), StepError> {
        let child = self.bundle.graph(graph);
        for ix in &child.input {
            let channel = &child.channels[ix.0];
            let missing = !channel.field.optional && channel.initial.is_null();
            let problem = match input.get(&channel.name) {
                None if missing => Some("is required and was not given".to_owned()),
                None => None,
                Some(value) => channel.field.check(value).err().map(|e| e.to_string()),
            };
            if let Some(problem) = problem {
                let message = format!("input `{}` of graph `{}` {problem}", channel.name, child.name);
                return Err(StepError::new(ErrorKind::InvalidInput, message));
            }
        }
        Ok(())
    }

    /// Sends the children of this super-step out, each with an equal share of what is left.
    pub(crate) fn send_spawns(&mut self) {
        let spawns = std::mem::take(&mut self.spawns);
        if spawns.is_empty() {
            return;
        }
        let grant = self.share(spawns.len() as u64);
        for spawn in spawns {
            self.ledger.grant(&spawn.step, grant);
            let effect = Effect::Spawn {
                step: spawn.step.clone(),
                graph: self.bundle.graph(spawn.graph).path.clone(),
                input: spawn.input,
                config: (*self.config).clone(),
                grant,
            };
            if spawn.queued {
                self.queued.insert(spawn.step, effect);
            } else {
                self.open(effect);
            }
        }
    }

    /// One of `n` equal shares of what this stage may still use.
    fn share(&self, n: u64) -> Grant {
        let in_finally = self.in_finally();
        let at = self.reading();
        let mut grant = Grant::default();
        for limit in self.limits.iter().filter(|l| !l.own) {
            let (What::Meter(meter), Some(bound)) = (&limit.what, limit.bound(in_finally)) else { continue };
            let share = bound.saturating_sub(limit.taken(&at)) / n.max(1);
            let least = |known: Option<u64>| Some(known.map_or(share, |k| k.min(share)));
            match meter {
                Meter::Tokens => grant.tokens = least(grant.tokens),
                Meter::CostUsd => grant.cost_micro_usd = least(grant.cost_micro_usd),
                Meter::ModelCalls => grant.model_calls = least(grant.model_calls),
                Meter::ToolCalls => grant.tool_calls = least(grant.tool_calls),
                Meter::WallTime => {
                    let until = self.time_of(bound);
                    grant.deadline = Some(grant.deadline.map_or(until, |d| d.min(until)));
                }
                _ => {}
            }
        }
        grant
    }
}
