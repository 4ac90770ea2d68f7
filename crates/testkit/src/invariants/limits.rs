//! Counted calls and starts never pass their limits: each limit from its declaration, each count from what was told.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use deepgraph_graph::{Context, Counts, InForce, Names, OnReach, ValueExpr, Verb};
use deepgraph_protocol::{EntryBody, ErrorKind, Event, Map, Meter, Output, ResumeFrom, StepId, Value};

use super::Violation;
use super::seen::{Scope, Seen, bound_of};

const NAME: &str = "limits";

pub(super) fn check(seen: &Seen<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut started: BTreeMap<&str, Starts> = BTreeMap::new();
    let mut finishing: BTreeMap<&str, usize> = BTreeMap::new();
    for scope in seen.scopes.values() {
        let mut tally = Tally::of(seen, scope);
        tally.count();
        started.insert(scope.path.as_str(), tally.starts);
        finishing.extend(tally.finishing.map(|row| (scope.path.as_str(), row)));
        found.extend(tally.found);
        found.extend(too_deep(seen, scope));
    }
    for scope in seen.scopes.values() {
        found.extend(of_tree(scope, &started, finishing.get(scope.path.as_str()).copied()));
    }
    found
}

/// What an instance has started or sent itself: the numbers of the rows from which that followed.
#[derive(Debug, Default)]
struct Starts {
    models: Vec<usize>,
    tool_calls: Vec<usize>,
}

/// The names of arguments and configuration: what most conditions of limits read.
#[derive(Debug)]
struct Arguments {
    args: Value,
    config: Arc<Map>,
    /// Set where another name is read: what the expression gives can not be told then.
    asks_more: Arc<AtomicBool>,
}

impl Names for Arguments {
    fn lookup(&self, name: &str) -> Option<Value> {
        match name {
            "args" => Some(self.args.clone()),
            "config" => Some(Value::Map(self.config.clone())),
            _ => {
                self.asks_more.store(true, Ordering::Relaxed);
                None
            }
        }
    }
}

/// The counts of one instance.
struct Tally<'t, 'r> {
    seen: &'t Seen<'r>,
    scope: &'t Scope<'r>,
    /// Arguments of calls, by step.
    args: BTreeMap<&'r StepId, &'r Value>,
    in_finally: bool,
    /// The row in which its `finally` stage began.
    finishing: Option<usize>,
    super_steps: u64,
    turns: u64,
    steps: u64,
    starts: Starts,
    /// By limit, then by the value that it counts apart.
    named: Vec<BTreeMap<String, u64>>,
    /// Limits that have ended the main stage, with the super-step.
    reached: Option<(Arc<str>, u64)>,
    found: Vec<Violation>,
}

impl<'t, 'r> Tally<'t, 'r> {
    fn of(seen: &'t Seen<'r>, scope: &'t Scope<'r>) -> Tally<'t, 'r> {
        let args = scope.events().filter_map(|(_, event)| match event {
            Event::CallAdmitted { step, args, .. } => Some((step, args)),
            _ => None,
        });
        Tally {
            seen,
            scope,
            args: args.collect(),
            in_finally: false,
            finishing: None,
            super_steps: 0,
            turns: 0,
            steps: 0,
            starts: Starts::default(),
            named: vec![BTreeMap::new(); scope.limits.len()],
            reached: None,
            found: Vec::new(),
        }
    }

    fn count(&mut self) {
        self.count_sent();
        let outputs: Vec<(usize, &Output)> = self.scope.outputs().collect();
        let mut admitted: BTreeSet<&StepId> = BTreeSet::new();
        let mut only_report = false;
        let (mut warned, mut attempt) = (BTreeSet::new(), 1);
        for (at, (row, output)) in outputs.iter().enumerate() {
            let (row, Output::Event(event)) = (*row, output) else { continue };
            match event {
                Event::Resumed { from, attempt: next, .. } => {
                    attempt = *next;
                    (self.in_finally, self.reached) = (false, None);
                    only_report = *from == ResumeFrom::Report;
                }
                Event::Finishing { .. } => {
                    self.in_finally = true;
                    if !only_report {
                        self.finishing = Some(row);
                    }
                }
                Event::SuperStepStarted { number, .. } => self.super_step(*number),
                Event::LimitWarned { limit, value, mark, .. }
                    if !warned.insert((attempt, limit)) || value < mark =>
                {
                    self.wrong(None, format!("the limit `{limit}` warned once more, or before its mark"));
                }
                Event::NodeStarted { step, .. } => {
                    // A node that was not let start, by a limit or since its time is up, is told as failed at once.
                    let refused = matches!(
                        outputs.get(at + 1).map(|(_, output)| *output),
                        Some(Output::Event(Event::StepFailed { step: failed, error }))
                            if failed == step
                                && matches!(error.kind, ErrorKind::Refused | ErrorKind::StepTimeout)
                    );
                    if !refused {
                        self.node(step);
                    }
                }
                Event::ItemStarted { step, .. } => self.verb(step),
                Event::CallAdmitted { step, tool, .. } | Event::CallQueued { step, tool }
                    if admitted.insert(step) =>
                {
                    self.call(row, step, tool);
                }
                _ => {}
            }
        }
    }

    /// Model calls that were sent, every attempt of them: what does not fit a limit is stopped at once.
    fn count_sent(&mut self) {
        for row in &self.scope.rows {
            let EntryBody::Dispatched { step, .. } = &row.entry.body else { continue };
            let is_model = self.scope.node(step).is_some_and(|node| matches!(node.verb, Verb::Model(_)));
            let is_stopped = row.outputs.iter().any(
                |o| matches!(o, Output::Event(Event::StepFailed { step: failed, .. }) if failed == step),
            );
            if is_model && !is_stopped {
                self.starts.models.push(row.number);
            }
        }
    }

    fn wrong(&mut self, step: Option<&StepId>, what: String) {
        self.found.push(match step {
            Some(step) => Violation::of_step(NAME, self.scope.path, step, what),
            None => Violation::of_scope(NAME, self.scope.path, what),
        });
    }

    /// Holds a count of a meter against all limits on it.
    fn meter(&mut self, meter: Meter, count: u64, step: Option<&StepId>) {
        let scope = self.scope;
        for limit in &scope.limits {
            let is_on = limit.counts == Counts::Meter(meter);
            // Where a limit leads on to a node, that node is a start more.
            if !is_on || (meter == Meter::SuperSteps && matches!(limit.on_reach, OnReach::To(_))) {
                continue;
            }
            if let Some(bound) = bound_of(limit, self.in_finally).filter(|bound| count > *bound) {
                let name = &limit.name;
                let what =
                    format!("{count} {} were started, and the limit `{name}` is {bound}", meter.name());
                self.wrong(step, what);
            }
        }
    }

    fn super_step(&mut self, number: u64) {
        self.super_steps += 1;
        self.meter(Meter::SuperSteps, self.super_steps, None);
        if let Some((limit, at)) = self.reached.clone().filter(|_| !self.in_finally) {
            let what = format!(
                "the limit `{limit}` was reached in super-step {at}, and super-step {number} was started"
            );
            self.wrong(None, what);
        }
    }

    fn node(&mut self, step: &StepId) {
        let Some(ix) = self.scope.at(step).and_then(|at| self.scope.graph.node(at.node)) else { return };
        let graph = self.scope.graph;
        for (index, limit) in self.scope.limits.iter().enumerate() {
            if matches!(&limit.counts, Counts::Names { nodes, .. } if nodes.contains(&ix)) {
                self.named(index, String::new(), step, false);
            }
        }
        if graph.nodes.get(ix.0).is_some_and(|node| node.each.is_none()) {
            self.verb(step);
        }
    }

    /// The start of what a node does, once or for an item.
    fn verb(&mut self, step: &StepId) {
        let Some(node) = self.scope.node(step) else { return };
        if node.verb.is_step() {
            self.steps += 1;
            self.meter(Meter::Steps, self.steps, Some(step));
        }
        if matches!(&node.verb, Verb::Model(model) if !model.tools.is_empty()) {
            self.turns += 1;
            self.meter(Meter::Turns, self.turns, Some(step));
        }
    }

    fn call(&mut self, row: usize, step: &StepId, tool: &str) {
        self.steps += 1;
        self.starts.tool_calls.push(row);
        let Some(ix) = self.scope.graph.tool(tool) else {
            return self.wrong(Some(step), format!("`{tool}` was admitted and is no tool of this graph"));
        };
        for (index, limit) in self.scope.limits.iter().enumerate() {
            if !matches!(&limit.counts, Counts::Names { tools, .. } if tools.contains(&ix)) {
                continue;
            }
            if let Some(value) = self.counted_as(limit, step) {
                self.named(index, value, step, true);
            }
        }
    }

    /// Under which value a limit counts a call; none where it does not count it, or where this can not be told, as
    /// where it reads state: then too few are counted, never too many.
    fn counted_as(&self, limit: &InForce<'_>, step: &StepId) -> Option<String> {
        let Some(limit) = limit.declared.filter(|l| l.condition.is_some() || l.per.is_some()) else {
            return Some(String::new());
        };
        let args = (*self.args.get(step)?).clone();
        let asks_more = Arc::new(AtomicBool::new(false));
        let config = self.scope.config.clone();
        let names = Context::of(Arguments { args, config, asks_more: asks_more.clone() });
        let value = |expr: &ValueExpr| {
            let value = self.seen.bundle.programs.value(expr, &names).ok();
            value.filter(|_| !asks_more.load(Ordering::Relaxed))
        };
        if let Some(condition) = &limit.condition
            && !value(condition)?.is_true()
        {
            return None;
        }
        match &limit.per {
            Some(per) => value(per).map(|value| value.to_json_text()),
            None => Some(String::new()),
        }
    }

    fn named(&mut self, index: usize, value: String, step: &StepId, is_call: bool) {
        let scope = self.scope;
        let (Some(limit), Some(counts)) = (scope.limits.get(index), self.named.get_mut(index)) else {
            return;
        };
        let count = counts.entry(value).or_default();
        *count += 1;
        let count = *count;
        let Some(bound) = bound_of(limit, self.in_finally) else { return };
        if count > bound {
            let name = &limit.name;
            self.wrong(Some(step), format!("it is number {count} of the limit `{name}`, which is {bound}"));
        }
        if count == bound && is_call && !self.in_finally && matches!(limit.on_reach, OnReach::Exit(..)) {
            self.reached.get_or_insert((limit.name.clone(), self.super_steps));
        }
    }
}

/// Limits that cover what children start as well. `finishing` is the row in which the `finally` stage began: only what was
/// started before has to leave to it what is kept.
fn of_tree(scope: &Scope<'_>, started: &BTreeMap<&str, Starts>, finishing: Option<usize>) -> Vec<Violation> {
    let is_below = |path: &str| {
        let own = scope.path.as_str();
        own.is_empty() || path == own || path.strip_prefix(own).is_some_and(|rest| rest.starts_with('/'))
    };
    let mut found = Vec::new();
    for (meter, of) in [
        (Meter::ModelCalls, (|s: &Starts| &s.models) as fn(&Starts) -> &Vec<usize>),
        (Meter::ToolCalls, |s: &Starts| &s.tool_calls),
    ] {
        for limit in scope.limits.iter().filter(|limit| limit.counts == Counts::Meter(meter)) {
            let counted = started.iter().filter(|(path, _)| match limit.own {
                true => **path == scope.path.as_str(),
                false => is_below(path),
            });
            let rows: Vec<usize> = counted.flat_map(|(_, starts)| of(starts)).copied().collect();
            let before = rows.iter().filter(|row| finishing.is_none_or(|at| **row < at)).count();
            for (count, in_finally) in [(before, false), (rows.len(), true)] {
                if let Some(bound) = bound_of(limit, in_finally).filter(|bound| count as u64 > *bound) {
                    let (meter, name) = (meter.name(), &limit.name);
                    let when = if in_finally { "" } else { " before the stage of `finally`" };
                    let what =
                        format!("{count} {meter} were started{when}, and the limit `{name}` is {bound}");
                    found.push(Violation::of_scope(NAME, scope.path, what));
                    break;
                }
            }
        }
    }
    found
}

/// A graph that limits how deep it stands in itself by refusing is never deeper.
fn too_deep(seen: &Seen<'_>, scope: &Scope<'_>) -> Option<Violation> {
    let is_such = |l: &&InForce<'_>| l.counts == Counts::Meter(Meter::Depth) && l.on_reach == OnReach::Refuse;
    let limit = scope.limits.iter().find(is_such)?;
    let most = limit.max?;
    let path = scope.path.as_str();
    let encloses = |other: &Scope<'_>| {
        let other = other.path.as_str();
        other.is_empty()
            || path == other
            || path.strip_prefix(other).is_some_and(|rest| rest.starts_with('/'))
    };
    let same = seen.scopes.values().filter(|other| other.graph.path == scope.graph.path && encloses(other));
    let depth = same.count() as u64;
    let what = || format!("it stands {depth} deep in itself, and the limit `{}` is {most}", limit.name);
    (depth > most.max(1)).then(|| Violation::of_scope(NAME, scope.path, what()))
}
