//! A store in a PostgreSQL server.

mod fault;
mod hold;
mod journal;
mod kept;
mod options;
mod place;
mod plain;
mod records;
mod removal;
mod schema;
mod session;
#[cfg(test)]
mod tests;
mod texts;
mod transaction;

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};

use deepgraph_protocol::{RunStatus, Value};

pub use self::options::PostgresOptions;
use self::session::{Access, Session, number};
use self::transaction::Earlier;
use crate::packed::{PackedAppend, PackedRecord};
use crate::worker::{GROUP, Worker};
use crate::{Append, Appended, Done, Freed, RunId, RunRecord, RunUpdate, Store, StoreError, Stored, find};

/// How many threads read.
const READERS: usize = 2;

/// Runs in a schema of a PostgreSQL database.
///
/// Several processes on several machines may use it at once. What a write returned for is committed by the server
/// under `synchronous_commit`, which is on here even where the server's default is off. One thread of this process
/// writes; it takes all changes that are waiting into one transaction, so that many runs share one commit.
///
/// A connection that broke is made again by the next call, which waits for the server for as long as the options say.
/// Where it broke in the middle of a commit, the store looks whether the change is there, and makes it if not;
/// [`StoreError::OutcomeUnknown`] where the server can not be reached for that.
///
/// Connections are not encrypted: use a socket of the same machine, a network of your own, or a tunnel. A server that
/// insists on TLS refuses.
#[derive(Debug)]
pub struct PostgresStore {
    writer: Worker<Session>,
    readers: [Worker<Session>; READERS],
    next: AtomicUsize,
}

impl PostgresStore {
    /// Connects to a server, `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, and makes the schema where there is
    /// none. For a socket, the URL names its folder: `postgres:///DATABASE?host=/run/postgresql`.
    pub fn connect(url: &str) -> Result<PostgresStore, StoreError> {
        PostgresStore::connect_with(url, &PostgresOptions::default())
    }

    /// [`PostgresStore::connect`] with other options.
    pub fn connect_with(url: &str, options: &PostgresOptions) -> Result<PostgresStore, StoreError> {
        let place = place::read(url, options)?;
        let name = place.name.clone();
        let mut session = Session::new(place.clone(), options, Access::Write);
        let reader = || Worker::start(Session::new(place.clone(), options, Access::Read), 1, name.clone());
        let readers = [reader()?, reader()?];
        let options = options.clone();
        // On a thread of its own from the first call on: the client must not be used from inside of tokio.
        session.patient = false;
        let writer = Worker::start(session, GROUP, name.clone())?;
        writer.call(move |session, _| schema::migrate(session, &options.schema))?;
        writer.call(|session, _| {
            session.patient = true;
            Ok(())
        })?;
        Ok(PostgresStore { writer, readers, next: AtomicUsize::new(0) })
    }

    fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut Session, bool) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.writer.call(work)
    }

    fn read<T: Send + 'static>(
        &self,
        mut work: impl FnMut(&mut Session) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let turn = self.next.fetch_add(1, Ordering::Relaxed) % READERS;
        let reader = self.readers.get(turn).unwrap_or(&self.writer);
        reader.call(move |session, _| work(session))
    }
}

/// An append as a job, which remembers by which transaction it was made last.
fn appends(append: PackedAppend) -> impl FnMut(&mut Session, bool) -> Result<Appended, StoreError> + Send {
    let mut transaction = None;
    move |session, is_unsure| session.append(&append, Earlier { is_unsure, transaction: &mut transaction })
}

impl Store for PostgresStore {
    fn create_run(&self, record: &RunRecord) -> Result<(), StoreError> {
        let record = PackedRecord::of(record)?;
        self.write(move |session, again| session.insert_run(&record, again))
    }

    fn claim(&self, run: &RunId) -> Result<u64, StoreError> {
        let run = run.clone();
        self.write(move |session, _| session.claim(&run))
    }

    fn append(
        &self,
        run: &RunId,
        epoch: u64,
        batch: &[Append],
        update: Option<&RunUpdate>,
    ) -> Result<Appended, StoreError> {
        let append = PackedAppend::of(run, epoch, batch, update)?;
        self.write(appends(append))
    }

    fn append_then(&self, run: &RunId, epoch: u64, batch: &[Append], update: Option<&RunUpdate>, done: Done) {
        match PackedAppend::of(run, epoch, batch, update) {
            Ok(append) => self.writer.submit(appends(append), done),
            Err(error) => done(Err(error)),
        }
    }

    fn update_run(&self, run: &RunId, epoch: u64, update: &RunUpdate) -> Result<(), StoreError> {
        self.append(run, epoch, &[], Some(update)).map(drop)
    }

    fn request_cancel(&self, run: &RunId) -> Result<RunStatus, StoreError> {
        let run = run.clone();
        self.write(move |session, _| session.request_cancel(&run))
    }

    fn run(&self, run: &RunId) -> Result<Option<RunRecord>, StoreError> {
        let run = run.clone();
        self.read(move |session| session.record(&run))
    }

    fn runs(&self, limit: usize) -> Result<Vec<RunRecord>, StoreError> {
        let limit = number(limit as u64);
        self.read(move |session| session.records("ORDER BY created_at DESC, run_id DESC LIMIT $1", &[&limit]))
    }

    fn run_ids(&self) -> Result<Vec<RunId>, StoreError> {
        self.read(|session| find::Ids::starting_with(&RefCell::new(session), "", usize::MAX))
    }

    fn find_run(&self, prefix: &str) -> Result<RunRecord, StoreError> {
        let prefix = prefix.to_owned();
        self.read(move |session| {
            let run = find::find(&RefCell::new(&mut *session), &prefix)?;
            session.record(&run)?.ok_or(StoreError::UnknownRun { run })
        })
    }

    fn kept(&self, key: &str) -> Result<Option<Value>, StoreError> {
        let key = key.to_owned();
        self.read(move |session| session.kept(&key))
    }

    fn weigh(&self, runs: &[RunId]) -> Result<Freed, StoreError> {
        let runs = runs.to_vec();
        self.read(move |session| session.weigh(&runs))
    }

    fn remove_run(&self, run: &RunId, epoch: u64) -> Result<Freed, StoreError> {
        let run = run.clone();
        self.write(move |session, again| session.remove(&run, epoch, again))
    }

    fn sweep_texts(&self) -> Result<Freed, StoreError> {
        self.write(|session, _| session.forget_old_kept())?;
        let mut freed = Freed::default();
        loop {
            let some = self.write(|session, _| session.sweep_some())?;
            if some == Freed::default() {
                return Ok(freed);
            }
            freed += some;
        }
    }

    fn entries(&self, run: &RunId, after_seq: u64) -> Result<Vec<Stored>, StoreError> {
        let run = run.clone();
        self.read(move |session| session.entries(&run, after_seq))
    }

    fn try_hold(&self, run: &RunId) -> Result<Option<bool>, StoreError> {
        let run = run.clone();
        self.write(move |session, _| session.try_hold(&run).map(Some))
    }

    fn let_go(&self, run: &RunId) -> Result<(), StoreError> {
        let run = run.clone();
        self.write(move |session, _| session.let_go(&run))
    }

    fn is_held(&self, run: &RunId) -> Result<Option<bool>, StoreError> {
        let run = run.clone();
        self.read(move |session| session.is_held(&run).map(Some))
    }
}
