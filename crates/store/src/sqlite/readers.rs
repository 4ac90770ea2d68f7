//! Connections for reading.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::schema;
use super::session::Session;
use crate::StoreError;

/// How many connections are kept open while nobody reads.
const KEPT: usize = 4;

/// Connections for reading, as many as there are readers at a time. One that writes does not hold them up, nor
/// they it.
#[derive(Debug)]
pub(super) struct Readers {
    path: PathBuf,
    wait: Duration,
    idle: Mutex<Vec<Session>>,
}

impl Readers {
    pub(super) fn new(path: PathBuf, wait: Duration) -> Readers {
        Readers { path, wait, idle: Mutex::default() }
    }

    /// Reads in one transaction.
    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&Session) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let session = match idle {
            Some(session) => session,
            None => schema::open_to_read(&self.path, self.wait)?,
        };
        let done = session.read(work);
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < KEPT {
            idle.push(session);
        }
        done
    }
}
