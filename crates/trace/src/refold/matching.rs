//! Whether a recorded outcome answers what is asked now.

use std::fmt;

use deepgraph_engine::Machine;
use deepgraph_protocol::{Effect, Entry, EntryBody, ScopePath, StepId};
use serde::Serialize;

use crate::request_hash;

/// A step of the record whose arguments are others now: its outcome does not hold.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mismatch {
    /// The instance.
    pub scope: ScopePath,
    /// The step.
    pub step: StepId,
    /// What is different.
    pub why: Difference,
}

/// What of a step is different.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Difference {
    /// The model is sent another request.
    Request,
    /// The op is another one.
    Op,
    /// The op or the child graph is given another input.
    Input,
    /// The child is an instance of another graph.
    Graph,
    /// The person is asked something else.
    Question,
    /// The step does something of another kind: a model call became a tool call, say.
    Kind,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Difference::Request => "its request to the model reads differently",
            Difference::Op => "it calls another op",
            Difference::Input => "it is given another input",
            Difference::Graph => "it starts another graph",
            Difference::Question => "it asks something else",
            Difference::Kind => "it does something of another kind",
        })
    }
}

/// The hash of the request that a recorded model step was sent: as recorded, else rendered again.
pub(super) fn recorded_hash(machine: Option<&Machine>, step: &StepId, entry: &Entry) -> Option<String> {
    match &entry.body {
        EntryBody::Dispatched { request: Some(hash), .. } => Some(hash.clone()),
        _ => rendered_hash(machine, step, window_of(entry)),
    }
}

/// The context window that the request of an entry was made to fit.
pub(super) fn window_of(entry: &Entry) -> Option<u64> {
    if let EntryBody::Dispatched { window, .. } = &entry.body { *window } else { None }
}

/// The hash of the request that a model step is sent now, made to fit this window; none where it can not be rendered.
pub(super) fn rendered_hash(machine: Option<&Machine>, step: &StepId, window: Option<u64>) -> Option<String> {
    machine.and_then(|machine| machine.model_request(step, window).ok()).map(|request| request_hash(&request))
}

/// What is different between what was asked and what is asked now, requests to models apart.
pub(super) fn difference(recorded: &Effect, now: &Effect) -> Option<Difference> {
    match (recorded, now) {
        (Effect::CallModel { .. }, Effect::CallModel { .. }) => None,
        (Effect::RunOp { op, input, .. }, Effect::RunOp { op: other, input: others, .. }) => {
            let named = (op != other).then_some(Difference::Op);
            named.or_else(|| (input != others).then_some(Difference::Input))
        }
        (Effect::Spawn { graph, input, .. }, Effect::Spawn { graph: other, input: others, .. }) => {
            let named = (graph != other).then_some(Difference::Graph);
            named.or_else(|| (input != others).then_some(Difference::Input))
        }
        (Effect::Reopen { .. }, Effect::Reopen { .. }) => None,
        (Effect::Ask { question, shape, .. }, Effect::Ask { question: other, shape: others, .. }) => {
            (question != other || shape != others).then_some(Difference::Question)
        }
        _ => Some(Difference::Kind),
    }
}
