//! Going on after the end: a further attempt of an instance, with its work or with its `finally` stage alone.
//!
//! What was counted and used stays: a raised limit raises a total, it opens no second budget.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_graph::{Call, Callee, Each, Node, NodeIx, Verb};
use deepgraph_protocol::{
    ErrorClass, ErrorKind, Event, Grant, Map, Meter, Millis, ResumeFrom, ScopeEnd, Spent, StepError, StepId,
};

use crate::exit::{Candidate, Report};
use crate::grant::PendingSpawn;
use crate::left::{Before, Left, Rest, children, falls_short};
use crate::limits::{Active, Counts, ppm};
use crate::machine::{Machine, Phase};
use crate::names::Local;
use crate::permit::Permission;
use crate::place::{Part, Place};
use crate::run::{Attempts, Item, ItemStage, Items, NodeRun, Open, Outcome, Progress, Waiting, Work};

impl Machine {
    /// The instance goes on, where it is over and something is left to go on with.
    pub(crate) fn resumed(&mut self, attempt: u32, config: &Arc<Map>, grant: Grant, from: ResumeFrom) {
        if attempt != self.attempt.saturating_add(1) || self.goes_on_with(from).is_err() {
            return;
        }
        let limits = self.limits_again(config, &grant, self.now);
        self.clock.go_on(self.now);
        self.attempt = attempt;
        self.config = config.clone();
        self.grant = grant;
        self.limits = limits;
        self.end = None;
        self.report = Report::default();
        self.candidates.clear();
        self.stopped.clear();
        self.detour = None;
        self.stopping = false;
        self.overtime = None;
        self.coming = 0;
        self.timers.clear();
        self.paused.clear();
        self.tell(Event::Resumed { scope: self.scope.clone(), attempt, from });
        match from {
            ResumeFrom::Research => self.work_again(),
            ResumeFrom::Report => self.report_again(),
        }
    }

    /// The limits under another configuration and grant, with what was counted so far.
    pub(crate) fn limits_again(&self, config: &Map, grant: &Grant, now: Millis) -> Vec<Active> {
        let (used, at) = (self.ledger.used(), self.reading());
        let granted = |meter: Meter| {
            let before = match meter {
                Meter::WallTime => u64::try_from(at.elapsed).unwrap_or(0),
                Meter::ActiveTime => u64::try_from(at.active).unwrap_or(0),
                counted => of_meter(&used, counted),
            };
            grant.of(meter, now).map(|more| before.saturating_add(more))
        };
        let in_force = self.plan().limits_in_force(config, &granted);
        let mut limits: Vec<Active> = in_force.into_iter().map(Active::of).collect();
        for limit in &mut limits {
            let Some(before) = self.limits.iter().find(|before| before.name == limit.name) else { continue };
            limit.count = before.count;
            // One that is no higher than it was has warned, and acted, for good.
            limit.warned = before.warned && limit.mark <= before.mark;
            limit.acted = before.acted && limit.max <= before.max;
            limit.failures.clone_from(&before.failures);
            limit.filter.counts.clone_from(&before.filter.counts);
            limit.gains.clone_from(&before.gains);
        }
        limits
    }

    /// The work goes on where it was left.
    fn work_again(&mut self) {
        let Some(left) = self.left.take() else { return };
        let Left { state, ready, stopped, deferred, arrived, replies, tried, before } = *left;
        self.phase = Phase::Main;
        self.exit = None;
        self.replies = replies;
        self.tried = tried;
        self.set_timers();
        match before {
            Some(before) => self.open_again(*before),
            None => {
                self.state = state;
                self.ready = ready;
                self.deferred = deferred;
                self.arrived = arrived;
            }
        }
        self.ready.extend(stopped);
    }

    /// The `finally` stage runs once more, over what the work left.
    fn report_again(&mut self) {
        let bundle = self.bundle.clone();
        let Some(route) = &bundle.graph(self.graph).finally else { return };
        let Some(reason) = self.exit.as_ref().map(|exit| exit.reason.clone()) else { return };
        if let Some(left) = &self.left {
            self.state = left.state.clone();
        }
        self.begin_finally(route, reason);
    }

    /// Opens a super-step again: what was done in it stays done, the rest is begun anew.
    fn open_again(&mut self, before: Before) {
        self.state = before.state;
        self.ready = before.ready;
        self.deferred = before.deferred;
        self.arrived = before.arrived;
        for (name, known) in before.gains {
            self.limits.iter_mut().filter(|limit| limit.name == name).for_each(|l| l.gains.truncate(known));
        }
        let later = self.children.split_off(before.children.min(self.children.len()));
        let is_joined = |step: &StepId| {
            before.runs.iter().any(|run| *step == run.step || step.below(&run.step).is_some())
        };
        self.later = later.into_iter().filter(|(step, _)| !is_joined(step)).collect();
        let every = !self.has_other_work(&before.runs, &before.left);
        for run in before.runs {
            let run = match before.left.get(&run.node) {
                None => run,
                Some(rest) => self.rest_of(run, *rest, every),
            };
            self.take_in(run);
        }
        self.send_spawns();
        if self.bundle.programs.read_limits() {
            self.shown = Some(Arc::new(self.limits()));
        }
    }

    /// Whether there is something to be done beside children whose limit is not raised.
    fn has_other_work(&self, runs: &[NodeRun], left: &BTreeMap<NodeIx, Rest>) -> bool {
        runs.iter().any(|run| {
            let Some(rest) = left.get(&run.node) else { return false };
            let verb = &self.plan().nodes[run.node.0].verb;
            rest.failures || (rest.children && children(&run.work).any(|end| self.goes_on(verb, end, false)))
        })
    }

    /// Whether a child goes on that ended short of its work. One that a limit ended which is no higher than it was
    /// stays as it is where there is other work; where there is none (`every`), it is asked, and names that limit.
    fn goes_on(&self, verb: &Verb, end: &ScopeEnd, every: bool) -> bool {
        falls_short(&end.exit) && (every || !self.would_end_at_once(verb, end))
    }

    /// Whether the limit that ended a child, or the one below it whose exit it took, is no higher than it was.
    fn would_end_at_once(&self, verb: &Verb, end: &ScopeEnd) -> bool {
        let (Verb::Call(call), Some(hit)) = (verb, &end.exit.limit) else { return false };
        let Ok(config) = self.child_config(&call.config) else { return false };
        let by_it = end.children.iter().rev().find(|exit| exit.limit.as_ref() == Some(hit));
        let Some(graph) = self.bundle.find(&by_it.unwrap_or(&end.exit).graph) else { return false };
        // What is granted comes from here, and there may be more of it: the limit's own bound decides.
        let limits = self.bundle.graph(graph).limits_in_force(&config, &|_| None);
        limits.into_iter().map(Active::of).find(|limit| limit.name == hit.name).is_some_and(|limit| {
            match &limit.counts {
                Counts::Gain { below, .. } => *below > 0.0 && ppm(*below) >= hit.bound,
                _ => limit.max.is_some_and(|max| max <= hit.bound),
            }
        })
    }

    fn rest_of(&mut self, run: NodeRun, rest: Rest, every: bool) -> NodeRun {
        let bundle = self.bundle.clone();
        let node = &bundle.graph(self.graph).nodes[run.node.0];
        let NodeRun { node: ix, step, work } = run;
        let work = match (work, rest, &node.each) {
            (Work::Step(Progress::Done(Outcome::Child(end))), Rest { children: true, .. }, _)
                if self.goes_on(&node.verb, &end, every) =>
            {
                let place = Place { node: self.current.len(), part: Part::Whole };
                Work::Step(self.reopen(node, &step, place, &Local::default(), false, end))
            }
            (Work::Step(Progress::Done(Outcome::Failed(error))), Rest { failures: true, .. }, _) => {
                let verb = |machine: &mut Machine| machine.permit_node(ix);
                match self.may_begin(&step, error, node.each.is_none().then_some(&node.verb), verb) {
                    Ok(()) => self.begin_work(ix, &step),
                    Err(error) => Work::Step(Progress::Done(Outcome::Failed(error))),
                }
            }
            (Work::Each(items), rest, Some(each)) => {
                self.rest_of_items(node, each, &step, items, (rest, every))
            }
            (work, ..) => work,
        };
        NodeRun { node: ix, step, work }
    }

    /// Whether a step that failed may begin anew. One that was sent out is tried again, as after any failure. One that
    /// a limit did not let start asks again.
    fn may_begin(
        &mut self,
        step: &StepId,
        error: StepError,
        verb: Option<&Verb>,
        permit: impl FnOnce(&mut Machine) -> Permission,
    ) -> Result<(), StepError> {
        if self.tried.contains_key(step) || error.kind != ErrorKind::Refused {
            self.coming += u64::from(matches!(verb, Some(Verb::Model(_))));
            return Ok(());
        }
        let refused = match permit(self) {
            Permission::Granted => {
                if let Some(verb) = verb {
                    self.count_verb(verb);
                }
                return Ok(());
            }
            Permission::Refused(error) => error,
            Permission::Instead(other) => {
                self.detour = Some(other);
                error
            }
            Permission::Stopped => error,
        };
        Err(refused)
    }

    fn rest_of_items(
        &mut self,
        node: &Node,
        each: &Each,
        step: &StepId,
        before: Items,
        (rest, every): (Rest, bool),
    ) -> Work {
        let cap = each.parallel.as_ref().and_then(|p| p.count(&self.config)).unwrap_or(u64::MAX).max(1);
        let cap = usize::try_from(cap).unwrap_or(usize::MAX);
        let mut items = Items { items: Vec::with_capacity(before.items.len()), cap, out: 0, next: 0 };
        for (index, Item { value, stage }) in before.items.into_iter().enumerate() {
            let id = step.item(index + 1);
            let stage = match stage {
                ItemStage::Started(Progress::Done(Outcome::Failed(error))) if rest.failures => {
                    let permit = |machine: &mut Machine| machine.permit_verb(&node.verb, &node.name);
                    match self.may_begin(&id, error, Some(&node.verb), permit) {
                        Ok(()) => self.begin_item(node, step, index, &value, &mut items),
                        Err(error) => ItemStage::Started(Progress::Done(Outcome::Failed(error))),
                    }
                }
                ItemStage::Started(Progress::Done(Outcome::Child(end)))
                    if rest.children && self.goes_on(&node.verb, &end, every) =>
                {
                    let waits = items.out >= items.cap;
                    let place = Place { node: self.current.len(), part: Part::Item(index) };
                    let local = Local::item(value.clone(), index);
                    match self.reopen(node, &id, place, &local, waits, end.clone()) {
                        Progress::Open(_) if waits => {
                            ItemStage::Waiting(Waiting { child: None, before: Some(end) })
                        }
                        progress => {
                            items.out += usize::from(!progress.is_done());
                            ItemStage::Started(progress)
                        }
                    }
                }
                stage => stage,
            };
            items.items.push(Item { value, stage });
        }
        let waits = |item: &Item| matches!(item.stage, ItemStage::Waiting(_));
        items.next = items.items.iter().position(waits).unwrap_or(items.items.len());
        Work::Each(items)
    }

    /// Lets a child go on, with its share of what is left now. Where the graph does not let it, the child stays as it
    /// had ended, and that is a failure of the attempt.
    fn reopen(
        &mut self,
        node: &Node,
        step: &StepId,
        place: Place,
        local: &Local,
        queued: bool,
        end: Box<ScopeEnd>,
    ) -> Progress {
        let Verb::Call(call) = &node.verb else { return Progress::Done(Outcome::Child(end)) };
        match self.pending_reopen(call, step, place, local, queued, &end) {
            Ok(spawn) => self.spawns.push(spawn),
            Err(error) => {
                self.tell(Event::StepFailed { step: step.clone(), error: error.clone() });
                self.candidates.push(Candidate::failure(&error, ErrorClass::Tool));
                return Progress::Done(Outcome::Child(end));
            }
        }
        Progress::Open(Box::new(Open { attempts: Attempts::FIRST, effect: None, repair: None }))
    }

    fn pending_reopen(
        &self,
        call: &Call,
        step: &StepId,
        place: Place,
        local: &Local,
        queued: bool,
        end: &ScopeEnd,
    ) -> Result<PendingSpawn, StepError> {
        let Callee::Graph(graph) = &call.callee else {
            return Err(StepError::new(ErrorKind::Graph, format!("`{step}` called no graph")));
        };
        let mut asked = self.asked_grant(&call.grant, local)?;
        // What is asked for is for all attempts together; time is asked for anew.
        for (meter, units) in &mut asked {
            *units = units.saturating_sub(of_meter(&end.settled, *meter));
        }
        Ok(PendingSpawn {
            step: step.clone(),
            place,
            graph: *graph,
            input: Arc::default(),
            config: self.child_config(&call.config)?,
            nesting: Default::default(),
            asked,
            queued,
            again: Some((end.exit.attempt.saturating_add(1), end.settled)),
        })
    }
}

/// What of a meter a sum has, in base units; 0 for the clocks and for what only an instance counts.
fn of_meter(sum: &Spent, meter: Meter) -> u64 {
    match meter {
        Meter::Tokens => sum.tokens,
        Meter::CostUsd => sum.cost_micro_usd,
        Meter::ModelCalls => sum.model_calls,
        Meter::ToolCalls => sum.tool_calls,
        _ => 0,
    }
}
