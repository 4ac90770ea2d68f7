//! The calls of a turn when all of them are back: result → update → answer → next, in call order.

use std::sync::Arc;

use deepgraph_graph::{Node, NodeIx, Target, Tool, Verb};
use deepgraph_protocol::{Message, StepError, ToolCall, Value};

use crate::join::{Arrival, arrival, child_result};
use crate::machine::Machine;
use crate::names::Local;
use crate::pen::Pen;
use crate::repeats::{Came, came};
use crate::run::{CallRun, Outcome, Progress, Stage, Turn};

impl Machine {
    /// The calls of a turn, in call order: result → update → answer → next.
    pub(crate) fn join_turn(&mut self, node: &Node, turn: Turn, pen: &mut Pen) -> Result<Arrival, StepError> {
        let bundle = self.bundle.clone();
        let plan = bundle.graph(self.graph);
        let Verb::Model(model) = &plan.nodes[turn.model.0].verb else { return Ok(Arrival::Nowhere) };
        let mut taken: Option<Arrival> = None;
        let mut answers = Vec::with_capacity(turn.calls.len());
        let mut reports = Vec::with_capacity(turn.calls.len());
        // The answers come directly after the reply; what calls write to the conversation comes behind them.
        pen.hold = model.messages.filter(|_| model.extends);
        // Whatever becomes of the turn, the ends of its children are kept.
        for call in &turn.calls {
            if let Stage::Admitted(Progress::Done(Outcome::Child(end))) = &call.stage {
                self.keep_exits(call.step.clone(), end);
            }
        }
        for call in turn.calls {
            let (tool, args, step, came) = (call.tool, call.args.clone(), call.step.clone(), came(&call));
            let settled = self.join_call(call, turn.model, pen, &mut taken)?;
            // What was not taken after all may be called again.
            let stands = came == Came::Failed || settled.report.text("status") == "done";
            if let Some(tool) = tool.filter(|_| stands) {
                self.note_outcome(tool, &args, &step, came);
            }
            answers.push(Message::tool(&settled.call, settled.answer).to_value());
            reports.push(settled.report);
        }
        if let Some(channel) = pen.hold.take() {
            pen.write(plan, channel, Value::from(answers))?;
            for value in std::mem::take(&mut pen.held) {
                pen.write(plan, channel, value)?;
            }
        }
        let result = Value::record([("calls", Value::from(reports))]);
        let local = Local::default().with_result(result);
        self.write_all(&node.update, &local, pen)?;
        match taken {
            Some(arrival) => Ok(arrival),
            None => self.leave(node, local, None, pen),
        }
    }

    fn join_call(
        &mut self,
        call: CallRun,
        model: NodeIx,
        pen: &mut Pen,
        taken: &mut Option<Arrival>,
    ) -> Result<SettledCall, StepError> {
        let bundle = self.bundle.clone();
        let outcome = match call.stage {
            Stage::Refused(reason) => return Ok(SettledCall::plain(call.call, "refused", reason)),
            Stage::Malformed(reason) => return Ok(SettledCall::plain(call.call, "malformed", reason)),
            Stage::Queued(_) | Stage::Approving(_) | Stage::Admitted(Progress::Open(_)) => {
                return Ok(SettledCall::plain(call.call, "refused", "refused: not run".into()));
            }
            Stage::Admitted(Progress::Done(outcome)) => outcome,
        };
        let Some(tool) = call.tool.map(|t| &bundle.graph(self.graph).tools[t.0]) else {
            return Ok(SettledCall::plain(call.call, "malformed", "error: no such tool".into()));
        };
        let local = Local::args(call.args);
        let (result, child) = match outcome {
            Outcome::Failed(error) => {
                return self.join_failed_call(tool, call.call, &error, local, pen, taken);
            }
            Outcome::Nothing | Outcome::Reply(_) => (Value::Null, None),
            Outcome::Record(record) => (record, None),
            Outcome::Child(end) => (child_result(&end), Some(end.exit)),
        };
        let local = local.with_result(result.clone());
        // A route that comes too late must leave no trace: only then is what was there before kept.
        let before = (taken.is_some() && tool.next.is_some()).then(|| pen.clone());
        self.write_all(&tool.update, &local, pen)?;
        let answer = self.answer(tool, &result, &local, pen)?;
        let answer = self.fit_answer(answer, tool, &call.step, model);
        let target = match &tool.next {
            // A way that only writes leads nowhere: the loop goes on.
            Some(route) => self.follow(route, local, pen)?.filter(|target| *target != Target::CarryOn),
            None => None,
        };
        let exit = child.as_ref().map(|e| e.reason.name().to_owned());
        match (target, before) {
            (Some(_), Some(before)) => {
                *pen = before;
                let reason = "not taken: an earlier call of this turn already leads elsewhere";
                Ok(SettledCall::plain(call.call, "refused", reason.into()))
            }
            (Some(target), None) => {
                *taken = Some(arrival(Some(target), child.as_ref()));
                Ok(SettledCall::done(call.call, answer, exit))
            }
            (None, _) => Ok(SettledCall::done(call.call, answer, exit)),
        }
    }

    fn join_failed_call(
        &mut self,
        tool: &Tool,
        call: ToolCall,
        error: &StepError,
        local: Local,
        pen: &mut Pen,
        taken: &mut Option<Arrival>,
    ) -> Result<SettledCall, StepError> {
        let answer: Arc<str> = format!("error: {error}").into();
        if let (Some(route), None) = (&tool.on_error, &taken)
            && let Some(target) = self.follow(route, local.with_error(error), pen)?
            && target != Target::CarryOn
        {
            *taken = Some(arrival(Some(target), None));
        }
        Ok(SettledCall::plain(call, "failed", answer))
    }

    fn answer(&self, tool: &Tool, result: &Value, local: &Local, pen: &Pen) -> Result<String, StepError> {
        Ok(match &tool.answer {
            Some(template) => self.text(template, &pen.view(), local)?,
            None => match (result, result.get("text")) {
                (Value::Null, _) => "ok".to_owned(),
                (_, Some(Value::Text(text))) => text.to_string(),
                _ => result.to_json_text(),
            },
        })
    }
}

/// A call that is over: its answer, and what `run_tools` reports of it.
struct SettledCall {
    call: ToolCall,
    answer: Arc<str>,
    report: Value,
}

impl SettledCall {
    fn plain(call: ToolCall, status: &str, reason: Arc<str>) -> SettledCall {
        let report = call_report(&call, status, Value::from(reason.clone()), Value::Null);
        SettledCall { call, answer: reason, report }
    }

    fn done(call: ToolCall, answer: Arc<str>, exit: Option<String>) -> SettledCall {
        let report = call_report(&call, "done", Value::Null, exit.map_or(Value::Null, Value::from));
        SettledCall { call, answer, report }
    }
}

fn call_report(call: &ToolCall, status: &str, reason: Value, exit: Value) -> Value {
    Value::record([
        ("id", Value::from(call.id.clone())),
        ("name", Value::from(call.name.clone())),
        ("status", Value::from(status)),
        ("reason", reason),
        ("exit", exit),
    ])
}
