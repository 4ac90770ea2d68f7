//! From journals to figures.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use deepgraph_engine::Machine;
use deepgraph_graph::{Bundle, Counted};
use deepgraph_protocol::{
    Clocks, Effect, Entry, EntryBody, Event, Exit, Output, ReportOutcome, RunStatus, ScopePath, Spent, StepId,
};

use super::sources::Sources;
use super::time::{Lane, Spans};
use super::{Figures, GainFigures, InstanceFigures, Stop};
use crate::charges::exchange;
use crate::fold::{FoldError, Row};

/// The figures of a run. Rows in any order that keeps each scope's own order.
///
/// # Errors
///
/// [`FoldError`].
pub fn of_run<'a>(
    bundle: &Arc<Bundle>,
    rows: impl IntoIterator<Item = Row<'a>>,
) -> Result<Figures, FoldError> {
    let mut scopes: BTreeMap<ScopePath, Gathering> = BTreeMap::new();
    for row in rows {
        if let EntryBody::Started(started) = &row.entry.body
            && !scopes.contains_key(row.scope)
        {
            let graph = bundle
                .find(&started.graph)
                .ok_or_else(|| FoldError::UnknownGraph(started.graph.to_string()))?;
            let machine = Machine::new(bundle.clone(), graph, row.scope.clone());
            scopes.insert(row.scope.clone(), Gathering::new(machine));
        }
        if let Some(gathering) = scopes.get_mut(row.scope) {
            gathering.apply(row.entry);
        }
    }
    let root = scopes.get(&ScopePath::root()).ok_or(FoldError::Empty)?;
    let mut figures = Figures {
        attempts: root.attempts,
        findings: root.exit.as_ref().and_then(|exit| exit.findings),
        stop: root.exit.as_ref().map(stop_of),
        report: root.report,
        status: root
            .exit
            .as_ref()
            .map(|exit| RunStatus::of_ended(&exit.reason, exit.class, exit.findings, root.report, false)),
        ..Figures::default()
    };
    let clocks = root.clocks;
    let mut spans = Spans::default();
    let mut sources = Sources::default();
    for (scope, mut gathering) in scopes {
        let used = gathering.used();
        figures.steps = figures.steps.saturating_add(gathering.steps.len() as u64);
        figures.model_calls = figures.model_calls.saturating_add(used.model_calls);
        figures.tool_calls = figures.tool_calls.saturating_add(gathering.tool_calls);
        figures.tokens = figures.tokens.saturating_add(used.tokens);
        figures.cost.known_micro_usd = figures.cost.known_micro_usd.saturating_add(used.cost_micro_usd);
        figures.cost.unknown_calls = figures.cost.unknown_calls.saturating_add(used.cost_unknown);
        sources.add(&gathering.machine);
        spans.join(std::mem::take(&mut gathering.lane).close());
        figures.instances.push(gathering.close(scope));
    }
    (figures.sources, figures.passages) = sources.counts();
    let (active_ms, backoff_ms, human_ms) = spans.sums();
    figures.time =
        (!clocks.is_zero()).then_some(Clocks { wall_ms: clocks.wall_ms, active_ms, backoff_ms, human_ms });
    figures.tokens_per_step = figures.tokens.checked_div(figures.steps).unwrap_or(0);
    figures.final_gain = mean(figures.last_gains());
    Ok(figures)
}

/// The mean to six digits behind the point; none of nothing.
fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| rounded(sum / f64::from(count)))
}

/// To six digits behind the point.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

fn stop_of(exit: &Exit) -> Stop {
    Stop { reason: exit.reason.clone(), class: exit.class, limit: exit.limit.clone() }
}

/// One instance while its journal is read.
struct Gathering {
    machine: Machine,
    attempts: u32,
    /// Steps that were completed, each once: one whose child went on in another attempt was completed before.
    steps: BTreeSet<StepId>,
    tool_calls: u64,
    /// The gains of steps, by limit.
    gains: BTreeMap<Arc<str>, Vec<f64>>,
    /// Model calls in the order in which they were begun, with what each took.
    order: BTreeMap<StepId, usize>,
    calls: Vec<Spent>,
    exit: Option<Exit>,
    report: Option<ReportOutcome>,
    clocks: Clocks,
    lane: Lane,
}

impl Gathering {
    fn new(machine: Machine) -> Gathering {
        Gathering {
            machine,
            attempts: 0,
            steps: BTreeSet::new(),
            tool_calls: 0,
            gains: BTreeMap::new(),
            order: BTreeMap::new(),
            calls: Vec::new(),
            exit: None,
            report: None,
            clocks: Clocks::default(),
            lane: Lane::default(),
        }
    }

    fn apply(&mut self, entry: &Entry) {
        let used = self.machine.charged().used;
        let outputs = self.machine.apply(entry);
        self.lane.note(entry, &outputs, &self.machine);
        let call = entry.body.step().and_then(|step| self.order.get(step));
        if let Some(call) = call.and_then(|at| self.calls.get_mut(*at)) {
            exchange(call, used, self.machine.charged().used);
        }
        outputs.into_iter().for_each(|output| self.note(output));
    }

    fn note(&mut self, output: Output) {
        match output {
            Output::Effect(Effect::CallModel { step, .. }) => {
                if !self.order.contains_key(&step) {
                    self.order.insert(step, self.calls.len());
                    self.calls.push(Spent::default());
                }
            }
            Output::Event(Event::StepCompleted { step }) => drop(self.steps.insert(step)),
            Output::Event(Event::CallAdmitted { .. }) => {
                self.tool_calls = self.tool_calls.saturating_add(1);
            }
            Output::Event(Event::Exited { exit }) => {
                // The clocks of an instance go on over its attempts.
                self.clocks = exit.clocks;
                self.exit = Some(exit);
            }
            Output::Event(Event::ScopeEnded { report, .. }) => self.report = report,
            Output::Event(Event::Gained { limit, new, known, .. }) => {
                let gain = new as f64 / (known as f64 + 1.0);
                self.gains.entry(limit).or_default().push(rounded(gain));
            }
            Output::Event(Event::ScopeStarted { .. }) => self.attempts = self.attempts.saturating_add(1),
            Output::Event(Event::Resumed { attempt, .. }) => {
                self.attempts = self.attempts.max(attempt);
                self.exit = None;
                self.report = None;
            }
            Output::Event(_) | Output::Effect(_) => {}
        }
    }

    /// What its own model calls used.
    fn used(&self) -> Spent {
        self.machine.charged().used
    }

    fn close(mut self, scope: ScopePath) -> InstanceFigures {
        let plan = self.machine.plan();
        let gain_limits = plan.limits.iter().filter_map(|limit| match limit.counted {
            Counted::Gain { channel, .. } => {
                Some((limit.name.clone(), plan.channels.get(channel.0)?.name.clone()))
            }
            _ => None,
        });
        let gains = gain_limits.map(|(limit, channel)| GainFigures {
            per_step: self.gains.remove(&limit).unwrap_or_default(),
            limit,
            channel,
        });
        InstanceFigures {
            gains: gains.collect(),
            scope,
            graph: plan.path.clone(),
            steps: self.steps.len() as u64,
            tokens: self.used().tokens,
            tokens_per_step: self.calls.iter().map(|call| call.tokens).collect(),
            stop: self.exit.as_ref().map(stop_of),
        }
    }
}
