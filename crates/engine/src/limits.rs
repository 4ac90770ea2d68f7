//! Limits: what is counted, up to what, and what then.

use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) use deepgraph_graph::Counts;
use deepgraph_graph::{Graph, InForce, OnReach, ToolIx, ValueExpr};
use deepgraph_protocol::{Grant, LimitHit, Map, Meter, Millis, Value};

use crate::ledger::Ledger;

/// What an instance has counted. Of this instance alone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counters {
    pub(crate) turns: u64,
    pub(crate) super_steps: u64,
    pub(crate) steps: u64,
    pub(crate) model_calls: u64,
    pub(crate) tool_calls: u64,
}

/// A limit in force: declared by the graph, or implied by the grant.
#[derive(Clone, Debug)]
pub(crate) struct Active {
    pub(crate) name: Arc<str>,
    pub(crate) counts: Counts,
    pub(crate) on_reach: OnReach,
    /// The bound in base units (calls, tokens, micro-dollars, milliseconds); none: off.
    pub(crate) max: Option<u64>,
    /// What of `max` only the `finally` stage may use; no more than it.
    pub(crate) kept: u64,
    /// Whether children's use is left out.
    pub(crate) own: bool,
    /// What is used when it warns; none: it does not.
    pub(crate) mark: Option<u64>,
    /// Whether it has warned.
    pub(crate) warned: bool,
    /// Counted calls and visits, for named limits, the highest of them where they are counted per value; repeated calls.
    pub(crate) count: u64,
    /// Failures in a row of each tool that failed last, for limits on them.
    pub(crate) failures: BTreeMap<ToolIx, u64>,
    /// Which calls are counted, for named limits.
    pub(crate) filter: Filter,
    /// Whether the bound was reached in the current super-step, for limits that count calls one by one.
    pub(crate) reached_now: bool,
    /// Whether it has acted at the end of a super-step.
    pub(crate) acted: bool,
    /// Gain per step so far, for gain limits.
    pub(crate) gains: Vec<f64>,
}

/// Which calls a limit on named tools counts.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    /// Only those whose arguments hold this.
    pub(crate) condition: Option<ValueExpr>,
    /// Each value of this for itself.
    pub(crate) per: Option<ValueExpr>,
    /// Counted calls by value, as JSON.
    pub(crate) counts: BTreeMap<String, u64>,
}

/// A limit as expressions and progress displays see it, in the units of the graph file.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitView {
    /// Its name.
    pub name: Arc<str>,
    /// What it measures; none where it counts names or gain.
    pub meter: Option<Meter>,
    /// What is used: calls, tokens, dollars or seconds.
    pub used: Value,
    /// What is left; null where there is no bound.
    pub left: Value,
    /// The bound; null where there is none.
    pub max: Value,
    /// What of the bound only the `finally` stage may use.
    pub kept: Value,
    /// Whether its warning mark was crossed.
    pub warned: bool,
}

impl LimitView {
    /// The record `{used, left, max, warned}`.
    pub fn to_value(&self) -> Value {
        Value::record([
            ("used", self.used.clone()),
            ("left", self.left.clone()),
            ("max", self.max.clone()),
            ("warned", Value::Bool(self.warned)),
        ])
    }
}

/// The limits of an instance, in force from its start.
pub(crate) fn activate(graph: &Graph, config: &Map, grant: &Grant, now: Millis) -> Vec<Active> {
    let granted = |meter: Meter| grant.of(meter, now);
    graph.limits_in_force(config, &granted).into_iter().map(Active::of).collect()
}

/// A gain, or its threshold, in parts per million: as exits tell it.
pub(crate) fn ppm(gain: f64) -> u64 {
    (gain * 1_000_000.0).round() as u64
}

/// What the figures of a limit are read from.
pub(crate) struct Reading<'a> {
    pub(crate) counters: &'a Counters,
    pub(crate) ledger: &'a Ledger,
    /// Milliseconds on the clock of the instance.
    pub(crate) elapsed: Millis,
    /// Milliseconds in which a step worked.
    pub(crate) active: Millis,
    /// Milliseconds of the clock since a person last said something.
    pub(crate) turn: Millis,
    /// How often the graph encloses the instance, itself included.
    pub(crate) depth: u64,
    /// Model calls that are about to be sent out.
    pub(crate) coming: u64,
}

impl Active {
    /// With nothing counted yet.
    pub(crate) fn of(limit: InForce<'_>) -> Active {
        let filter = Filter {
            condition: limit.declared.and_then(|declared| declared.condition.clone()),
            per: limit.declared.and_then(|declared| declared.per.clone()),
            counts: BTreeMap::new(),
        };
        Active {
            name: limit.name,
            counts: limit.counts,
            on_reach: limit.on_reach,
            max: limit.max,
            kept: limit.kept,
            own: limit.own,
            mark: limit.mark,
            warned: false,
            count: 0,
            failures: BTreeMap::new(),
            filter,
            reached_now: false,
            acted: false,
            gains: Vec::new(),
        }
    }

    /// The bound outside (`in_finally` false) or inside the `finally` stage.
    pub(crate) fn bound(&self, in_finally: bool) -> Option<u64> {
        self.max.map(|max| if in_finally { max } else { max - self.kept })
    }

    /// What is used and, for the meters that cover children, reserved: what one more start would be added to.
    pub(crate) fn taken(&self, at: &Reading<'_>) -> u64 {
        self.figure(at, true)
    }

    /// What is used, as people read it.
    pub(crate) fn used(&self, at: &Reading<'_>) -> u64 {
        self.figure(at, false)
    }

    fn figure(&self, at: &Reading<'_>, reserved: bool) -> u64 {
        let tree = || if reserved { at.ledger.committed() } else { at.ledger.used() };
        let coming = if reserved { at.coming } else { 0 };
        match &self.counts {
            Counts::Names { .. } => self.count,
            Counts::Gain { .. } => self.gains.len() as u64,
            Counts::Meter(meter) => match meter {
                Meter::Turns | Meter::PaidTurns => at.counters.turns,
                Meter::SuperSteps => at.counters.super_steps,
                Meter::Steps => at.counters.steps,
                Meter::ModelCalls if self.own => at.counters.model_calls + coming,
                Meter::ToolCalls if self.own => at.counters.tool_calls,
                Meter::ModelCalls => tree().model_calls + coming,
                Meter::ToolCalls => tree().tool_calls,
                Meter::Tokens => tree().tokens,
                Meter::CostUsd => tree().cost_micro_usd,
                Meter::WallTime => u64::try_from(at.elapsed).unwrap_or(0),
                Meter::ActiveTime => u64::try_from(at.active).unwrap_or(0),
                Meter::TurnTime => u64::try_from(at.turn).unwrap_or(0),
                Meter::Depth => at.depth,
                Meter::ToolFailures => self.failures.values().copied().max().unwrap_or(0),
                Meter::RepeatedCalls => self.count,
            },
        }
    }

    /// Whether it counts with a meter and is on.
    pub(crate) fn measures(&self, meter: Meter) -> bool {
        self.max.is_some() && matches!(self.counts, Counts::Meter(m) if m == meter)
    }

    /// The record of an exit by this limit.
    pub(crate) fn hit(&self, value: u64) -> LimitHit {
        LimitHit { name: self.name.clone(), value, bound: self.max.unwrap_or(0) }
    }

    /// What `limits.NAME` reads as.
    pub(crate) fn view(&self, at: &Reading<'_>) -> LimitView {
        let meter = if let Counts::Meter(meter) = self.counts { Some(meter) } else { None };
        let unit = meter.map_or(1.0, Meter::base_units);
        let show = |n: u64| {
            let n = n as f64 / unit;
            if n.fract() == 0.0 { Value::Int(n as i64) } else { Value::from(n) }
        };
        let used = self.used(at);
        LimitView {
            name: self.name.clone(),
            meter,
            used: show(used),
            left: self.max.map_or(Value::Null, |max| show(max.saturating_sub(used))),
            max: self.max.map_or(Value::Null, show),
            kept: show(self.kept),
            warned: self.warned,
        }
    }

    /// Whether this is a gain limit that fires now; gives the last gain in parts per million and the bound.
    pub(crate) fn saturated(&self) -> Option<LimitHit> {
        let Counts::Gain { below, window, min_steps, sum, .. } = self.counts else { return None };
        if below <= 0.0 || self.gains.len() < min_steps.max(window) {
            return None;
        }
        let last = &self.gains[self.gains.len() - window..];
        let fires = if sum { last.iter().sum::<f64>() < below } else { last.iter().all(|g| *g < below) };
        fires.then(|| LimitHit {
            name: self.name.clone(),
            value: ppm(last.last().copied().unwrap_or(0.0)),
            bound: ppm(below),
        })
    }
}
