//! Counted calls and starts never pass their limits: each limit from its declaration, each count from what was told.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use deepgraph_graph::{Context, Counted, Limit, Names, OnReach, ToolIx, ValueExpr, Verb};
use deepgraph_protocol::{ErrorKind, Event, Map, Meter, Output, StepId, Value};

use super::Violation;
use super::seen::{Scope, Seen, bounds_of, granted};

const NAME: &str = "limits";

pub(super) fn check(seen: &Seen<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut started: BTreeMap<&str, Starts> = BTreeMap::new();
    for scope in seen.scopes.values() {
        let mut tally = Tally::of(seen, scope);
        tally.count();
        started.insert(scope.path.as_str(), tally.starts);
        found.extend(tally.found);
        found.extend(too_deep(seen, scope));
    }
    for scope in seen.scopes.values() {
        found.extend(of_tree(scope, &started));
    }
    found
}

/// What an instance has started itself.
#[derive(Clone, Copy, Debug, Default)]
struct Starts {
    models: u64,
    tool_calls: u64,
}

/// The names of arguments and configuration: what most conditions of limits read.
#[derive(Debug)]
struct Arguments {
    args: Value,
    config: Arc<Map>,
}

impl Names for Arguments {
    fn lookup(&self, name: &str) -> Option<Value> {
        match name {
            "args" => Some(self.args.clone()),
            "config" => Some(Value::Map(self.config.clone())),
            _ => None,
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
            super_steps: 0,
            turns: 0,
            steps: 0,
            starts: Starts::default(),
            named: vec![BTreeMap::new(); scope.graph.limits.len()],
            reached: None,
            found: Vec::new(),
        }
    }

    fn count(&mut self) {
        let outputs: Vec<&Output> = self.scope.outputs().map(|(_, output)| output).collect();
        let mut admitted: BTreeSet<&StepId> = BTreeSet::new();
        for (at, output) in outputs.iter().enumerate() {
            let Output::Event(event) = output else { continue };
            match event {
                Event::Finishing { .. } => self.in_finally = true,
                Event::SuperStepStarted { number, .. } => self.super_step(*number),
                Event::NodeStarted { step, .. } => {
                    // A node that was not let start, by a limit or since its time is up, is told as failed at once.
                    let refused = matches!(
                        outputs.get(at + 1),
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
                    self.call(step, tool);
                }
                _ => {}
            }
        }
    }

    fn wrong(&mut self, step: Option<&StepId>, what: String) {
        self.found.push(match step {
            Some(step) => Violation::of_step(NAME, self.scope.path, step, what),
            None => Violation::of_scope(NAME, self.scope.path, what),
        });
    }

    /// The bound of a limit in the stage that is on.
    fn bound(&self, limit: &Limit, meter: Option<Meter>) -> Option<u64> {
        bounds_of(limit, meter, self.scope).map(|(main, all)| if self.in_finally { all } else { main })
    }

    /// Holds a count of a meter against all limits on it.
    fn meter(&mut self, meter: Meter, count: u64, step: Option<&StepId>) {
        let graph = self.scope.graph;
        for limit in &graph.limits {
            let is_on = matches!(limit.counted, Counted::Meter(m) if m == meter);
            // Where a limit leads on to a node, that node is a start more.
            if !is_on || (meter == Meter::SuperSteps && matches!(limit.on_reach, OnReach::To(_))) {
                continue;
            }
            if let Some(bound) = self.bound(limit, Some(meter)).filter(|bound| count > *bound) {
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
        for (index, limit) in graph.limits.iter().enumerate() {
            if matches!(&limit.counted, Counted::Names { nodes, .. } if nodes.contains(&ix)) {
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
        if let Verb::Model(model) = &node.verb {
            self.starts.models += 1;
            if !model.tools.is_empty() {
                self.turns += 1;
                self.meter(Meter::Turns, self.turns, Some(step));
            }
        }
    }

    fn call(&mut self, step: &StepId, tool: &str) {
        self.steps += 1;
        self.starts.tool_calls += 1;
        let Some(ix) = self.scope.graph.tool(tool) else {
            return self.wrong(Some(step), format!("`{tool}` was admitted and is no tool of this graph"));
        };
        let graph = self.scope.graph;
        for (index, limit) in graph.limits.iter().enumerate() {
            let names = |tools: &[ToolIx]| tools.contains(&ix);
            if !matches!(&limit.counted, Counted::Names { tools, .. } if names(tools)) {
                continue;
            }
            if let Some(value) = self.counted_as(limit, step) {
                self.named(index, value, step, true);
            }
        }
    }

    /// Under which value a limit counts a call; none where it does not count it, or where this can not be told.
    fn counted_as(&self, limit: &Limit, step: &StepId) -> Option<String> {
        if limit.condition.is_none() && limit.per.is_none() {
            return Some(String::new());
        }
        let args = (*self.args.get(step)?).clone();
        let names = Context::of(Arguments { args, config: self.scope.started.config.clone() });
        let value = |expr: &ValueExpr| {
            let written = expr.as_written();
            let reads_state = self.scope.graph.channels.iter().any(|c| written.contains(&*c.name))
                && !written.starts_with("args.");
            (!reads_state && !expr.wants().limits && !expr.wants().run)
                .then(|| self.seen.bundle.programs.value(expr, &names).ok())
                .flatten()
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
        let graph = self.scope.graph;
        let (Some(limit), Some(counts)) = (graph.limits.get(index), self.named.get_mut(index)) else {
            return;
        };
        let count = counts.entry(value).or_default();
        *count += 1;
        let count = *count;
        let Some(bound) = self.bound(limit, None) else { return };
        if count > bound {
            let name = &limit.name;
            self.wrong(Some(step), format!("it is number {count} of the limit `{name}`, which is {bound}"));
        }
        if count == bound && is_call && !self.in_finally && matches!(limit.on_reach, OnReach::Exit(..)) {
            self.reached.get_or_insert((limit.name.clone(), self.super_steps));
        }
    }
}

/// Limits that cover what children start as well.
fn of_tree(scope: &Scope<'_>, started: &BTreeMap<&str, Starts>) -> Vec<Violation> {
    let is_below = |path: &str| {
        let own = scope.path.as_str();
        own.is_empty() || path == own || path.strip_prefix(own).is_some_and(|rest| rest.starts_with('/'))
    };
    let mut all = Starts::default();
    for (_, starts) in started.iter().filter(|(path, _)| is_below(path)) {
        all.models += starts.models;
        all.tool_calls += starts.tool_calls;
    }
    let own = started.get(scope.path.as_str()).copied().unwrap_or_default();
    let mut found = Vec::new();
    for (meter, of) in [
        (Meter::ModelCalls, (|s: &Starts| s.models) as fn(&Starts) -> u64),
        (Meter::ToolCalls, |s: &Starts| s.tool_calls),
    ] {
        let mut hold = |name: &str, count: u64, bound: u64| {
            if count > bound {
                let meter = meter.name();
                let what = format!("{count} {meter} were started, and the limit `{name}` is {bound}");
                found.push(Violation::of_scope(NAME, scope.path, what));
            }
        };
        for limit in &scope.graph.limits {
            if matches!(limit.counted, Counted::Meter(m) if m == meter)
                && let Some((_, most)) = bounds_of(limit, Some(meter), scope)
            {
                hold(&limit.name, if limit.own { of(&own) } else { of(&all) }, most);
            }
        }
        if let Some(granted) = granted(&scope.started.grant, meter) {
            hold("grant", of(&all), granted);
        }
    }
    found
}

/// A graph that limits how deep it stands in itself by refusing is never deeper.
fn too_deep(seen: &Seen<'_>, scope: &Scope<'_>) -> Option<Violation> {
    let limit = scope.graph.limits.iter().find(|limit| {
        matches!(limit.counted, Counted::Meter(Meter::Depth)) && limit.on_reach == OnReach::Refuse
    })?;
    let (_, most) = bounds_of(limit, None, scope)?;
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
