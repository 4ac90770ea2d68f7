//! One transaction on the file.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Params, Row};

use super::fault::fault;
use crate::StoreError;

/// A transaction and the name of its file, for errors.
pub(super) struct Session<'a> {
    pub(super) connection: &'a Connection,
    pub(super) path: &'a Path,
}

impl Session<'_> {
    /// Carries out a statement that returns no rows; returns how many rows it changed.
    pub(super) fn execute(&self, sql: &str, params: impl Params) -> Result<usize, StoreError> {
        let done = self.connection.prepare_cached(sql).and_then(|mut s| s.execute(params));
        done.map_err(|e| fault(self.path, e))
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
        found.map_err(|e| fault(self.path, e))
    }

    /// All rows. `read` may fail in its own way.
    pub(super) fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        mut read: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let failed = |e| fault(self.path, e);
        let mut statement = self.connection.prepare_cached(sql).map_err(failed)?;
        let mut rows = statement.query(params).map_err(failed)?;
        let mut out = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            out.push(read(row)?);
        }
        Ok(out)
    }
}

/// A count for SQLite, which has signed numbers only. No real count comes near the bound.
pub(super) fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
