//! Values that runs leave for those after them.

use std::collections::BTreeMap;

use deepgraph_protocol::Value;

use super::plain;
use super::session::Session;
use crate::StoreError;
use crate::packed::{Packed, Unpack, unpack};

/// Stands in the place of a run where long texts are used by kept values.
pub(super) const NO_RUN: i64 = 0;

impl Session {
    /// Writes values that a run leaves.
    pub(super) fn keep(&mut self, values: &[(String, Packed)]) -> Result<(), StoreError> {
        self.keep_texts(NO_RUN, values.iter().map(|(_, value)| value))?;
        // In one order everywhere, so that two writers never wait for each other; of one key the last counts.
        let values: BTreeMap<&str, &str> =
            values.iter().map(|(key, value)| (key.as_str(), value.json.as_str())).collect();
        for (key, json) in values {
            let sql = "INSERT INTO kept (key, value) VALUES ($1, $2) \
                ON CONFLICT (key) DO UPDATE SET value = excluded.value";
            self.execute(sql, &[&&*plain::write(key), &json])?;
        }
        Ok(())
    }

    /// The value of a key.
    pub(super) fn kept(&mut self, key: &str) -> Result<Option<Value>, StoreError> {
        let corrupt = |detail| StoreError::CorruptKept { key: key.to_owned(), detail };
        let Some(row) = self.first("SELECT value FROM kept WHERE key = $1", &[&&*plain::write(key)])? else {
            return Ok(None);
        };
        let text: &str = row.try_get(0).map_err(|e| corrupt(e.to_string()))?;
        unpack(text, &mut |hash| self.long_text(hash)).map(Some).map_err(|e| match e {
            Unpack::Store(e) => e,
            Unpack::Corrupt(detail) => corrupt(detail),
        })
    }
}
