//! Starting: an instance, a super-step, a node.

use std::sync::Arc;

use deepgraph_graph::NodeIx;
use deepgraph_protocol::{ErrorKind, Event, Map, Meter, Started, StepError, StepId};

use crate::limits::Counts;
use crate::machine::{Machine, Phase, date_of};
use crate::names::Local;
use crate::permit::Permission;
use crate::run::{NodeRun, Outcome, Progress, Work};

impl Machine {
    pub(crate) fn start(&mut self, started: &Started) {
        if self.phase != Phase::New {
            return;
        }
        self.attempt = started.attempt;
        self.clock.start(self.now);
        self.date = date_of(self.now).into();
        self.config = started.config.clone();
        self.grant = started.grant;
        self.reads_on = started.read_on;
        self.nesting = started.nesting.clone();
        self.count_own_depth();
        self.phase = Phase::Main;
        self.tell(Event::ScopeStarted { scope: self.scope.clone(), graph: started.graph.clone() });
        self.activate_limits();
        self.take_persisted(&started.persisted);
        self.take_input(&started.input);
        self.set_timers();
        let bundle = self.bundle.clone();
        let plan = bundle.graph(self.graph);
        match self.permit_depth() {
            Permission::Granted | Permission::Refused(_) => self.follow_start(&plan.start),
            Permission::Instead(node) => drop(self.ready.insert(node)),
            Permission::Stopped => {}
        }
    }

    /// What channels that are kept between runs held last. What does not fit any more is left behind.
    fn take_persisted(&mut self, persisted: &Map) {
        let bundle = self.bundle.clone();
        let channels = bundle.graph(self.graph).channels.iter().enumerate();
        for (ix, channel) in channels.filter(|(_, c)| c.persist.is_some()) {
            let Some(value) = persisted.get(&channel.name).filter(|v| !v.is_null()) else { continue };
            if let Ok(fitted) = channel.field.check(value) {
                self.state.set(deepgraph_graph::ChannelIx(ix), fitted);
            }
        }
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
        self.clear_current();
        if self.choose_exit() || !self.gather_ready() {
            self.end_stage();
            return;
        }
        self.let_go();
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
        if steps.is_empty() {
            // Limits stopped all that was ready: there is no such super-step.
            self.counters.super_steps -= 1;
            return;
        }
        let event = Event::SuperStepStarted {
            scope: self.scope.clone(),
            number: self.counters.super_steps,
            nodes: steps,
        };
        self.out.insert(first_event, event.into());
        self.send_spawns();
        if self.bundle.programs.read_limits() {
            self.shown = Some(Arc::new(self.limits()));
        }
    }

    pub(crate) fn clear_current(&mut self) {
        self.current.clear();
        self.slots.clear();
        self.shown = None;
        self.unfinished = 0;
        self.giving = None;
    }

    fn permit_super_step(&mut self) -> Permission {
        let permission = self.permit(|what| matches!(what, Counts::Meter(Meter::SuperSteps)), "super-step");
        match permission {
            Permission::Instead(node) => {
                self.ready = [node].into();
                Permission::Granted
            }
            other => other,
        }
    }

    /// Starts a node, or the node that a limit puts in its place.
    fn start_node(&mut self, wanted: NodeIx, steps: &mut Vec<StepId>) {
        let mut node = wanted;
        let mut tried = Vec::new();
        loop {
            if self.slots.contains_key(&node) {
                return;
            }
            match self.permit_node(node) {
                Permission::Granted => break,
                Permission::Stopped => {
                    self.stopped.insert(wanted);
                    return;
                }
                Permission::Refused(error) => {
                    let step = self.visit(node, steps);
                    self.tell(Event::StepFailed { step: step.clone(), error: error.clone() });
                    let work = Work::Step(Progress::Done(Outcome::Failed(error)));
                    self.take_in(NodeRun { node, step, work });
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
        self.take_in(NodeRun { node, step, work });
    }

    pub(crate) fn take_in(&mut self, run: NodeRun) {
        self.unfinished += run.unfinished();
        self.slots.insert(run.node, self.current.len());
        self.current.push(run);
    }

    fn visit(&mut self, node: NodeIx, steps: &mut Vec<StepId>) -> StepId {
        let visits = self.visits.entry(node).or_insert(0);
        *visits += 1;
        let visit = *visits;
        let bundle = self.bundle.clone();
        let declared = &bundle.graph(self.graph).nodes[node.0];
        let step = StepId::node(&self.scope, &declared.name, visit);
        let title = match &declared.title {
            // A title of items is that of each of them; the node itself goes by its name.
            Some(text) if declared.each.is_none() => self
                .text(text, &self.view(), &Local::default())
                .unwrap_or_else(|_| declared.name.to_string())
                .into(),
            _ => declared.name.clone(),
        };
        steps.push(step.clone());
        self.tell(Event::NodeStarted { step: step.clone(), title });
        step
    }
}
