//! Children: their input, their share of what is left; the times at which a stage is over.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_graph::{GraphIx, OnReach, Setting, ValueExpr};
use deepgraph_protocol::{Effect, ErrorKind, Grant, Map, Meter, Nesting, StepError, StepId};

use crate::limits::Counts;
use crate::machine::Machine;
use crate::names::Local;
use crate::place::{Part, Place};
use crate::run::{ItemStage, Progress, Stage, Work};

/// A child that will be started once the number of children of this super-step is known.
#[derive(Clone, Debug)]
pub(crate) struct PendingSpawn {
    pub(crate) step: StepId,
    pub(crate) place: Place,
    pub(crate) graph: GraphIx,
    pub(crate) input: Arc<Map>,
    pub(crate) config: Arc<Map>,
    pub(crate) nesting: Nesting,
    /// What `grant` asks for, by meter, in base units.
    pub(crate) asked: BTreeMap<Meter, u64>,
    /// Waits for a place among the calls of its turn or the items of its list: its share is reserved, it is not
    /// sent out.
    pub(crate) queued: bool,
    /// It was over and goes on: the number of its attempt, and what it had settled.
    pub(crate) again: Option<(u32, deepgraph_protocol::Spent)>,
}

/// The meters that a child can be granted.
const GRANTED: [Meter; 6] =
    [Meter::Tokens, Meter::CostUsd, Meter::ModelCalls, Meter::ToolCalls, Meter::WallTime, Meter::ActiveTime];

impl Machine {
    /// Checks a child's input against its declared types.
    pub(crate) fn fits_child(&self, graph: GraphIx, input: &Map) -> Result<(), StepError> {
        let child = self.bundle.graph(graph);
        for ix in &child.input {
            let channel = &child.channels[ix.0];
            let problem = match input.get(&channel.name) {
                None if channel.is_required() => Some("is required and was not given".to_owned()),
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

    /// The configuration of a child: ours, with what the call says otherwise.
    pub(crate) fn child_config(&self, overrides: &[(Arc<str>, Setting)]) -> Result<Arc<Map>, StepError> {
        if overrides.is_empty() {
            return Ok(self.config.clone());
        }
        let mut config = (*self.config).clone();
        for (key, setting) in overrides {
            let value = setting.resolve(&self.config);
            let fitted = match self.bundle.config.get(key) {
                Some(field) if !value.is_null() => field.check(value).map_err(|why| {
                    let message = format!("the config value `{key}` for the child {why}");
                    StepError::new(ErrorKind::InvalidInput, message)
                })?,
                _ => value.clone(),
            };
            config.insert(key.clone(), fitted);
        }
        Ok(Arc::new(config))
    }

    /// How often each graph whose nesting is limited will enclose a child; refused where it would be too deep.
    pub(crate) fn child_nesting(&self, graph: GraphIx, config: &Map) -> Result<Nesting, StepError> {
        let child = self.bundle.graph(graph);
        let mut nesting = self.nesting.clone();
        if !child.limits.iter().any(counts_depth) {
            return Ok(nesting);
        }
        let depth = nesting.entry(child.path.clone()).or_insert(0);
        *depth += 1;
        for limit in child.limits.iter().filter(|l| counts_depth(l) && l.on_reach == OnReach::Refuse) {
            let max = limit.max.as_ref().and_then(|m| m.count(config)).unwrap_or(u64::MAX);
            if *depth > max {
                let message = format!(
                    "`{}` was not started: the limit `{}` allows it {max} deep in itself",
                    child.name, limit.name
                );
                return Err(StepError::new(ErrorKind::Refused, message));
            }
        }
        Ok(nesting)
    }

    /// The root stands in nothing, but it is the first level of itself.
    pub(crate) fn count_own_depth(&mut self) {
        let path = self.plan().path.clone();
        if self.plan().limits.iter().any(counts_depth) {
            self.nesting.entry(path).or_insert(1);
        }
    }

    /// How often this graph encloses the instance, itself included.
    pub(crate) fn depth(&self) -> u64 {
        self.nesting.get(&self.plan().path).copied().unwrap_or(1).max(1)
    }

    /// What `grant` asks for, in base units.
    pub(crate) fn asked_grant(
        &self,
        grant: &[(Meter, ValueExpr)],
        local: &Local,
    ) -> Result<BTreeMap<Meter, u64>, StepError> {
        let mut asked = BTreeMap::new();
        for (meter, expr) in grant {
            let value = self.value(expr, &self.view(), local)?;
            let Some(units) = value.as_float() else {
                let message = format!("`grant` of {} must be a number, it is {value}", meter.name());
                return Err(StepError::new(ErrorKind::Graph, message));
            };
            asked.insert(*meter, (units.max(0.0) * meter.base_units()).round() as u64);
        }
        Ok(asked)
    }

    /// Sends the children of this super-step out, each with what it is granted of what is left. What was asked
    /// for comes first, in call order; the others share the rest equally.
    pub(crate) fn send_spawns(&mut self) {
        let spawns = std::mem::take(&mut self.spawns);
        if spawns.is_empty() {
            return;
        }
        let grants = self.divide(&spawns);
        for (spawn, grant) in spawns.into_iter().zip(grants) {
            let (step, config) = (spawn.step.clone(), spawn.config);
            let effect = match spawn.again {
                Some((attempt, settled)) => {
                    self.ledger.grant_again(&step, grant, settled);
                    Effect::Reopen { step, config, grant, attempt }
                }
                None => {
                    self.ledger.grant(&step, grant);
                    let graph = self.bundle.graph(spawn.graph).path.clone();
                    Effect::Spawn { step, graph, input: spawn.input, config, grant, nesting: spawn.nesting }
                }
            };
            self.put_spawn(spawn.place, spawn.queued, effect);
        }
    }

    fn put_spawn(&mut self, place: Place, queued: bool, effect: Effect) {
        let Some(run) = self.current.get_mut(place.node) else { return };
        if queued {
            match (&mut run.work, place.part) {
                (Work::Turn(turn), Part::Call(k)) => {
                    if let Some(Stage::Queued(spawn)) = turn.calls.get_mut(k).map(|c| &mut c.stage) {
                        *spawn = Some(Box::new(effect));
                    }
                }
                (Work::Each(items), Part::Item(k)) => {
                    if let Some(ItemStage::Waiting(waiting)) = items.items.get_mut(k).map(|i| &mut i.stage) {
                        waiting.child = Some(Box::new(effect));
                    }
                }
                _ => {}
            }
            return;
        }
        if let Some(Progress::Open(open)) = self.progress(place) {
            open.effect = Some(effect.clone());
            self.clock.sent(&effect);
            self.out.push(effect.into());
        }
    }

    /// What each of these children may use of what this stage has left.
    fn divide(&self, spawns: &[PendingSpawn]) -> Vec<Grant> {
        let mut grants = vec![Grant::default(); spawns.len()];
        for meter in GRANTED {
            let left = self.left(meter);
            let mut rest = left;
            for (spawn, grant) in spawns.iter().zip(&mut grants) {
                let Some(asked) = spawn.asked.get(&meter).copied() else { continue };
                let granted = rest.map_or(asked, |rest| asked.min(rest));
                // Time is not used up by those who have it at once.
                if !matches!(meter, Meter::WallTime | Meter::ActiveTime) {
                    rest = rest.map(|rest| rest - granted);
                }
                self.set_grant(grant, meter, granted);
            }
            let others = spawns.iter().filter(|s| !s.asked.contains_key(&meter)).count() as u64;
            let Some(rest) = rest else { continue };
            let share = match meter {
                Meter::WallTime | Meter::ActiveTime => rest,
                _ => rest / others.max(1),
            };
            for (_, grant) in spawns.iter().zip(&mut grants).filter(|(s, _)| !s.asked.contains_key(&meter)) {
                self.set_grant(grant, meter, share);
            }
        }
        grants
    }

    fn set_grant(&self, grant: &mut Grant, meter: Meter, units: u64) {
        match meter {
            Meter::Tokens => grant.tokens = Some(units),
            Meter::CostUsd => grant.cost_micro_usd = Some(units),
            Meter::ModelCalls => grant.model_calls = Some(units),
            Meter::ToolCalls => grant.tool_calls = Some(units),
            Meter::ActiveTime => grant.active_ms = Some(units),
            Meter::WallTime => {
                let units = i64::try_from(units).unwrap_or(i64::MAX);
                grant.deadline = Some(self.now.saturating_add(units));
            }
            _ => {}
        }
    }

    /// What this stage may still use of a meter, in base units; none where nothing bounds it.
    fn left(&self, meter: Meter) -> Option<u64> {
        let in_finally = self.in_finally();
        let at = self.reading();
        self.limits
            .iter()
            .filter(|l| !l.own && matches!(l.counts, Counts::Meter(m) if granted_as(m) == meter))
            .filter_map(|l| Some(l.bound(in_finally)?.saturating_sub(l.taken(&at))))
            .min()
    }
}

/// The meter that a child is granted what is left of a meter as: of a turn it has until a moment, as of all time.
fn granted_as(meter: Meter) -> Meter {
    if meter == Meter::TurnTime { Meter::WallTime } else { meter }
}

fn counts_depth(limit: &deepgraph_graph::Limit) -> bool {
    matches!(limit.counted, deepgraph_graph::Counted::Meter(Meter::Depth))
}
