//! The record of a run.

use std::fmt;
use std::sync::Arc;

use deepgraph_protocol::{Exit, Map, Millis, ReportOutcome, RunStatus, StepId, Value};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::StoreError;

/// The id of a run: a UUID as text, lower case with hyphens. New ones are of version 7, so they sort by the
/// time they were made.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunId(Arc<str>);

impl RunId {
    /// A new id, unlike any other.
    // No `Default`: two defaults would differ.
    #[allow(clippy::new_without_default)]
    pub fn new() -> RunId {
        RunId(Uuid::now_v7().hyphenated().to_string().into())
    }

    /// Reads an id, in any of the usual ways to write a UUID.
    pub fn parse(text: &str) -> Result<RunId, StoreError> {
        let uuid = Uuid::try_parse(text.trim()).map_err(|_| StoreError::BadRunId { text: cut(text) })?;
        Ok(RunId(uuid.hyphenated().to_string().into()))
    }

    /// The text form.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A text for an error message, at most 80 characters of it.
pub(crate) fn cut(text: &str) -> String {
    text.chars().take(80).collect()
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for RunId {
    type Error = StoreError;

    fn try_from(text: String) -> Result<RunId, StoreError> {
        RunId::parse(&text)
    }
}

impl From<RunId> for String {
    fn from(run: RunId) -> String {
        run.0.as_ref().into()
    }
}

/// What is known of a run without folding its journals. Its JSON form has the field names in camelCase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunRecord {
    /// The run.
    pub run_id: RunId,
    /// Where it stands.
    pub status: RunStatus,
    /// The question as it was asked.
    pub question: String,
    /// The graph, by name or file as it was given.
    pub graph: String,
    /// When it was recorded.
    pub created_at: Millis,
    /// When it last changed.
    pub updated_at: Millis,
    /// The step last begun or committed.
    pub current_step: Option<StepId>,
    /// How many steps are committed.
    pub completed_steps: u64,
    /// The attempt, from 1.
    pub attempt: u32,
    /// The moment by which it must be through; none: no such moment.
    pub deadline: Option<Millis>,
    /// What it cost, in US cents; none: not known.
    pub cost_cents: Option<u64>,
    /// The seq of its last row; 0 before the first.
    pub last_event_seq: u64,
    /// Whether somebody asked for it to stop.
    pub cancel_requested: bool,
    /// How its scopes ended, the root first, then all below it in delegation order.
    pub exits: Vec<Exit>,
    /// How its report stage went; none before the end, or where the graph has none.
    pub report: Option<ReportOutcome>,
    /// Its output channels, the report's text among them; empty before the end.
    pub output: Map,
    /// Graphs and prompts as they were when the run started: what a resume needs.
    pub bundle: serde_json::Value,
    /// How the run was set up (models, documents, limits): what a resume needs.
    pub settings: serde_json::Value,
    /// How often it has been claimed.
    pub epoch: u64,
}

impl RunRecord {
    /// The record of a run that is not started yet.
    pub fn queued(
        run_id: RunId,
        question: impl Into<String>,
        graph: impl Into<String>,
        created_at: Millis,
        bundle: serde_json::Value,
        settings: serde_json::Value,
    ) -> RunRecord {
        RunRecord {
            run_id,
            status: RunStatus::Queued,
            question: question.into(),
            graph: graph.into(),
            created_at,
            updated_at: created_at,
            current_step: None,
            completed_steps: 0,
            attempt: 1,
            deadline: None,
            cost_cents: None,
            last_event_seq: 0,
            cancel_requested: false,
            exits: Vec::new(),
            report: None,
            output: Map::new(),
            bundle,
            settings,
            epoch: 0,
        }
    }
}

/// A change of a run's record: fields that are none stay as they are. Where the record's field may itself be
/// empty, `Some(None)` empties it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunUpdate {
    /// Where it stands.
    pub status: Option<RunStatus>,
    /// When it changed.
    pub updated_at: Option<Millis>,
    /// The step last begun or committed.
    pub current_step: Option<Option<StepId>>,
    /// How many steps are committed.
    pub completed_steps: Option<u64>,
    /// The attempt.
    pub attempt: Option<u32>,
    /// The moment by which it must be through.
    pub deadline: Option<Option<Millis>>,
    /// What it cost, in US cents.
    pub cost_cents: Option<Option<u64>>,
    /// Whether somebody asked for it to stop: for a new attempt, which starts without, and for a driver that takes the
    /// request, so that it can be made once more.
    pub cancel_requested: Option<bool>,
    /// How its scopes ended.
    pub exits: Option<Vec<Exit>>,
    /// How its report stage went.
    pub report: Option<Option<ReportOutcome>>,
    /// Its output channels.
    pub output: Option<Map>,
    /// How the run is set up from now on: for an attempt with other limits.
    pub settings: Option<serde_json::Value>,
    /// Values to keep beyond the run, by key: see [`Store::kept`](crate::Store::kept). Not part of the record.
    pub keep: Vec<(String, Value)>,
}

impl RunUpdate {
    /// Applies the change.
    pub(crate) fn apply(&self, record: &mut RunRecord) {
        fn set<T: Clone>(field: &mut T, value: &Option<T>) {
            if let Some(value) = value {
                field.clone_from(value);
            }
        }
        set(&mut record.status, &self.status);
        set(&mut record.updated_at, &self.updated_at);
        set(&mut record.current_step, &self.current_step);
        set(&mut record.completed_steps, &self.completed_steps);
        set(&mut record.attempt, &self.attempt);
        set(&mut record.deadline, &self.deadline);
        set(&mut record.cost_cents, &self.cost_cents);
        set(&mut record.cancel_requested, &self.cancel_requested);
        set(&mut record.exits, &self.exits);
        set(&mut record.report, &self.report);
        set(&mut record.output, &self.output);
        set(&mut record.settings, &self.settings);
    }
}
