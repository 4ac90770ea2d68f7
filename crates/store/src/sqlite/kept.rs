//! Values that runs leave for those after them.

use deepgraph_protocol::Value;

use super::session::Session;
use crate::StoreError;
use crate::columns::Columns;
use crate::packed::{Packed, Unpack, unpack};

/// Stands in the place of a run where long texts are used by kept values.
pub(super) const NO_RUN: i64 = 0;

impl Session {
    /// Writes values that a run leaves.
    pub(super) fn keep(&self, values: &[(String, Packed)]) -> Result<(), StoreError> {
        for (key, value) in values {
            self.keep_texts(NO_RUN, value)?;
            let sql = "INSERT INTO kept (key, value) VALUES (?1, ?2) \
                ON CONFLICT (key) DO UPDATE SET value = excluded.value";
            self.execute(sql, (key, &value.json))?;
        }
        Ok(())
    }

    /// The value of a key.
    pub(super) fn kept(&self, key: &str) -> Result<Option<Value>, StoreError> {
        let corrupt = |detail| StoreError::CorruptKept { key: key.to_owned(), detail };
        let sql = "SELECT value FROM kept WHERE key = ?1";
        let Some(text) = self.first(sql, [key], |row| Ok(row.text(0)))? else { return Ok(None) };
        let text = text.map_err(corrupt)?.unwrap_or_default();
        unpack(&text, &mut |hash| self.long_text(hash)).map(Some).map_err(|e| match e {
            Unpack::Store(e) => e,
            Unpack::Corrupt(detail) => corrupt(detail),
        })
    }
}
