//! What came of a run, in the words of a case.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_engine::Machine;
use deepgraph_graph::{Bundle, GraphIx, Verb};
use deepgraph_protocol::{
    EntryBody, Event, Exit, Message, RunStatus, ScopePath, Spent, StepId, ToolCall, Value,
};
use deepgraph_trace::{Node, NodeKind, Outcome, ScopeTrace, Trace};

use super::fork::entries_until;
use super::money::dollars;
use super::pattern::number;
use crate::SimRun;

/// What came of a run.
pub(crate) struct Seen<'r> {
    run: &'r SimRun,
    pub(crate) trace: Trace,
    machines: BTreeMap<ScopePath, Machine>,
    bundle: Arc<Bundle>,
}

impl<'r> Seen<'r> {
    pub(crate) fn of(run: &'r SimRun, bundle: &Arc<Bundle>) -> Seen<'r> {
        let mut machines: BTreeMap<ScopePath, Machine> = BTreeMap::new();
        for (scope, entry) in &run.rows {
            if let EntryBody::Started(started) = &entry.body
                && let Some(graph) = bundle.find(&started.graph)
            {
                let new = || Machine::new(bundle.clone(), graph, scope.clone());
                machines.entry(scope.clone()).or_insert_with(new);
            }
            if let Some(machine) = machines.get_mut(scope) {
                machine.apply(entry);
            }
        }
        Seen { run, trace: run.trace(bundle), machines, bundle: bundle.clone() }
    }

    /// The instances, each before those that it started.
    pub(crate) fn scopes(&self) -> Vec<&ScopeTrace> {
        fn below<'t>(scope: &'t ScopeTrace, all: &mut Vec<&'t ScopeTrace>) {
            all.push(scope);
            for node in nodes(scope) {
                let children = node.child.iter().chain(node.calls.iter().flat_map(|call| &call.child));
                children.for_each(|child| below(child, all));
            }
        }
        let mut all = Vec::new();
        below(&self.trace.root, &mut all);
        all
    }

    pub(crate) fn scope(&self, path: &str) -> Option<&ScopeTrace> {
        self.scopes().into_iter().find(|scope| scope.scope.as_str() == path)
    }

    /// What came of one key of an instance.
    pub(crate) fn of_scope(&self, scope: &ScopeTrace, key: &str) -> Value {
        match key {
            "exit" => scope.exit.as_ref().map_or(Value::Null, exit),
            "report" => scope.report.map_or(Value::Null, |r| Value::from(r.name())),
            "report_error" => scope.report_error.as_ref().map_or(Value::Null, |e| Value::from(e.to_string())),
            "input" => Value::from(scope.input.clone()),
            "output" => Value::from(scope.output.clone()),
            "state" => self.state(scope),
            "counters" => {
                let counters = scope.exit.iter().flat_map(|exit| &exit.counters);
                Value::record(counters.map(|(k, n)| (k.clone(), int(*n))))
            }
            "kept" => self.kept(scope),
            "limits" => self.limits(scope),
            "used" => used(&scope.settled),
            "grant" => self.grant(scope),
            "clocks" => self.clocks(scope),
            _ => super_steps(scope),
        }
    }

    fn machine(&self, scope: &ScopeTrace) -> Option<&Machine> {
        self.machines.get(&scope.scope)
    }

    fn state(&self, scope: &ScopeTrace) -> Value {
        self.machine(scope).map_or(Value::Null, state_of)
    }

    fn kept(&self, scope: &ScopeTrace) -> Value {
        let end = self.machine(scope).and_then(Machine::end);
        end.map_or(Value::Null, |end| Value::from(end.persisted.clone()))
    }

    fn limits(&self, scope: &ScopeTrace) -> Value {
        let limits = self.machine(scope).map(Machine::limits).unwrap_or_default();
        Value::record(limits.iter().map(|limit| (limit.name.clone(), limit.to_value())))
    }

    /// Where its time went, in seconds.
    fn clocks(&self, scope: &ScopeTrace) -> Value {
        let Some(end) = self.machine(scope).and_then(Machine::end) else { return Value::Null };
        let clocks = end.exit.clocks;
        let seconds = |ms: u64| Value::from(ms as f64 / 1000.0);
        Value::record([
            ("wall", seconds(clocks.wall_ms)),
            ("active", seconds(clocks.active_ms)),
            ("backoff", seconds(clocks.backoff_ms)),
            ("human", seconds(clocks.human_ms)),
        ])
    }

    /// What it was granted, in the units of the graph file: dollars, and seconds for its time.
    fn grant(&self, scope: &ScopeTrace) -> Value {
        let started = self.run.rows.iter().find_map(|(path, entry)| match &entry.body {
            EntryBody::Started(started) if *path == scope.scope => Some((entry.at, started)),
            _ => None,
        });
        let Some((at, started)) = started else { return Value::Null };
        let grant = started.grant;
        let count = |n: Option<u64>| n.map_or(Value::Null, int);
        Value::record([
            ("tokens", count(grant.tokens)),
            ("cost_usd", grant.cost_micro_usd.map_or(Value::Null, |n| Value::from(dollars(n)))),
            ("model_calls", count(grant.model_calls)),
            ("tool_calls", count(grant.tool_calls)),
            ("wall_time", grant.deadline.map_or(Value::Null, |end| Value::from((end - at) as f64 / 1000.0))),
            ("active_time", grant.active_ms.map_or(Value::Null, |ms| Value::from(ms as f64 / 1000.0))),
        ])
    }

    /// What came of one key of the run.
    pub(crate) fn of_run(&self, key: &str) -> Value {
        match key {
            "status" => Value::from(self.status().map_or("running", |s| s.name())),
            "steps" => self.steps().iter().map(|step| Value::from(step.as_str())).collect(),
            "attempts" => self.attempts(),
            "answers" => Value::record(self.answers()),
            "refused" => self.calls(|outcome| matches!(outcome, Outcome::Refused(_))),
            "malformed" => self.calls(|outcome| matches!(outcome, Outcome::Malformed(_))),
            "failed" => self.failed(),
            "questions" => Value::record(self.run.events.iter().filter_map(|event| match event {
                Event::Asked { step, question } => Some((step.as_str(), Value::from(question.clone()))),
                _ => None,
            })),
            "left_out" => Value::record(self.run.events.iter().filter_map(|event| match event {
                Event::ItemsLeftOut { step, left_out, .. } => Some((step.as_str(), int(*left_out))),
                _ => None,
            })),
            "elapsed" => Value::from((self.run.now - self.run.began) as f64 / 1000.0),
            _ => Value::Null,
        }
    }

    /// What the channels of the root held once a step was over; none where it never was.
    pub(crate) fn history(&self, step: &StepId) -> Option<Value> {
        let entries = entries_until(self.run, step)?;
        let root = self.machines.get(&ScopePath::root())?;
        let bundle = self.bundle.clone();
        let mut machine = Machine::new(bundle, GraphIx(0), root.scope().clone());
        let rows = self.run.rows.iter().take(entries).filter(|(scope, _)| scope.is_root());
        rows.for_each(|(_, entry)| drop(machine.apply(entry)));
        Some(state_of(&machine))
    }

    /// Where the run stands; none while something else than a question is open.
    fn status(&self) -> Option<RunStatus> {
        let asks = |machine: &Machine| {
            let mut open = machine.open_effects().into_iter();
            open.any(|effect| matches!(effect, deepgraph_protocol::Effect::Ask { .. }))
        };
        let waits = self.run.end.is_none() && self.machines.values().any(asks);
        if waits { Some(RunStatus::AwaitingInput) } else { self.trace.status }
    }

    /// Steps that were started, in canonical order: nodes, admitted calls, and below each what it started.
    pub(crate) fn steps(&self) -> Vec<StepId> {
        fn below(scope: &ScopeTrace, steps: &mut Vec<StepId>) {
            for node in nodes(scope) {
                walk(node, steps);
            }
        }
        fn walk(node: &Node, steps: &mut Vec<StepId>) {
            if matches!(node.outcome, Some(Outcome::Refused(_) | Outcome::Malformed(_))) {
                return;
            }
            steps.push(node.step.clone());
            node.calls.iter().for_each(|call| walk(call, steps));
            node.child.iter().for_each(|child| below(child, steps));
        }
        let mut steps = Vec::new();
        below(&self.trace.root, &mut steps);
        steps
    }

    /// All nodes and calls of all instances.
    fn all_nodes(&self) -> Vec<&Node> {
        let of_scope = |scope| nodes(scope).flat_map(|node| std::iter::once(node).chain(&node.calls));
        self.scopes().into_iter().flat_map(of_scope).collect()
    }

    /// How often each model call and op was tried.
    fn attempts(&self) -> Value {
        let tried = self.all_nodes().into_iter().filter_map(|node| {
            let works = matches!(node.kind, NodeKind::Model(_) | NodeKind::Op { .. });
            works.then(|| (node.step.as_str(), int(node.failed_attempts.len() as u64 + 1)))
        });
        Value::record(tried)
    }

    fn calls(&self, with: impl Fn(&Outcome) -> bool) -> Value {
        let nodes = self.all_nodes().into_iter().filter(|node| node.outcome.as_ref().is_some_and(&with));
        nodes.map(|node| Value::from(node.step.as_str())).collect()
    }

    fn failed(&self) -> Value {
        let failed = self.all_nodes().into_iter().filter_map(|node| match &node.outcome {
            Some(Outcome::Failed(error)) => Some((node.step.as_str(), Value::from(error.to_string()))),
            _ => None,
        });
        Value::record(failed)
    }

    /// What the model was told, by call.
    fn answers(&self) -> Vec<(Arc<str>, Value)> {
        let mut answers = Vec::new();
        for scope in self.scopes() {
            let Some(machine) = self.machine(scope) else { continue };
            let plan = machine.plan();
            // The calls of each model node's last reply, as the turn that runs them finds them.
            let mut replies: BTreeMap<&str, &[ToolCall]> = BTreeMap::new();
            for super_step in &scope.super_steps {
                for node in &super_step.nodes {
                    let verb = plan.node(name(&node.step)).map(|ix| &plan.nodes[ix.0].verb);
                    let Some(Verb::RunTools(model)) = verb else { continue };
                    let Some(Verb::Model(declared)) = plan.nodes.get(model.0).map(|n| &n.verb) else {
                        continue;
                    };
                    let told = declared.messages.and_then(|c| machine.channel(&plan.channels[c.0].name));
                    let calls = replies.get(&*plan.nodes[model.0].name).copied().unwrap_or_default();
                    for call in &node.calls {
                        // A call's number is its place in the turn, whenever it was admitted.
                        let of = number(&call.step).and_then(|k| calls.get(k.checked_sub(1)?));
                        let text = of.and_then(|of| answer(told, &of.id));
                        answers.extend(text.map(|text| (Arc::from(call.step.as_str()), text)));
                    }
                }
                for node in &super_step.nodes {
                    if let Some(Outcome::Reply(reply)) = &node.outcome {
                        replies.insert(name(&node.step), &reply.tool_calls);
                    }
                }
            }
        }
        answers
    }

    /// The most steps of those named that were out at once.
    pub(crate) fn at_once(&self, named: impl Fn(&StepId) -> bool) -> usize {
        let (mut out, mut most) = (0_usize, 0);
        for passage in self.run.flight.iter().filter(|passage| named(&passage.step)) {
            out = if passage.out { out + 1 } else { out.saturating_sub(1) };
            most = most.max(out);
        }
        most
    }
}

fn state_of(machine: &Machine) -> Value {
    let names = machine.plan().channels.iter().map(|channel| channel.name.clone());
    Value::record(names.map(|n| (n.clone(), machine.channel(&n).cloned().unwrap_or_default())))
}

fn nodes(scope: &ScopeTrace) -> impl Iterator<Item = &Node> {
    scope.super_steps.iter().flat_map(|s| &s.nodes)
}

/// The node of a step, by its name.
fn name(step: &StepId) -> &str {
    step.last().rsplit_once('.').map_or(step.last(), |(name, _)| name)
}

fn answer(conversation: Option<&Value>, call: &str) -> Option<Value> {
    let messages = conversation?.as_list()?.iter().filter_map(|m| Message::from_value(m).ok());
    let mut answers = messages.filter(|message| message.tool_call_id.as_deref() == Some(call));
    answers.next_back().map(|message| Value::from(message.content))
}

/// The super-steps of an instance, by the last parts of their steps.
fn super_steps(scope: &ScopeTrace) -> Value {
    let last = |node: &Node| Value::from(node.step.last());
    scope.super_steps.iter().map(|s| s.nodes.iter().map(last).collect::<Value>()).collect()
}

fn exit(exit: &Exit) -> Value {
    let limit = exit.limit.as_ref().map_or(Value::Null, |hit| {
        Value::record([
            ("name", Value::from(hit.name.clone())),
            ("value", int(hit.value)),
            ("bound", int(hit.bound)),
        ])
    });
    let text = |text: Option<&str>| text.map_or(Value::Null, Value::from);
    Value::record([
        ("reason", Value::from(exit.reason.name())),
        ("class", Value::of(&exit.class)),
        ("limit", limit),
        ("also", exit.also.iter().map(|reason| Value::from(reason.name())).collect()),
        ("detail", text(exit.detail.as_deref())),
        ("findings", exit.findings.map_or(Value::Null, int)),
        ("last_step", text(exit.last_step.as_ref().map(StepId::as_str))),
        ("attempt", int(u64::from(exit.attempt))),
        ("unknown_writes", exit.unknown_writes.iter().map(|step| Value::from(step.as_str())).collect()),
        ("not_undone", not_undone(exit)),
    ])
}

/// What was changed outside and not undone, with why.
fn not_undone(exit: &Exit) -> Value {
    Value::record(exit.not_undone.iter().map(|left| (left.step.as_str(), Value::from(left.why.clone()))))
}

fn used(spent: &Spent) -> Value {
    Value::record([
        ("tokens", int(spent.tokens)),
        ("cost_usd", Value::from(dollars(spent.cost_micro_usd))),
        ("cost_unknown", int(spent.cost_unknown)),
        ("model_calls", int(spent.model_calls)),
        ("tool_calls", int(spent.tool_calls)),
    ])
}

fn int(n: u64) -> Value {
    Value::Int(i64::try_from(n).unwrap_or(i64::MAX))
}
