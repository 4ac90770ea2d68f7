//! Approval: a person is asked before a call is run. A call counts when it is admitted, so after approval.

use std::sync::Arc;

use deepgraph_graph::{Field, RecordType, Tool, ToolIx, Type};
use deepgraph_protocol::{Effect, Event, OutputShape, StepError, StepId, Value};

use crate::machine::Machine;
use crate::names::Local;
use crate::place::{Part, Place};
use crate::run::{Open, Stage, Work};
use crate::turn::{Verdict, read_arguments};

impl Machine {
    /// Whether a person must be asked before this call.
    pub(crate) fn wants_approval(&self, tool: &Tool, args: &Value) -> Result<bool, StepError> {
        match &tool.approve {
            None => Ok(false),
            Some(when) => Ok(self.value(when, &self.view(), &Local::args(args.clone()))?.is_true()),
        }
    }

    pub(crate) fn ask_approval(&mut self, call: &StepId, tool: ToolIx, args: &Value) -> Box<Open> {
        let name = &self.plan().tools[tool.0].name;
        let question: Arc<str> = format!("May `{name}` be called with {}?", args.to_json_text()).into();
        let step = call.approval();
        self.tell(Event::Asked { step: step.clone(), question: question.clone() });
        let shape = OutputShape { name: "approval".into(), schema: decision().json_schema() };
        self.send_open(Effect::Ask { step, question, shape, timeout_ms: None })
    }

    /// What a person decided about a call. A decision that does not fit leaves the question open.
    pub(crate) fn approved(&mut self, place: Place, answer: &Value) {
        let Ok(decision) = self.read_decision(place, answer) else { return };
        let (node, Part::Approval(k)) = (place.node, place.part) else { return };
        let Some((tool, args)) = self.call_of(node, k) else { return };
        self.clock.begin_turn(self.now);
        let verdict = match decision {
            Decision::Refuse(reason) => Verdict::Refuse(tool, args, reason),
            Decision::Run(edited) => {
                let args = edited.unwrap_or(args);
                let verdict = self.admit(tool, args, self.admitted(node, tool));
                if let Verdict::Run(tool, args) | Verdict::Queue(tool, args) = &verdict {
                    self.count_call(*tool, args);
                }
                verdict
            }
        };
        self.decide(node, k, verdict);
    }

    /// Nobody decided about a call: it is refused.
    pub(crate) fn not_approved(&mut self, place: Place, error: &StepError) {
        let Part::Approval(k) = place.part else { return };
        let Some((tool, args)) = self.call_of(place.node, k) else { return };
        let reason = format!("refused: nobody approved this call ({error})").into();
        self.decide(place.node, k, Verdict::Refuse(tool, args, reason));
    }

    fn call_of(&self, node: usize, k: usize) -> Option<(ToolIx, Value)> {
        let Work::Turn(turn) = &self.current.get(node)?.work else { return None };
        let call = turn.calls.get(k)?;
        Some((call.tool?, call.args.clone()))
    }

    /// How many calls of a tool are admitted in a turn.
    fn admitted(&self, node: usize, tool: ToolIx) -> u64 {
        let Some(Work::Turn(turn)) = self.current.get(node).map(|run| &run.work) else { return 0 };
        let is_admitted = |stage: &Stage| matches!(stage, Stage::Queued(_) | Stage::Admitted(_));
        turn.calls.iter().filter(|c| c.tool == Some(tool) && is_admitted(&c.stage)).count() as u64
    }

    /// Puts a verdict in the place of the question.
    fn decide(&mut self, node: usize, k: usize, verdict: Verdict) {
        let Some(Work::Turn(turn)) = self.current.get(node).map(|run| &run.work) else { return };
        let Some(call) = turn.calls.get(k) else { return };
        let (step, name) = (call.step.clone(), call.call.name.clone());
        let args = match &verdict {
            Verdict::Run(_, args) | Verdict::Queue(_, args) => args.clone(),
            _ => call.args.clone(),
        };
        let stage = self.stage_of(&step, &name, verdict, Place { node, part: Part::Call(k) });
        let Some(Work::Turn(turn)) = self.current.get_mut(node).map(|run| &mut run.work) else { return };
        let Some(call) = turn.calls.get_mut(k) else { return };
        call.args = args;
        let before = std::mem::replace(&mut call.stage, stage);
        let done = call.is_done();
        if let Stage::Approving(open) = before {
            self.end_of(&step.approval(), &open);
        }
        self.unfinished = self.unfinished.saturating_sub(usize::from(done));
        self.send_spawns();
        self.release_queued(node);
    }

    /// Reads what a person decided.
    ///
    /// # Errors
    ///
    /// What does not fit, for that person.
    pub(crate) fn read_decision(&self, place: Place, answer: &Value) -> Result<Decision, String> {
        let fitted = decision().check(answer).map_err(|e| e.to_string())?;
        let Part::Approval(k) = place.part else { return Err("this is no approval".to_owned()) };
        let (tool, _) = self.call_of(place.node, k).ok_or("this call is over")?;
        match fitted.text("action") {
            "approve" => Ok(Decision::Run(None)),
            "edit" => {
                let args = fitted.get("args").filter(|a| !a.is_null());
                let args = args.ok_or("`edit` wants the changed arguments under `args`")?;
                read_arguments(&self.plan().tools[tool.0], &args.to_json_text())
                    .map(|args| Decision::Run(Some(args)))
            }
            _ => {
                let reason = match fitted.text("reason") {
                    "" => "refused: a person decided against this call".to_owned(),
                    reason => format!("refused: a person decided against this call: {reason}"),
                };
                Ok(Decision::Refuse(reason.into()))
            }
        }
    }
}

/// What a person decides about a call.
pub(crate) enum Decision {
    /// It is run, with changed arguments where there are any.
    Run(Option<Value>),
    /// It is not run, with the reason that the model gets.
    Refuse(Arc<str>),
}

/// `{action: approve | edit | refuse, args, reason}`.
fn decision() -> Field {
    let optional = |ty| Field { optional: true, ..Field::of(ty) };
    let actions = ["approve", "edit", "refuse"].map(Value::from).to_vec();
    let action = Field { options: actions, ..Field::of(Type::String) };
    let fields = vec![
        ("action".into(), action),
        ("args".into(), optional(Type::Any)),
        ("reason".into(), optional(Type::String)),
    ];
    Field::of(Type::Record(Arc::new(RecordType { name: Some("approval".into()), fields, open: false })))
}
