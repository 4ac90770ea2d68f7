//! What a journal holds.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    Exit, ExitReason, Fee, Map, Meter, ModelReply, ReportOutcome, Spent, StepError, StepId, Usage, Value,
    Written,
};

/// Milliseconds since 1970-01-01 UTC.
pub type Millis = i64;

/// The number of the rules under which journals written now are folded. It is raised when the same entries
/// would fold to something else; a journal is always folded under its own number.
pub const SEMANTICS: u32 = 1;

/// Something that happened outside a Machine, stamped by the committer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// When it was committed. Never goes back within a run.
    pub at: Millis,
    /// What happened.
    #[serde(flatten)]
    pub body: EntryBody,
}

/// The kinds of entries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum EntryBody {
    /// The instance started. Always the first entry.
    Started(Started),
    /// A step was sent out: from here on it may have cost something.
    ///
    /// Model calls, ops that write and ops that cost something are sent out only once this is durable. For an op that
    /// writes, the row is its claim: it is unique by run, scope and position, and only the owner of the run can write it.
    /// For an op that costs something, it reserves its fee; one that writes and has nothing reserved here costs nothing.
    Dispatched {
        /// The step.
        step: StepId,
        /// The attempt, from 1.
        attempt: u32,
        /// Hash of the rendered request, for model calls.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request: Option<String>,
        /// Tokens to reserve: estimate of the input and the maximum output.
        #[serde(default)]
        reserve_tokens: u64,
        /// Money to reserve, in micro-dollars; none where no price is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reserve_micro_usd: Option<u64>,
        /// The idempotency key of the call, for ops that write.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<Arc<str>>,
        /// Whether the op takes the key: a second call under it does nothing twice.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        takes_key: bool,
        /// Which model of the route is asked, where it is not the configured one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<Arc<str>>,
        /// The context window that the request was made to fit, in tokens; none: none was known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        window: Option<u64>,
        /// What was cut from the request so that it fits.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cut: Option<Cut>,
    },
    /// A model call waits until its provider's account may send again. Until its `Dispatched` the step rests: that is no
    /// active time. How long and which calls wait depends on what else runs, so nothing else follows from it.
    Held {
        /// The step.
        step: StepId,
        /// The attempt that waits, from 1.
        attempt: u32,
    },
    /// An attempt failed. The Machine decides whether there is another.
    AttemptFailed {
        /// The step.
        step: StepId,
        /// The attempt, from 1.
        attempt: u32,
        /// What went wrong.
        error: StepError,
        /// What it used nevertheless; of a model call that used nothing which is known, nothing.
        #[serde(default)]
        usage: Usage,
        /// Whether the next model of the route is asked: at once, without counting as one of the attempts of `retry`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        fail_over: bool,
        /// What it cost nevertheless: the call of an op outside, or the tokens of a model call; none: nothing.
        #[serde(default, skip_serializing_if = "Fee::is_none")]
        fee: Fee,
    },
    /// A step is done.
    Completed {
        /// The step.
        step: StepId,
        /// The attempt that answered.
        attempt: u32,
        /// What came back.
        output: StepOutput,
        /// What the call of an op cost outside; none: nothing.
        #[serde(default, skip_serializing_if = "Fee::is_none")]
        fee: Fee,
    },
    /// A step can not be done, whatever the number of attempts left.
    Failed {
        /// The step.
        step: StepId,
        /// What went wrong.
        error: StepError,
    },
    /// A child graph ended.
    ChildEnded {
        /// The step that started it.
        step: StepId,
        /// How, and what it hands up.
        end: Box<ScopeEnd>,
    },
    /// A person answered a question.
    Answered {
        /// The question's step.
        step: StepId,
        /// The answer, in the shape that was asked for.
        answer: Value,
    },
    /// The time of a [`WakeAt`](crate::Effect::WakeAt) has come.
    TimerFired {
        /// The timer's name.
        timer: Arc<str>,
    },
    /// Channels were set by hand: the first entry of a fork that is its own. Steps that were put out before are
    /// put out again over the new state. The time since the entry before it is no time of the instance.
    StateEdited {
        /// The new values, by channel; none where the fork edits another instance, or nothing: then all stays as it is.
        state: Map,
    },
    /// The instance was over and goes on, as its next attempt. What it has used and counted stays. It changes nothing
    /// where the instance is not over, where this is not its next attempt, or where nothing is left to go on with.
    Resumed {
        /// The number of the attempt.
        attempt: u32,
        /// The effective configuration from now on.
        config: Arc<Map>,
        /// What the parent allows it beyond what it has used; at the root, everything.
        #[serde(default, skip_serializing_if = "Grant::is_open")]
        grant: Grant,
        /// Where it goes on.
        from: ResumeFrom,
    },
    /// Somebody, or the parent, wants the instance to stop.
    CancelRequested {
        /// Why, for the record.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
        /// The exit by which it is to end, its `finally` stage included; none: cancelled.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<ExitReason>,
        /// Whether nothing is to be waited for any more: what is out is given up, and no compensation begins.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        at_once: bool,
    },
}

impl Started {
    /// Of a first attempt, under the present rules, with all that is not given left open.
    pub fn first(graph: Arc<str>, input: Arc<Map>, config: Arc<Map>, bundle: Arc<str>) -> Started {
        Started {
            graph,
            input,
            config,
            bundle,
            attempt: 1,
            semantics: SEMANTICS,
            read_on: true,
            ..Started::default()
        }
    }
}

impl EntryBody {
    /// The step that it is about; none for the instance as a whole.
    pub fn step(&self) -> Option<&StepId> {
        match self {
            EntryBody::Dispatched { step, .. }
            | EntryBody::Held { step, .. }
            | EntryBody::AttemptFailed { step, .. }
            | EntryBody::Completed { step, .. }
            | EntryBody::Failed { step, .. }
            | EntryBody::ChildEnded { step, .. }
            | EntryBody::Answered { step, .. } => Some(step),
            EntryBody::Started(_)
            | EntryBody::TimerFired { .. }
            | EntryBody::StateEdited { .. }
            | EntryBody::Resumed { .. }
            | EntryBody::CancelRequested { .. } => None,
        }
    }
}

/// Why an instance is to stop that the graph above it called, and that has ended: the `detail` of
/// [`EntryBody::CancelRequested`].
pub const CALLER_ENDED: &str = "the graph that called it ended";

/// The first entry of an instance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Started {
    /// The graph, by its path in the bundle: `deep_research`, `deep_research/supervisor`.
    pub graph: Arc<str>,
    /// The input, by channel name, checked against the declared types.
    pub input: Arc<Map>,
    /// The effective configuration.
    pub config: Arc<Map>,
    /// What the parent allows it to use; at the root, everything.
    #[serde(default)]
    pub grant: Grant,
    /// The attempt of this instance, from 1.
    pub attempt: u32,
    /// The rules under which this journal is folded.
    pub semantics: u32,
    /// Hash of graphs, prompts and configuration.
    pub bundle: Arc<str>,
    /// Whether a tool's answer that is too long for the conversation is kept, and can be read on by reference. Older
    /// journals do not say so: there it was cut.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_on: bool,
    /// How often each graph whose nesting is limited encloses this instance, itself included, by path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub nesting: Nesting,
    /// What channels that are kept between runs held last, by name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub persisted: Map,
    /// Under which key each channel is kept between runs, by name; none of those that are not kept.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub keys: BTreeMap<Arc<str>, Arc<str>>,
}

/// How often a graph encloses an instance, by path.
pub type Nesting = BTreeMap<Arc<str>, u64>;

/// Bounds that a child gets from its parent. None: the parent has no such limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Micro-dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micro_usd: Option<u64>,
    /// Model calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_calls: Option<u64>,
    /// Tool calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<u64>,
    /// The moment by which it must be through, its own `finally` included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Millis>,
    /// Milliseconds in which its steps may work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_ms: Option<u64>,
}

/// Where an instance that was over goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResumeFrom {
    /// With its work, where that was left.
    #[default]
    Research,
    /// With its `finally` stage alone, over what the work left.
    Report,
}

impl ResumeFrom {
    /// The name, as in JSON, case files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            ResumeFrom::Research => "research",
            ResumeFrom::Report => "report",
        }
    }
}

impl Grant {
    /// Whether it bounds nothing.
    pub fn is_open(&self) -> bool {
        *self == Grant::default()
    }

    /// What is granted of a meter at the moment `now`, in base units (calls, tokens, micro-dollars, milliseconds); none:
    /// any amount. Of the clock it is the time until the deadline, 0 behind it.
    pub fn of(&self, meter: Meter, now: Millis) -> Option<u64> {
        match meter {
            Meter::Tokens => self.tokens,
            Meter::CostUsd => self.cost_micro_usd,
            Meter::ModelCalls => self.model_calls,
            Meter::ToolCalls => self.tool_calls,
            Meter::WallTime => self.deadline.map(|at| u64::try_from(at.saturating_sub(now)).unwrap_or(0)),
            Meter::ActiveTime => self.active_ms,
            _ => None,
        }
    }
}

/// What a step brought back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepOutput {
    /// A model's reply.
    Model(ModelReply),
    /// An op's record.
    Op(Value),
}

/// What was cut from a model request so that it fits the context window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// Tool answers that were shortened or left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tool_results: u64,
    /// Messages that were left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub messages: u64,
    /// Entries or parts of channels, of the item and of a reply that the model is shown once more, that were left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub parts: u64,
    /// The size of all that was cut, in bytes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bytes: u64,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// How an instance ended and what it hands up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScopeEnd {
    /// Its exit.
    pub exit: Exit,
    /// How its `finally` stage went; none where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<ReportOutcome>,
    /// What went wrong in the `finally` stage, where something did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report_error: Option<StepError>,
    /// Its output channels, by name. Channels that add (append, sum, messages) and are input as well hold only
    /// what was added.
    pub output: Map,
    /// What it and its children used.
    pub settled: Spent,
    /// The ends of all instances below it, in delegation order, each parent before its children.
    #[serde(default)]
    pub children: Vec<Exit>,
    /// What its channels that are kept between runs hold, by name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub persisted: Map,
    /// What it and its children changed outside, or may have, in order of completion.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<Written>,
}
