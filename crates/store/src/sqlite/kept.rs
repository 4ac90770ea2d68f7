//! Values that runs leave for those after them.

use deepgraph_protocol::Value;

use super::records::text_of;
use super::session::Session;
use super::texts::{self, Unpack};
use crate::{RunId, StoreError};

impl Session<'_> {
    /// Writes values that a run leaves.
    pub(super) fn keep(&self, run: &RunId, values: &[(String, Value)]) -> Result<(), StoreError> {
        for (key, value) in values {
            let packed = self.pack(run, "a value to keep", value)?;
            let sql = "INSERT INTO kept (key, value) VALUES (?1, ?2) \
                ON CONFLICT (key) DO UPDATE SET value = excluded.value";
            self.execute(sql, (key, packed))?;
        }
        Ok(())
    }

    /// The value of a key.
    pub(super) fn kept(&self, key: &str) -> Result<Option<Value>, StoreError> {
        let corrupt = |detail| StoreError::CorruptKept { key: key.to_owned(), detail };
        let sql = "SELECT value FROM kept WHERE key = ?1";
        let Some(text) = self.first(sql, [key], |row| Ok(text_of(row, 0)))? else { return Ok(None) };
        let text = text.map_err(corrupt)?;
        texts::unpack(self, &text).map(Some).map_err(|e| match e {
            Unpack::Store(e) => e,
            Unpack::Corrupt(detail) => corrupt(detail),
        })
    }
}
