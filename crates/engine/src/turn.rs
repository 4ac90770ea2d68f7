//! The calls of one model turn: admission, queueing, hard counting.
//!
//! Every call is answered: run, refused with the reason, or malformed with the reason. Calls are looked at in
//! call order, one by one, so that a turn whose counted calls straddle a limit is admitted up to it exactly.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_graph::{Field, NodeIx, Overflow, RecordType, Tool, ToolIx, Type, Verb};
use deepgraph_protocol::{Event, Meter, StepId, ToolCall, Value};

use crate::limits::What;
use crate::machine::Machine;
use crate::run::{Attempts, CallRun, Outcome, Progress, Stage, Turn};

/// What admission decides about one call.
enum Verdict {
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
        for (i, call) in calls.into_iter().enumerate() {
            let step = node_step.call(&call.name, i + 1);
            let verdict = match &paid {
                Some(reason) => self.refuse_unread(model, &call, reason),
                None => self.judge(model, &call, &admitted),
            };
            if let Verdict::Run(tool, _) | Verdict::Queue(tool, _) = &verdict {
                *admitted.entry(*tool).or_insert(0) += 1;
                self.count_call(*tool);
            }
            let run = self.carry_out(step, call, verdict);
            turn.calls.push(run);
        }
        turn
    }

    /// The meter `paid_turns` (G4): strictly greater, before the tools of the turn run.
    fn paid_turns_over(&mut self) -> Option<Arc<str>> {
        let turns = self.counters.turns;
        let limit = self.limits.iter().find(|l| {
            matches!(l.what, What::Meter(Meter::PaidTurns)) && l.bound(false).is_some_and(|b| turns > b)
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

    fn judge(&self, model: NodeIx, call: &ToolCall, admitted: &BTreeMap<ToolIx, u64>) -> Verdict {
        let Some(ix) = self.offered(model, &call.name) else { return self.unknown_tool(model, &call.name) };
        let tool = &self.plan().tools[ix.0];
        let args = match read_arguments(tool, &call.arguments) {
            Ok(args) => args,
            Err(why) => return Verdict::Malformed(Some(ix), format!("error: {why}").into()),
        };
        if let Some(reason) = self.no_room(ix) {
            return Verdict::Refuse(ix, args, reason);
        }
        let cap = tool.parallel.as_ref().and_then(|p| p.count(&self.config));
        match cap {
            Some(cap) if admitted.get(&ix).copied().unwrap_or(0) >= cap => match tool.overflow {
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

    /// The reason why no further call of this tool is admitted, if a limit says so.
    fn no_room(&self, tool: ToolIx) -> Option<Arc<str>> {
        let at = self.reading();
        let in_finally = self.in_finally();
        self.limits.iter().find_map(|limit| {
            let counts = match &limit.what {
                What::Names { tools, .. } => tools.contains(&tool),
                What::Meter(Meter::ToolCalls) => true,
                _ => false,
            };
            let bound = limit.bound(in_finally).filter(|_| counts)?;
            (limit.taken(&at) >= bound).then(|| {
                format!("refused: the limit `{}` ({bound}) is used up; this call was not run.", limit.name)
                    .into()
            })
        })
    }

    fn count_call(&mut self, tool: ToolIx) {
        self.counters.steps += 1;
        self.counters.tool_calls += 1;
        self.ledger.count_tool_call();
        let elapsed = self.elapsed();
        let at_bound: Vec<(Arc<str>, u64, u64)> = {
            let in_finally = self.in_finally();
            let mut reached = Vec::new();
            for limit in &mut self.limits {
                if matches!(&limit.what, What::Names { tools, .. } if tools.contains(&tool)) {
                    limit.count += 1;
                    if limit.bound(in_finally) == Some(limit.count) {
                        limit.reached_now = true;
                        reached.push((limit.name.clone(), limit.count, limit.max.unwrap_or(0)));
                    }
                }
            }
            let reading = crate::limits::Reading { counters: &self.counters, ledger: &self.ledger, elapsed };
            for limit in &mut self.limits {
                if matches!(limit.what, What::Meter(Meter::ToolCalls))
                    && limit.bound(in_finally).is_some_and(|b| limit.taken(&reading) == b)
                {
                    limit.reached_now = true;
                    reached.push((limit.name.clone(), limit.taken(&reading), limit.max.unwrap_or(0)));
                }
            }
            reached
        };
        for (limit, value, bound) in at_bound {
            self.tell(Event::LimitReached { scope: self.scope.clone(), limit, value, bound });
        }
    }

    fn carry_out(&mut self, step: StepId, call: ToolCall, verdict: Verdict) -> CallRun {
        let name = call.name.clone();
        let (tool, args, stage) = match verdict {
            Verdict::Malformed(tool, reason) => {
                let event = Event::CallMalformed { step: step.clone(), tool: name, reason: reason.clone() };
                self.tell(event);
                (tool, Value::Null, Stage::Malformed(reason))
            }
            Verdict::Refuse(tool, args, reason) => {
                self.tell(Event::CallRefused { step: step.clone(), tool: name, reason: reason.clone() });
                (Some(tool), args, Stage::Refused(reason))
            }
            Verdict::Queue(tool, args) => {
                self.tell(Event::CallQueued { step: step.clone(), tool: name });
                let stage = self.queue_call(&step, tool, &args);
                (Some(tool), args, stage)
            }
            Verdict::Run(tool, args) => {
                self.tell(Event::CallAdmitted { step: step.clone(), tool: name, args: args.clone() });
                let progress = self.begin_tool(&step, tool, &args, false);
                (Some(tool), args, Stage::Admitted(progress))
            }
        };
        CallRun { step, call, tool, args, stage }
    }

    /// Sends an admitted call out.
    fn begin_tool(&mut self, step: &StepId, tool: ToolIx, args: &Value, queued: bool) -> Progress {
        let bundle = self.bundle.clone();
        let declared = &bundle.graph(self.graph).tools[tool.0];
        let mut names = self.names();
        names.args = Some(args.clone());
        match (&declared.call, &declared.ask) {
            (Some(call), _) => {
                let settings = (declared.timeout.as_ref(), declared.cache.as_ref());
                self.begin_call(step, call, &names, settings, queued)
            }
            (None, Some(ask)) => self.begin_ask(step, ask, &names, declared.timeout.as_ref()),
            (None, None) => Progress::Done(Outcome::Nothing),
        }
    }

    /// Holds an admitted call back. A child's share is reserved now, so that it does not depend on when the
    /// call gets its place.
    fn queue_call(&mut self, step: &StepId, tool: ToolIx, args: &Value) -> Stage {
        let bundle = self.bundle.clone();
        let declared = &bundle.graph(self.graph).tools[tool.0];
        let is_graph =
            matches!(&declared.call, Some(c) if matches!(c.callee, deepgraph_graph::Callee::Graph(_)));
        if !is_graph {
            return Stage::Queued;
        }
        match self.begin_tool(step, tool, args, true) {
            Progress::Open(_) => Stage::Queued,
            done => Stage::Admitted(done),
        }
    }

    /// Lets queued calls of a turn run while there are free places, in call order.
    pub(crate) fn release_queued(&mut self, node: usize) {
        loop {
            let crate::run::Work::Turn(turn) = &self.current[node].work else { return };
            let next = turn.calls.iter().position(|c| {
                matches!(c.stage, Stage::Queued)
                    && c.tool.is_some_and(|tool| {
                        let cap = self.plan().tools[tool.0].parallel.as_ref();
                        let cap = cap.and_then(|p| p.count(&self.config)).unwrap_or(u64::MAX).max(1);
                        let out = turn.calls.iter().filter(|o| o.tool == c.tool && o.is_open()).count();
                        (out as u64) < cap
                    })
            });
            let Some(k) = next else { return };
            let (step, tool, args) =
                (turn.calls[k].step.clone(), turn.calls[k].tool, turn.calls[k].args.clone());
            let name = turn.calls[k].call.name.clone();
            let Some(tool) = tool else { return };
            self.tell(Event::CallAdmitted { step: step.clone(), tool: name, args: args.clone() });
            let progress = match self.queued.remove(&step) {
                Some(spawn) => {
                    self.open(spawn);
                    Progress::Open(Attempts::FIRST)
                }
                None => self.begin_tool(&step, tool, &args, false),
            };
            if let crate::run::Work::Turn(turn) = &mut self.current[node].work {
                turn.calls[k].stage = Stage::Admitted(progress);
            }
        }
    }
}

/// Reads a call's arguments: JSON, an object, with what the tool wants.
fn read_arguments(tool: &Tool, text: &str) -> Result<Value, String> {
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
