//! Run records as rows.

use deepgraph_protocol::{Millis, RunStatus, StepId};
use rusqlite::types::ValueRef;
use rusqlite::{Row, params};
use serde::de::DeserializeOwned;

use super::session::{Session, number};
use crate::find::Ids;
use crate::packed::{PackedRecord, PackedUpdate, Unpack, unpack};
use crate::{RunId, RunRecord, StoreError};

/// The columns that [`record`] reads, in its order.
pub(super) const RECORD: &str = "SELECT run_id, status, question, graph, created_at, updated_at, current_step, \
    completed_steps, attempt, deadline, cost_cents, last_seq, cancel_requested, exits, report, output, epoch, \
    bundle, settings FROM runs LEFT JOIN setups ON setups.run = runs.key";

/// What writes need to know of a run.
pub(super) struct Head {
    /// Its number in the file.
    pub(super) key: i64,
    pub(super) status: RunStatus,
    pub(super) epoch: u64,
    /// The seq of its last row.
    pub(super) last_seq: u64,
    pub(super) cancel_requested: bool,
}

impl Session {
    /// Writes the row of a new run.
    pub(super) fn insert_run(&self, packed: &PackedRecord) -> Result<(), StoreError> {
        let record = &packed.record;
        let run = &record.run_id;
        if self.first("SELECT 1 FROM runs WHERE run_id = ?1", [run.as_str()], |_| Ok(()))?.is_some() {
            return Err(StoreError::RunExists { run: run.clone() });
        }
        let sql = "INSERT INTO runs (run_id, status, question, graph, created_at, updated_at, current_step, \
            completed_steps, attempt, deadline, cost_cents, last_seq, cancel_requested, exits, report, output, \
            epoch) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 0, ?12, ?13, ?14, ?15, 0)";
        let values = params![
            run.as_str(),
            record.status.name(),
            record.question,
            record.graph,
            record.created_at,
            record.updated_at,
            record.current_step.as_ref().map(StepId::as_str),
            number(record.completed_steps),
            record.attempt,
            record.deadline,
            record.cost_cents.map(number),
            record.cancel_requested,
            packed.exits.json,
            record.report.map(|report| report.name()),
            packed.output.json,
        ];
        self.execute(sql, values)?;
        let key = self.head(run)?.key;
        packed.parts().try_for_each(|part| self.keep_texts(key, part))?;
        let sql = "INSERT INTO setups (run, bundle, settings) VALUES (?1, ?2, ?3)";
        self.execute(sql, (key, &packed.bundle.json, &packed.settings.json)).map(|_| ())
    }

    /// The head of a run, which must be there.
    pub(super) fn head(&self, run: &RunId) -> Result<Head, StoreError> {
        let corrupt =
            |field, detail: String| StoreError::CorruptRecord { run: run.to_string(), field, detail };
        let sql = "SELECT key, status, epoch, last_seq, cancel_requested FROM runs WHERE run_id = ?1";
        let read = |row: &Row<'_>| {
            let numbers = (row.get::<_, i64>(2)?, row.get::<_, i64>(3)?, row.get::<_, i64>(4)?);
            Ok((row.get(0)?, text_of(row, 1), numbers))
        };
        let found = self.first(sql, [run.as_str()], read)?;
        let (key, status, (epoch, last_seq, cancel_requested)) =
            found.ok_or_else(|| StoreError::UnknownRun { run: run.clone() })?;
        Ok(Head {
            key,
            status: status.and_then(|name| status_of(&name)).map_err(|e| corrupt("status", e))?,
            epoch: u64::try_from(epoch).map_err(|e| corrupt("epoch", e.to_string()))?,
            last_seq: u64::try_from(last_seq).map_err(|e| corrupt("lastEventSeq", e.to_string()))?,
            cancel_requested: cancel_requested != 0,
        })
    }

    /// The head of a run that must be owned under this epoch.
    pub(super) fn owned(&self, run: &RunId, epoch: u64) -> Result<Head, StoreError> {
        let head = self.head(run)?;
        if head.epoch != epoch {
            return Err(StoreError::Fenced { run: run.clone(), epoch, current: head.epoch });
        }
        Ok(head)
    }

    /// The whole record of a run.
    pub(super) fn record(&self, run: &RunId) -> Result<Option<RunRecord>, StoreError> {
        let sql = format!("{RECORD} WHERE run_id = ?1");
        Ok(self.all(&sql, [run.as_str()], |row| record(self, row))?.pop())
    }

    /// Notes that rows were added.
    pub(super) fn note_rows(&self, key: i64, last_seq: u64, at: Millis) -> Result<(), StoreError> {
        let sql = "UPDATE runs SET last_seq = ?2, updated_at = max(updated_at, ?3) WHERE key = ?1";
        self.execute(sql, (key, number(last_seq), at)).map(|_| ())
    }

    /// Changes the record of a run.
    pub(super) fn change_record(&self, key: i64, packed: &PackedUpdate) -> Result<(), StoreError> {
        let update = &packed.plain;
        packed.parts().try_for_each(|part| self.keep_texts(key, part))?;
        let sql = "UPDATE runs SET status = coalesce(?2, status), updated_at = coalesce(?3, updated_at), \
            current_step = iif(?4, ?5, current_step), completed_steps = coalesce(?6, completed_steps), \
            attempt = coalesce(?7, attempt), deadline = iif(?8, ?9, deadline), \
            cost_cents = iif(?10, ?11, cost_cents), cancel_requested = coalesce(?12, cancel_requested), \
            exits = coalesce(?13, exits), report = iif(?14, ?15, report), output = coalesce(?16, output) \
            WHERE key = ?1";
        let values = params![
            key,
            update.status.map(RunStatus::name),
            update.updated_at,
            update.current_step.is_some(),
            update.current_step.as_ref().and_then(Option::as_ref).map(StepId::as_str),
            update.completed_steps.map(number),
            update.attempt,
            update.deadline.is_some(),
            update.deadline.flatten(),
            update.cost_cents.is_some(),
            update.cost_cents.flatten().map(number),
            update.cancel_requested,
            packed.exits.as_ref().map(|exits| &exits.json),
            update.report.is_some(),
            update.report.flatten().map(|report| report.name()),
            packed.output.as_ref().map(|output| &output.json),
        ];
        self.execute(sql, values)?;
        if let Some(settings) = &packed.settings {
            self.execute("UPDATE setups SET settings = ?2 WHERE run = ?1", (key, &settings.json))?;
        }
        Ok(())
    }
}

impl Ids for Session {
    fn starting_with(&self, prefix: &str, limit: usize) -> Result<Vec<RunId>, StoreError> {
        let sql = "SELECT run_id FROM runs WHERE substr(run_id, 1, length(?1)) = ?1 \
            ORDER BY created_at DESC, run_id DESC LIMIT ?2";
        self.all(sql, (prefix, number(limit as u64)), |row| {
            RunId::parse(&text_of(row, 0).unwrap_or_default())
        })
    }
}

fn status_of(name: &str) -> Result<RunStatus, String> {
    RunStatus::parse(name).ok_or_else(|| format!("there is no status \"{name}\""))
}

/// Reads a row of [`RECORD`].
pub(super) fn record(session: &Session, row: &Row<'_>) -> Result<RunRecord, StoreError> {
    let fields = Fields { session, row, run: text_of(row, 0).unwrap_or_default() };
    Ok(RunRecord {
        run_id: RunId::parse(&fields.run).map_err(|e| fields.corrupt("runId", e.to_string()))?,
        status: fields.status(1)?,
        question: fields.text(2, "question")?,
        graph: fields.text(3, "graph")?,
        created_at: fields.number(4, "createdAt")?,
        updated_at: fields.number(5, "updatedAt")?,
        current_step: fields.text_or_none(6, "currentStep")?.map(StepId::new),
        completed_steps: fields.number(7, "completedSteps")?,
        attempt: fields.number(8, "attempt")?,
        deadline: fields.number_or_none(9, "deadline")?,
        cost_cents: fields.number_or_none(10, "costCents")?,
        last_event_seq: fields.number(11, "lastEventSeq")?,
        cancel_requested: fields.number::<i64>(12, "cancelRequested")? != 0,
        exits: fields.json(13, "exits")?,
        report: fields.word_or_none(14, "report")?,
        output: fields.json(15, "output")?,
        epoch: fields.number(16, "epoch")?,
        bundle: fields.json(17, "bundle")?,
        settings: fields.json(18, "settings")?,
    })
}

pub(super) fn text_of(row: &Row<'_>, column: usize) -> Result<String, String> {
    let value = row.get_ref(column).map_err(|e| e.to_string())?;
    value.as_str().map(String::from).map_err(|e| e.to_string())
}

/// The fields of a record's row.
struct Fields<'a> {
    session: &'a Session,
    row: &'a Row<'a>,
    run: String,
}

impl Fields<'_> {
    fn corrupt(&self, field: &'static str, detail: impl Into<String>) -> StoreError {
        StoreError::CorruptRecord { run: self.run.clone(), field, detail: detail.into() }
    }

    fn is_null(&self, column: usize) -> bool {
        matches!(self.row.get_ref(column), Ok(ValueRef::Null))
    }

    fn text(&self, column: usize, field: &'static str) -> Result<String, StoreError> {
        text_of(self.row, column).map_err(|e| self.corrupt(field, e))
    }

    fn text_or_none(&self, column: usize, field: &'static str) -> Result<Option<String>, StoreError> {
        if self.is_null(column) { Ok(None) } else { self.text(column, field).map(Some) }
    }

    fn number<T: TryFrom<i64>>(&self, column: usize, field: &'static str) -> Result<T, StoreError> {
        let value: i64 = self.row.get(column).map_err(|e| self.corrupt(field, e.to_string()))?;
        T::try_from(value).map_err(|_| self.corrupt(field, format!("{value} is out of range")))
    }

    fn number_or_none<T: TryFrom<i64>>(
        &self,
        column: usize,
        field: &'static str,
    ) -> Result<Option<T>, StoreError> {
        if self.is_null(column) { Ok(None) } else { self.number(column, field).map(Some) }
    }

    fn status(&self, column: usize) -> Result<RunStatus, StoreError> {
        status_of(&self.text(column, "status")?).map_err(|e| self.corrupt("status", e))
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

    fn json<T: DeserializeOwned>(&self, column: usize, field: &'static str) -> Result<T, StoreError> {
        let text = self.text(column, field)?;
        unpack(&text, &mut |hash| self.session.long_text(hash)).map_err(|e| match e {
            Unpack::Store(e) => e,
            Unpack::Corrupt(detail) => self.corrupt(field, detail),
        })
    }
}
