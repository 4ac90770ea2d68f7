//! Which process drives a run, told by locks that end with the connection.

use super::session::Session;
use crate::{RunId, StoreError};

impl Session {
    /// Marks a run as driven by this process; false where another one does.
    pub(super) fn try_hold(&mut self, run: &RunId) -> Result<bool, StoreError> {
        let sql = "SELECT pg_try_advisory_lock(hashtextextended($1, 2))";
        let name = self.lock_name(run);
        let held = self.first(sql, &[&name])?.and_then(|row| row.try_get(0).ok()).unwrap_or(false);
        Ok(held)
    }

    /// Lets go of a run.
    pub(super) fn let_go(&mut self, run: &RunId) -> Result<(), StoreError> {
        let name = self.lock_name(run);
        self.all("SELECT pg_advisory_unlock(hashtextextended($1, 2))", &[&name]).map(drop)
    }

    /// Whether a process drives a run. Asked on another connection than [`Session::try_hold`].
    pub(super) fn is_held(&mut self, run: &RunId) -> Result<bool, StoreError> {
        let sql = "SELECT pg_try_advisory_xact_lock_shared(hashtextextended($1, 2))";
        let name = self.lock_name(run);
        let free = self.first(sql, &[&name])?.and_then(|row| row.try_get(0).ok()).unwrap_or(true);
        Ok(!free)
    }

    fn lock_name(&self, run: &RunId) -> String {
        format!("{}/{run}", self.schema())
    }
}
