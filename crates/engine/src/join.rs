//! The end of a super-step: updates, answers and routes, in plan order.
//!
//! Each node reads the state as it stood at the start of the super-step, plus its own writes. When all have been
//! read, the writes are joined in plan order.

use std::collections::BTreeMap;

use deepgraph_graph::{ChannelIx, Node, NodeIx, Reducer, Route, Target, Verb, Way, Write};
use deepgraph_protocol::{
    ErrorClass, ErrorKind, Event, Exit, FinishReason, Message, ModelReply, ScopeEnd, StepError, Value,
};

use crate::channel::{State, View};
use crate::exit::{Came, Candidate};
use crate::limits::Counts;
use crate::machine::Machine;
use crate::names::Local;
use crate::pen::Pen;
use crate::run::{ItemStage, NodeRun, Outcome, Progress, Stage, Work};

/// Where a node leads.
pub(crate) enum Arrival {
    Nodes(Vec<NodeIx>),
    Out(Candidate),
    Nowhere,
}

impl Machine {
    pub(crate) fn join(&mut self) {
        self.keep_super_step();
        let runs = std::mem::take(&mut self.current);
        self.clear_current();
        let alone = runs.len() == 1;
        let base = std::mem::take(&mut self.state);
        // Alone, a node writes into the state itself: nothing is copied.
        let (mut only, shared) = if alone { (Some(base), State::default()) } else { (None, base) };
        let mut pens: Vec<(NodeIx, Pen)> = Vec::with_capacity(runs.len());
        for run in runs {
            let mut pen = match only.take() {
                Some(state) => Pen::alone(state),
                None => Pen::beside_others(&shared),
            };
            self.note_committed(&run);
            let node = run.node;
            let led = self.join_node(run, &mut pen);
            self.mark_left(node, &led);
            match led {
                Ok(Arrival::Nodes(nodes)) => self.arrive(node, nodes),
                Ok(Arrival::Out(candidate)) => self.candidates.push(candidate),
                Ok(Arrival::Nowhere) => {}
                Err(error) => self.graph_error(error),
            }
            pens.push((node, pen));
        }
        self.children.append(&mut self.later);
        self.merge(shared, pens);
        self.check_boundary();
        if let Some(node) = self.detour.take() {
            self.deferred.clear();
            self.arrived.clear();
            self.ready = [node].into();
        }
    }

    fn note_committed(&mut self, run: &NodeRun) {
        let last = match &run.work {
            Work::Turn(turn) => turn
                .calls
                .iter()
                .rev()
                .find(|c| matches!(&c.stage, Stage::Admitted(Progress::Done(o)) if !matches!(o, Outcome::Failed(_))))
                .map(|c| c.step.clone()),
            Work::Each(items) => items
                .items
                .iter()
                .rposition(|i| matches!(&i.stage, ItemStage::Started(Progress::Done(o)) if !matches!(o, Outcome::Failed(_) | Outcome::Nothing)))
                .map(|index| run.step.item(index + 1)),
            Work::Step(Progress::Done(Outcome::Failed(_) | Outcome::Nothing)) => None,
            Work::Step(_) => Some(run.step.clone()),
        };
        if last.is_some() {
            self.last_step = last;
        }
    }

    /// Joins the writes of all nodes of the super-step, in plan order.
    fn merge(&mut self, base: State, mut pens: Vec<(NodeIx, Pen)>) {
        if pens.len() == 1
            && let Some((_, pen)) = pens.pop()
        {
            drop(base);
            self.track_gains(&pen.gains);
            self.state = pen.into_state();
            return;
        }
        let bundle = self.bundle.clone();
        let plan = bundle.graph(self.graph);
        self.state = base;
        let mut writers: BTreeMap<ChannelIx, NodeIx> = BTreeMap::new();
        // What the nodes read is let go first: then nothing is copied to be written.
        let written: Vec<(NodeIx, Vec<(ChannelIx, Value)>)> =
            pens.into_iter().map(|(node, pen)| (node, pen.into_writes())).collect();
        for (node, writes) in written {
            let mut joined = Pen::alone(std::mem::take(&mut self.state));
            for (channel, value) in writes {
                let declared = &plan.channels[channel.0];
                if declared.reducer == Reducer::Replace
                    && let Some(other) = writers.insert(channel, node).filter(|other| *other != node)
                {
                    let names = (&plan.nodes[other.0].name, &plan.nodes[node.0].name);
                    let message = format!(
                        "channel `{}` was written by `{}` and by `{}` in one super-step; give it a reducer that \
                         joins both (append, merge, union, ...) or let one node write it",
                        declared.name, names.0, names.1
                    );
                    self.graph_error(StepError::new(ErrorKind::Graph, message));
                    continue;
                }
                if let Err(error) = joined.write(plan, channel, value) {
                    self.graph_error(error);
                }
            }
            self.track_gains(&joined.gains);
            self.state = joined.into_state();
        }
    }

    fn track_gains(&mut self, gains: &[(ChannelIx, u64, u64)]) {
        let mut told = Vec::new();
        for limit in &mut self.limits {
            let Counts::Gain { channel, .. } = limit.counts else { continue };
            for (_, new, known) in gains.iter().filter(|(c, _, _)| *c == channel) {
                limit.gains.push(*new as f64 / (*known as f64 + 1.0));
                told.push(Event::Gained {
                    scope: self.scope.clone(),
                    limit: limit.name.clone(),
                    number: limit.gains.len() as u64,
                    new: *new,
                    known: *known,
                });
            }
        }
        told.into_iter().for_each(|event| self.tell(event));
    }

    fn join_node(&mut self, run: NodeRun, pen: &mut Pen) -> Result<Arrival, StepError> {
        let bundle = self.bundle.clone();
        let node = &bundle.graph(self.graph).nodes[run.node.0];
        match run.work {
            Work::Turn(turn) => self.join_turn(node, turn, pen),
            Work::Each(items) => self.join_items(node, &run.step, items, pen),
            Work::Step(Progress::Done(outcome)) => match outcome {
                Outcome::Failed(error) => self.join_failure(node, &error, pen),
                Outcome::Nothing => self.join_result(node, Value::Null, None, pen),
                Outcome::Record(record) => self.join_result(node, record, None, pen),
                Outcome::Reply(reply) => {
                    let result = self.take_reply(run.node, node, *reply, pen)?;
                    self.join_result(node, result, None, pen)
                }
                Outcome::Child(end) => {
                    let result = child_result(&end);
                    self.keep_exits(run.step, &end);
                    self.join_result(node, result, Some(&end.exit), pen)
                }
            },
            Work::Step(Progress::Open(_)) => Ok(Arrival::Nowhere),
        }
    }

    pub(crate) fn keep_exits(&mut self, step: deepgraph_protocol::StepId, end: &ScopeEnd) {
        let mut exits = vec![end.exit.clone()];
        exits.extend(end.children.iter().cloned());
        self.children.push((step, exits));
    }

    /// Adds a reply to its conversation and keeps its calls for the node that runs them.
    fn take_reply(
        &mut self,
        ix: NodeIx,
        node: &Node,
        reply: ModelReply,
        pen: &mut Pen,
    ) -> Result<Value, StepError> {
        let Verb::Model(model) = &node.verb else { return Ok(Value::Null) };
        self.note_cut(&reply);
        let message = reply_message(&reply);
        if let (Some(channel), true) = (model.messages, model.extends) {
            let bundle = self.bundle.clone();
            pen.write(bundle.graph(self.graph), channel, message.clone())?;
        }
        let record = reply_record(&reply, &message);
        self.replies.insert(ix, reply.tool_calls);
        Ok(record)
    }

    /// A reply of the `finally` stage that was cut off makes the report partial.
    pub(crate) fn note_cut(&mut self, reply: &ModelReply) {
        if reply.finish == FinishReason::Length && self.in_finally() {
            self.report.partial = true;
        }
    }

    /// update → next.
    fn join_result(
        &mut self,
        node: &Node,
        result: Value,
        child: Option<&Exit>,
        pen: &mut Pen,
    ) -> Result<Arrival, StepError> {
        let local = Local::default().with_result(result);
        self.write_all(&node.update, &local, pen)?;
        self.leave(node, local, child, pen)
    }

    /// Follows a node's `next`.
    pub(crate) fn leave(
        &mut self,
        node: &Node,
        local: Local,
        child: Option<&Exit>,
        pen: &mut Pen,
    ) -> Result<Arrival, StepError> {
        let Some(route) = &node.next else { return Ok(Arrival::Nowhere) };
        let target = self.follow(route, local, pen)?;
        Ok(arrival(target, child))
    }

    /// Whether a failure only says that the way out is decided already.
    pub(crate) fn is_given_up(&self, error: &StepError) -> bool {
        let given_up = error.kind == ErrorKind::Cancelled || error.kind == ErrorKind::Refused;
        let decided = self.cancelling.is_some()
            || self.stopping
            || self.detour.is_some()
            || !self.candidates.is_empty();
        given_up && decided
    }

    fn join_failure(&mut self, node: &Node, error: &StepError, pen: &mut Pen) -> Result<Arrival, StepError> {
        if self.is_given_up(error) {
            return Ok(Arrival::Nowhere);
        }
        let local = Local::default().with_error(error);
        let target = match &node.on_error {
            Some(route) => self.follow(route, local.clone(), pen)?,
            None => None,
        };
        match self.failure_leads(node, error, target) {
            Some(arrival) => Ok(arrival),
            None => self.leave(node, local.with_result(Value::Null), None, pen),
        }
    }

    /// Where a failure leads whose `on_error` gave this target; none: the work goes on as if it had not failed.
    pub(crate) fn failure_leads(
        &mut self,
        node: &Node,
        error: &StepError,
        target: Option<Target>,
    ) -> Option<Arrival> {
        if self.in_finally() && target.is_some() {
            self.report.take_detour(error);
        }
        Some(match target {
            Some(Target::CarryOn) => return None,
            Some(Target::Exit(reason, class)) => Arrival::Out(Candidate {
                detail: Some(error.to_string()),
                error: Some(error.clone()),
                came: Came::Failure,
                ..Candidate::route(reason, class)
            }),
            Some(other) => arrival(Some(other), None),
            None => {
                let class =
                    if matches!(node.verb, Verb::Model(_)) { ErrorClass::Model } else { ErrorClass::Tool };
                Arrival::Out(Candidate::failure(error, class))
            }
        })
    }

    /// Evaluates an `update` over the state as the node sees it, then writes all of it.
    pub(crate) fn write_all(&self, update: &[Write], local: &Local, pen: &mut Pen) -> Result<(), StepError> {
        let values = self.values_of(update, local, &pen.view())?;
        self.write_values(update, values, pen)
    }

    /// Evaluates an `update` over another state, then writes all of it.
    pub(crate) fn write_all_over(
        &self,
        update: &[Write],
        local: &Local,
        over: &View,
        pen: &mut Pen,
    ) -> Result<(), StepError> {
        let values = self.values_of(update, local, over)?;
        self.write_values(update, values, pen)
    }

    fn values_of(&self, update: &[Write], local: &Local, over: &View) -> Result<Vec<Value>, StepError> {
        update.iter().map(|w| self.value(&w.value, over, local)).collect()
    }

    fn write_values(&self, update: &[Write], values: Vec<Value>, pen: &mut Pen) -> Result<(), StepError> {
        let plan = self.bundle.graph(self.graph);
        update.iter().zip(values).try_for_each(|(write, value)| pen.write(plan, write.channel, value))
    }

    /// The first way that holds, its `update` written.
    pub(crate) fn follow(
        &self,
        route: &Route,
        local: Local,
        pen: &mut Pen,
    ) -> Result<Option<Target>, StepError> {
        let Some(way) = self.first_way(route, &local, &pen.view())? else { return Ok(None) };
        self.write_all(&way.update, &local, pen)?;
        Ok(Some(way.to.clone()))
    }

    /// The first way that holds over another state, its `update` written.
    pub(crate) fn follow_over(
        &self,
        route: &Route,
        local: Local,
        over: &View,
        pen: &mut Pen,
    ) -> Result<Option<Target>, StepError> {
        let Some(way) = self.first_way(route, &local, over)? else { return Ok(None) };
        self.write_all_over(&way.update, &local, over, pen)?;
        Ok(Some(way.to.clone()))
    }

    fn first_way<'r>(
        &self,
        route: &'r Route,
        local: &Local,
        view: &View,
    ) -> Result<Option<&'r Way>, StepError> {
        for way in &route.0 {
            let holds = match &way.condition {
                None => true,
                Some(condition) => self.value(condition, view, local)?.is_true(),
            };
            if holds {
                return Ok(Some(way));
            }
        }
        Ok(None)
    }
}

/// A reply as a message of the conversation.
pub(crate) fn reply_message(reply: &ModelReply) -> Value {
    Message::assistant(reply.text.clone(), reply.tool_calls.clone()).to_value()
}

/// What `result` reads as after a model call.
pub(crate) fn reply_record(reply: &ModelReply, message: &Value) -> Value {
    Value::record([
        ("text", Value::from(reply.text.clone())),
        ("data", reply.data.clone()),
        ("tool_calls", reply.tool_calls.iter().map(deepgraph_protocol::ToolCall::to_value).collect()),
        ("finish", Value::from(reply.finish.name())),
        ("message", message.clone()),
    ])
}

pub(crate) fn child_result(end: &ScopeEnd) -> Value {
    let mut fields = end.output.clone();
    fields.insert("exit".into(), Value::from(end.exit.reason.name()));
    Value::from(fields)
}

pub(crate) fn arrival(target: Option<Target>, child: Option<&Exit>) -> Arrival {
    match target {
        Some(Target::Nodes(nodes)) => Arrival::Nodes(nodes),
        Some(Target::Exit(reason, class)) => Arrival::Out(Candidate::route(reason, class)),
        Some(Target::Inherit) => {
            child.map_or(Arrival::Nowhere, |exit| Arrival::Out(Candidate::inherit(exit)))
        }
        Some(Target::CarryOn) | None => Arrival::Nowhere,
    }
}
