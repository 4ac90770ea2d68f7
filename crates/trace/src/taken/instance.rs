//! One instance: its journal folded, its marks put together with its events.

mod again;

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_engine::Machine;
use deepgraph_graph::{Counted, Graph, GraphIx, NodeIx, OnReach, Passage, RouteOf, TakenGraph, Target, Verb};
use deepgraph_protocol::{
    Effect, Entry, EntryBody, Event, Exit, ExitReason, LimitHit, Meter, Output, ScopePath, StepId, Value,
};

use super::ending::Ending;
use super::left::{Gone, Left, Marks, Visit};
use super::marked::{CHANNEL, Marked};

/// A graph instance that is being folded.
#[derive(Debug)]
pub(super) struct Instance<'m> {
    marked: &'m Marked,
    machine: Machine,
    pub graph: GraphIx,
    /// How many marks were read from the channel.
    read: usize,
    marks: Marks,
    /// The nodes of the current super-step, in plan order.
    visits: Vec<Visit>,
    /// The route that leads into the stage, until it was followed.
    entrance: Option<RouteOf>,
    /// Limits that were reached since the super-step began.
    told: Vec<LimitHit>,
    /// How many of them directly before now.
    just_told: usize,
    in_finally: bool,
    /// How child graphs ended, by the step that started them.
    children: BTreeMap<StepId, Arc<str>>,
    /// The exit by which the caller wants it to end.
    called_off: Option<ExitReason>,
    /// How the main part ended.
    ending: Option<Ending>,
    is_over: bool,
    /// What is known of the attempt before, where it has gone on.
    again: again::Again,
}

impl<'m> Instance<'m> {
    pub fn new(marked: &'m Marked, graph: GraphIx, scope: &ScopePath) -> Instance<'m> {
        Instance {
            marked,
            machine: Machine::new(marked.bundle.clone(), graph, scope.clone()),
            graph,
            read: 0,
            marks: Marks::default(),
            visits: Vec::new(),
            entrance: Some(RouteOf::Start),
            told: Vec::new(),
            just_told: 0,
            in_finally: false,
            children: BTreeMap::new(),
            called_off: None,
            ending: None,
            is_over: false,
            again: again::Again::default(),
        }
    }

    fn plan(&self) -> &'m Graph {
        self.marked.bundle.graph(self.graph)
    }

    /// Folds one entry.
    pub fn apply(&mut self, entry: &Entry, out: &mut TakenGraph) {
        match &entry.body {
            EntryBody::ChildEnded { step, end } => {
                self.children.insert(step.clone(), end.exit.reason.name().into());
            }
            EntryBody::CancelRequested { reason: Some(reason), .. } => self.called_off = Some(reason.clone()),
            _ => {}
        }
        let outputs = self.machine.apply(entry);
        self.read_marks();
        for output in outputs {
            match output {
                Output::Event(event) => self.note(event, out),
                Output::Effect(effect) => {
                    self.open_again(&effect);
                    if let Effect::Spawn { step, .. } = effect {
                        self.note_spawn(&step, out);
                    }
                }
            }
        }
    }

    fn read_marks(&mut self) {
        let written = self.machine.channel(CHANNEL).and_then(Value::as_list).unwrap_or_default();
        let new = written.get(self.read..).unwrap_or_default();
        self.read = written.len();
        self.marks.0.extend(new.iter().filter_map(|value| self.marked.mark(self.graph, value)).cloned());
    }

    fn note(&mut self, event: Event, out: &mut TakenGraph) {
        let just_told = std::mem::take(&mut self.just_told);
        match event {
            Event::ScopeStarted { .. } => out.instances += 1,
            Event::SuperStepStarted { nodes, .. } => self.begin_super_step(nodes, out),
            Event::NodeStarted { step, .. } => self.note_started(&step, just_told, out),
            Event::CallAdmitted { step, tool, .. } => {
                let tool = self.plan().tool(&tool);
                if let (Some(runner), Some(tool)) = (self.runner(&step), tool) {
                    *out.calls.entry((runner, tool)).or_default() += 1;
                }
            }
            Event::StepCompleted { step } => self.visit(&step, |visit| visit.done = true),
            Event::StepFailed { step, error } => self.visit(&step, |visit| {
                visit.done = true;
                visit.failed = Some(error.kind);
            }),
            Event::ItemStarted { step, .. } => {
                if let Some(node) = self.runner(&step) {
                    *out.items.entry(node).or_default() += 1;
                }
            }
            Event::LimitReached { limit, value, bound, .. } => {
                if let Some(index) = self.limit(&limit) {
                    *out.reached.entry(index).or_default() += 1;
                }
                self.told.push(LimitHit { name: limit, value, bound });
                self.just_told = just_told + 1;
            }
            Event::Finishing { .. } => {
                out.finishing += 1;
                if !self.again.is_report {
                    self.end_main();
                }
                self.in_finally = true;
                self.entrance = Some(RouteOf::Finally);
            }
            Event::Exited { exit } => self.note_exit(&exit, out),
            Event::ScopeEnded { .. } => self.is_over = true,
            Event::Resumed { from, .. } => self.go_on(from),
            Event::CallQueued { .. }
            | Event::CallRefused { .. }
            | Event::CallMalformed { .. }
            | Event::AttemptFailed { .. }
            | Event::ItemsLeftOut { .. }
            | Event::LimitWarned { .. }
            | Event::Gained { .. }
            | Event::CompensationStarted { .. }
            | Event::Asked { .. } => {}
        }
    }

    fn visit(&mut self, step: &StepId, change: impl FnOnce(&mut Visit)) {
        if let Some(visit) = self.visits.iter_mut().find(|v| v.step == *step) {
            change(visit);
        }
    }

    /// The node that runs the turn of a call, or over the list of an item.
    fn runner(&self, step: &StepId) -> Option<NodeIx> {
        self.visits.iter().find(|v| step.below(&v.step).is_some()).map(|v| v.node)
    }

    fn note_spawn(&mut self, step: &StepId, out: &mut TakenGraph) {
        let node = self.visits.iter().find(|v| v.step == *step).map(|v| v.node).or_else(|| self.runner(step));
        let Some(node) = node else { return };
        let is_turn = matches!(self.plan().nodes[node.0].verb, Verb::RunTools(_));
        match name_of(step).and_then(|name| self.plan().tool(name)).filter(|_| is_turn) {
            Some(tool) => *out.called.entry(tool).or_default() += 1,
            None => *out.spawned.entry(node).or_default() += 1,
        }
    }

    /// The index of a limit that the graph declares.
    fn limit(&self, name: &str) -> Option<usize> {
        self.plan().limits.iter().position(|limit| &*limit.name == name)
    }

    /// A node that started directly after a limit was reached took the place of another.
    fn note_started(&mut self, step: &StepId, just_told: usize, out: &mut TakenGraph) {
        let node = name_of(step).and_then(|name| self.plan().node(name));
        let before = self.told.split_off(self.told.len() - just_told.min(self.told.len()));
        let leads = |limit: &Option<usize>| limit.and_then(|index| detour(self.plan(), index));
        let found: Vec<(LimitHit, Option<usize>)> =
            before.into_iter().map(|hit| (hit.clone(), self.limit(&hit.name))).collect();
        if let Some((_, Some(last))) = found.last()
            && leads(&Some(*last)).is_some_and(|to| Some(to) == node)
        {
            *out.passages.entry(Passage::Limit(*last)).or_default() += 1;
        }
        // Those that end the instance have not done so yet.
        let kept: Vec<LimitHit> =
            found.into_iter().filter(|(_, limit)| leads(limit).is_none()).map(|(hit, _)| hit).collect();
        self.told.extend(kept);
    }

    fn begin_super_step(&mut self, steps: Vec<StepId>, out: &mut TakenGraph) {
        let left = self.join();
        let visits: Vec<Visit> = steps
            .into_iter()
            .filter_map(|step| {
                let node = self.plan().node(name_of(&step)?)?;
                Some(Visit { node, step, failed: None, done: false })
            })
            .collect();
        let detour = if let [only] = &visits[..] { self.detour_to(only.node) } else { None };
        if let Some(limit) = detour {
            *out.passages.entry(Passage::Limit(limit)).or_default() += 1;
        }
        for left in &left {
            self.note_left(left, &visits, detour.is_some(), out);
        }
        for visit in &visits {
            *out.visits.entry(visit.node).or_default() += 1;
        }
        self.visits = visits;
        self.told.clear();
    }

    /// Where a node led, when the instance went on. What waits for others counts at once, unless a limit led
    /// elsewhere: then nothing waits any more.
    fn note_left(&self, left: &Left, next: &[Visit], is_detour: bool, out: &mut TakenGraph) {
        let starts = |node: &&NodeIx| {
            let declared = &self.plan().nodes[node.0];
            let waits = !is_detour && (declared.defer || !declared.after.is_empty());
            waits || next.iter().any(|visit| visit.node == **node)
        };
        let mut count = |passage| *out.passages.entry(passage).or_default() += 1;
        let Some(gone) = &left.gone else {
            match &left.visit {
                Some(visit) if visit.failed.is_none() => count(Passage::Ended(visit.node)),
                _ => {}
            }
            return;
        };
        // Items that were passed over go on with the others, each by the way of its own failure.
        let carried = left.visit.iter().flat_map(|visit| {
            left.passed_over.iter().map(|way| Gone { of: RouteOf::Carried(visit.node, *way), ..gone.clone() })
        });
        let carried = carried.filter(|_| matches!(gone.of, RouteOf::Next(_)));
        for gone in carried.chain([gone.clone()]) {
            match &gone.to {
                Target::Nodes(nodes) => {
                    nodes.iter().filter(starts).for_each(|node| count(gone.passage(Some(*node))));
                }
                Target::CarryOn => count(gone.passage(None)),
                Target::Exit(..) | Target::Inherit => {}
            }
        }
    }

    /// The limit that led to the only node of the next super-step, in place of all others.
    fn detour_to(&self, node: NodeIx) -> Option<usize> {
        let acts = |index: &usize| {
            let counted = &self.plan().limits[*index].counted;
            let counts_calls = matches!(counted, Counted::Names { .. } | Counted::Meter(Meter::ToolCalls));
            // In the `finally` stage, calls past a bound are refused and nothing more.
            !(self.in_finally && counts_calls) && detour(self.plan(), *index) == Some(node)
        };
        self.told.iter().filter_map(|hit| self.limit(&hit.name)).rfind(acts)
    }

    /// What the nodes of the super-step that is over led to, in plan order; or the route into the stage.
    fn join(&mut self) -> Vec<Left> {
        if let Some(entrance) = self.entrance.take() {
            return vec![self.marks.entrance(entrance)];
        }
        let plan = self.plan();
        let visits = std::mem::take(&mut self.visits);
        let with_node = visits.into_iter().filter_map(|v| plan.nodes.get(v.node.0).map(|node| (v, node)));
        with_node.map(|(visit, node)| self.marks.left(visit, node)).collect()
    }

    /// Keeps what the last super-step of the main part led to, until it is told how the instance ended.
    fn end_main(&mut self) {
        self.again.main = self.visits.clone();
        let left = self.join();
        let (told, called_off) = (std::mem::take(&mut self.told), self.called_off.take());
        self.ending = Some(Ending { left, told, called_off });
    }

    fn note_exit(&mut self, exit: &Exit, out: &mut TakenGraph) {
        if self.ending.is_none() && !self.again.is_report {
            self.end_main();
        } else {
            // A way out of the `finally` stage ends the stage; the exit is what it was.
            for gone in self.join().into_iter().filter_map(|left| left.gone) {
                if matches!(gone.to, Target::Exit(..) | Target::Inherit) {
                    *out.passages.entry(gone.passage(None)).or_default() += 1;
                }
            }
        }
        let Some(ending) = self.ending.take() else { return self.visits.clear() };
        for passage in ending.passages(self.plan(), exit, &self.children) {
            *out.passages.entry(passage.clone()).or_default() += 1;
            *out.exits.entry((passage, exit.reason.name().into())).or_default() += 1;
        }
        self.visits.clear();
    }

    /// Counts the visits that are not over.
    pub fn note_open(&self, out: &mut TakenGraph) {
        for visit in self.visits.iter().filter(|v| !self.is_over && !v.done) {
            *out.open.entry(visit.node).or_default() += 1;
        }
    }
}

/// The node that a limit leads to.
fn detour(graph: &Graph, limit: usize) -> Option<NodeIx> {
    match graph.limits.get(limit)?.on_reach {
        OnReach::To(node) => Some(node),
        OnReach::Exit(..) | OnReach::Refuse => None,
    }
}

/// The name in the last segment of a step: `supervise` of `supervise.1`.
fn name_of(step: &StepId) -> Option<&str> {
    // A step's own text lives as long as the step.
    step.as_str().rsplit('/').next()?.rsplit_once('.').map(|(name, _)| name)
}
