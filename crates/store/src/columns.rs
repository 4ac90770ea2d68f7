//! Run records from the columns of a row: the same in every database.

use deepgraph_protocol::{RunStatus, StepId};
use serde::de::DeserializeOwned;

use crate::packed::{Lookup, Unpack, unpack};
use crate::{RunId, RunRecord, StoreError, Stored};

/// The columns that [`record_of`] reads, in its order.
pub(crate) const RECORD: &str = "SELECT run_id, status, question, graph, created_at, updated_at, current_step, \
    completed_steps, attempt, deadline, cost_cents, last_seq, cancel_requested, exits, report, output, epoch, \
    bundle, settings FROM runs LEFT JOIN setups ON setups.run = runs.key";

/// The columns that [`head_of`] reads, in its order.
pub(crate) const HEAD: &str = "SELECT key, status, epoch, last_seq, cancel_requested FROM runs";

/// The columns of [`RECORD`] that hold packed JSON.
#[cfg(feature = "postgres")]
pub(crate) const PACKED: [usize; 4] = [13, 15, 17, 18];

/// One row, as its database gives it. Columns count from 0; errors are in the words of the database.
pub(crate) trait Columns {
    /// A number; none where the column is empty.
    fn number(&self, column: usize) -> Result<Option<i64>, String>;
    /// A text as it was bound; none where the column is empty.
    fn text(&self, column: usize) -> Result<Option<String>, String>;
    /// A yes or no.
    fn flag(&self, column: usize) -> Result<bool, String>;
    /// A text that stands in a column of its own, as the record has it.
    fn plain(&self, text: String) -> String {
        text
    }
}

/// What writes need to know of a run.
#[derive(Debug)]
pub(crate) struct Head {
    /// Its number in the store.
    pub(crate) key: i64,
    pub(crate) status: RunStatus,
    pub(crate) epoch: u64,
    /// The seq of its last row.
    pub(crate) last_seq: u64,
    pub(crate) cancel_requested: bool,
}

/// Reads a row of [`HEAD`].
pub(crate) fn head_of(row: &impl Columns, run: &RunId) -> Result<Head, StoreError> {
    let fields = Fields { row, run: run.to_string() };
    Ok(Head {
        key: fields.number(0, "key")?,
        status: fields.status(1)?,
        epoch: fields.number(2, "epoch")?,
        last_seq: fields.number(3, "lastEventSeq")?,
        cancel_requested: fields.flag(4, "cancelRequested")?,
    })
}

/// Reads a row of [`RECORD`].
pub(crate) fn record_of(row: &impl Columns, lookup: &mut Lookup<'_>) -> Result<RunRecord, StoreError> {
    let fields = Fields { row, run: row.text(0).ok().flatten().unwrap_or_default() };
    Ok(RunRecord {
        run_id: RunId::parse(&fields.run).map_err(|e| fields.corrupt("runId", e.to_string()))?,
        status: fields.status(1)?,
        question: row.plain(fields.text(2, "question")?),
        graph: row.plain(fields.text(3, "graph")?),
        created_at: fields.number(4, "createdAt")?,
        updated_at: fields.number(5, "updatedAt")?,
        current_step: fields.text_or_none(6, "currentStep")?.map(|step| StepId::new(row.plain(step))),
        completed_steps: fields.number(7, "completedSteps")?,
        attempt: fields.number(8, "attempt")?,
        deadline: fields.number_or_none(9, "deadline")?,
        cost_cents: fields.number_or_none(10, "costCents")?,
        last_event_seq: fields.number(11, "lastEventSeq")?,
        cancel_requested: fields.flag(12, "cancelRequested")?,
        exits: fields.json(13, "exits", lookup)?,
        report: fields.word_or_none(14, "report")?,
        output: fields.json(15, "output", lookup)?,
        epoch: fields.number(16, "epoch")?,
        bundle: fields.json(17, "bundle", lookup)?,
        settings: fields.json(18, "settings", lookup)?,
    })
}

/// The rows of a run behind `after_seq`, if they are all there up to `last_seq`.
///
/// # Errors
///
/// [`StoreError::MissingEntry`], for the first that is not.
pub(crate) fn whole(
    run: &RunId,
    after_seq: u64,
    last_seq: u64,
    rows: Vec<Stored>,
) -> Result<Vec<Stored>, StoreError> {
    let wanted = after_seq.saturating_add(1)..=last_seq;
    let first_gap = wanted.clone().zip(&rows).find(|(seq, row)| *seq != row.seq).map(|(seq, _)| seq);
    match first_gap.or_else(|| wanted.clone().nth(rows.len())) {
        Some(seq) => Err(StoreError::MissingEntry { run: run.clone(), seq }),
        None => Ok(rows),
    }
}

/// A row with the run that its errors name.
struct Fields<'a, C> {
    row: &'a C,
    run: String,
}

impl<C: Columns> Fields<'_, C> {
    fn corrupt(&self, field: &'static str, detail: impl Into<String>) -> StoreError {
        StoreError::CorruptRecord { run: self.run.clone(), field, detail: detail.into() }
    }

    fn text_or_none(&self, column: usize, field: &'static str) -> Result<Option<String>, StoreError> {
        self.row.text(column).map_err(|e| self.corrupt(field, e))
    }

    fn text(&self, column: usize, field: &'static str) -> Result<String, StoreError> {
        self.text_or_none(column, field)?.ok_or_else(|| self.corrupt(field, "it is empty"))
    }

    fn number_or_none<T: TryFrom<i64>>(
        &self,
        column: usize,
        field: &'static str,
    ) -> Result<Option<T>, StoreError> {
        let found = self.row.number(column).map_err(|e| self.corrupt(field, e))?;
        let in_range =
            |n: i64| T::try_from(n).map_err(|_| self.corrupt(field, format!("{n} is out of range")));
        found.map(in_range).transpose()
    }

    fn number<T: TryFrom<i64>>(&self, column: usize, field: &'static str) -> Result<T, StoreError> {
        self.number_or_none(column, field)?.ok_or_else(|| self.corrupt(field, "it is empty"))
    }

    fn flag(&self, column: usize, field: &'static str) -> Result<bool, StoreError> {
        self.row.flag(column).map_err(|e| self.corrupt(field, e))
    }

    fn status(&self, column: usize) -> Result<RunStatus, StoreError> {
        let name = self.text(column, "status")?;
        RunStatus::parse(&name)
            .ok_or_else(|| self.corrupt("status", format!("there is no status \"{name}\"")))
    }

    /// A value of an enum, by its JSON name.
    fn word_or_none<T: DeserializeOwned>(
        &self,
        column: usize,
        field: &'static str,
    ) -> Result<Option<T>, StoreError> {
        let Some(name) = self.text_or_none(column, field)? else { return Ok(None) };
        let word = serde_json::from_value(serde_json::Value::String(name));
        word.map(Some).map_err(|e| self.corrupt(field, e.to_string()))
    }

    fn json<T: DeserializeOwned>(
        &self,
        column: usize,
        field: &'static str,
        lookup: &mut Lookup<'_>,
    ) -> Result<T, StoreError> {
        unpack(&self.text(column, field)?, lookup).map_err(|e| match e {
            Unpack::Store(e) => e,
            Unpack::Corrupt(detail) => self.corrupt(field, detail),
        })
    }
}
