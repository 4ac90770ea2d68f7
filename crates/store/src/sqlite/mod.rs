//! A store in one SQLite file.

mod fault;
mod files;
mod journal;
mod kept;
mod options;
mod readers;
mod records;
mod removal;
mod schema;
mod session;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use deepgraph_protocol::{RunStatus, Value};

pub use self::options::{SqliteOptions, Synchronous};
use self::readers::Readers;
use self::session::{Session, number};
use crate::columns::RECORD;
use crate::packed::{PackedAppend, PackedRecord};
use crate::worker::{GROUP, Worker};
use crate::{Append, Appended, Done, Freed, RunId, RunRecord, RunUpdate, Store, StoreError, Stored, find};

/// Runs in one SQLite file on a local disk.
///
/// Several processes may have the file open at once. What a write returned for is on the disk, synchronised:
/// it outlives a crash of the process and of the machine. One thread writes; it takes all changes that are
/// waiting into one transaction, so that many runs share the time of one write to the disk (milliseconds). A
/// change waits for up to ten seconds while another process writes. Reads wait for nobody.
#[derive(Debug)]
pub struct SqliteStore {
    path: PathBuf,
    readers: Readers,
    writer: Worker<Session>,
}

impl SqliteStore {
    /// Opens the file, with its folder made where there is none. A file of another program or of a later
    /// version of this one is refused and left as it is.
    pub fn open(path: impl AsRef<Path>) -> Result<SqliteStore, StoreError> {
        SqliteStore::open_with(path, &SqliteOptions::default())
    }

    /// [`SqliteStore::open`] with other options.
    pub fn open_with(path: impl AsRef<Path>, options: &SqliteOptions) -> Result<SqliteStore, StoreError> {
        // Absolute, because SQLite takes some relative names (":memory:", "") for something else.
        let path = path.as_ref();
        let path = std::path::absolute(path)
            .map_err(|e| StoreError::CannotOpen { path: path.into(), detail: e.to_string() })?;
        let session = schema::open(&path, options)?;
        let writer = Worker::start(session, GROUP, path.display().to_string())?;
        Ok(SqliteStore { readers: Readers::new(path.clone(), options.wait), writer, path })
    }

    /// Whether there is such a file, or anything that is left of one.
    pub fn is_there(path: impl AsRef<Path>) -> bool {
        files::is_there(path.as_ref())
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Changes the file in a transaction: all of it is kept when this returns, or nothing where it fails.
    fn write<T: Send + 'static>(
        &self,
        mut work: impl FnMut(&Session) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.writer.call(move |session, _| work(session))
    }
}

impl Store for SqliteStore {
    fn create_run(&self, record: &RunRecord) -> Result<(), StoreError> {
        let record = PackedRecord::of(record)?;
        self.write(move |session| session.insert_run(&record))
    }

    fn claim(&self, run: &RunId) -> Result<u64, StoreError> {
        let run = run.clone();
        self.write(move |session| {
            // Of a damaged record too, which can be removed only by who owns the run.
            let sql = "UPDATE runs SET epoch = max(epoch, 0) + 1 WHERE run_id = ?1 RETURNING epoch";
            let epoch = session.first(sql, [run.as_str()], |row| row.get::<_, i64>(0))?;
            let epoch = epoch.ok_or_else(|| StoreError::UnknownRun { run: run.clone() })?;
            Ok(u64::try_from(epoch).unwrap_or(0))
        })
    }

    fn append(
        &self,
        run: &RunId,
        epoch: u64,
        batch: &[Append],
        update: Option<&RunUpdate>,
    ) -> Result<Appended, StoreError> {
        let append = PackedAppend::of(run, epoch, batch, update)?;
        self.write(move |session| session.append(&append))
    }

    fn append_then(&self, run: &RunId, epoch: u64, batch: &[Append], update: Option<&RunUpdate>, done: Done) {
        match PackedAppend::of(run, epoch, batch, update) {
            Ok(append) => self.writer.submit(move |session: &mut Session, _| session.append(&append), done),
            Err(error) => done(Err(error)),
        }
    }

    fn update_run(&self, run: &RunId, epoch: u64, update: &RunUpdate) -> Result<(), StoreError> {
        self.append(run, epoch, &[], Some(update)).map(drop)
    }

    fn request_cancel(&self, run: &RunId) -> Result<RunStatus, StoreError> {
        let run = run.clone();
        self.write(move |session| {
            let head = session.head(&run)?;
            if !head.status.is_terminal() {
                session.execute("UPDATE runs SET cancel_requested = 1 WHERE key = ?1", [head.key])?;
            }
            Ok(head.status)
        })
    }

    fn run(&self, run: &RunId) -> Result<Option<RunRecord>, StoreError> {
        self.readers.read(|session| session.record(run))
    }

    fn runs(&self, limit: usize) -> Result<Vec<RunRecord>, StoreError> {
        let sql = format!("{} ORDER BY created_at DESC, run_id DESC LIMIT ?1", RECORD);
        self.readers
            .read(|session| session.all(&sql, [number(limit as u64)], |row| records::record(session, row)))
    }

    fn run_ids(&self) -> Result<Vec<RunId>, StoreError> {
        self.readers.read(|session| find::Ids::starting_with(session, "", usize::MAX))
    }

    fn find_run(&self, prefix: &str) -> Result<RunRecord, StoreError> {
        self.readers.read(|session| {
            let run = find::find(session, prefix)?;
            session.record(&run)?.ok_or(StoreError::UnknownRun { run })
        })
    }

    fn kept(&self, key: &str) -> Result<Option<Value>, StoreError> {
        self.readers.read(|session| session.kept(key))
    }

    fn weigh(&self, runs: &[RunId]) -> Result<Freed, StoreError> {
        self.readers.read(|session| session.weigh(runs))
    }

    fn remove_run(&self, run: &RunId, epoch: u64) -> Result<Freed, StoreError> {
        let run = run.clone();
        self.write(move |session| session.remove(&run, epoch))
    }

    fn sweep_texts(&self) -> Result<Freed, StoreError> {
        self.write(Session::forget_old_kept)?;
        let mut freed = Freed::default();
        loop {
            let some = self.write(Session::sweep_some)?;
            if some == Freed::default() {
                break;
            }
            freed += some;
        }
        while self.write(Session::shrink_some)? {}
        Ok(freed)
    }

    fn entries(&self, run: &RunId, after_seq: u64) -> Result<Vec<Stored>, StoreError> {
        self.readers.read(|session| session.entries(run, after_seq))
    }
}
