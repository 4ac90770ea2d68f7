//! Forks: a new run whose journals begin as those of another one.
//!
//! The run that it comes from stays as it is. A fork's own first entries are `StateEdited`: the edit, and an empty one
//! for every other instance that is at work, so that the time since the other run counts in none of them, and for every
//! one that has written: what the other run wrote is not undone by the fork, and not made again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use deepgraph_engine::{Machine, Phase};
use deepgraph_graph::{Bundle, Graph};
use deepgraph_protocol::{
    Effect, Entry, EntryBody, Event, Map, Millis, Output, ResumeFrom, RunStatus, ScopePath, Spent, StepId,
};
use deepgraph_store::{Append, RunId, RunRecord, RunUpdate, Stored};
use serde::{Deserialize, Serialize};

use crate::RunError;
use crate::persist;
use crate::progress::{Tally, Told};
use crate::resume::fold;
use crate::run::{NewRun, Runtime};

/// Where a run comes from: the field `forked_from` of its record's settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkedFrom {
    /// The run.
    pub run: RunId,
    /// The last of its rows that the fork knows, by seq.
    pub seq: u64,
    /// The step behind whose end it was forked; none: all of the run that holds was taken over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepId>,
    /// How many entries it has from there, at the beginning of its journals.
    pub rows: u64,
}

/// The end of a step in the journals of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepEnd {
    /// The step.
    pub step: StepId,
    /// The row that ended it, by its seq.
    pub seq: u64,
    /// The instance that it belongs to.
    pub scope: ScopePath,
    /// Whether it failed.
    pub has_failed: bool,
}

/// The journals with which a fork begins.
#[derive(Clone, Debug)]
pub struct Branch {
    /// Where they come from.
    pub from: ForkedFrom,
    /// The entries, in order.
    pub rows: Vec<(ScopePath, Entry)>,
    /// What was paid in them, which counts against the ceilings of the fork.
    pub paid: Spent,
}

/// The lineage that a run's record tells; none of a run that is no fork.
pub fn forked_from(record: &RunRecord) -> Option<ForkedFrom> {
    record.settings.get("forked_from").and_then(|from| ForkedFrom::deserialize(from).ok())
}

/// The ends of all steps, in the order in which they came. A step that ended more than once (in another attempt of the
/// run) stands at its last end.
///
/// # Errors
///
/// The name of a graph that the bundle does not have.
pub fn step_ends(bundle: &Arc<Bundle>, rows: &[Stored]) -> Result<Vec<StepEnd>, String> {
    let scopes: BTreeMap<u64, ScopePath> = rows.iter().map(|row| (row.seq, row.scope.clone())).collect();
    let mut ends: Vec<StepEnd> = Vec::new();
    fold(bundle, rows, |told| {
        let (step, has_failed) = match &told.event {
            Event::StepCompleted { step } => (step.clone(), false),
            Event::StepFailed { step, .. } => (step.clone(), true),
            _ => return,
        };
        let scope = scopes.get(&told.seq).cloned().unwrap_or_default();
        ends.push(StepEnd { step, seq: told.seq, scope, has_failed });
    })?;
    let last: BTreeMap<StepId, u64> = ends.iter().map(|end| (end.step.clone(), end.seq)).collect();
    ends.retain(|end| last.get(&end.step) == Some(&end.seq));
    Ok(ends)
}

/// The end of the step that a person names: itself, or the last of those below it, where it is a node that runs calls or
/// items.
pub fn end_of<'e>(ends: &'e [StepEnd], step: &StepId) -> Option<&'e StepEnd> {
    let itself = ends.iter().find(|end| end.step == *step);
    itself.or_else(|| ends.iter().rfind(|end| end.step.below(step).is_some()))
}

impl Branch {
    /// A branch of entries that hold, in order.
    pub fn of(
        bundle: &Arc<Bundle>,
        from: ForkedFrom,
        rows: Vec<(ScopePath, Entry)>,
    ) -> Result<Branch, RunError> {
        let run = from.run.clone();
        let mut branch = Branch { from, rows, paid: Spent::default() };
        branch.paid = deepgraph_trace::refold::charged(&branch.machines(bundle, &run)?);
        branch.from.rows = branch.rows.len() as u64;
        Ok(branch)
    }

    /// The graph of an instance that it has.
    pub fn graph_of<'b>(&self, bundle: &'b Bundle, scope: &ScopePath) -> Option<&'b Graph> {
        let path = self.rows.iter().find_map(|(of, entry)| match &entry.body {
            EntryBody::Started(started) if of == scope => Some(started.graph.clone()),
            _ => None,
        })?;
        bundle.find(&path).map(|ix| bundle.graph(ix))
    }

    fn machines(&self, bundle: &Arc<Bundle>, run: &RunId) -> Result<BTreeMap<ScopePath, Machine>, RunError> {
        self.fold(bundle, run, |_| {})
    }

    fn fold(
        &self,
        bundle: &Arc<Bundle>,
        run: &RunId,
        told: impl FnMut(Told),
    ) -> Result<BTreeMap<ScopePath, Machine>, RunError> {
        let rows = self.rows.iter().zip(1..).map(|((scope, entry), seq)| Stored {
            seq,
            scope: scope.clone(),
            position: 0,
            entry: entry.clone(),
        });
        let rows: Vec<Stored> = rows.collect();
        fold(bundle, &rows, told).map_err(|graph| RunError::UnknownGraph { run: run.to_string(), graph })
    }

    /// Sets channels of one instance, and lets the clocks of all others go on from `now`. Children that the edited
    /// instance had started and that are at work are started anew over the new state: their entries are left out.
    ///
    /// # Errors
    ///
    /// [`RunError::Edit`]: the instance is not there or is over, or a value does not fit its channel.
    pub fn edit(
        &mut self,
        bundle: &Arc<Bundle>,
        scope: &ScopePath,
        state: Map,
        now: Millis,
    ) -> Result<(), RunError> {
        let mut machines = self.machines(bundle, &self.from.run.clone())?;
        let at = self.rows.iter().map(|(_, entry)| entry.at).max().unwrap_or(now).max(now);
        let mut gone: BTreeSet<ScopePath> = BTreeSet::new();
        let sets = !state.is_empty();
        if sets {
            let machine = machines.get_mut(scope).ok_or_else(|| RunError::Edit {
                problem: format!("there is no instance `{scope}` at that point"),
            })?;
            check(machine, &state)?;
            let entry = Entry { at, body: EntryBody::StateEdited { state } };
            let anew = machine.apply(&entry).into_iter().filter_map(|output| match output {
                Output::Effect(Effect::Spawn { step, .. }) => Some(step),
                _ => None,
            });
            let anew: Vec<StepId> = anew.collect();
            let is_gone = |scope: &ScopePath| {
                scope.step().is_some_and(|of| anew.iter().any(|s| of == *s || of.below(s).is_some()))
            };
            gone = machines.keys().filter(|scope| is_gone(scope)).cloned().collect();
            self.rows.retain(|(scope, _)| !gone.contains(scope));
            self.from.rows = self.rows.len() as u64;
            self.rows.push((scope.clone(), entry));
        }
        for (other, machine) in &machines {
            let is_edited = sets && other == scope;
            let begins_here = machine.phase() != Phase::Ended || machine.has_written();
            if begins_here && !gone.contains(other) && !is_edited {
                self.rows.push((other.clone(), begins(at)));
            }
        }
        Ok(())
    }

    /// Lets a run that is over go on with its work, as its next attempt, under another configuration.
    ///
    /// # Errors
    ///
    /// [`RunError::Edit`]: it is not over, or nothing is left to go on with.
    pub fn go_on(&mut self, bundle: &Arc<Bundle>, config: Map, now: Millis) -> Result<u32, RunError> {
        let mut machines = self.machines(bundle, &self.from.run.clone())?;
        let over = |problem: &str| RunError::Edit { problem: problem.to_owned() };
        let root = machines.get_mut(&ScopePath::root()).ok_or_else(|| over("the run was never started"))?;
        if root.end().is_none() {
            return Err(over(
                "the run is not over, so it has no end to go on from: name a step with --at STEP",
            ));
        }
        let attempt = root.attempt().saturating_add(1);
        let (grant, from) = (Default::default(), ResumeFrom::Research);
        let at = self.rows.iter().map(|(_, entry)| entry.at).max().unwrap_or(now).max(now);
        let entry = Entry { at, body: EntryBody::Resumed { attempt, config: Arc::new(config), grant, from } };
        root.apply(&entry);
        if root.attempt() != attempt {
            return Err(over(
                "its research came to its end by itself, so nothing is left to go on with: name a step with --at STEP",
            ));
        }
        let wrote = machines.iter().filter(|(_, machine)| machine.has_written());
        self.rows.extend(wrote.map(|(scope, _)| (scope.clone(), begins(at))));
        self.rows.push((ScopePath::root(), entry));
        Ok(attempt)
    }
}

/// A fork begins in an instance whose state it does not set.
fn begins(at: Millis) -> Entry {
    Entry { at, body: EntryBody::StateEdited { state: Map::new() } }
}

/// Whether channels can be set so.
fn check(machine: &Machine, state: &Map) -> Result<(), RunError> {
    let plan = machine.plan();
    if machine.phase() == Phase::Ended {
        let problem = format!(
            "the instance `{}` (graph {}) is over at that point: name an earlier step, or set a channel of its parent",
            machine.scope(),
            plan.name
        );
        return Err(RunError::Edit { problem });
    }
    for (name, value) in state {
        let Some(channel) = plan.channel(name).and_then(|ix| plan.channels.get(ix.0)) else {
            let known: Vec<&str> = plan.channels.iter().map(|channel| &*channel.name).collect();
            let problem =
                format!("the graph {} has no channel `{name}`; it has: {}", plan.name, known.join(", "));
            return Err(RunError::Edit { problem });
        };
        if let Err(why) = channel.field.check(value)
            && !value.is_null()
        {
            return Err(RunError::Edit { problem: format!("state.{name} {why}") });
        }
    }
    Ok(())
}

impl Runtime {
    /// Records a fork with the journals that it begins with; it is driven like a run that was left in the middle. The
    /// settings of `new` get the field `forked_from`. This waits for the store, as [`Runtime::record`].
    ///
    /// # Errors
    ///
    /// As [`Runtime::record`].
    pub fn record_fork(&self, new: &NewRun, branch: &Branch) -> Result<RunId, RunError> {
        if self.replay.is_none() {
            persist::keys(&new.bundle, &new.input, new.thread.as_deref())?;
        }
        let mut settings = new.settings.clone();
        if let Some(fields) = settings.as_object_mut() {
            fields.insert("forked_from".to_owned(), serde_json::to_value(&branch.from).unwrap_or_default());
        }
        let mut tally = Tally::default();
        branch.fold(&new.bundle, &branch.from.run, |told| tally.note(&told.event))?;
        let run = RunId::new();
        let bundle = serde_json::to_value(&new.bundle.source).unwrap_or_default();
        let (at, graph) = (self.clock.now(), new.graph.clone());
        let record = RunRecord::queued(run.clone(), &new.question, graph, at, bundle, settings);
        self.store.create_run(&record)?;
        let mut lengths: BTreeMap<&ScopePath, u64> = BTreeMap::new();
        let batch: Vec<Append> = branch
            .rows
            .iter()
            .map(|(scope, entry)| {
                let length = lengths.entry(scope).or_default();
                let expected_position = *length;
                *length += 1;
                Append { scope: scope.clone(), expected_position, entry: entry.clone() }
            })
            .collect();
        let attempt = branch.rows.iter().filter_map(|(scope, entry)| match &entry.body {
            EntryBody::Resumed { attempt, .. } if scope.is_root() => Some(*attempt),
            _ => None,
        });
        let epoch = self.store.claim(&run)?;
        let update = RunUpdate {
            updated_at: Some(at),
            attempt: attempt.max(),
            // The steps that it begins with.
            ..tally.update(RunStatus::Running)
        };
        self.store.append(&run, epoch, &batch, Some(&update))?;
        Ok(run)
    }
}
