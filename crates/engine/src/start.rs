//! Starting: an instance, a super-step, a node.

use std::sync::Arc;

use deepgraph_graph::{Call, Callee, NodeIx, OnReach, Setting, Verb};
use deepgraph_protocol::{Effect, ErrorKind, Event, Map, Meter, Started, StepError, StepId, Value};

use crate::exit::Candidate;
use crate::grant::PendingSpawn;
use crate::limits::What;
use crate::machine::{Machine, Phase};
use crate::names::Scope;
use crate::run::{Attempts, NodeRun, Outcome, Progress, Work};

/// The longest time of an op once the time of the `finally` stage is up, in milliseconds.
const OVERTIME_MS: u64 = 10_000;

/// What is decided about one start by the limits that count it.
enum Permission {
    Granted,
    /// A limit's node runs instead.
    Instead(NodeIx),
    /// Not started; the limit ends the instance.
    Stopped,
    /// Not started; the node fails.
    Refused(StepError),
}

impl Machine {
    pub(crate) fn start(&mut self, started: &Started) {
        if self.phase != Phase::New {
            return;
        }
        self.attempt = started.attempt;
        self.started = self.now;
        self.config = Arc::new(started.config.clone());
        self.grant = started.grant;
        self.phase = Phase::Main;
        self.tell(Event::ScopeStarted { scope: self.scope.clone(), graph: started.graph.clone() });
        self.activate_limits();
        self.take_input(&started.input);
        self.set_timers();
        let bundle = self.bundle.clone();
        let plan = bundle.graph(self.graph);
        self.follow_start(&plan.start);
    }

    fn take_input(&mut self, input: &Map) {
        let bundle = self.bundle.clone();
        let plan = bundle.graph(self.graph);
        for ix in &plan.input {
            let channel = &plan.channels[ix.0];
            let Some(value) = input.get(&channel.name).filter(|v| !v.is_null()) else { continue };
            match self.state.write(plan, *ix, value.clone()) {
                Ok(_) => drop(self.given.insert(channel.name.clone(), self.state.get(*ix).clone())),
                Err(error) => self.graph_error(error),
            }
        }
    }

    /// Takes the nodes that are ready into a new super-step, or ends the stage when there are none.
    pub(crate) fn next_super_step(&mut self) {
        self.current.clear();
        if self.choose_exit() || self.ready.is_empty() {
            self.end_stage();
            return;
        }
        match self.permit_super_step() {
            Permission::Granted | Permission::Instead(_) => {}
            Permission::Stopped => return,
            Permission::Refused(error) => return self.graph_error(error),
        }
        self.counters.super_steps += 1;
        let nodes: Vec<NodeIx> = std::mem::take(&mut self.ready).into_iter().collect();
        let first_event = self.out.len();
        let mut steps = Vec::new();
        for node in nodes {
            self.start_node(node, &mut steps);
        }
        let event = Event::SuperStepStarted {
            scope: self.scope.clone(),
            number: self.counters.super_steps,
            nodes: steps,
        };
        self.out.insert(first_event, event.into());
        self.send_spawns();
    }

    fn permit_super_step(&mut self) -> Permission {
        let permission = self.permit(|what| matches!(what, What::Meter(Meter::SuperSteps)), "super-step");
        match permission {
            Permission::Instead(node) => {
                self.ready = [node].into();
                Permission::Granted
            }
            other => other,
        }
    }

    /// Starts a node, or the node that a limit puts in its place.
    fn start_node(&mut self, node: NodeIx, steps: &mut Vec<StepId>) {
        let mut node = node;
        let mut tried = Vec::new();
        loop {
            if self.current.iter().any(|n| n.node == node) {
                return;
            }
            match self.permit_node(node) {
                Permission::Granted => break,
                Permission::Stopped => return,
                Permission::Refused(error) => {
                    let step = self.visit(node, steps);
                    self.tell(Event::StepFailed { step: step.clone(), error: error.clone() });
                    let work = Work::Step(Progress::Done(Outcome::Failed(error)));
                    self.current.push(NodeRun { node, step, work });
                    return;
                }
                Permission::Instead(other) => {
                    tried.push(node);
                    if tried.contains(&other) {
                        let name = &self.plan().nodes[other.0].name;
                        let message = format!("limits lead from `{name}` back to itself");
                        self.graph_error(StepError::new(ErrorKind::Graph, message));
                        return;
                    }
                    node = other;
                }
            }
        }
        self.count_node(node);
        let step = self.visit(node, steps);
        let work = self.begin_work(node, &step);
        self.current.push(NodeRun { node, step, work });
    }

    fn visit(&mut self, node: NodeIx, steps: &mut Vec<StepId>) -> StepId {
        let visits = self.visits.entry(node).or_insert(0);
        *visits += 1;
        let visit = *visits;
        let bundle = self.bundle.clone();
        let declared = &bundle.graph(self.graph).nodes[node.0];
        let step = StepId::node(&self.scope, &declared.name, visit);
        let title = match &declared.title {
            Some(text) => bundle
                .programs
                .render(text, &self.names().names())
                .unwrap_or_else(|_| declared.name.to_string())
                .into(),
            None => declared.name.clone(),
        };
        steps.push(step.clone());
        self.tell(Event::NodeStarted { step: step.clone(), title });
        step
    }

    fn permit_node(&mut self, node: NodeIx) -> Permission {
        let bundle = self.bundle.clone();
        let declared = &bundle.graph(self.graph).nodes[node.0];
        let is_model = matches!(declared.verb, Verb::Model(_));
        let is_turn = matches!(&declared.verb, Verb::Model(m) if !m.tools.is_empty());
        let is_step = matches!(declared.verb, Verb::Model(_) | Verb::Call(_) | Verb::Ask(_));
        if let Some(why) = &self.overtime
            && is_step
            && !matches!(&declared.verb, Verb::Call(call) if matches!(call.callee, Callee::Op(_)))
        {
            return Permission::Refused(why.clone());
        }
        self.permit(
            |what| match what {
                What::Names { nodes, .. } => nodes.contains(&node),
                What::Meter(Meter::Turns) => is_turn,
                What::Meter(Meter::ModelCalls) => is_model,
                What::Meter(Meter::Steps) => is_step,
                _ => false,
            },
            &declared.name,
        )
    }

    /// Asks every limit that counts a start whether one more fits.
    fn permit(&mut self, counts: impl Fn(&What) -> bool, what: &str) -> Permission {
        let in_finally = self.in_finally();
        let at = self.reading();
        let full = self.limits.iter().find_map(|limit| {
            let bound = limit.bound(in_finally).filter(|_| counts(&limit.what))?;
            let taken = limit.taken(&at);
            (taken >= bound).then(|| (limit.name.clone(), limit.on_reach.clone(), limit.hit(taken), bound))
        });
        let Some((name, on_reach, hit, bound)) = full else { return Permission::Granted };
        self.tell_limit(&hit);
        let refusal = || {
            let message = format!("`{what}` was not started: the limit `{name}` ({bound}) is used up");
            Permission::Refused(StepError::new(ErrorKind::Refused, message))
        };
        match on_reach {
            OnReach::Refuse => refusal(),
            OnReach::To(node) => Permission::Instead(node),
            OnReach::Exit(..) if in_finally => refusal(),
            OnReach::Exit(reason, class) => {
                self.candidates.push(Candidate::limit(reason, class, hit));
                Permission::Stopped
            }
        }
    }

    fn count_node(&mut self, node: NodeIx) {
        let bundle = self.bundle.clone();
        match &bundle.graph(self.graph).nodes[node.0].verb {
            Verb::Model(model) => {
                self.counters.turns += u64::from(!model.tools.is_empty());
                self.counters.steps += 1;
            }
            Verb::Call(_) | Verb::Ask(_) => self.counters.steps += 1,
            Verb::Pass | Verb::RunTools(_) => {}
        }
        for limit in &mut self.limits {
            if matches!(&limit.what, What::Names { nodes, .. } if nodes.contains(&node)) {
                limit.count += 1;
            }
        }
    }

    fn begin_work(&mut self, node: NodeIx, step: &StepId) -> Work {
        let bundle = self.bundle.clone();
        let declared = &bundle.graph(self.graph).nodes[node.0];
        let progress = match &declared.verb {
            Verb::Pass => Progress::Done(Outcome::Nothing),
            Verb::RunTools(model) => return Work::Turn(self.begin_turn(*model, step)),
            Verb::Model(_) => {
                self.open(Effect::CallModel {
                    step: step.clone(),
                    attempt: 1,
                    delay_ms: 0,
                    timeout_ms: self.timeout(declared.timeout.as_ref()),
                });
                Progress::Open(Attempts::FIRST)
            }
            Verb::Call(call) => {
                let names = self.names();
                let settings = (declared.timeout.as_ref(), declared.cache.as_ref());
                self.begin_call(step, call, &names, settings, false)
            }
            Verb::Ask(ask) => {
                let names = self.names();
                self.begin_ask(step, ask, &names, declared.timeout.as_ref())
            }
        };
        Work::Step(progress)
    }

    /// Sends a call out, or says why it can not be.
    pub(crate) fn begin_call(
        &mut self,
        step: &StepId,
        call: &Call,
        names: &Scope,
        (timeout, cache): (Option<&Setting>, Option<&Setting>),
        queued: bool,
    ) -> Progress {
        let input = match self.call_input(call, names) {
            Ok(input) => input,
            Err(error) => return self.fail_at_once(step, error),
        };
        match &call.callee {
            Callee::Graph(graph) => {
                if let Err(error) = self.fits_child(*graph, &input) {
                    return self.fail_at_once(step, error);
                }
                self.spawns.push(PendingSpawn { step: step.clone(), graph: *graph, input, queued });
            }
            Callee::Op(op) => {
                let effect = Effect::RunOp {
                    step: step.clone(),
                    attempt: 1,
                    delay_ms: 0,
                    timeout_ms: self.timeout(timeout),
                    op: op.clone(),
                    input,
                    cache_ms: cache.and_then(|c| c.millis(&self.config)),
                };
                self.open(effect);
            }
        }
        Progress::Open(Attempts::FIRST)
    }

    pub(crate) fn begin_ask(
        &mut self,
        step: &StepId,
        ask: &deepgraph_graph::Ask,
        names: &Scope,
        timeout: Option<&Setting>,
    ) -> Progress {
        match self.bundle.programs.render(&ask.question, &names.names()) {
            Ok(question) => {
                let question: Arc<str> = question.trim().into();
                self.tell(Event::Asked { step: step.clone(), question: question.clone() });
                let timeout_ms = self.timeout(timeout);
                self.open(Effect::Ask {
                    step: step.clone(),
                    question,
                    shape: ask.returns.shape.clone(),
                    timeout_ms,
                });
                Progress::Open(Attempts::FIRST)
            }
            Err(e) => self.fail_at_once(step, StepError::new(ErrorKind::Graph, e.to_string())),
        }
    }

    fn fail_at_once(&mut self, step: &StepId, error: StepError) -> Progress {
        self.tell(Event::StepFailed { step: step.clone(), error: error.clone() });
        Progress::Done(Outcome::Failed(error))
    }

    fn call_input(&self, call: &Call, names: &Scope) -> Result<Map, StepError> {
        let names = names.names();
        let mut input = Map::new();
        for (name, value) in &call.input {
            let value = self
                .bundle
                .programs
                .value(value, &names)
                .map_err(|e| StepError::new(ErrorKind::Graph, e.to_string()))?;
            if !value.is_null() {
                input.insert(name.clone(), value);
            }
        }
        Ok(input)
    }

    pub(crate) fn timeout(&self, setting: Option<&Setting>) -> Option<u64> {
        let ms = setting.and_then(|s| s.millis(&self.config)).filter(|ms| *ms > 0);
        if self.overtime.is_some() { Some(ms.unwrap_or(u64::MAX).min(OVERTIME_MS)) } else { ms }
    }

    /// The value of an expression; where it has none, the graph is at fault.
    pub(crate) fn evaluate(
        &self,
        value: &deepgraph_graph::ValueExpr,
        names: &Scope,
    ) -> Result<Value, StepError> {
        self.bundle
            .programs
            .value(value, &names.names())
            .map_err(|e| StepError::new(ErrorKind::Graph, e.to_string()))
    }
}
