//! Run records as rows.

use deepgraph_protocol::RunStatus;
use postgres::Row;

use super::plain;
use super::session::{Params, Session, number};
use super::texts::AT_ONCE;
use crate::columns::{Columns, HEAD, Head, PACKED, RECORD, head_of, record_of};
use crate::find::Ids;
use crate::packed::{PackedRecord, PackedUpdate};
use crate::{RunId, RunRecord, StoreError};

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
        let row = self.first(
            "UPDATE runs SET epoch = greatest(epoch, 0) + 1 WHERE run_id = $1 RETURNING epoch",
            &[&run.as_str()],
        )?;
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
        self.head_by(&format!("{HEAD} WHERE run_id = $1"), run)
    }

    /// The same, and nobody else changes the run before the end of the transaction.
    fn locked_head(&mut self, run: &RunId) -> Result<Head, StoreError> {
        self.head_by(&format!("{HEAD} WHERE run_id = $1 FOR UPDATE"), run)
    }

    fn head_by(&mut self, sql: &str, run: &RunId) -> Result<Head, StoreError> {
        let found = self.first(sql, &[&run.as_str()])?;
        head_of(&found.ok_or_else(|| StoreError::UnknownRun { run: run.clone() })?, run)
    }

    /// The head of a run that must be owned under this epoch, for who changes nothing: no lock is taken, which the
    /// server would have to write down.
    pub(super) fn owned_now(&mut self, run: &RunId, epoch: u64) -> Result<Head, StoreError> {
        fenced(self.head(run)?, run, epoch)
    }

    /// The head of a run that must be owned under this epoch, locked.
    pub(super) fn owned(&mut self, run: &RunId, epoch: u64) -> Result<Head, StoreError> {
        fenced(self.locked_head(run)?, run, epoch)
    }

    /// The whole record of a run.
    pub(super) fn record(&mut self, run: &RunId) -> Result<Option<RunRecord>, StoreError> {
        Ok(self.records("WHERE run_id = $1", &[&run.as_str()])?.pop())
    }

    /// The records that `which` selects.
    pub(super) fn records(&mut self, which: &str, params: Params<'_>) -> Result<Vec<RunRecord>, StoreError> {
        let rows = self.all(&format!("{RECORD} {which}"), params)?;
        let mut records = Vec::with_capacity(rows.len());
        for some in rows.chunks(AT_ONCE) {
            let packed = some.iter().flat_map(|row| PACKED.map(|column| row.try_get(column).unwrap_or("")));
            let mut texts = self.texts_of(packed)?;
            for row in some {
                records.push(record_of(row, &mut |hash| Ok(texts.get(hash)))?);
            }
        }
        Ok(records)
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
}

impl Ids for std::cell::RefCell<&mut Session> {
    fn starting_with(&self, prefix: &str, limit: usize) -> Result<Vec<RunId>, StoreError> {
        let sql = "SELECT run_id FROM runs WHERE starts_with(run_id, $1) \
            ORDER BY created_at DESC, run_id DESC LIMIT $2";
        let rows = self.borrow_mut().all(sql, &[&prefix, &number(limit as u64)])?;
        rows.iter().map(|row| RunId::parse(row.try_get(0).unwrap_or_default())).collect()
    }
}

/// A head, if it has this epoch.
fn fenced(head: Head, run: &RunId, epoch: u64) -> Result<Head, StoreError> {
    if head.epoch != epoch {
        return Err(StoreError::Fenced { run: run.clone(), epoch, current: head.epoch });
    }
    Ok(head)
}

impl Columns for Row {
    fn number(&self, column: usize) -> Result<Option<i64>, String> {
        self.try_get(column).map_err(|e| e.to_string())
    }

    fn text(&self, column: usize) -> Result<Option<String>, String> {
        self.try_get(column).map_err(|e| e.to_string())
    }

    fn flag(&self, column: usize) -> Result<bool, String> {
        self.try_get(column).map_err(|e| e.to_string())
    }

    fn plain(&self, text: String) -> String {
        plain::read(text)
    }
}
