//! What a recorded row becomes under the new conditions.

use std::sync::Arc;

use deepgraph_engine::check_resume;
use deepgraph_protocol::{Effect, EntryBody, Map, ScopeEnd, Started};

use super::NotBegun;
use super::side::Side;
use super::world::World;
use crate::{FoldError, Row};

impl World<'_> {
    pub(super) fn start(&mut self, ix: usize, row: &Row<'_>) -> Result<(), FoldError> {
        let EntryBody::Started(recorded) = &row.entry.body else { return Ok(()) };
        let bundle = &self.conditions.bundle;
        let started = Started {
            graph: bundle.root().path.clone(),
            config: Arc::new(self.with_set(1, self.conditions.config.clone())),
            bundle: bundle.hash.clone(),
            ..recorded.clone()
        };
        self.commit(Some(ix), row.scope.clone(), row.entry.at, EntryBody::Started(started))
    }

    /// A further attempt of the run, where this one is over as well: under the configuration that was recorded, with the
    /// values that are others now. `ended` is how the attempt before it ended in the record.
    pub(super) fn go_on(
        &mut self,
        ix: usize,
        row: &Row<'_>,
        ended: Option<&ScopeEnd>,
    ) -> Result<(), FoldError> {
        let EntryBody::Resumed { attempt, config: recorded, grant, from } = &row.entry.body else {
            return Ok(());
        };
        if self.not_begun.is_some() {
            return Ok(());
        }
        let is_tried = !self.conditions.set.is_empty();
        let Some(now) = self.new.machines.get(row.scope).and_then(|root| root.end().cloned()) else {
            let before = attempt.saturating_sub(1);
            let goes_on = !self.new.finishing.contains_key(row.scope);
            if is_tried && goes_on && !self.as_they_were.contains(&before) {
                self.goes_on = Some(before);
            }
            return Ok(());
        };
        let config = Arc::new(self.with_set(*attempt, self.with_changes(recorded)));
        let is_as_recorded = config == *recorded && ended == Some(&now);
        if is_tried && !is_as_recorded {
            let mut machines = self.new.machines.clone();
            if let Err(why) = check_resume(&mut machines, row.entry.at, &config, *from) {
                self.not_begun = Some(NotBegun { attempt: *attempt, why: why.to_string() });
                return Ok(());
            }
        }
        let body = EntryBody::Resumed { attempt: *attempt, config, grant: *grant, from: *from };
        self.commit(Some(ix), row.scope.clone(), row.entry.at, body)
    }

    /// The recorded configuration of an attempt with what the first one has otherwise now.
    fn with_changes(&self, recorded: &Map) -> Map {
        let first = self.rows.iter().find_map(|row| match &row.entry.body {
            EntryBody::Started(started) if row.scope.is_root() => Some(started.config.clone()),
            _ => None,
        });
        let first = first.unwrap_or_default();
        let changed = self.conditions.config.iter().filter(|(key, value)| first.get(*key) != Some(value));
        let mut config = recorded.clone();
        config.extend(changed.map(|(key, value)| (key.clone(), value.clone())));
        config
    }

    /// The configuration of an attempt with the values that are tried, unless it is taken as it was.
    fn with_set(&self, attempt: u32, mut config: Map) -> Map {
        if !self.as_they_were.contains(&attempt) {
            let set = self.conditions.set.iter();
            config.extend(set.map(|(key, value)| (key.clone(), value.clone())));
        }
        config
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
            other => self.numbered_anew(other.clone()),
        };
        self.commit(Some(ix), row.scope.clone(), row.entry.at, body)
    }

    /// A row of a call with the number that its attempt has here.
    fn numbered_anew(&self, mut body: EntryBody) -> EntryBody {
        let later_by = body.step().and_then(|step| self.later_by.get(step)).copied().unwrap_or(0);
        if let EntryBody::Dispatched { attempt, .. }
        | EntryBody::Held { attempt, .. }
        | EntryBody::AttemptFailed { attempt, .. }
        | EntryBody::Completed { attempt, .. } = &mut body
        {
            *attempt = attempt.saturating_add(later_by);
        }
        body
    }
}
