//! Which process drives a run, told by locks that end with the connection.

use super::session::Session;
use crate::{RunId, StoreError};

/// The key of a lock of the whole database, from its name.
const KEY: &str = "hashtextextended($1, 2)";

impl Session {
    /// Marks a run as driven by this process; false where another one does.
    pub(super) fn try_hold(&mut self, run: &RunId) -> Result<bool, StoreError> {
        let name = self.lock_name(run);
        // The server counts how often a connection takes a lock, and wants it let go as often. A transaction that is
        // done again does not take it back either.
        if self.held.contains(&name) {
            return Ok(true);
        }
        let held = self.take_lock(&name)?;
        if held {
            self.held.insert(name);
        }
        Ok(held)
    }

    /// Lets go of a run.
    pub(super) fn let_go(&mut self, run: &RunId) -> Result<(), StoreError> {
        let name = self.lock_name(run);
        self.all(&format!("SELECT pg_advisory_unlock({KEY})"), &[&name])?;
        self.held.remove(&name);
        Ok(())
    }

    /// Takes the locks again that went with the connection, as far as nobody else has them by now.
    pub(super) fn hold_again(&mut self) -> Result<(), StoreError> {
        for name in self.held.clone() {
            if !self.take_lock(&name)? {
                self.held.remove(&name);
            }
        }
        Ok(())
    }

    fn take_lock(&mut self, name: &str) -> Result<bool, StoreError> {
        let row = self.first(&format!("SELECT pg_try_advisory_lock({KEY})"), &[&name])?;
        Ok(row.and_then(|row| row.try_get(0).ok()).unwrap_or(false))
    }

    /// Whether a process drives a run. Looked up, since a lock that is tried would be in the way of who wants it.
    pub(super) fn is_held(&mut self, run: &RunId) -> Result<bool, StoreError> {
        // A key of 64 bits is shown in two halves, with objsubid 1.
        let sql = format!(
            "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1 \
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
            AND classid::bigint = (({KEY} >> 32) & 4294967295) AND objid::bigint = ({KEY} & 4294967295))"
        );
        let name = self.lock_name(run);
        Ok(self.first(&sql, &[&name])?.and_then(|row| row.try_get(0).ok()).unwrap_or(false))
    }

    fn lock_name(&self, run: &RunId) -> String {
        format!("{}/{run}", self.schema())
    }
}
