//! What a recorded row becomes under the new conditions.

use std::sync::Arc;

use deepgraph_protocol::{Effect, EntryBody, Started};

use super::side::Side;
use super::world::World;
use crate::{FoldError, Row};

impl World<'_> {
    pub(super) fn start(&mut self, ix: usize, row: &Row<'_>) -> Result<(), FoldError> {
        let EntryBody::Started(recorded) = &row.entry.body else { return Ok(()) };
        let bundle = &self.conditions.bundle;
        let started = Started {
            graph: bundle.root().path.clone(),
            config: Arc::new(self.conditions.config.clone()),
            bundle: bundle.hash.clone(),
            ..recorded.clone()
        };
        self.commit(Some(ix), row.scope.clone(), row.entry.at, EntryBody::Started(started))
    }

    /// A further attempt of the run, where this one is over as well: under the configuration that was recorded, with the
    /// values that are others now.
    pub(super) fn go_on(&mut self, ix: usize, row: &Row<'_>) -> Result<(), FoldError> {
        let EntryBody::Resumed { attempt, config, grant, from } = &row.entry.body else { return Ok(()) };
        if !self.new.has_ended(row.scope) {
            return Ok(());
        }
        let first = self.rows.iter().find_map(|row| match &row.entry.body {
            EntryBody::Started(started) if row.scope.is_root() => Some(started.config.clone()),
            _ => None,
        });
        let first = first.unwrap_or_default();
        let mut config = (**config).clone();
        for (key, value) in &self.conditions.config {
            if first.get(key) != Some(value) {
                config.insert(key.clone(), value.clone());
            }
        }
        let config = Arc::new(config);
        let body = EntryBody::Resumed { attempt: *attempt, config, grant: *grant, from: *from };
        self.commit(Some(ix), row.scope.clone(), row.entry.at, body)
    }

    /// Commits a recorded row to the new side: as it is, or with what follows from the new conditions in its place.
    pub(super) fn commit_row(&mut self, ix: usize) -> Result<(), FoldError> {
        let Some(row) = self.rows.get(ix) else { return Ok(()) };
        let body = match &row.entry.body {
            EntryBody::Started(recorded) => {
                let Some(step) = row.scope.step() else { return Ok(()) };
                let Some(Effect::Spawn { graph, input, config, grant, nesting, .. }) =
                    self.new.asked.get(&step).map(|asked| &asked.effect)
                else {
                    return Ok(());
                };
                EntryBody::Started(Started {
                    graph: graph.clone(),
                    input: input.clone(),
                    config: config.clone(),
                    grant: *grant,
                    nesting: nesting.clone(),
                    bundle: self.conditions.bundle.hash.clone(),
                    ..recorded.clone()
                })
            }
            EntryBody::Resumed { from, .. } => {
                let step = row.scope.step();
                let Some(Effect::Reopen { config, grant, attempt, .. }) =
                    step.and_then(|step| self.new.asked.get(&step)).map(|asked| &asked.effect)
                else {
                    return Ok(());
                };
                EntryBody::Resumed { attempt: *attempt, config: config.clone(), grant: *grant, from: *from }
            }
            EntryBody::ChildEnded { step, .. } => {
                let end = |side: &Side| side.machines.get(&step.scope()).and_then(|m| m.end()).cloned();
                match (end(&self.new), end(&self.old)) {
                    (None, _) => return Ok(()),
                    (Some(now), before) if before.as_ref() == Some(&now) => row.entry.body.clone(),
                    (Some(now), _) => EntryBody::ChildEnded { step: step.clone(), end: Box::new(now) },
                }
            }
            other => other.clone(),
        };
        self.commit(Some(ix), row.scope.clone(), row.entry.at, body)
    }
}
