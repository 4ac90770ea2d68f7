//! Removing runs, and the long texts that nobody uses any more.

use super::kept::NO_RUN;
use super::session::Session;
use crate::{Freed, RunId, StoreError};

/// How many texts one transaction removes: runs that are driven meanwhile write in between.
const TEXTS: i64 = 500;

impl Session {
    /// What it would give back to remove these runs and to sweep then.
    pub(super) fn weigh(&mut self, runs: &[RunId]) -> Result<Freed, StoreError> {
        let ids: Vec<&str> = runs.iter().map(RunId::as_str).collect();
        let rows = self.all("SELECT key FROM runs WHERE run_id = ANY ($1)", &[&ids])?;
        let keys: Vec<i64> = rows.iter().filter_map(|row| row.try_get(0).ok()).collect();
        let (entries, mut bytes) = self.weight(&keys)?;
        let sql = "SELECT count(*), coalesce(sum(octet_length(text)), 0)::bigint FROM texts WHERE NOT EXISTS \
            (SELECT 1 FROM text_uses WHERE text_uses.hash = texts.hash AND run <> ALL ($1))";
        let (texts, more) = self.counted(sql, &keys)?;
        bytes += more;
        Ok(Freed { entries, texts, bytes })
    }

    /// The rows of runs, and their bytes.
    fn weight(&mut self, keys: &[i64]) -> Result<(u64, u64), StoreError> {
        let sql = "SELECT count(*), coalesce(sum(octet_length(entry)), 0)::bigint FROM entries WHERE run = ANY ($1)";
        self.counted(sql, keys)
    }

    fn counted(&mut self, sql: &str, keys: &[i64]) -> Result<(u64, u64), StoreError> {
        let row = self.first(sql, &[&keys])?;
        let number = |column| row.as_ref().and_then(|row| row.try_get(column).ok()).map_or(0, count);
        Ok((number(0), number(1)))
    }

    /// Removes a run that nobody has claimed since. `again`: it may be gone already.
    pub(super) fn remove(&mut self, run: &RunId, epoch: u64, again: bool) -> Result<Freed, StoreError> {
        // Nothing else of the record is read: it may be damaged.
        let sql = "SELECT key, epoch FROM runs WHERE run_id = $1 FOR UPDATE";
        let Some(row) = self.first(sql, &[&run.as_str()])? else {
            return if again {
                Ok(Freed::default())
            } else {
                Err(StoreError::UnknownRun { run: run.clone() })
            };
        };
        let (key, current): (i64, i64) =
            (row.try_get(0).unwrap_or_default(), row.try_get(1).unwrap_or_default());
        if count(current) != epoch {
            return Err(StoreError::Fenced { run: run.clone(), epoch, current: count(current) });
        }
        let (entries, bytes) = self.weight(&[key])?;
        self.execute("DELETE FROM text_uses WHERE run = $1", &[&key])?;
        // Its journals and its setup go with it.
        self.execute("DELETE FROM runs WHERE key = $1", &[&key])?;
        Ok(Freed { entries, texts: 0, bytes })
    }

    /// Forgets uses by kept values that have been written over since.
    pub(super) fn forget_old_kept(&mut self) -> Result<(), StoreError> {
        self.lock_texts()?;
        let sql = "DELETE FROM text_uses WHERE run = $1 AND NOT EXISTS \
            (SELECT 1 FROM kept WHERE strpos(value, hash) > 0)";
        self.execute(sql, &[&NO_RUN]).map(drop)
    }

    /// Removes some of the texts that nobody uses; nothing where there are none.
    pub(super) fn sweep_some(&mut self) -> Result<Freed, StoreError> {
        self.lock_texts()?;
        let sql = "DELETE FROM texts WHERE hash IN (SELECT hash FROM texts WHERE NOT EXISTS (SELECT 1 \
            FROM text_uses WHERE text_uses.hash = texts.hash) LIMIT $1) RETURNING octet_length(text)::bigint";
        let rows = self.all(sql, &[&TEXTS])?;
        let bytes = rows.iter().filter_map(|row| row.try_get(0).ok()).map(count).sum();
        Ok(Freed { entries: 0, texts: rows.len() as u64, bytes })
    }

    /// Waits for those who are just writing texts, and keeps others from it until the end of the transaction.
    fn lock_texts(&mut self) -> Result<(), StoreError> {
        let schema = self.schema().to_owned();
        self.all("SELECT pg_advisory_xact_lock(hashtextextended($1, 1))", &[&schema]).map(drop)
    }
}

fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
