//! Run records as rows.

use deepgraph_protocol::{Millis, RunStatus, StepId};
use rusqlite::{Row, params};

use super::session::{Session, number};
use crate::columns::{Columns, HEAD, Head, RECORD, head_of, record_of};
use crate::find::Ids;
use crate::packed::{PackedRecord, PackedUpdate};
use crate::{RunId, RunRecord, StoreError};

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
        let heads =
            self.all(&format!("{HEAD} WHERE run_id = ?1"), [run.as_str()], |row| head_of(row, run))?;
        heads.into_iter().next().ok_or_else(|| StoreError::UnknownRun { run: run.clone() })
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
            RunId::parse(&row.text(0).ok().flatten().unwrap_or_default())
        })
    }
}

impl Columns for Row<'_> {
    fn number(&self, column: usize) -> Result<Option<i64>, String> {
        self.get(column).map_err(|e| e.to_string())
    }

    // A damaged file may hold bytes that are no text.
    fn text(&self, column: usize) -> Result<Option<String>, String> {
        let value = self.get_ref(column).map_err(|e| e.to_string())?;
        value.as_str_or_null().map(|text| text.map(String::from)).map_err(|e| e.to_string())
    }

    fn flag(&self, column: usize) -> Result<bool, String> {
        Ok(Columns::number(self, column)?.unwrap_or(0) != 0)
    }
}

/// Reads a row of [`RECORD`].
pub(super) fn record(session: &Session, row: &Row<'_>) -> Result<RunRecord, StoreError> {
    record_of(row, &mut |hash| session.long_text(hash))
}
