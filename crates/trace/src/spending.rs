//! What a run spent, by stage and by what was asked: models, and ops that cost something such as searches.
//!
//! A fold of its journals over all its attempts. What the ledger is charged at an entry belongs to the step of that
//! entry, so the sum of the lines is what the run is charged, to the token and the micro-dollar; what was sent out and
//! never learnt stays charged as it was reserved.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_engine::Machine;
use deepgraph_graph::{Bundle, Verb};
use deepgraph_protocol::{
    Effect, Entry, EntryBody, Map, Output, ScopePath, Spent, StepId, StepOutput, Usage, Value,
};
use serde::Serialize;

use crate::charges::exchange;
use crate::fold::{FoldError, Row};

/// What one stage spent on one model or op.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SpendingLine {
    /// The graph of the stage, by its path in the bundle.
    pub graph: Arc<str>,
    /// The stage: the name of its node, or of its tool.
    pub stage: Arc<str>,
    /// The model, or the op.
    pub asked: Asked,
    /// Calls that were sent out, failed attempts included.
    pub calls: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// Tokens that it is charged, input and output; what was never learnt as it was reserved.
    pub tokens: u64,
    /// Tokens of requests, as they were reported.
    pub input_tokens: u64,
    /// Tokens of replies, as they were reported.
    pub output_tokens: u64,
    /// Tokens of requests that came from a provider's cache (part of `input_tokens`).
    pub cached_tokens: u64,
    /// Tokens of hidden reasoning (part of `output_tokens`).
    pub reasoning_tokens: u64,
    /// What it cost, in micro-dollars; a lower bound while `unknown_calls` is set.
    pub known_micro_usd: u64,
    /// Calls of unknown price.
    pub unknown_calls: u64,
}

/// What is asked, and paid for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Asked {
    /// A model, by its configured name.
    Model(Arc<str>),
    /// An op.
    Op(Arc<str>),
}

impl Default for Asked {
    fn default() -> Asked {
        Asked::Op("".into())
    }
}

impl Asked {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Asked::Model(name) | Asked::Op(name) => name,
        }
    }
}

/// What a run spent: a line for each stage and each model or op that it asked, by graph, stage and name. Ops that cost
/// nothing are left out. Rows in any order that keeps each scope's own order.
///
/// # Errors
///
/// [`FoldError`].
pub fn spending<'a>(
    bundle: &Arc<Bundle>,
    rows: impl IntoIterator<Item = Row<'a>>,
) -> Result<Vec<SpendingLine>, FoldError> {
    let mut scopes: BTreeMap<ScopePath, Gathering> = BTreeMap::new();
    for row in rows {
        if let EntryBody::Started(started) = &row.entry.body
            && !scopes.contains_key(row.scope)
        {
            let graph = bundle
                .find(&started.graph)
                .ok_or_else(|| FoldError::UnknownGraph(started.graph.to_string()))?;
            scopes.insert(
                row.scope.clone(),
                Gathering::new(Machine::new(bundle.clone(), graph, row.scope.clone())),
            );
        }
        if let Some(gathering) = scopes.get_mut(row.scope) {
            gathering.apply(row.entry);
        }
    }
    let mut lines: BTreeMap<(Arc<str>, Arc<str>, Asked), SpendingLine> = BTreeMap::new();
    for gathering in scopes.into_values() {
        let graph = gathering.machine.plan().path.clone();
        for ((stage, asked), (mut line, spent)) in gathering.lines {
            line.charge(spent);
            let key = (graph.clone(), stage.clone(), asked.clone());
            let sum = lines.entry(key).or_insert_with(|| SpendingLine {
                graph: graph.clone(),
                stage,
                asked,
                ..SpendingLine::default()
            });
            sum.add(&line);
        }
    }
    let is_told = |line: &SpendingLine| match line.asked {
        Asked::Model(_) => true,
        Asked::Op(_) => line.known_micro_usd > 0 || line.unknown_calls > 0,
    };
    Ok(lines.into_values().filter(is_told).collect())
}

impl SpendingLine {
    /// Adds the figures of another line to those of this one.
    pub fn add(&mut self, other: &SpendingLine) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.calls, other.calls);
        add(&mut self.failed, other.failed);
        add(&mut self.tokens, other.tokens);
        add(&mut self.input_tokens, other.input_tokens);
        add(&mut self.output_tokens, other.output_tokens);
        add(&mut self.cached_tokens, other.cached_tokens);
        add(&mut self.reasoning_tokens, other.reasoning_tokens);
        add(&mut self.known_micro_usd, other.known_micro_usd);
        add(&mut self.unknown_calls, other.unknown_calls);
    }

    fn charge(&mut self, spent: Spent) {
        self.tokens = spent.tokens;
        self.known_micro_usd = spent.cost_micro_usd;
        self.unknown_calls = spent.cost_unknown;
    }

    fn report(&mut self, usage: Usage) {
        self.input_tokens = self.input_tokens.saturating_add(usage.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(usage.output_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(usage.cached_tokens);
        self.reasoning_tokens = self.reasoning_tokens.saturating_add(usage.reasoning_tokens);
    }
}

/// One instance while its journal is read.
struct Gathering {
    machine: Machine,
    config: Arc<Map>,
    /// What each step that was put out asks, where that is not said with its dispatch.
    steps: BTreeMap<StepId, (Arc<str>, Asked)>,
    /// What the attempt that is out asks, by step.
    out: BTreeMap<StepId, (Arc<str>, Asked)>,
    lines: BTreeMap<(Arc<str>, Asked), (SpendingLine, Spent)>,
}

impl Gathering {
    fn new(machine: Machine) -> Gathering {
        let (steps, out, lines) = Default::default();
        Gathering { machine, config: Arc::default(), steps, out, lines }
    }

    fn apply(&mut self, entry: &Entry) {
        if let EntryBody::Started(started) = &entry.body {
            self.config = started.config.clone();
        } else if let EntryBody::Resumed { config, .. } = &entry.body {
            self.config = config.clone();
        }
        let before = self.machine.charged().used;
        let outputs = self.machine.apply(entry);
        let after = self.machine.charged().used;
        self.note(&entry.body, before, after);
        for output in outputs {
            match output {
                Output::Effect(Effect::CallModel { step, .. }) => {
                    let (stage, model) = self.model_of(&step);
                    self.steps.insert(step, (stage, Asked::Model(model)));
                }
                Output::Effect(Effect::RunOp { step, op, .. }) => {
                    let stage = name_of(step.last());
                    self.steps.insert(step, (stage, Asked::Op(op)));
                }
                Output::Effect(_) | Output::Event(_) => {}
            }
        }
    }

    /// The node of a model step, and the model that it is configured with.
    fn model_of(&self, step: &StepId) -> (Arc<str>, Arc<str>) {
        let mut segments = step.as_str().rsplit('/').map(name_of);
        let last = segments.next().unwrap_or_default();
        let node = if &*last == "item" { segments.next().unwrap_or_default() } else { last };
        let nodes = &self.machine.plan().nodes;
        let found = nodes.iter().find(|n| n.name == node).and_then(|n| match &n.verb {
            Verb::Model(model) => Some(model.model.resolve(&self.config)),
            _ => None,
        });
        let name = found.and_then(Value::as_str).unwrap_or_default();
        (node, name.into())
    }

    fn note(&mut self, body: &EntryBody, before: Spent, after: Spent) {
        let Some(step) = body.step() else { return };
        if let EntryBody::Dispatched { model, .. } = body {
            let Some((stage, configured)) = self.steps.get(step).cloned() else { return };
            let asked = model.clone().map_or(configured, Asked::Model);
            self.line(&(stage.clone(), asked.clone())).0.calls += 1;
            self.out.insert(step.clone(), (stage, asked));
        }
        let Some(key) = self.out.get(step).or_else(|| self.steps.get(step)).cloned() else { return };
        let (line, spent) = self.line(&key);
        exchange(spent, before, after);
        match body {
            EntryBody::Completed { output: StepOutput::Model(reply), .. } => line.report(reply.usage),
            EntryBody::AttemptFailed { usage, .. } => {
                line.failed += 1;
                line.report(*usage);
            }
            EntryBody::Failed { .. } => line.failed += 1,
            _ => {}
        }
    }

    fn line(&mut self, key: &(Arc<str>, Asked)) -> &mut (SpendingLine, Spent) {
        self.lines.entry(key.clone()).or_default()
    }
}

/// The name in a segment of a step's id: without the number behind the last point.
fn name_of(segment: &str) -> Arc<str> {
    segment.rsplit_once('.').map_or(segment, |(name, _)| name).into()
}
