//! Journals and run records, durably kept.
//!
//! A [`Store`] holds runs. A run is a [`RunRecord`] and the journals of its scopes: rows of one entry each,
//! numbered within their scope (`position`, from 0) and within the run (`seq`, from 1). There are two:
//! [`MemoryStore`] for tests and throw-away runs, [`SqliteStore`] for one file on a local disk. They behave
//! alike; one suite of tests runs over both.
//!
//! Ownership is fenced. Whoever works on a run first calls [`Store::claim`] and gets the run's next epoch;
//! every write names its epoch, and a write under an older one is refused with [`StoreError::Fenced`]. So a
//! process that was thought dead can not write beside its successor.
//!
//! Nothing here is asynchronous and nothing here has a clock: times come with the records and entries.

mod error;
mod find;
mod limits;
mod memory;
mod record;
mod sqlite;

pub use error::StoreError;
pub use memory::MemoryStore;
pub use record::{RunId, RunRecord, RunUpdate};
pub use sqlite::SqliteStore;

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

/// Where runs are kept.
///
/// Every call is a transaction of its own: all of it happens or nothing, and when a write returns, it is kept
/// as durably as the store keeps things.
pub trait Store: Send + Sync {
    /// Records a new run. Its `epoch` and `last_event_seq` start at 0 whatever the record says.
    fn create_run(&self, record: &RunRecord) -> Result<(), StoreError>;

    /// Takes ownership of a run: raises its epoch by one and returns it. Earlier owners can not write any more.
    fn claim(&self, run: &RunId) -> Result<u64, StoreError>;

    /// Appends entries in order and changes the record in the same transaction. Returns the `seq` of the last
    /// row of the run, which is that of the last entry given.
    ///
    /// `updated_at` rises to the latest `at` of the entries, `last_event_seq` to the seq returned; `update` is
    /// applied after that.
    fn append(
        &self,
        run: &RunId,
        epoch: u64,
        batch: &[Append],
        update: Option<&RunUpdate>,
    ) -> Result<u64, StoreError>;

    /// Changes the record alone.
    fn update_run(&self, run: &RunId, epoch: u64, update: &RunUpdate) -> Result<(), StoreError>;

    /// Asks the owner of a run to stop it, by `cancel_requested`. Anybody may ask. Returns the run's status; a
    /// run that is over is left as it is.
    fn request_cancel(&self, run: &RunId) -> Result<RunStatus, StoreError>;

    /// The record of a run, if there is such a run.
    fn run(&self, run: &RunId) -> Result<Option<RunRecord>, StoreError>;

    /// Up to `limit` records, newest first (by `created_at`, then by id).
    fn runs(&self, limit: usize) -> Result<Vec<RunRecord>, StoreError>;

    /// The run that a person means: the beginning of an id that no other run's id has, or `last` for the
    /// newest. Errors name the runs that it could have been.
    fn find_run(&self, prefix: &str) -> Result<RunRecord, StoreError>;

    /// The value that a run left under a key for those after it, by [`RunUpdate::keep`]: the last one written,
    /// whichever run that was.
    fn kept(&self, key: &str) -> Result<Option<Value>, StoreError>;

    /// The rows of a run whose seq is greater than `after_seq`, by seq. A row that is missing or can not be
    /// read is an error: half a journal folds to something that never was.
    fn entries(&self, run: &RunId, after_seq: u64) -> Result<Vec<Stored>, StoreError>;
}

#[cfg(test)]
mod conformance;
