//! Removing runs, and the long texts that nobody uses any more.

use super::kept::NO_RUN;
use super::session::Session;
use crate::{Freed, RunId, StoreError};

/// How many texts one transaction removes, and how many pages one gives back: runs that are driven meanwhile write
/// in between.
const TEXTS: i64 = 500;
const PAGES: i64 = 1000;

impl Session {
    /// What it would give back to remove these runs and to sweep then.
    pub(super) fn weigh(&self, runs: &[RunId]) -> Result<Freed, StoreError> {
        let mut freed = Freed::default();
        let mut keys = Vec::new();
        for run in runs {
            let key =
                self.first("SELECT key FROM runs WHERE run_id = ?1", [run.as_str()], |row| row.get(0))?;
            if let Some(key) = key {
                keys.push(key);
                freed += self.weight(key)?;
            }
        }
        let keys = serde_json::to_string(&keys).unwrap_or_default();
        let sql = "SELECT count(*), coalesce(sum(octet_length(text)), 0) FROM texts WHERE NOT EXISTS (SELECT 1 \
            FROM text_uses WHERE text_uses.hash = texts.hash AND run NOT IN (SELECT value FROM json_each(?1)))";
        let (texts, bytes) = self.first(sql, [keys], |row| Ok((row.get(0)?, row.get(1)?)))?.unwrap_or((0, 0));
        freed += Freed { entries: 0, texts: count(texts), bytes: count(bytes) };
        Ok(freed)
    }

    /// The rows of a run.
    fn weight(&self, key: i64) -> Result<Freed, StoreError> {
        let sql = "SELECT count(*), coalesce(sum(octet_length(entry)), 0) FROM entries WHERE run = ?1";
        let (entries, bytes) =
            self.first(sql, [key], |row| Ok((row.get(0)?, row.get(1)?)))?.unwrap_or((0, 0));
        Ok(Freed { entries: count(entries), texts: 0, bytes: count(bytes) })
    }

    /// Removes a run that nobody has claimed since.
    pub(super) fn remove(&self, run: &RunId, epoch: u64) -> Result<Freed, StoreError> {
        // Nothing else of the record is read: it may be damaged.
        let sql = "SELECT key, epoch FROM runs WHERE run_id = ?1";
        let found = self.first(sql, [run.as_str()], |row| Ok((row.get::<_, i64>(0)?, row.get(1)?)))?;
        let (key, current) = found.ok_or_else(|| StoreError::UnknownRun { run: run.clone() })?;
        if count(current) != epoch {
            return Err(StoreError::Fenced { run: run.clone(), epoch, current: count(current) });
        }
        let freed = self.weight(key)?;
        self.execute("DELETE FROM text_uses WHERE run = ?1", [key])?;
        // Its journals and its setup go with it.
        self.execute("DELETE FROM runs WHERE key = ?1", [key])?;
        Ok(freed)
    }

    /// Forgets uses by kept values that have been written over since.
    pub(super) fn forget_old_kept(&self) -> Result<(), StoreError> {
        let sql = "DELETE FROM text_uses WHERE run = ?1 AND NOT EXISTS (SELECT 1 FROM kept WHERE instr(value, hash))";
        self.execute(sql, [NO_RUN]).map(drop)
    }

    /// Removes some of the texts that nobody uses; nothing where there are none.
    pub(super) fn sweep_some(&self) -> Result<Freed, StoreError> {
        let sql = "DELETE FROM texts WHERE hash IN (SELECT hash FROM texts WHERE NOT EXISTS (SELECT 1 \
            FROM text_uses WHERE text_uses.hash = texts.hash) LIMIT ?1) RETURNING octet_length(text)";
        let bytes = self.all(sql, [TEXTS], |row| Ok(count(row.get(0).unwrap_or(0))))?;
        Ok(Freed { entries: 0, texts: bytes.len() as u64, bytes: bytes.iter().sum() })
    }

    /// Gives some unused pages at the end of the file back; whether there may be more. Files of before this was
    /// so keep their size, and use the room again.
    pub(super) fn shrink_some(&self) -> Result<bool, StoreError> {
        let pages = |name: &str| self.first(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0));
        let before = pages("freelist_count")?.unwrap_or(0);
        self.all(&format!("PRAGMA incremental_vacuum({PAGES})"), [], |_| Ok(()))?;
        let after = pages("freelist_count")?.unwrap_or(0);
        Ok(after > 0 && after < before)
    }
}

fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
