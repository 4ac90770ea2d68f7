//! The calls of one model turn: admission, queueing, hard counting.
//!
//! Every call is answered: run, refused with the reason, or malformed with the reason. Calls are looked at in
//! call order, one by one, so that a turn whose counted calls straddle a limit is admitted up to it exactly.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_graph::{Field, NodeIx, Overflow, RecordType, Tool, ToolIx, Type, Verb};
use deepgraph_protocol::{Event, Meter, StepError, StepId, ToolCall, Value};

use crate::begin::Sending;
use crate::limits::Counts;
use crate::machine::Machine;
use crate::names::Local;
use crate::place::{Part, Place};
use crate::repeats::Made;
use crate::run::{CallRun, Outcome, Progress, Stage, Turn, Work};

/// What admission decides about one call.
pub(crate) enum Verdict {
    /// A person is asked first.
    Approve(ToolIx, Value),
    Run(ToolIx, Value),
    Queue(ToolIx, Value),
    Refuse(ToolIx, Value, Arc<str>),
    Malformed(Option<ToolIx>, Arc<str>),
}

impl Machine {
    pub(crate) fn begin_turn(&mut self, model: NodeIx, node_step: &StepId) -> Turn {
        let calls = self.replies.remove(&model).unwrap_or_default();
        let paid = self.paid_turns_over();
        let mut turn = Turn { model, calls: Vec::with_capacity(calls.len()) };
        let mut admitted: BTreeMap<ToolIx, u64> = BTreeMap::new();
        let mut made = Made::default();
        for (i, call) in calls.into_iter().enumerate() {
            let step = node_step.call(&call.name, i + 1);
            let verdict = match &paid {
                Some(reason) => self.refuse_unread(model, &call, reason),
                None => self.judge(model, &call, &admitted, &made),
            };
            if let Verdict::Run(tool, args) | Verdict::Queue(tool, args) = &verdict {
                *admitted.entry(*tool).or_insert(0) += 1;
                self.count_call(*tool, args);
            }
            if let Verdict::Run(tool, args) | Verdict::Queue(tool, args) | Verdict::Approve(tool, args) =
                &verdict
            {
                self.note_made(*tool, args, i + 1, &mut made);
            }
            let place = Place { node: self.current.len(), part: Part::Call(i) };
            let run = self.carry_out(step, call, verdict, place);
            turn.calls.push(run);
        }
        turn
    }

    /// The meter `paid_turns` (G4): strictly greater, before the tools of the turn run.
    fn paid_turns_over(&mut self) -> Option<Arc<str>> {
        let turns = self.counters.turns;
        let limit = self.limits.iter().find(|l| {
            matches!(l.counts, Counts::Meter(Meter::PaidTurns)) && l.bound(false).is_some_and(|b| turns > b)
        })?;
        let (hit, on_reach) = (limit.hit(turns), limit.on_reach.clone());
        let reason = format!("refused: the limit `{}` ({}) is used up", limit.name, hit.bound).into();
        self.tell_limit(&hit);
        self.act(hit, on_reach);
        Some(reason)
    }

    fn refuse_unread(&self, model: NodeIx, call: &ToolCall, reason: &Arc<str>) -> Verdict {
        match self.offered(model, &call.name) {
            Some(tool) => Verdict::Refuse(tool, Value::Null, reason.clone()),
            None => self.unknown_tool(model, &call.name),
        }
    }

    /// The tool of a name, if the model node offers it.
    fn offered(&self, model: NodeIx, name: &str) -> Option<ToolIx> {
        let Verb::Model(node) = &self.plan().nodes[model.0].verb else { return None };
        node.tools.iter().copied().find(|t| &*self.plan().tools[t.0].name == name)
    }

    fn unknown_tool(&self, model: NodeIx, name: &str) -> Verdict {
        let names: Vec<&str> = match &self.plan().nodes[model.0].verb {
            Verb::Model(node) => node.tools.iter().map(|t| &*self.plan().tools[t.0].name).collect(),
            _ => Vec::new(),
        };
        let reason = format!("error: there is no tool `{name}`; the tools are: {}", names.join(", "));
        Verdict::Malformed(None, reason.into())
    }

    fn judge(
        &mut self,
        model: NodeIx,
        call: &ToolCall,
        admitted: &BTreeMap<ToolIx, u64>,
        made: &Made,
    ) -> Verdict {
        let Some(ix) = self.offered(model, &call.name) else { return self.unknown_tool(model, &call.name) };
        let bundle = self.bundle.clone();
        let tool = &bundle.graph(self.graph).tools[ix.0];
        let args = match read_arguments(tool, &call.arguments) {
            Ok(args) => args,
            Err(why) => return Verdict::Malformed(Some(ix), format!("error: {why}").into()),
        };
        if let Some(reason) = self.refuse_repeat(ix, &args).or_else(|| self.refuse_twin(ix, &args, made)) {
            return Verdict::Refuse(ix, args, reason);
        }
        match self.wants_approval(tool, &args) {
            Err(error) => return self.at_fault(ix, args, error),
            Ok(true) => return Verdict::Approve(ix, args),
            Ok(false) => {}
        }
        self.admit(ix, args, admitted.get(&ix).copied().unwrap_or(0))
    }

    /// Whether one more call of a tool is admitted, when so many of it are admitted in this turn.
    pub(crate) fn admit(&mut self, ix: ToolIx, args: Value, admitted: u64) -> Verdict {
        match self.no_room(ix, &args) {
            Err(error) => return self.at_fault(ix, args, error),
            Ok(Some(reason)) => return Verdict::Refuse(ix, args, reason),
            Ok(None) => {}
        }
        let bundle = self.bundle.clone();
        let tool = &bundle.graph(self.graph).tools[ix.0];
        let cap = tool.parallel.as_ref().and_then(|p| p.count(&self.config));
        match cap {
            Some(cap) if admitted >= cap => match tool.overflow {
                Overflow::Queue => Verdict::Queue(ix, args),
                Overflow::Refuse => {
                    let reason = format!(
                        "refused: at most {cap} calls of `{}` run in one turn; this one was not run. Call it \
                         again in the next turn if it is still needed.",
                        tool.name
                    );
                    Verdict::Refuse(ix, args, reason.into())
                }
            },
            _ => Verdict::Run(ix, args),
        }
    }

    /// An expression that has no value: the graph is at fault, and the call is not run.
    fn at_fault(&mut self, ix: ToolIx, args: Value, error: StepError) -> Verdict {
        let reason = format!("refused: not run: {}", error.message).into();
        self.graph_error(error);
        Verdict::Refuse(ix, args, reason)
    }

    fn carry_out(&mut self, step: StepId, call: ToolCall, verdict: Verdict, place: Place) -> CallRun {
        let (tool, args) = match &verdict {
            Verdict::Malformed(tool, _) => (*tool, Value::Null),
            Verdict::Refuse(tool, args, _)
            | Verdict::Approve(tool, args)
            | Verdict::Queue(tool, args)
            | Verdict::Run(tool, args) => (Some(*tool), args.clone()),
        };
        let stage = self.stage_of(&step, &call.name, verdict, place);
        CallRun { step, call, tool, args, stage }
    }

    /// What becomes of a call by what was decided about it.
    pub(crate) fn stage_of(
        &mut self,
        step: &StepId,
        name: &Arc<str>,
        verdict: Verdict,
        place: Place,
    ) -> Stage {
        let (step_id, name) = (step.clone(), name.clone());
        match verdict {
            Verdict::Malformed(_, reason) => {
                self.tell(Event::CallMalformed { step: step_id, tool: name, reason: reason.clone() });
                Stage::Malformed(reason)
            }
            Verdict::Refuse(_, _, reason) => {
                self.tell(Event::CallRefused { step: step_id, tool: name, reason: reason.clone() });
                Stage::Refused(reason)
            }
            Verdict::Approve(tool, args) => Stage::Approving(self.ask_approval(step, tool, &args)),
            Verdict::Queue(tool, args) => {
                self.tell(Event::CallQueued { step: step_id, tool: name });
                self.queue_call(step, tool, &args, place)
            }
            Verdict::Run(tool, args) => {
                self.tell(Event::CallAdmitted { step: step_id, tool: name, args: args.clone() });
                Stage::Admitted(self.begin_tool(step, tool, &args, place, false))
            }
        }
    }

    /// Sends an admitted call out.
    fn begin_tool(
        &mut self,
        step: &StepId,
        tool: ToolIx,
        args: &Value,
        place: Place,
        queued: bool,
    ) -> Progress {
        let bundle = self.bundle.clone();
        let declared = &bundle.graph(self.graph).tools[tool.0];
        let local = Local::args(args.clone());
        let (timeout, cache) = (declared.timeout.as_ref(), declared.cache.as_ref());
        match (&declared.call, &declared.ask) {
            (Some(call), _) => self.begin_call(step, call, &local, Sending { timeout, cache, place, queued }),
            (None, Some(ask)) => self.begin_ask(step, ask, &local, timeout),
            (None, None) => Progress::Done(Outcome::Nothing),
        }
    }

    /// Holds an admitted call back. A child's share is reserved now, so that it does not depend on when the
    /// call gets its place.
    fn queue_call(&mut self, step: &StepId, tool: ToolIx, args: &Value, place: Place) -> Stage {
        let bundle = self.bundle.clone();
        let declared = &bundle.graph(self.graph).tools[tool.0];
        let is_graph =
            matches!(&declared.call, Some(c) if matches!(c.callee, deepgraph_graph::Callee::Graph(_)));
        if !is_graph {
            return Stage::Queued(None);
        }
        match self.begin_tool(step, tool, args, place, true) {
            Progress::Open(_) => Stage::Queued(None),
            done => Stage::Admitted(done),
        }
    }

    /// Lets queued calls of a turn run while there are free places, in call order.
    pub(crate) fn release_queued(&mut self, node: usize) {
        loop {
            let Some(Work::Turn(turn)) = self.current.get_mut(node).map(|run| &mut run.work) else { return };
            let bundle = self.bundle.clone();
            let tools = &bundle.graph(self.graph).tools;
            let next = turn.calls.iter().position(|c| {
                matches!(c.stage, Stage::Queued(_))
                    && c.tool.is_some_and(|tool| {
                        let cap = tools[tool.0].parallel.as_ref().and_then(|p| p.count(&self.config));
                        let out = turn.calls.iter().filter(|o| o.tool == c.tool && o.is_open()).count();
                        (out as u64) < cap.unwrap_or(u64::MAX).max(1)
                    })
            });
            let Some(call) = next.and_then(|k| turn.calls.get_mut(k)) else { return };
            let (Some(k), Some(tool), Stage::Queued(spawn)) = (next, call.tool, &mut call.stage) else {
                return;
            };
            let spawn = spawn.take();
            let (step, args, name) = (call.step.clone(), call.args.clone(), call.call.name.clone());
            self.tell(Event::CallAdmitted { step: step.clone(), tool: name, args: args.clone() });
            let place = Place { node, part: Part::Call(k) };
            let progress = match spawn {
                Some(spawn) => self.send(*spawn),
                None => self.begin_tool(&step, tool, &args, place, false),
            };
            self.unfinished = self.unfinished.saturating_sub(usize::from(progress.is_done()));
            if let Some(Work::Turn(turn)) = self.current.get_mut(node).map(|run| &mut run.work)
                && let Some(call) = turn.calls.get_mut(k)
            {
                call.stage = Stage::Admitted(progress);
            }
        }
    }
}

/// Reads a call's arguments: JSON, an object, with what the tool wants.
pub(crate) fn read_arguments(tool: &Tool, text: &str) -> Result<Value, String> {
    let text = if text.trim().is_empty() { "{}" } else { text };
    let wanted = || {
        let fields: Vec<String> = tool
            .parameters
            .iter()
            .map(|(name, field)| if field.optional { format!("{name} (optional)") } else { name.to_string() })
            .collect();
        if fields.is_empty() { "no arguments".to_owned() } else { fields.join(", ") }
    };
    let json: Value = serde_json::from_str(text).map_err(|e| {
        format!(
            "the arguments of `{}` are not valid JSON ({e}); send one object with: {}",
            tool.name,
            wanted()
        )
    })?;
    if json.as_map().is_none() {
        return Err(format!(
            "the arguments of `{}` are a {}, not an object with: {}",
            tool.name,
            json.kind(),
            wanted()
        ));
    }
    // Arguments beyond the declared ones are let through: nothing reads them, and models like to add some.
    let record = RecordType { name: None, fields: tool.parameters.clone(), open: true };
    Field::of(Type::Record(Arc::new(record)))
        .check(&json)
        .map_err(|e| format!("the arguments of `{}` do not fit: {e}; wanted: {}", tool.name, wanted()))
}
