//! A store in one SQLite file.

mod fault;
mod journal;
mod kept;
mod records;
mod schema;
mod session;
#[cfg(test)]
mod tests;
mod texts;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use deepgraph_protocol::{RunStatus, Value};
use rusqlite::{Connection, TransactionBehavior};

use self::fault::fault;
use self::session::{Session, number};
use crate::find;
use crate::{Append, RunId, RunRecord, RunUpdate, Store, StoreError, Stored, limits};

/// How long a call waits for another process to let go of the file.
const WAIT: Duration = Duration::from_secs(10);

/// Runs in one SQLite file on a local disk.
///
/// Several processes may have the file open at once. What a write returned for is on the disk, synchronised:
/// it outlives a crash of the process and of the machine. A call blocks its thread for the time of that write
/// (milliseconds), and for up to ten seconds while another process writes.
#[derive(Debug)]
pub struct SqliteStore {
    path: PathBuf,
    connection: Mutex<Connection>,
}

impl SqliteStore {
    /// Opens the file, with its folder made where there is none. A file of another program or of a later
    /// version of this one is refused and left as it is.
    pub fn open(path: impl AsRef<Path>) -> Result<SqliteStore, StoreError> {
        SqliteStore::open_waiting(path.as_ref(), WAIT)
    }

    fn open_waiting(path: &Path, wait: Duration) -> Result<SqliteStore, StoreError> {
        // Absolute, because SQLite takes some relative names (":memory:", "") for something else.
        let path = std::path::absolute(path)
            .map_err(|e| StoreError::CannotOpen { path: path.into(), detail: e.to_string() })?;
        let connection = Mutex::new(schema::open(&path, wait)?);
        Ok(SqliteStore { path, connection })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Does `work` in a transaction: all of it is kept when this returns, or nothing where it fails.
    fn transact<T>(
        &self,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Session<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        // A thread that panicked while it held the lock rolled its transaction back.
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = |e| fault(&self.path, e);
        let transaction = connection.transaction_with_behavior(behavior).map_err(failed)?;
        let done = work(&Session { connection: &transaction, path: &self.path })?;
        transaction.commit().map_err(failed)?;
        Ok(done)
    }

    fn write<T>(&self, work: impl FnOnce(&Session<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.transact(TransactionBehavior::Immediate, work)
    }

    fn read<T>(&self, work: impl FnOnce(&Session<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.transact(TransactionBehavior::Deferred, work)
    }
}

impl Store for SqliteStore {
    fn create_run(&self, record: &RunRecord) -> Result<(), StoreError> {
        limits::check_record(record)?;
        self.write(|session| session.insert_run(record))
    }

    fn claim(&self, run: &RunId) -> Result<u64, StoreError> {
        self.write(|session| {
            let head = session.head(run)?;
            let epoch = head.epoch + 1;
            session.execute("UPDATE runs SET epoch = ?2 WHERE key = ?1", (head.key, number(epoch)))?;
            Ok(epoch)
        })
    }

    fn append(
        &self,
        run: &RunId,
        epoch: u64,
        batch: &[Append],
        update: Option<&RunUpdate>,
    ) -> Result<u64, StoreError> {
        limits::check_batch(run, batch)?;
        if let Some(update) = update {
            limits::check_update(run, update)?;
        }
        self.write(|session| session.append(run, epoch, batch, update))
    }

    fn update_run(&self, run: &RunId, epoch: u64, update: &RunUpdate) -> Result<(), StoreError> {
        self.append(run, epoch, &[], Some(update)).map(|_| ())
    }

    fn request_cancel(&self, run: &RunId) -> Result<RunStatus, StoreError> {
        self.write(|session| {
            let head = session.head(run)?;
            if !head.status.is_terminal() {
                session.execute("UPDATE runs SET cancel_requested = 1 WHERE key = ?1", [head.key])?;
            }
            Ok(head.status)
        })
    }

    fn run(&self, run: &RunId) -> Result<Option<RunRecord>, StoreError> {
        self.read(|session| session.record(run))
    }

    fn runs(&self, limit: usize) -> Result<Vec<RunRecord>, StoreError> {
        let sql = format!("{} ORDER BY created_at DESC, run_id DESC LIMIT ?1", records::RECORD);
        self.read(|session| session.all(&sql, [number(limit as u64)], |row| records::record(session, row)))
    }

    fn find_run(&self, prefix: &str) -> Result<RunRecord, StoreError> {
        self.read(|session| {
            let run = find::find(session, prefix)?;
            session.record(&run)?.ok_or(StoreError::UnknownRun { run })
        })
    }

    fn kept(&self, key: &str) -> Result<Option<Value>, StoreError> {
        self.read(|session| session.kept(key))
    }

    fn entries(&self, run: &RunId, after_seq: u64) -> Result<Vec<Stored>, StoreError> {
        self.read(|session| session.entries(run, after_seq))
    }
}
