//! From journals to a trace.

mod again;
mod sent;

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_engine::{Charged, Machine, Phase};
use deepgraph_graph::Bundle;
use deepgraph_protocol::{
    Effect, Entry, EntryBody, Event, Fee, Map, Millis, Output, RunStatus, ScopePath, Spent, StepError,
    StepId, StepOutput, Value,
};

use crate::charges::{self, Charges, exchange};
use crate::in_force;
use crate::tree::{Gain, Node, NodeKind, Outcome, ScopeTrace, Sending, SuperStep, Trace, Warned};
use sent::Failed;

/// One row of a run's journals.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The scope whose journal it belongs to.
    pub scope: &'a ScopePath,
    /// The entry.
    pub entry: &'a Entry,
}

/// Journals that do not fold.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum FoldError {
    /// There is no entry of the root.
    #[error("the run has no journal: it was recorded and never started")]
    Empty,
    /// A graph that the bundle does not have.
    #[error("the journal names the graph `{0}`, which is not in the bundle that is stored with the run")]
    UnknownGraph(String),
    /// The run went on after its end. A recording, or a case, holds one attempt.
    #[error(
        "the run was over and went on ({attempts} attempts), and a recording or a case of a run holds one attempt only; \
         keep its journals (deepgraph trace RUN --format journal), or write a case with `attempts` by hand"
    )]
    SeveralAttempts {
        /// How many.
        attempts: u32,
    },
    /// The bundle does not compile again from the texts that it was made from.
    #[error("the bundle can not be compiled again from its own texts, with the same ops:\n\n{0}")]
    Source(String),
}

/// The trace of a run. Rows in any order that keeps each scope's own order.
///
/// # Errors
///
/// [`FoldError`].
pub fn fold<'a>(bundle: &Arc<Bundle>, rows: impl IntoIterator<Item = Row<'a>>) -> Result<Trace, FoldError> {
    let mut scopes: BTreeMap<ScopePath, Folding> = BTreeMap::new();
    let mut config = None;
    for row in rows {
        if let EntryBody::Started(started) = &row.entry.body {
            let graph = bundle
                .find(&started.graph)
                .ok_or_else(|| FoldError::UnknownGraph(started.graph.to_string()))?;
            if row.scope.is_root() {
                config.get_or_insert_with(|| (*started.config).clone());
            }
            scopes.entry(row.scope.clone()).or_insert_with(|| Folding {
                bundle: bundle.clone(),
                machine: Machine::new(bundle.clone(), graph, row.scope.clone()),
                trace: ScopeTrace {
                    scope: row.scope.clone(),
                    graph: started.graph.clone(),
                    input: (*started.input).clone(),
                    grant: Some(started.grant),
                    ..ScopeTrace::default()
                },
                places: BTreeMap::new(),
                charges: Charges::default(),
                in_finally: false,
                report_error: None,
                config: started.config.clone(),
                then_set: Map::new(),
            });
        }
        if let Some(folding) = scopes.get_mut(row.scope) {
            folding.apply(row.entry);
        }
    }
    let ledger = charges::of_run(scopes.iter().map(|(path, folding)| (path, &folding.charges)));
    let mut traces: BTreeMap<ScopePath, ScopeTrace> =
        scopes.into_iter().map(|(path, folding)| (path, folding.close())).collect();
    let mut root = traces.remove(&ScopePath::root()).ok_or(FoldError::Empty)?;
    adopt(&mut root, &mut traces);
    let status = root
        .exit
        .as_ref()
        .map(|exit| RunStatus::of_ended(&exit.reason, exit.class, exit.findings, root.report, false));
    Ok(Trace {
        run: None,
        status,
        bundle: bundle.hash.clone(),
        config: config.unwrap_or_default(),
        root,
        ledger,
    })
}

/// The run's date as its prompts read it, `YYYY-MM-DD`: that of its first entry. "" without entries.
pub fn date_of<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> String {
    let first = entries.into_iter().map(|e| e.at).min();
    first.map(deepgraph_engine::date_of).unwrap_or_default()
}

/// Puts every scope into the step that started it.
fn adopt(scope: &mut ScopeTrace, others: &mut BTreeMap<ScopePath, ScopeTrace>) {
    for node in scope.super_steps.iter_mut().flat_map(|s| &mut s.nodes) {
        adopt_child(node, others);
        node.calls.iter_mut().for_each(|call| adopt_child(call, others));
    }
}

fn adopt_child(node: &mut Node, others: &mut BTreeMap<ScopePath, ScopeTrace>) {
    if let Some(mut child) = others.remove(&node.step.scope()) {
        adopt(&mut child, others);
        node.child = Some(Box::new(child));
    }
}

/// Where a step stands in its scope's trace.
#[derive(Clone, Copy)]
struct Place {
    super_step: usize,
    node: usize,
    call: Option<usize>,
}

struct Folding {
    bundle: Arc<Bundle>,
    machine: Machine,
    trace: ScopeTrace,
    places: BTreeMap<StepId, Place>,
    charges: Charges,
    /// Whether the `finally` stage has begun.
    in_finally: bool,
    /// What went wrong in the last `finally` stage.
    report_error: Option<StepError>,
    /// The configuration in force, and what of it the last `Resumed` set to something else.
    config: Arc<Map>,
    then_set: Map,
}

impl Folding {
    fn apply(&mut self, entry: &Entry) {
        // Time never goes back, here as in the Machine, whatever stands in a damaged journal.
        let at = self.trace.time.map_or(0, |(_, last)| last).max(entry.at);
        let begun = self.trace.time.map_or(at, |(begun, _)| begun);
        self.trace.time = Some((begun, at));
        self.note_sent(&entry.body);
        if let EntryBody::Resumed { config, .. } = &entry.body {
            self.note_config(config);
        }
        // What comes late changes nothing, here as in the Machine.
        let was_open = entry.body.step().is_some_and(|step| self.machine.is_open(step));
        let before = self.machine.charged();
        let outputs = self.machine.apply(entry);
        if was_open {
            self.note_entry(entry);
        }
        self.charge(entry, before);
        for output in outputs {
            match output {
                Output::Event(event) => self.note_event(event, at),
                Output::Effect(effect) => self.note_effect(&effect),
            }
        }
        if matches!(entry.body, EntryBody::Started(_)) && self.trace.limits.is_empty() {
            self.trace.limits = in_force::limits(&self.machine);
        }
        if self.machine.phase() == Phase::Ended {
            self.charges.end(at);
            self.report_error = self.machine.end().and_then(|end| end.report_error.clone());
        }
    }

    /// Notes what an entry changed of what is charged, with the step that it is about: an outcome that comes late may
    /// also lower it.
    fn charge(&mut self, entry: &Entry, before: Charged) {
        let after = self.machine.charged();
        let at = self.trace.time.map_or(entry.at, |(_, last)| last);
        self.charges.note(at, before, after);
        if let Some(node) = entry.body.step().and_then(|step| self.node(step)) {
            exchange(&mut node.charged, before.used, after.used);
        }
    }

    fn node(&mut self, step: &StepId) -> Option<&mut Node> {
        let place = *self.places.get(step)?;
        let node = self.trace.super_steps.get_mut(place.super_step)?.nodes.get_mut(place.node)?;
        match place.call {
            None => Some(node),
            Some(call) => node.calls.get_mut(call),
        }
    }

    fn note_entry(&mut self, entry: &Entry) {
        let (step, outcome) = match &entry.body {
            EntryBody::Completed { step, output: StepOutput::Model(reply), .. } => {
                (step, Outcome::Reply(Box::new(reply.clone())))
            }
            EntryBody::Completed { step, output: StepOutput::Op(value), .. } => {
                (step, Outcome::Value(value.clone()))
            }
            EntryBody::Answered { step, answer } => (step, Outcome::Value(answer.clone())),
            EntryBody::ChildEnded { step, .. } => (step, Outcome::Done),
            // Told by the events that follow from them.
            EntryBody::Started(_)
            | EntryBody::Dispatched { .. }
            | EntryBody::Held { .. }
            | EntryBody::AttemptFailed { .. }
            | EntryBody::Failed { .. }
            | EntryBody::TimerFired { .. }
            | EntryBody::StateEdited { .. }
            | EntryBody::Resumed { .. }
            | EntryBody::CancelRequested { .. } => return,
        };
        // Still open: an answer that does not fit, or a reply that is tried again.
        if !self.machine.is_open(step)
            && let Some(node) = self.node(step)
        {
            if let EntryBody::Completed { fee, .. } = &entry.body {
                node.fee = *fee;
            }
            node.outcome = Some(outcome);
        }
    }

    fn note_event(&mut self, event: Event, at: Millis) {
        match event {
            Event::SuperStepStarted { number, nodes, .. } => self.begin_super_step(number, nodes, at),
            Event::Finishing { .. } => self.in_finally = true,
            Event::CallAdmitted { step, args, .. } => {
                self.begin_call(step.clone(), at, None);
                self.admit(&step, args);
            }
            Event::CallQueued { step, .. } => {
                self.begin_call(step.clone(), at, None);
                if let Some(node) = self.node(&step) {
                    node.queued = true;
                }
            }
            Event::CallRefused { step, reason, .. } => {
                self.begin_call(step, at, Some(Outcome::Refused(reason)))
            }
            Event::CallMalformed { step, reason, .. } => {
                self.begin_call(step, at, Some(Outcome::Malformed(reason)));
            }
            Event::AttemptFailed { step, attempt, error, delay_ms, fail_over } => {
                let next = at.saturating_add(i64::try_from(delay_ms).unwrap_or(i64::MAX));
                self.note_failed(&step, Failed { attempt, error, fail_over, time: (at, next) });
            }
            Event::StepFailed { step, error } => self.end(&step, at, Some(Outcome::Failed(error))),
            Event::StepCompleted { step } => self.end(&step, at, None),
            Event::Exited { exit } => self.trace.exit = Some(exit),
            Event::ScopeEnded { report, settled, .. } => {
                self.trace.report = report;
                self.trace.settled = settled;
            }
            // An item stands below its node like a call.
            Event::ItemStarted { step, .. } | Event::CompensationStarted { step, .. } => {
                self.begin_call(step, at, None);
            }
            Event::Resumed { from, .. } => self.go_on(from),
            Event::ScopeStarted { .. }
            | Event::ItemsLeftOut { .. }
            | Event::NodeStarted { .. }
            | Event::Asked { .. }
            | Event::LimitReached { .. } => {}
            Event::Gained { limit, number, new, known, .. } => {
                self.trace.gains.push(Gain { limit, number, new, known });
            }
            Event::LimitWarned { limit, value, mark, bound, .. } => {
                self.trace.warned.push(Warned { limit, value, mark, bound });
            }
        }
    }

    fn begin_super_step(&mut self, number: u64, steps: Vec<StepId>, at: Millis) {
        let in_finally = self.in_finally;
        let super_step = self.trace.super_steps.len();
        let nodes = steps
            .into_iter()
            .enumerate()
            .map(|(node, step)| {
                self.places.insert(step.clone(), Place { super_step, node, call: None });
                blank(step, at)
            })
            .collect();
        self.trace.super_steps.push(SuperStep { number, in_finally, nodes });
    }

    /// A call of a turn: its place is its number, whenever it is told.
    fn begin_call(&mut self, step: StepId, at: Millis, outcome: Option<Outcome>) {
        if let Some(known) = self.node(&step) {
            // It was queued and now runs.
            known.time = Some((at, at));
            return;
        }
        // The name of the tool is the model's: it can hold anything, slashes too.
        let mut parents =
            step.as_str().rmatch_indices('/').map(|(end, _)| StepId::new(&step.as_str()[..end]));
        let is_node = |place: &Place| place.call.is_none();
        let place = parents.find_map(|parent| self.places.get(&parent).copied().filter(is_node));
        let Some(place) = place else { return };
        let Some(node) =
            self.trace.super_steps.get_mut(place.super_step).and_then(|s| s.nodes.get_mut(place.node))
        else {
            return;
        };
        self.places.insert(step.clone(), Place { call: Some(node.calls.len()), ..place });
        node.calls.push(Node { outcome, ..blank(step, at) });
    }

    fn admit(&mut self, step: &StepId, args: Value) {
        if let Some(node) = self.node(step) {
            node.args = Some(args);
            node.queued = false;
        }
    }

    fn end(&mut self, step: &StepId, at: Millis, outcome: Option<Outcome>) {
        let Some(node) = self.node(step) else { return };
        if let Some((begun, _)) = node.time {
            node.time = Some((begun, at));
        }
        if outcome.is_some() {
            node.outcome = outcome;
        }
    }

    fn note_effect(&mut self, effect: &Effect) {
        let (step, kind) = match effect {
            Effect::RunOp { step, op, input, .. } => {
                let (input, given) = self.bundle.ops.split(op, (**input).clone());
                (step, NodeKind::Op { op: op.clone(), input, given })
            }
            Effect::Spawn { step, .. } | Effect::Reopen { step, .. } => (step, NodeKind::Graph),
            Effect::Ask { step, question, .. } => (step, NodeKind::Ask { question: question.clone() }),
            // A model's request is rendered when it is sent.
            Effect::CallModel { step, attempt, .. } => return self.begin_anew(step, attempt - 1),
            Effect::WakeAt { .. } | Effect::Abandon { .. } => return,
        };
        let tried = if let Effect::RunOp { attempt, .. } = effect { attempt - 1 } else { 1 };
        self.begin_anew(step, tried);
        if let Some(node) = self.node(step) {
            node.kind = kind;
        }
    }

    fn close(mut self) -> ScopeTrace {
        if let Some(end) = self.machine.end() {
            self.trace.output = end.output.clone();
            self.trace.report_error = end.report_error.clone();
        }
        // A call that a person approved late stands where the model made it.
        for node in self.trace.super_steps.iter_mut().flat_map(|s| &mut s.nodes) {
            node.calls.sort_by_key(|call| number(&call.step));
        }
        self.trace
    }
}

/// The number of a call in its turn, or of an item in its list.
fn number(step: &StepId) -> u64 {
    step.as_str().rsplit_once('.').and_then(|(_, number)| number.parse().ok()).unwrap_or(u64::MAX)
}

fn blank(step: StepId, at: Millis) -> Node {
    Node {
        step,
        kind: NodeKind::Plain,
        args: None,
        queued: false,
        request_hash: None,
        charged: Spent::default(),
        fee: Fee::NONE,
        sent: Sending::default(),
        failed_attempts: Vec::new(),
        outcome: None,
        calls: Vec::new(),
        child: None,
        time: Some((at, at)),
    }
}
