//! What a Machine asks of the outside.

use std::sync::Arc;

use serde::Serialize;

use crate::{Event, ExitReason, Grant, Map, Millis, Nesting, OutputShape, StepId};

/// The most models that are asked one after the other, beside the first, before a failure counts, however long the
/// driver's route is.
pub const MOST_FAIL_OVERS: u32 = 16;

/// One output of a Machine's `apply`: something to do, or something to tell.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// To do.
    Effect(Effect),
    /// To tell.
    Event(Event),
}

/// Something that the outside is asked to do.
///
/// An effect is open from the moment it is put out until its `Completed`, `AttemptFailed`, `Failed`, `ChildEnded`,
/// `Answered` or `TimerFired` entry is applied. After a crash the open effects are put out again.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum Effect {
    /// Call a model. The driver renders the request with `Machine::model_request(step, window)`, commits `Dispatched`,
    /// applies it, and carries the call out if the step is still open then.
    CallModel {
        /// The step.
        step: StepId,
        /// The attempt, from 1.
        attempt: u32,
        /// Milliseconds to wait before.
        delay_ms: u64,
        /// Longest time for the attempt, in milliseconds.
        timeout_ms: Option<u64>,
        /// Which model of the route is asked, from 0: the configured one, then its fallbacks.
        #[serde(skip_serializing_if = "is_first")]
        route: u32,
    },
    /// Run an op.
    RunOp {
        /// The step.
        step: StepId,
        /// The attempt, from 1.
        attempt: u32,
        /// Milliseconds to wait before.
        delay_ms: u64,
        /// Longest time for the attempt, in milliseconds.
        timeout_ms: Option<u64>,
        /// The op's name.
        op: Arc<str>,
        /// Its input, by name.
        input: Arc<Map>,
        /// Whether it changes anything outside.
        writes: bool,
        /// How long an equal call's result may be reused, in milliseconds; none: never.
        cache_ms: Option<u64>,
    },
    /// Start a child graph in the scope of this step.
    Spawn {
        /// The step.
        step: StepId,
        /// The graph, by its path in the bundle.
        graph: Arc<str>,
        /// Its input.
        input: Arc<Map>,
        /// Its configuration.
        config: Arc<Map>,
        /// What it may use.
        grant: Grant,
        /// How often each graph whose nesting is limited encloses it, itself included, by path.
        nesting: Nesting,
    },
    /// Let a child graph that was over go on, as its next attempt: commit `Resumed` to its journal.
    Reopen {
        /// The step that started it.
        step: StepId,
        /// Its configuration.
        config: Arc<Map>,
        /// What it may use beyond what it has used.
        grant: Grant,
        /// The number of its attempt.
        attempt: u32,
    },
    /// Ask a person.
    Ask {
        /// The step: the question's id.
        step: StepId,
        /// The question.
        question: Arc<str>,
        /// The shape of the answer.
        shape: OutputShape,
        /// How long to wait, in milliseconds; none: for ever.
        timeout_ms: Option<u64>,
    },
    /// Commit `TimerFired` at this moment.
    WakeAt {
        /// The timer's name, unique in its scope.
        timer: Arc<str>,
        /// When.
        at: Millis,
    },
    /// The result of a step is no longer wanted. The driver lets it come to its end within the grace, then gives
    /// it up, and commits what came of it either way: `Completed`, `ChildEnded` or `Failed` (cancelled). A child
    /// gets `CancelRequested`.
    Abandon {
        /// The step.
        step: StepId,
        /// Milliseconds that it may still take.
        grace_ms: u64,
        /// The exit by which a child is to end; none: cancelled.
        reason: Option<ExitReason>,
    },
}

fn is_first(route: &u32) -> bool {
    *route == 0
}

impl Effect {
    /// The step that it belongs to; none for a timer.
    pub fn step(&self) -> Option<&StepId> {
        match self {
            Effect::CallModel { step, .. }
            | Effect::RunOp { step, .. }
            | Effect::Spawn { step, .. }
            | Effect::Reopen { step, .. }
            | Effect::Ask { step, .. }
            | Effect::Abandon { step, .. } => Some(step),
            Effect::WakeAt { .. } => None,
        }
    }

    /// Whether a child graph works for it.
    pub fn is_child(&self) -> bool {
        matches!(self, Effect::Spawn { .. } | Effect::Reopen { .. })
    }
}

impl From<Effect> for Output {
    fn from(effect: Effect) -> Output {
        Output::Effect(effect)
    }
}

impl From<Event> for Output {
    fn from(event: Event) -> Output {
        Output::Event(event)
    }
}
