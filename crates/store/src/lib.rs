//! Journals and run records, durably kept.
//!
//! A [`Store`] holds runs. A run is a [`RunRecord`] and the journals of its scopes: rows of one entry each,
//! numbered within their scope (`position`, from 0) and within the run (`seq`, from 1). There are
//! [`MemoryStore`] for tests and throw-away runs, [`SqliteStore`] for one file on a local disk, and, behind the
//! feature `postgres`, `PostgresStore` for a server that several machines share. They behave alike; one suite of
//! tests runs over all of them.
//!
//! Ownership is fenced. Whoever works on a run first calls [`Store::claim`] and gets the run's next epoch;
//! every write names its epoch, and a write under an older one is refused with [`StoreError::Fenced`]. So a
//! process that was thought dead can not write beside its successor.
//!
//! Calls wait for what they do; [`Store::append_then`] is for callers that can not, such as the tasks of many
//! runs. Nothing here has a clock: times come with the records and entries.

mod columns;
mod error;
mod find;
mod freed;
mod limits;
mod memory;
mod packed;
#[cfg(feature = "postgres")]
mod postgres;
mod record;
mod sqlite;
mod worker;

pub use error::StoreError;
pub use freed::Freed;
pub use memory::MemoryStore;
#[cfg(feature = "postgres")]
pub use postgres::{PostgresOptions, PostgresStore};
pub use record::{RunId, RunRecord, RunUpdate};
pub use sqlite::{SqliteOptions, SqliteStore, Synchronous};

use deepgraph_protocol::{Entry, RunStatus, ScopePath, Value};

/// One entry to append.
#[derive(Clone, Debug, PartialEq)]
pub struct Append {
    /// The scope whose journal it goes to.
    pub scope: ScopePath,
    /// How many entries that journal has before it: the position that this one gets.
    pub expected_position: u64,
    /// The entry.
    pub entry: Entry,
}

/// One row of a run's journals.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// Its number in the run, from 1, without gaps.
    pub seq: u64,
    /// The scope whose journal it belongs to.
    pub scope: ScopePath,
    /// Its number in that journal, from 0.
    pub position: u64,
    /// The entry.
    pub entry: Entry,
}

/// What an append tells its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The `seq` of the last row of the run: that of the last entry given.
    pub seq: u64,
    /// Whether somebody has asked the run to stop.
    pub cancel_requested: bool,
}

/// Who is told when an append is through; see [`Store::append_then`].
pub type Done = Box<dyn FnOnce(Result<Appended, StoreError>) + Send>;

/// Where runs are kept.
///
/// Every call is a transaction of its own: all of it happens or nothing, and when a write returns, it is kept
/// as durably as the store keeps things.
pub trait Store: Send + Sync {
    /// Records a new run. Its `epoch` and `last_event_seq` start at 0 whatever the record says.
    fn create_run(&self, record: &RunRecord) -> Result<(), StoreError>;

    /// Takes ownership of a run: raises its epoch by one and returns it. Earlier owners can not write any more.
    fn claim(&self, run: &RunId) -> Result<u64, StoreError>;

    /// Appends entries in order and changes the record in the same transaction.
    ///
    /// `updated_at` rises to the latest `at` of the entries, `last_event_seq` to the seq returned; `update` is
    /// applied after that.
    fn append(
        &self,
        run: &RunId,
        epoch: u64,
        batch: &[Append],
        update: Option<&RunUpdate>,
    ) -> Result<Appended, StoreError>;

    /// [`Store::append`] for callers that must not wait: returns at once, and calls `done` when the append is
    /// as durable as if `append` had returned, possibly on another thread; so `done` must be short. Appends that
    /// are under way together share one write to the disk. Those of one caller are carried out in order.
    ///
    /// A store without such a queue appends before this returns.
    fn append_then(&self, run: &RunId, epoch: u64, batch: &[Append], update: Option<&RunUpdate>, done: Done) {
        done(self.append(run, epoch, batch, update));
    }

    /// Changes the record alone.
    fn update_run(&self, run: &RunId, epoch: u64, update: &RunUpdate) -> Result<(), StoreError>;

    /// Marks a run as driven by this process until [`Store::let_go`] or the end of the store, for other processes to
    /// see; false where another one drives it. A store that can not tell says `None`: that of one machine leaves it
    /// to lock files. Nothing depends on it but a warning in time: ownership is fenced in any case.
    fn try_hold(&self, run: &RunId) -> Result<Option<bool>, StoreError> {
        let _ = run;
        Ok(None)
    }

    /// Ends [`Store::try_hold`].
    fn let_go(&self, run: &RunId) -> Result<(), StoreError> {
        let _ = run;
        Ok(())
    }

    /// Whether a process drives the run, where the store can tell.
    fn is_held(&self, run: &RunId) -> Result<Option<bool>, StoreError> {
        let _ = run;
        Ok(None)
    }

    /// Asks the owner of a run to stop it, by `cancel_requested`. Anybody may ask. Returns the run's status; a
    /// run that is over is left as it is.
    fn request_cancel(&self, run: &RunId) -> Result<RunStatus, StoreError>;

    /// The record of a run, if there is such a run.
    fn run(&self, run: &RunId) -> Result<Option<RunRecord>, StoreError>;

    /// Up to `limit` records, newest first (by `created_at`, then by id).
    fn runs(&self, limit: usize) -> Result<Vec<RunRecord>, StoreError>;

    /// The ids of all runs, newest first (by `created_at`, then by id): for who reads one record at a time.
    fn run_ids(&self) -> Result<Vec<RunId>, StoreError> {
        Ok(self.runs(usize::MAX)?.into_iter().map(|record| record.run_id).collect())
    }

    /// The run that a person means: the beginning of an id that no other run's id has, or `last` for the
    /// newest. Errors name the runs that it could have been.
    fn find_run(&self, prefix: &str) -> Result<RunRecord, StoreError>;

    /// The value that a run left under a key for those after it, by [`RunUpdate::keep`]: the last one written,
    /// whichever run that was.
    fn kept(&self, key: &str) -> Result<Option<Value>, StoreError>;

    /// What it would give back to remove these runs and to sweep then. Runs that are not there count nothing.
    fn weigh(&self, runs: &[RunId]) -> Result<Freed, StoreError>;

    /// Removes a run: its record and its journals. `epoch` is the one that the record had when this was decided; a
    /// run that somebody has claimed since is left ([`StoreError::Fenced`]). Runs that were forked from it have rows
    /// of their own and lose nothing; long texts stay until they are swept, and so do values kept beyond the run.
    fn remove_run(&self, run: &RunId, epoch: u64) -> Result<Freed, StoreError>;

    /// Removes the long texts that nothing uses any more, and gives room back to the system as far as the store
    /// can. Runs may be driven meanwhile.
    fn sweep_texts(&self) -> Result<Freed, StoreError>;

    /// The rows of a run whose seq is greater than `after_seq`, by seq. A row that is missing or can not be
    /// read is an error: half a journal folds to something that never was.
    fn entries(&self, run: &RunId, after_seq: u64) -> Result<Vec<Stored>, StoreError>;
}

#[cfg(test)]
mod conformance;
