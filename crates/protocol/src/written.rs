//! What a run changed outside: calls that write, how each could be undone, and what was not.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Map, Millis, StepId};

/// A call that changed something outside, or may have. Only calls that were claimed before they were made are
/// listed: see [`EntryBody::Dispatched`](crate::EntryBody::Dispatched).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Written {
    /// The step that made the call.
    pub step: StepId,
    /// The op that was called.
    pub op: Arc<str>,
    /// When it completed, or was given up.
    pub at: Millis,
    /// How it is undone.
    pub undo: Undo,
}

/// How a call that wrote is undone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Undo {
    /// By calling an op: what the graph declares by `compensate`, evaluated when the call completed.
    Call {
        /// The op.
        op: Arc<str>,
        /// Its input, by name.
        input: Arc<Map>,
        /// Longest time of the call, in milliseconds.
        timeout_ms: u64,
    },
    /// Not at all: the graph declares no compensation.
    Nothing,
    /// Not at all: the declared compensation has no input, for this reason.
    Broken(String),
    /// It is not known whether there is something to undo: no outcome of the call was learnt.
    Unknown,
    /// Not here: the run that this one was forked from made the call.
    Elsewhere,
    /// Not any more: another attempt of the same step was done as well, and that one is undone.
    Twice,
}

/// A write that stands although its run was cancelled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotUndone {
    /// The step that wrote.
    pub step: StepId,
    /// The op that it called.
    pub op: Arc<str>,
    /// Why it was not undone, as a sentence without a full stop.
    pub why: String,
}
