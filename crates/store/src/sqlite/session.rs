//! One connection to the file.

use std::path::PathBuf;

use rusqlite::{Connection, OptionalExtension, Params, Row};

use super::fault::fault;
use crate::StoreError;
use crate::packed::Packed;
use crate::worker::{Lost, Transactions};

/// A connection and the name of its file, for errors.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
}

impl Session {
    /// Carries out a statement that returns no rows; returns how many rows it changed.
    pub(super) fn execute(&self, sql: &str, params: impl Params) -> Result<usize, StoreError> {
        let done = self.connection.prepare_cached(sql).and_then(|mut s| s.execute(params));
        done.map_err(|e| fault(&self.path, e))
    }

    /// The first row, if there is one.
    pub(super) fn first<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let found =
            self.connection.prepare_cached(sql).and_then(|mut s| s.query_row(params, read).optional());
        found.map_err(|e| fault(&self.path, e))
    }

    /// All rows. `read` may fail in its own way.
    pub(super) fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        mut read: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let failed = |e| fault(&self.path, e);
        let mut statement = self.connection.prepare_cached(sql).map_err(failed)?;
        let mut rows = statement.query(params).map_err(failed)?;
        let mut out = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            out.push(read(row)?);
        }
        Ok(out)
    }

    /// Reads in one transaction, so that what is read belongs together.
    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&Session) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.execute("BEGIN", [])?;
        let done = work(self);
        self.end();
        done
    }

    /// Writes the long texts of a part that are not there yet, and notes that the run has them; run 0 stands for the
    /// values kept beyond runs.
    pub(super) fn keep_texts(&self, run: i64, part: &Packed) -> Result<(), StoreError> {
        for long in &part.texts {
            let sql = "INSERT OR IGNORE INTO texts (hash, text) VALUES (?1, ?2)";
            self.execute(sql, (&long.hash, &long.text))?;
            let sql = "INSERT OR IGNORE INTO text_uses (hash, run) VALUES (?1, ?2)";
            self.execute(sql, (&long.hash, run))?;
        }
        Ok(())
    }

    /// The bytes of a long text. Bytes, because a damaged file may hold anything.
    pub(super) fn long_text(&self, hash: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let sql = "SELECT text FROM texts WHERE hash = ?1";
        self.first(sql, [hash], |row| Ok(row.get_ref(0)?.as_bytes().unwrap_or_default().to_vec()))
    }

    /// Ends the transaction, if there is one: SQLite ends it by itself after some failures.
    fn end(&self) {
        if !self.connection.is_autocommit() {
            drop(self.execute("ROLLBACK", []));
        }
    }
}

impl Transactions for Session {
    fn begin(&mut self) -> Result<(), StoreError> {
        self.execute("BEGIN IMMEDIATE", []).map(drop)
    }

    fn save(&mut self) -> Result<(), StoreError> {
        self.execute("SAVEPOINT change", []).map(drop)
    }

    fn release(&mut self) -> Result<(), StoreError> {
        self.execute("RELEASE change", []).map(drop)
    }

    fn undo(&mut self) -> Result<(), StoreError> {
        self.execute("ROLLBACK TO change", []).map(drop)
    }

    fn commit(&mut self) -> Result<(), Lost> {
        self.execute("COMMIT", []).map(drop).map_err(Lost::Failed)
    }

    fn rollback(&mut self) {
        self.end();
    }
}

/// A count for SQLite, which has signed numbers only. No real count comes near the bound.
pub(super) fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
