//! What a Machine tells the outside.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    Exit, ExitReason, Millis, ReportOutcome, ResumeFrom, ScopePath, Spent, StepError, StepId, Value,
};

/// Something that a Machine did, told for progress, traces and statistics. Events are a fold of the journal:
/// they can be made again from it at any time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A graph instance started.
    ScopeStarted {
        /// The instance.
        scope: ScopePath,
        /// The graph, by its path in the bundle.
        graph: Arc<str>,
    },
    /// A super-step began.
    SuperStepStarted {
        /// The instance.
        scope: ScopePath,
        /// Its number, from 1.
        number: u64,
        /// The nodes that run in it, in plan order.
        nodes: Vec<StepId>,
    },
    /// A node started.
    NodeStarted {
        /// The node's step.
        step: StepId,
        /// Progress text.
        title: Arc<str>,
    },
    /// A step for an item of a list started.
    ItemStarted {
        /// The item's step.
        step: StepId,
        /// Progress text.
        title: Arc<str>,
    },
    /// A list was longer than the node may run over: the items beyond are left out.
    ItemsLeftOut {
        /// The node's step.
        step: StepId,
        /// How many.
        left_out: u64,
        /// How many are run.
        bound: u64,
    },
    /// A tool call was admitted.
    CallAdmitted {
        /// The call's step.
        step: StepId,
        /// The tool.
        tool: Arc<str>,
        /// Its arguments, checked.
        args: Value,
    },
    /// A tool call was admitted and waits for a place among the `parallel` calls of its turn.
    CallQueued {
        /// The call's step.
        step: StepId,
        /// The tool.
        tool: Arc<str>,
    },
    /// A tool call was refused, and the model told why.
    CallRefused {
        /// The call's step.
        step: StepId,
        /// The tool.
        tool: Arc<str>,
        /// Why, in the words that the model gets.
        reason: Arc<str>,
    },
    /// A tool call could not be read: unknown tool, arguments that do not fit. The model was told why.
    CallMalformed {
        /// The call's step.
        step: StepId,
        /// The name that the model wrote.
        tool: Arc<str>,
        /// Why, in the words that the model gets.
        reason: Arc<str>,
    },
    /// A cancelled run undoes something: the call of a compensation started.
    CompensationStarted {
        /// The compensation's step: that of the call that it undoes, with `/compensation` behind.
        step: StepId,
        /// The op that is called.
        op: Arc<str>,
    },
    /// A step was committed.
    StepCompleted {
        /// The step.
        step: StepId,
    },
    /// An attempt failed and is repeated.
    AttemptFailed {
        /// The step.
        step: StepId,
        /// The attempt that failed.
        attempt: u32,
        /// Why.
        error: StepError,
        /// Milliseconds until the next.
        delay_ms: u64,
        /// Whether the next model of the route is asked.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        fail_over: bool,
    },
    /// A step failed for good.
    StepFailed {
        /// The step.
        step: StepId,
        /// Why.
        error: StepError,
    },
    /// A question to the person is open.
    Asked {
        /// The question's step: its id.
        step: StepId,
        /// The question.
        question: Arc<str>,
    },
    /// A limit was reached.
    LimitReached {
        /// The instance.
        scope: ScopePath,
        /// The limit's name.
        limit: Arc<str>,
        /// What was counted, in the limit's unit.
        value: u64,
        /// The bound.
        bound: u64,
    },
    /// A limit's warning mark was crossed. Told at most once per limit and attempt.
    LimitWarned {
        /// The instance.
        scope: ScopePath,
        /// The limit's name.
        limit: Arc<str>,
        /// What was counted, in the limit's unit.
        value: u64,
        /// The mark.
        mark: u64,
        /// The bound.
        bound: u64,
    },
    /// The instance was over and goes on.
    Resumed {
        /// The instance.
        scope: ScopePath,
        /// The number of the attempt.
        attempt: u32,
        /// Where it goes on.
        from: ResumeFrom,
    },
    /// A step wrote the channel that a gain limit looks at. Its gain is new ÷ (known + 1).
    Gained {
        /// The instance.
        scope: ScopePath,
        /// The limit's name.
        limit: Arc<str>,
        /// The number of the step among those that the limit counts, from 1.
        number: u64,
        /// Items that were new.
        new: u64,
        /// Items that were known before.
        known: u64,
    },
    /// The work of the instance has ended and its `finally` stage begins.
    Finishing {
        /// The instance.
        scope: ScopePath,
        /// Why the work ended.
        reason: ExitReason,
    },
    /// The instance is over, by this exit. Told once per attempt, after the `finally` stage.
    Exited {
        /// How.
        exit: Exit,
    },
    /// The instance is over.
    ScopeEnded {
        /// The instance.
        scope: ScopePath,
        /// How its `finally` stage went.
        report: Option<ReportOutcome>,
        /// What it and its children used.
        settled: Spent,
        /// When.
        at: Millis,
    },
}
