//! What became of a transaction whose end nobody was told of.

use super::session::Session;
use crate::StoreError;

/// The transaction that made a change last.
pub(super) struct Earlier<'a> {
    /// Whether it broke off while it was committed.
    pub(super) is_unsure: bool,
    /// Its id, for changes that leave no row of their own; the next one puts its own here.
    pub(super) transaction: &'a mut Option<i64>,
}

impl Session {
    /// The id of the transaction under way.
    pub(super) fn transaction(&mut self) -> Result<Option<i64>, StoreError> {
        let row = self.first("SELECT txid_current()", &[])?;
        Ok(row.and_then(|row| row.try_get(0).ok()))
    }

    /// Whether a transaction was committed. One whose connection broke may be under way for a moment still: who asks
    /// waits for it first, by a lock on a row that it had changed.
    pub(super) fn is_committed(&mut self, transaction: Option<i64>) -> Result<bool, StoreError> {
        let Some(id) = transaction else { return Ok(false) };
        let row = self.first("SELECT txid_status($1)", &[&id])?;
        let status = row.and_then(|row| row.try_get::<_, Option<String>>(0).ok().flatten());
        Ok(status.as_deref() == Some("committed"))
    }
}
