//! Run records as rows.

use deepgraph_protocol::{RunStatus, StepId};
use postgres::Row;
use postgres::types::FromSql;
use serde::de::DeserializeOwned;

use super::plain;
use super::session::{Params, Session, number};
use crate::find::Ids;
use crate::packed::{PackedRecord, PackedUpdate, Unpack, unpack};
use crate::{RunId, RunRecord, StoreError};

/// The columns that [`Session::record_of`] reads, in its order.
const RECORD: &str = "SELECT run_id, status, question, graph, created_at, updated_at, current_step, \
    completed_steps, attempt, deadline, cost_cents, last_seq, cancel_requested, exits, report, output, epoch, \
    bundle, settings FROM runs LEFT JOIN setups ON setups.run = runs.key";

/// What writes need to know of a run.
pub(super) struct Head {
    /// Its number in the schema.
    pub(super) key: i64,
    status: RunStatus,
    epoch: u64,
    /// The seq of its last row.
    pub(super) last_seq: u64,
    pub(super) cancel_requested: bool,
}

impl Session {
    /// Writes the row of a new run. `again`: it may be there already, as it was given.
    pub(super) fn insert_run(&mut self, packed: &PackedRecord, again: bool) -> Result<(), StoreError> {
        let record = &packed.record;
        let run = &record.run_id;
        let sql = "INSERT INTO runs (run_id, status, question, graph, created_at, updated_at, current_step, \
            completed_steps, attempt, deadline, cost_cents, last_seq, cancel_requested, exits, report, output, \
            epoch) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0, $12, $13, $14, $15, 0) \
            ON CONFLICT (run_id) DO NOTHING RETURNING key";
        let step = record.current_step.as_ref().map(|step| plain::write(step.as_str()));
        let row = self.first(
            sql,
            &[
                &run.as_str(),
                &record.status.name(),
                &&*plain::write(&record.question),
                &&*plain::write(&record.graph),
                &record.created_at,
                &record.updated_at,
                &step.as_deref(),
                &number(record.completed_steps),
                &i64::from(record.attempt),
                &record.deadline,
                &record.cost_cents.map(number),
                &record.cancel_requested,
                &packed.exits.json,
                &record.report.map(|report| report.name()),
                &packed.output.json,
            ],
        )?;
        let Some(key) = row.and_then(|row| row.try_get::<_, i64>(0).ok()) else {
            let expected = RunRecord { epoch: 0, last_event_seq: 0, ..record.clone() };
            if again && self.record(run)?.is_some_and(|found| found == expected) {
                return Ok(());
            }
            return Err(StoreError::RunExists { run: run.clone() });
        };
        self.keep_texts(key, packed.parts())?;
        let sql = "INSERT INTO setups (run, bundle, settings) VALUES ($1, $2, $3)";
        self.execute(sql, &[&key, &packed.bundle.json, &packed.settings.json]).map(drop)
    }

    /// Raises the epoch of a run.
    pub(super) fn claim(&mut self, run: &RunId) -> Result<u64, StoreError> {
        let row = self
            .first("UPDATE runs SET epoch = epoch + 1 WHERE run_id = $1 RETURNING epoch", &[&run.as_str()])?;
        let row = row.ok_or_else(|| StoreError::UnknownRun { run: run.clone() })?;
        let epoch: i64 = row.try_get(0).unwrap_or(0);
        Ok(u64::try_from(epoch).unwrap_or(0))
    }

    /// Asks the owner to stop, unless the run is over.
    pub(super) fn request_cancel(&mut self, run: &RunId) -> Result<RunStatus, StoreError> {
        let head = self.locked_head(run)?;
        if !head.status.is_terminal() {
            self.execute("UPDATE runs SET cancel_requested = true WHERE key = $1", &[&head.key])?;
        }
        Ok(head.status)
    }

    /// The head of a run, which must be there.
    pub(super) fn head(&mut self, run: &RunId) -> Result<Head, StoreError> {
        self.head_by("SELECT key, status, epoch, last_seq, cancel_requested FROM runs WHERE run_id = $1", run)
    }

    /// The same, and nobody else changes the run before the end of the transaction.
    fn locked_head(&mut self, run: &RunId) -> Result<Head, StoreError> {
        let sql =
            "SELECT key, status, epoch, last_seq, cancel_requested FROM runs WHERE run_id = $1 FOR UPDATE";
        self.head_by(sql, run)
    }

    fn head_by(&mut self, sql: &str, run: &RunId) -> Result<Head, StoreError> {
        let found = self.first(sql, &[&run.as_str()])?;
        let row = found.ok_or_else(|| StoreError::UnknownRun { run: run.clone() })?;
        let fields = Fields { row: &row, run: run.to_string() };
        Ok(Head {
            key: fields.get(0, "key")?,
            status: fields.status(1)?,
            epoch: fields.number(2, "epoch")?,
            last_seq: fields.number(3, "lastEventSeq")?,
            cancel_requested: fields.get(4, "cancelRequested")?,
        })
    }

    /// The head of a run that must be owned under this epoch, locked.
    pub(super) fn owned(&mut self, run: &RunId, epoch: u64) -> Result<Head, StoreError> {
        let head = self.locked_head(run)?;
        if head.epoch != epoch {
            return Err(StoreError::Fenced { run: run.clone(), epoch, current: head.epoch });
        }
        Ok(head)
    }

    /// The whole record of a run.
    pub(super) fn record(&mut self, run: &RunId) -> Result<Option<RunRecord>, StoreError> {
        Ok(self.records("WHERE run_id = $1", &[&run.as_str()])?.pop())
    }

    /// The records that `which` selects.
    pub(super) fn records(&mut self, which: &str, params: Params<'_>) -> Result<Vec<RunRecord>, StoreError> {
        let rows = self.all(&format!("{RECORD} {which}"), params)?;
        rows.iter().map(|row| self.record_of(row)).collect()
    }

    /// Changes the record of a run.
    pub(super) fn change_record(&mut self, key: i64, packed: &PackedUpdate) -> Result<(), StoreError> {
        let update = &packed.plain;
        self.keep_texts(key, packed.parts())?;
        let sql = "UPDATE runs SET status = coalesce($2, status), updated_at = coalesce($3, updated_at), \
            current_step = CASE WHEN $4 THEN $5 ELSE current_step END, \
            completed_steps = coalesce($6, completed_steps), attempt = coalesce($7, attempt), \
            deadline = CASE WHEN $8 THEN $9 ELSE deadline END, \
            cost_cents = CASE WHEN $10 THEN $11 ELSE cost_cents END, \
            cancel_requested = coalesce($12, cancel_requested), exits = coalesce($13, exits), \
            report = CASE WHEN $14 THEN $15 ELSE report END, output = coalesce($16, output) WHERE key = $1";
        let step = update.current_step.as_ref().and_then(Option::as_ref);
        let step = step.map(|step| plain::write(step.as_str()));
        self.execute(
            sql,
            &[
                &key,
                &update.status.map(RunStatus::name),
                &update.updated_at,
                &update.current_step.is_some(),
                &step.as_deref(),
                &update.completed_steps.map(number),
                &update.attempt.map(i64::from),
                &update.deadline.is_some(),
                &update.deadline.flatten(),
                &update.cost_cents.is_some(),
                &update.cost_cents.flatten().map(number),
                &update.cancel_requested,
                &packed.exits.as_ref().map(|exits| &exits.json),
                &update.report.is_some(),
                &update.report.flatten().map(|report| report.name()),
                &packed.output.as_ref().map(|output| &output.json),
            ],
        )?;
        if let Some(settings) = &packed.settings {
            self.execute("UPDATE setups SET settings = $2 WHERE run = $1", &[&key, &settings.json])?;
        }
        Ok(())
    }

    /// Reads a row of [`RECORD`].
    fn record_of(&mut self, row: &Row) -> Result<RunRecord, StoreError> {
        let fields = Fields { row, run: row.try_get(0).unwrap_or_default() };
        Ok(RunRecord {
            run_id: RunId::parse(&fields.run).map_err(|e| fields.corrupt("runId", e.to_string()))?,
            status: fields.status(1)?,
            question: plain::read(fields.get(2, "question")?),
            graph: plain::read(fields.get(3, "graph")?),
            created_at: fields.get(4, "createdAt")?,
            updated_at: fields.get(5, "updatedAt")?,
            current_step: fields
                .get::<Option<String>>(6, "currentStep")?
                .map(|step| StepId::new(plain::read(step))),
            completed_steps: fields.number(7, "completedSteps")?,
            attempt: fields.number(8, "attempt")?,
            deadline: fields.get(9, "deadline")?,
            cost_cents: fields.number_or_none(10, "costCents")?,
            last_event_seq: fields.number(11, "lastEventSeq")?,
            cancel_requested: fields.get(12, "cancelRequested")?,
            exits: fields.json(13, "exits", self)?,
            report: fields.word_or_none(14, "report")?,
            output: fields.json(15, "output", self)?,
            epoch: fields.number(16, "epoch")?,
            bundle: fields.json(17, "bundle", self)?,
            settings: fields.json(18, "settings", self)?,
        })
    }
}

impl Ids for std::cell::RefCell<&mut Session> {
    fn starting_with(&self, prefix: &str, limit: usize) -> Result<Vec<RunId>, StoreError> {
        let sql = "SELECT run_id FROM runs WHERE starts_with(run_id, $1) \
            ORDER BY created_at DESC, run_id DESC LIMIT $2";
        let rows = self.borrow_mut().all(sql, &[&prefix, &number(limit as u64)])?;
        rows.iter().map(|row| RunId::parse(row.try_get(0).unwrap_or_default())).collect()
    }
}

/// The fields of a record's row.
struct Fields<'a> {
    row: &'a Row,
    run: String,
}

impl Fields<'_> {
    fn corrupt(&self, field: &'static str, detail: impl Into<String>) -> StoreError {
        StoreError::CorruptRecord { run: self.run.clone(), field, detail: detail.into() }
    }

    fn get<'a, T: FromSql<'a>>(&'a self, column: usize, field: &'static str) -> Result<T, StoreError> {
        self.row.try_get(column).map_err(|e| self.corrupt(field, e.to_string()))
    }

    fn number<T: TryFrom<i64>>(&self, column: usize, field: &'static str) -> Result<T, StoreError> {
        let value: i64 = self.get(column, field)?;
        T::try_from(value).map_err(|_| self.corrupt(field, format!("{value} is out of range")))
    }

    fn number_or_none<T: TryFrom<i64>>(
        &self,
        column: usize,
        field: &'static str,
    ) -> Result<Option<T>, StoreError> {
        match self.get::<Option<i64>>(column, field)? {
            None => Ok(None),
            Some(_) => self.number(column, field).map(Some),
        }
    }

    fn status(&self, column: usize) -> Result<RunStatus, StoreError> {
        let name: &str = self.get(column, "status")?;
        RunStatus::parse(name).ok_or_else(|| self.corrupt("status", format!("there is no status \"{name}\"")))
    }

    /// A value of an enum, by its JSON name.
    fn word_or_none<T: DeserializeOwned>(
        &self,
        column: usize,
        field: &'static str,
    ) -> Result<Option<T>, StoreError> {
        let Some(name) = self.get::<Option<String>>(column, field)? else { return Ok(None) };
        let word = serde_json::from_value(serde_json::Value::String(name));
        word.map(Some).map_err(|e| self.corrupt(field, e.to_string()))
    }

    fn json<T: DeserializeOwned>(
        &self,
        column: usize,
        field: &'static str,
        session: &mut Session,
    ) -> Result<T, StoreError> {
        let text: &str = self.get(column, field)?;
        unpack(text, &mut |hash| session.long_text(hash)).map_err(|e| match e {
            Unpack::Store(e) => e,
            Unpack::Corrupt(detail) => self.corrupt(field, detail),
        })
    }
}
