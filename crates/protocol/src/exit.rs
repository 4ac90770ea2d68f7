//! Exits: how a graph instance ended.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{NotUndone, ScopePath, StepId};

/// Why an instance ended: the closed set, plus the names that a graph declares.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExitReason {
    /// The supervisor said that research is complete.
    ResearchComplete,
    /// The model answered without calling a tool.
    NoToolCalls,
    /// The limit of counted calls was reached.
    IterationLimit,
    /// The limit of turns, steps or visits was reached.
    StepLimit,
    /// The limit of tool calls was reached.
    ToolCallCap,
    /// The last steps brought too little that was new.
    GainSaturated,
    /// The token budget is used up.
    TokenBudget,
    /// The money budget is used up.
    CostBudget,
    /// The run's deadline has passed.
    Deadline,
    /// The turn's deadline has passed.
    TurnDeadline,
    /// The budget of active time is used up.
    ActiveTime,
    /// A step got no answer in time.
    StepTimeout,
    /// The same tool failed again and again.
    RepeatedToolFailure,
    /// The request did not fit the model's context window.
    ContextOverflow,
    /// The model refused.
    Refusal,
    /// A model call failed.
    ModelError,
    /// A tool failed.
    ToolError,
    /// The graph is at fault: an expression, a route, two writers.
    GraphError,
    /// Nothing was found to work with.
    NoSources,
    /// A question to the person is open.
    ClarificationNeeded,
    /// The person did not approve the plan.
    PlanRejected,
    /// Cancelled.
    Cancelled,
    /// The graph came to its end without naming a reason.
    Completed,
    /// A name that the graph declares.
    Declared(Arc<str>),
}

/// What kind of end a reason is: decides precedence and run status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExitClass {
    /// Cancelled. Highest precedence.
    Cancelled,
    /// An error.
    Error,
    /// Waits for a person.
    Waiting,
    /// The work is done.
    Completion,
    /// A budget or a clock.
    Budget,
    /// A cap on iterations, steps or calls.
    Cap,
    /// The model called no tool.
    NoToolCalls,
    /// Little that was new. Lowest precedence.
    Gain,
}

impl ExitReason {
    /// The closed set with its names.
    pub const BUILT_IN: [(&'static str, ExitReason); 23] = [
        ("research_complete", ExitReason::ResearchComplete),
        ("no_tool_calls", ExitReason::NoToolCalls),
        ("iteration_limit", ExitReason::IterationLimit),
        ("step_limit", ExitReason::StepLimit),
        ("tool_call_cap", ExitReason::ToolCallCap),
        ("gain_saturated", ExitReason::GainSaturated),
        ("token_budget", ExitReason::TokenBudget),
        ("cost_budget", ExitReason::CostBudget),
        ("deadline", ExitReason::Deadline),
        ("turn_deadline", ExitReason::TurnDeadline),
        ("active_time", ExitReason::ActiveTime),
        ("step_timeout", ExitReason::StepTimeout),
        ("repeated_tool_failure", ExitReason::RepeatedToolFailure),
        ("context_overflow", ExitReason::ContextOverflow),
        ("refusal", ExitReason::Refusal),
        ("model_error", ExitReason::ModelError),
        ("tool_error", ExitReason::ToolError),
        ("graph_error", ExitReason::GraphError),
        ("no_sources", ExitReason::NoSources),
        ("clarification_needed", ExitReason::ClarificationNeeded),
        ("plan_rejected", ExitReason::PlanRejected),
        ("cancelled", ExitReason::Cancelled),
        ("completed", ExitReason::Completed),
    ];

    /// The reason of a name of the closed set.
    pub fn built_in(name: &str) -> Option<ExitReason> {
        Self::BUILT_IN.iter().find(|(n, _)| *n == name).map(|(_, r)| r.clone())
    }

    /// The reason of any name: of the closed set, else a declared one.
    pub fn of(name: &str) -> ExitReason {
        Self::built_in(name).unwrap_or_else(|| ExitReason::Declared(name.into()))
    }

    /// The name, as in files, traces and JSON.
    pub fn name(&self) -> &str {
        match self {
            ExitReason::Declared(name) => name,
            _ => Self::BUILT_IN.iter().find(|(_, r)| r == self).map_or("", |(n, _)| n),
        }
    }

    /// The class of a reason of the closed set; none for a declared one, whose class its graph gives.
    pub fn class(&self) -> Option<ExitClass> {
        use ExitReason::*;
        Some(match self {
            Cancelled => ExitClass::Cancelled,
            StepTimeout | RepeatedToolFailure | ContextOverflow | Refusal | ModelError | ToolError
            | GraphError => ExitClass::Error,
            ClarificationNeeded | PlanRejected => ExitClass::Waiting,
            ResearchComplete | Completed => ExitClass::Completion,
            TokenBudget | CostBudget | Deadline | TurnDeadline | ActiveTime => ExitClass::Budget,
            IterationLimit | StepLimit | ToolCallCap | NoSources => ExitClass::Cap,
            NoToolCalls => ExitClass::NoToolCalls,
            GainSaturated => ExitClass::Gain,
            Declared(_) => return None,
        })
    }
}

impl fmt::Display for ExitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for ExitReason {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for ExitReason {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<ExitReason, D::Error> {
        String::deserialize(d).map(|name| ExitReason::of(&name))
    }
}

impl ExitClass {
    /// The classes that a graph may give to its own exits, with their names.
    pub const DECLARABLE: [(&'static str, ExitClass); 5] = [
        ("completion", ExitClass::Completion),
        ("error", ExitClass::Error),
        ("budget", ExitClass::Budget),
        ("cap", ExitClass::Cap),
        ("waiting", ExitClass::Waiting),
    ];
}

/// The limit that ended an instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LimitHit {
    /// The limit's name in the graph.
    pub name: Arc<str>,
    /// What had been counted (calls, tokens, micro-dollars, milliseconds, or the gain in parts per million).
    pub value: u64,
    /// The bound, in the same unit.
    pub bound: u64,
}

/// How one attempt of one graph instance ended. There is exactly one per scope and attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exit {
    /// The instance.
    pub scope: ScopePath,
    /// The graph that it is an instance of.
    pub graph: Arc<str>,
    /// The attempt, from 1.
    pub attempt: u32,
    /// Why it ended.
    pub reason: ExitReason,
    /// The class of the reason.
    pub class: ExitClass,
    /// The limit that fired, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitHit>,
    /// What this instance alone has counted: `turns`, `super_steps`, `steps`, each named limit.
    pub counters: BTreeMap<Arc<str>, u64>,
    /// The last step that was committed before the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_step: Option<StepId>,
    /// What a person should know beyond the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Reasons that held at the same moment and lost by precedence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<ExitReason>,
    /// What was found, where the graph has channels that tell (facts, handoffs); none where it has not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub findings: Option<u64>,
    /// Calls of its own that write of which it is not known whether they were done, in order.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub unknown_writes: Box<[StepId]>,
    /// Of a run that was cancelled, at its root: what was changed outside and was not undone, the latest first.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub not_undone: Box<[NotUndone]>,
    /// Where the time of the instance went.
    #[serde(default, skip_serializing_if = "Clocks::is_zero")]
    pub clocks: Clocks,
}

/// The time of an instance on four clocks, in milliseconds. Active, back-off and human time together are the wall time:
/// at any moment something works, or all that is out waits for a further attempt, or only a person is waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clocks {
    /// From its start to its end.
    pub wall_ms: u64,
    /// In which a step worked. A child that is out counts as working.
    pub active_ms: u64,
    /// In which all steps that were out waited for a further attempt.
    pub backoff_ms: u64,
    /// In which only a person was waited for.
    pub human_ms: u64,
}

impl Clocks {
    /// Whether no time was measured.
    pub fn is_zero(&self) -> bool {
        *self == Clocks::default()
    }
}
