//! Beginning the work of a node, a call or an item: rendering what is asked and sending it out.

use std::sync::Arc;

use deepgraph_graph::{Ask, Call, Callee, NodeIx, Setting, Verb};
use deepgraph_protocol::{Effect, Event, Map, StepError, StepId, Value};

use crate::grant::PendingSpawn;
use crate::machine::Machine;
use crate::names::Local;
use crate::place::{Part, Place};
use crate::run::{Attempts, Open, Outcome, Progress, Work};

/// The longest time of an op once the time of the `finally` stage is up, in milliseconds.
const OVERTIME_MS: u64 = 10_000;

/// How a call is sent out.
#[derive(Clone, Copy)]
pub(crate) struct Sending<'p> {
    /// Longest time of an attempt.
    pub(crate) timeout: Option<&'p Setting>,
    /// How long an equal call's result may be reused.
    pub(crate) cache: Option<&'p Setting>,
    /// Where the step stands.
    pub(crate) place: Place,
    /// Whether it waits for a free place: only the share of a child is reserved now.
    pub(crate) queued: bool,
}

impl Machine {
    pub(crate) fn begin_work(&mut self, node: NodeIx, step: &StepId) -> Work {
        let bundle = self.bundle.clone();
        let declared = &bundle.graph(self.graph).nodes[node.0];
        let place = Place { node: self.current.len(), part: Part::Whole };
        match (&declared.verb, &declared.each) {
            (Verb::RunTools(model), _) => Work::Turn(self.begin_turn(*model, step)),
            (_, Some(each)) => self.begin_items(declared, each, step),
            (_, None) => Work::Step(self.begin_step(declared, step, place, &Local::default(), false)),
        }
    }

    /// Begins the step of a node, or of one of its items.
    pub(crate) fn begin_step(
        &mut self,
        node: &deepgraph_graph::Node,
        step: &StepId,
        place: Place,
        local: &Local,
        queued: bool,
    ) -> Progress {
        match &node.verb {
            Verb::Pass | Verb::RunTools(_) => Progress::Done(Outcome::Nothing),
            Verb::Model(_) => {
                let timeout_ms = self.timeout(node.timeout.as_ref());
                self.send(Effect::CallModel {
                    step: step.clone(),
                    attempt: 1,
                    delay_ms: 0,
                    timeout_ms,
                    route: 0,
                })
            }
            Verb::Call(call) => {
                let sending =
                    Sending { timeout: node.timeout.as_ref(), cache: node.cache.as_ref(), place, queued };
                self.begin_call(step, call, local, sending)
            }
            Verb::Ask(ask) => self.begin_ask(step, ask, local, node.timeout.as_ref()),
        }
    }

    /// Sends a call out, or says why it can not be.
    pub(crate) fn begin_call(
        &mut self,
        step: &StepId,
        call: &Call,
        local: &Local,
        sending: Sending<'_>,
    ) -> Progress {
        let input = match self.call_input(call, local) {
            Ok(input) => Arc::new(input),
            Err(error) => return self.fail_at_once(step, error),
        };
        match &call.callee {
            Callee::Graph(graph) => {
                let spawn = self.pending_spawn(step, *graph, call, input, local, sending);
                match spawn {
                    Ok(spawn) => self.spawns.push(spawn),
                    Err(error) => return self.fail_at_once(step, error),
                }
                Progress::Open(Box::new(Open { attempts: Attempts::FIRST, effect: None, repair: None }))
            }
            Callee::Op(op) => {
                if let Some(error) = self.not_again(step) {
                    return self.fail_at_once(step, error);
                }
                let effect = Effect::RunOp {
                    step: step.clone(),
                    attempt: 1,
                    delay_ms: 0,
                    timeout_ms: self.timeout(sending.timeout),
                    op: op.clone(),
                    input: Arc::new(self.with_answer(op, Arc::unwrap_or_clone(input))),
                    writes: call.writes,
                    cache_ms: sending.cache.and_then(|c| c.millis(&self.config)),
                };
                self.send(effect)
            }
        }
    }

    fn pending_spawn(
        &self,
        step: &StepId,
        graph: deepgraph_graph::GraphIx,
        call: &Call,
        input: Arc<Map>,
        local: &Local,
        sending: Sending<'_>,
    ) -> Result<PendingSpawn, StepError> {
        self.fits_child(graph, &input)?;
        let config = self.child_config(&call.config)?;
        let nesting = self.child_nesting(graph, &config)?;
        Ok(PendingSpawn {
            step: step.clone(),
            place: sending.place,
            graph,
            input,
            config,
            nesting,
            asked: self.asked_grant(&call.grant, local)?,
            queued: sending.queued,
            again: None,
        })
    }

    pub(crate) fn begin_ask(
        &mut self,
        step: &StepId,
        ask: &Ask,
        local: &Local,
        timeout: Option<&Setting>,
    ) -> Progress {
        let question: Arc<str> = match self.text(&ask.question, &self.view(), local) {
            Ok(question) => question.trim().into(),
            Err(error) => return self.fail_at_once(step, error),
        };
        self.tell(Event::Asked { step: step.clone(), question: question.clone() });
        let timeout_ms = self.timeout(timeout);
        self.send(Effect::Ask { step: step.clone(), question, shape: ask.returns.shape.clone(), timeout_ms })
    }

    pub(crate) fn fail_at_once(&mut self, step: &StepId, error: StepError) -> Progress {
        self.tell(Event::StepFailed { step: step.clone(), error: error.clone() });
        Progress::Done(Outcome::Failed(error))
    }

    /// The input of a call: fields that are null stay away. Arguments that `input` does not name are passed on
    /// where the callee takes more than it declares.
    fn call_input(&self, call: &Call, local: &Local) -> Result<Map, StepError> {
        let args = local.args.as_ref().and_then(Value::as_map).filter(|_| call.rest);
        let mut given = args.cloned().unwrap_or_default();
        for (name, value) in &call.input {
            given.remove(name);
            let value = self.value(value, &self.view(), local)?;
            if !value.is_null() {
                given.insert(name.clone(), value);
            }
        }
        Ok(given)
    }

    pub(crate) fn timeout(&self, setting: Option<&Setting>) -> Option<u64> {
        let ms = setting.and_then(|s| s.millis(&self.config)).filter(|ms| *ms > 0);
        if self.overtime.is_some() { Some(ms.unwrap_or(u64::MAX).min(OVERTIME_MS)) } else { ms }
    }
}
