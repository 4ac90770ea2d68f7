//! From journals to a recording.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_engine::Machine;
use deepgraph_graph::Bundle;
use deepgraph_protocol::{
    Effect, Entry, EntryBody, ErrorKind, Fee, Hidden, Map, Meter, Millis, Output, ScopePath, Started, StepId,
    StepOutput, Usage, keys_in,
};

use super::{Asked, Came, EntryName, Exchange, Recording, Request, Reserved, hide};
use crate::fold::{FoldError, Row, fold};
use crate::tree::{ScopeTrace, Trace};

impl Recording {
    /// The recording of a run, from its journals in any order that keeps each scope's own.
    ///
    /// `graph` and `question` are those of the run's record. `is_pure` says of an op that it reaches nothing outside:
    /// such ones are run again in a replay, so they are not recorded. `hidden` are the secrets of the run; what looks
    /// like a key in the message of a failure is taken out as well, wherever else it stands.
    ///
    /// # Errors
    ///
    /// The journals do not fold.
    pub fn of<'a>(
        bundle: &Arc<Bundle>,
        rows: impl IntoIterator<Item = Row<'a>>,
        graph: &str,
        question: &str,
        is_pure: &dyn Fn(&str) -> bool,
        hidden: &Hidden,
    ) -> Result<Recording, FoldError> {
        let rows: Vec<Row<'a>> = rows.into_iter().collect();
        let trace = fold(bundle, rows.iter().copied())?;
        Recording::of_trace(bundle, &rows, &trace, graph, question, is_pure, hidden)
    }

    /// The same of journals that are folded already: `trace` is what they fold to.
    ///
    /// # Errors
    ///
    /// There is no first entry.
    pub fn of_trace(
        bundle: &Arc<Bundle>,
        rows: &[Row<'_>],
        trace: &Trace,
        graph: &str,
        question: &str,
        is_pure: &dyn Fn(&str) -> bool,
        hidden: &Hidden,
    ) -> Result<Recording, FoldError> {
        let (at, started) = started(rows).ok_or(FoldError::Empty)?;
        one_attempt(rows)?;
        let hidden = hidden_in(rows, hidden);
        let mut gather = Gather {
            bundle,
            is_pure,
            hidden: &hidden,
            began: at,
            is_timed: bundle.reads_clock() || is_timed(&trace.root, rows),
            is_bounded: is_bounded(&trace.root),
            machines: BTreeMap::new(),
            exchanges: BTreeMap::new(),
            reserved: BTreeMap::new(),
            moments: BTreeMap::new(),
            order: Vec::new(),
        };
        rows.iter().for_each(|row| gather.take(row));
        let recording = Recording {
            graph: graph.to_owned(),
            bundle: bundle.hash.clone(),
            question: question.to_owned(),
            started_ms: at,
            input: (*started.input).clone(),
            config: changed(bundle, &started.config),
            kept: started.persisted.clone(),
            servers: bundle.source.tools.clone(),
            cancelled_ms: cancelled(rows).map(|cancelled| cancelled.abs_diff(at)),
            moments: gather.moments,
            order: gather.order,
            exchanges: in_order(gather.exchanges, &trace.root),
        };
        Ok(hide::recording(recording, &hidden))
    }
}

/// Sees that the run did not go on after its end.
fn one_attempt(rows: &[Row<'_>]) -> Result<(), FoldError> {
    let resumed = |row: &Row<'_>| match &row.entry.body {
        EntryBody::Resumed { attempt, .. } => Some(*attempt),
        _ => None,
    };
    match rows.iter().filter_map(resumed).max() {
        Some(attempts) => Err(FoldError::SeveralAttempts { attempts }),
        None => Ok(()),
    }
}

/// The root's first entry and its moment.
fn started<'a>(rows: &[Row<'a>]) -> Option<(Millis, &'a Started)> {
    rows.iter().filter(|row| row.scope.is_root()).find_map(|row| match &row.entry.body {
        EntryBody::Started(started) => Some((row.entry.at, started)),
        _ => None,
    })
}

/// When somebody wanted the run to stop.
fn cancelled(rows: &[Row<'_>]) -> Option<Millis> {
    let asked = |row: &&Row<'_>| matches!(row.entry.body, EntryBody::CancelRequested { .. });
    rows.iter().filter(|row| row.scope.is_root()).find(asked).map(|row| row.entry.at)
}

/// Whether it made a difference to what came next when things came: the run was cancelled, or a limit on time was
/// reached.
fn is_timed(root: &ScopeTrace, rows: &[Row<'_>]) -> bool {
    let is_clock = |scope: &&ScopeTrace| {
        let hit = scope.exit.as_ref().and_then(|exit| exit.limit.as_ref());
        let limit = hit.and_then(|hit| scope.limits.iter().find(|limit| limit.name == hit.name));
        limit.and_then(|limit| limit.meter).is_some_and(Meter::is_clock)
    };
    // A warning mark leads nowhere.
    let fired = |row: &Row<'_>| match &row.entry.body {
        EntryBody::TimerFired { timer } => !timer.starts_with("warn:"),
        _ => false,
    };
    cancelled(rows).is_some() || rows.iter().any(fired) || root.instances().iter().any(is_clock)
}

/// Whether a limit bounds tokens or money.
fn is_bounded(root: &ScopeTrace) -> bool {
    let instances = root.instances();
    let mut limits = instances.iter().flat_map(|scope| &scope.limits);
    limits.any(|limit| limit.max.is_some() && matches!(limit.meter, Some(Meter::Tokens | Meter::CostUsd)))
}

/// The values that are not the default of their key.
fn changed(bundle: &Bundle, config: &Map) -> Map {
    let is_default =
        |key: &str, value| bundle.config.get(key).is_some_and(|f| f.default.as_ref() == Some(value));
    let changed = config.iter().filter(|(key, value)| !is_default(key, value));
    changed.map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// What is taken out of the recording of these journals: the secrets of the run, and what looks like a key in the
/// message of a failure.
pub fn hidden_in(rows: &[Row<'_>], secrets: &Hidden) -> Hidden {
    secrets.and(rows.iter().flat_map(|row| message(row.entry)).flat_map(keys_in))
}

/// The words of a failure.
fn message(entry: &Entry) -> Option<&str> {
    match &entry.body {
        EntryBody::AttemptFailed { error, .. } | EntryBody::Failed { error, .. } => Some(&error.message),
        _ => None,
    }
}

struct Gather<'a> {
    bundle: &'a Arc<Bundle>,
    is_pure: &'a dyn Fn(&str) -> bool,
    hidden: &'a Hidden,
    began: Millis,
    is_timed: bool,
    /// Whether a limit bounds tokens or money: then it makes a difference what was reserved.
    is_bounded: bool,
    machines: BTreeMap<ScopePath, Machine>,
    exchanges: BTreeMap<(StepId, u32), Exchange>,
    /// What was reserved for each attempt when it was sent last.
    reserved: BTreeMap<(StepId, u32), Reserved>,
    moments: BTreeMap<String, u64>,
    order: Vec<String>,
}

impl Gather<'_> {
    fn take(&mut self, row: &Row<'_>) {
        if let EntryBody::Started(started) = &row.entry.body
            && let Some(graph) = self.bundle.find(&started.graph)
        {
            let machine = || Machine::new(self.bundle.clone(), graph, row.scope.clone());
            self.machines.entry(row.scope.clone()).or_insert_with(machine);
        }
        let Some(machine) = self.machines.get_mut(row.scope) else { return };
        let request = match &row.entry.body {
            EntryBody::Dispatched { step, attempt, window, .. } => {
                machine.model_request(step, *window).ok().map(|request| (step, *attempt, request))
            }
            EntryBody::Held { step, attempt } => {
                machine.model_request(step, None).ok().map(|request| (step, *attempt, request))
            }
            _ => None,
        };
        // What comes late changes nothing, here as in the Machine.
        let is_open = row.entry.body.step().is_some_and(|step| machine.is_open(step));
        let outputs = machine.apply(row.entry);
        // A call for which there was no room is closed instead of sent.
        let request = request.filter(|(step, ..)| machine.is_open(step));
        if is_open {
            self.note_sent(&row.entry.body);
        }
        if let Some((step, attempt, request)) = request {
            let request = Request::of(request, self.hidden);
            self.ask(step, attempt, Asked::Model(Box::new(request)));
            self.note_way(step, attempt, &row.entry.body);
        }
        let is_answer = is_open && self.answer(row.entry);
        if self.is_timed {
            self.note_order(row);
        }
        if self.is_timed && !is_answer {
            self.note_moment(row);
        }
        for output in outputs {
            match output {
                Output::Effect(Effect::RunOp { step, attempt, op, input, .. }) if !(self.is_pure)(&op) => {
                    let ops = &self.bundle.ops;
                    let asked = Asked::op(op, Arc::unwrap_or_clone(input), ops, self.hidden);
                    self.ask(&step, attempt, asked);
                }
                Output::Effect(Effect::Ask { step, question, .. }) => {
                    self.ask(&step, 1, Asked::Person(question));
                }
                _ => {}
            }
        }
    }

    /// A call that is sent once more was lost before.
    fn note_sent(&mut self, entry: &EntryBody) {
        let EntryBody::Dispatched { step, attempt, request, reserve_tokens, reserve_micro_usd, key, .. } =
            entry
        else {
            return;
        };
        let is_priced_op = request.is_none() && (key.is_none() || reserve_micro_usd.is_some());
        let key = (step.clone(), *attempt);
        let reserved = Reserved { tokens: *reserve_tokens, micro_usd: *reserve_micro_usd };
        let before = self.reserved.insert(key.clone(), reserved);
        if let (Some(before), Some(exchange)) = (before, self.exchanges.get_mut(&key)) {
            exchange.lost.push(before);
        }
        if let Some(exchange) = self.exchanges.get_mut(&(step.clone(), *attempt)).filter(|_| is_priced_op) {
            exchange.reserved = Some(reserved);
        }
    }

    fn ask(&mut self, step: &StepId, attempt: u32, asked: Asked) {
        let key = (step.clone(), attempt);
        let (lost, held) = self.exchanges.remove(&key).map(|sent| (sent.lost, sent.held)).unwrap_or_default();
        let (step, came) = (step.clone(), Came::Nothing);
        self.exchanges.insert(
            key,
            Exchange {
                step,
                attempt,
                asked,
                lost,
                model: None,
                window: None,
                held,
                came,
                fail_over: false,
                unsent: false,
                used: Usage::default(),
                reserved: None,
                fee: Fee::NONE,
                after_ms: None,
            },
        );
    }

    /// How a request goes to a model: that it waits, or who is asked, within what.
    fn note_way(&mut self, step: &StepId, attempt: u32, entry: &EntryBody) {
        let Some(exchange) = self.exchanges.get_mut(&(step.clone(), attempt)) else { return };
        match entry {
            EntryBody::Held { .. } => exchange.held = true,
            EntryBody::Dispatched { model, window, reserve_tokens, reserve_micro_usd, .. } => {
                (exchange.model, exchange.window) = (model.clone(), *window);
                let reserved = Reserved { tokens: *reserve_tokens, micro_usd: *reserve_micro_usd };
                exchange.reserved = self.is_bounded.then_some(reserved);
            }
            _ => {}
        }
    }

    /// When an entry was made. Of a call that was sent once more, the first time.
    fn note_moment(&mut self, row: &Row<'_>) {
        if let Some(name) = EntryName::of(row.scope, &row.entry.body) {
            self.moments.entry(name.to_string()).or_insert(row.entry.at.abs_diff(self.began));
        }
    }

    /// Notes that something came: of a step, or of a clock.
    fn note_order(&mut self, row: &Row<'_>) {
        let came = match &row.entry.body {
            EntryBody::Completed { .. }
            | EntryBody::AttemptFailed { .. }
            | EntryBody::Failed { .. }
            | EntryBody::Answered { .. }
            | EntryBody::TimerFired { .. } => EntryName::of(row.scope, &row.entry.body),
            EntryBody::CancelRequested { .. } if row.scope.is_root() => {
                EntryName::of(row.scope, &row.entry.body)
            }
            _ => None,
        };
        self.order.extend(came.map(|name| name.to_string()));
    }

    /// Notes what came, where an entry says so; false: it is no answer from outside.
    fn answer(&mut self, entry: &Entry) -> bool {
        let (step, attempt, came) = match &entry.body {
            EntryBody::Completed { step, attempt, output: StepOutput::Model(reply), .. } => {
                (step, Some(*attempt), Came::Reply(Box::new(reply.clone())))
            }
            EntryBody::Completed { step, attempt, output: StepOutput::Op(value), .. } => {
                (step, Some(*attempt), Came::Result(value.clone()))
            }
            EntryBody::AttemptFailed { step, attempt, error, .. } => {
                (step, Some(*attempt), Came::Failed(error.clone()))
            }
            EntryBody::Answered { step, answer } => (step, None, Came::Answer(answer.clone())),
            // A step that was called off had no answer.
            EntryBody::Failed { step, error } if error.kind == ErrorKind::Cancelled => {
                let of_step = (step.clone(), 0)..=(step.clone(), u32::MAX);
                if let Some((_, exchange)) = self.exchanges.range_mut(of_step).next_back() {
                    exchange.unsent = error.unsent;
                }
                return false;
            }
            EntryBody::Failed { step, error } => (step, None, Came::GaveUp(error.clone())),
            _ => return false,
        };
        let last = || self.exchanges.range((step.clone(), 0)..=(step.clone(), u32::MAX)).next_back();
        let Some(attempt) = attempt.or_else(|| last().map(|((_, attempt), _)| *attempt)) else {
            return false;
        };
        let (used, fee) = match &entry.body {
            EntryBody::AttemptFailed { usage, fee, .. } => (*usage, *fee),
            EntryBody::Completed { fee, .. } => (Usage::default(), *fee),
            _ => (Usage::default(), Fee::NONE),
        };
        let after_ms = self.is_timed.then(|| entry.at.abs_diff(self.began));
        let Some(exchange) = self.exchanges.get_mut(&(step.clone(), attempt)) else { return false };
        exchange.came = came;
        exchange.fail_over = matches!(entry.body, EntryBody::AttemptFailed { fail_over: true, .. });
        exchange.used = used;
        exchange.fee = fee;
        exchange.after_ms = after_ms;
        true
    }
}

/// The exchanges in canonical order: that of the trace, and of what a trace shows no line of its own (whether a call
/// may run) where the step above it stands.
fn in_order(exchanges: BTreeMap<(StepId, u32), Exchange>, root: &ScopeTrace) -> Vec<Exchange> {
    let steps = root.all_steps();
    let places: BTreeMap<&StepId, usize> =
        steps.iter().enumerate().map(|(i, node)| (&node.step, i)).collect();
    let place = |step: &StepId| {
        let mut known = places.get(step).copied();
        let mut text = step.as_str();
        while let (None, Some((above, _))) = (known, text.rsplit_once('/')) {
            text = above;
            known = places.get(&StepId::new(above)).copied();
        }
        known.unwrap_or(usize::MAX)
    };
    let mut all: Vec<Exchange> = exchanges.into_values().collect();
    all.sort_by_cached_key(|one| (place(&one.step), one.step.clone(), one.attempt));
    all
}
