//! The figures of a run: what it took, what it brought, and how it ended.
//!
//! They are a fold of its journals, over all its attempts, and cost less than a trace: nothing is rendered.

mod gather;
mod sources;
#[cfg(test)]
mod tests;
mod time;

use std::sync::Arc;

use deepgraph_protocol::{Clocks, ExitClass, ExitReason, LimitHit, ReportOutcome, RunStatus, ScopePath};
use serde::Serialize;

use crate::churn::Churn;
use crate::sources::CitationCounts;

pub use gather::of_run;

/// The figures of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// How many attempts it had.
    pub attempts: u32,
    /// Distinct steps that were completed (model calls, tool calls, ops, questions, child graphs), those of all its
    /// instances.
    pub steps: u64,
    /// Model calls, failed attempts included.
    pub model_calls: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Tokens, input and output.
    pub tokens: u64,
    /// Tokens a step, rounded.
    pub tokens_per_step: u64,
    /// What it cost.
    pub cost: Cost,
    /// Distinct documents among the sources that it collected.
    pub sources: u64,
    /// Distinct passages of them.
    pub passages: u64,
    /// What was found, where the graph has channels that tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub findings: Option<u64>,
    /// The gain of the last step that a gain limit looked at: the mean over the instances that have one. More than 1
    /// counts as 1, so that an instance of one step, for which all is new, does not hide the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_gain: Option<f64>,
    /// Why research stopped: the root's exit; none while it has not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stop>,
    /// How its report stage went.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<ReportOutcome>,
    /// Its status as the journals have it; none while it is going on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<RunStatus>,
    /// What became of the citations of its report; none where that was not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub citations: Option<CitationCounts>,
    /// What it asked again; none where that was not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub churn: Option<ChurnCounts>,
    /// Where its time went, over all its instances and attempts, the time between attempts apart; none where it was not
    /// measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Clocks>,
    /// Its instances in the order of their paths.
    pub instances: Vec<InstanceFigures>,
}

/// What a run cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// The sum of all calls of known price, in micro-dollars.
    pub known_micro_usd: u64,
    /// Calls of unknown price: the sum is a lower bound where there are some.
    pub unknown_calls: u64,
}

/// How much a run asked late or in vain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ChurnCounts {
    /// Sub-questions that were delegated, each wording that asks the same once.
    pub sub_questions: u64,
    /// Those of them that were first asked after the first step of delegating.
    pub asked_late: u64,
    /// Queries after the first of an instance.
    pub rewrites: u64,
    /// Those of them that brought no new source.
    pub idle_rewrites: u64,
}

/// Why an instance stopped.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stop {
    /// The reason.
    pub reason: ExitReason,
    /// Its class.
    pub class: ExitClass,
    /// The limit that fired, where one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitHit>,
}

/// The figures of one instance, those below it apart.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct InstanceFigures {
    /// Where it is.
    pub scope: ScopePath,
    /// Its graph.
    pub graph: Arc<str>,
    /// Distinct steps that were completed.
    pub steps: u64,
    /// Tokens of its own model calls.
    pub tokens: u64,
    /// Tokens of each of them, in the order in which they were begun. A step that calls no model takes none and is
    /// left out.
    pub tokens_per_step: Vec<u64>,
    /// What its gain limits looked at.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gains: Vec<GainFigures>,
    /// Why it stopped; none while it has not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stop>,
}

/// What a gain limit looked at.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct GainFigures {
    /// The limit.
    pub limit: Arc<str>,
    /// The channel.
    pub channel: Arc<str>,
    /// New items ÷ (items known before + 1) of each step that wrote the channel, to six digits behind the point.
    pub per_step: Vec<f64>,
}

impl Figures {
    /// The gains of the last steps of its instances, at most 1 each.
    pub fn last_gains(&self) -> impl Iterator<Item = f64> {
        self.instances.iter().flat_map(|one| &one.gains).filter_map(GainFigures::last)
    }
}

impl From<&Churn> for ChurnCounts {
    fn from(churn: &Churn) -> ChurnCounts {
        ChurnCounts {
            sub_questions: churn.sub_questions,
            asked_late: churn.asked_late.len() as u64,
            rewrites: churn.rewrites,
            idle_rewrites: churn.idle_rewrites.len() as u64,
        }
    }
}

impl GainFigures {
    /// The gain of the last step, at most 1; none where there was no step.
    pub fn last(&self) -> Option<f64> {
        self.per_step.last().map(|gain| gain.min(1.0))
    }
}
