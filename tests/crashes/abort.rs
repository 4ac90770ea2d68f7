//! A store that ends the process before or after a commit.

use std::process::abort;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use deepgraph_protocol::{RunStatus, Value};
use deepgraph_store::{
    Append, Appended, Done, Freed, RunId, RunRecord, RunUpdate, Store, StoreError, Stored,
};

/// On which side of a commit the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Before,
    After,
}

/// The commits of a process are counted from 1; at the one that is named, it ends.
pub struct Aborts {
    store: Arc<dyn Store>,
    side: Side,
    at: u64,
    commits: AtomicU64,
}

impl Aborts {
    pub fn new(store: Arc<dyn Store>, side: Side, at: u64) -> Aborts {
        Aborts { store, side, at, commits: AtomicU64::new(0) }
    }

    /// Whether this is the commit, where the process has not ended before it.
    fn begins(&self) -> bool {
        let is_it = self.commits.fetch_add(1, Ordering::SeqCst) + 1 == self.at;
        if is_it && self.side == Side::Before {
            abort();
        }
        is_it
    }

    fn commit<T>(&self, work: impl FnOnce(&dyn Store) -> T) -> T {
        let is_it = self.begins();
        let done = work(&*self.store);
        if is_it {
            abort();
        }
        done
    }
}

impl Store for Aborts {
    fn create_run(&self, record: &RunRecord) -> Result<(), StoreError> {
        self.commit(|store| store.create_run(record))
    }

    fn claim(&self, run: &RunId) -> Result<u64, StoreError> {
        self.commit(|store| store.claim(run))
    }

    fn append(
        &self,
        run: &RunId,
        epoch: u64,
        batch: &[Append],
        update: Option<&RunUpdate>,
    ) -> Result<Appended, StoreError> {
        self.commit(|store| store.append(run, epoch, batch, update))
    }

    fn append_then(&self, run: &RunId, epoch: u64, batch: &[Append], update: Option<&RunUpdate>, done: Done) {
        let is_it = self.begins();
        let done: Done = Box::new(move |result| if is_it { abort() } else { done(result) });
        self.store.append_then(run, epoch, batch, update, done);
    }

    fn update_run(&self, run: &RunId, epoch: u64, update: &RunUpdate) -> Result<(), StoreError> {
        self.commit(|store| store.update_run(run, epoch, update))
    }

    fn request_cancel(&self, run: &RunId) -> Result<RunStatus, StoreError> {
        self.commit(|store| store.request_cancel(run))
    }

    fn run(&self, run: &RunId) -> Result<Option<RunRecord>, StoreError> {
        self.store.run(run)
    }

    fn runs(&self, limit: usize) -> Result<Vec<RunRecord>, StoreError> {
        self.store.runs(limit)
    }

    fn find_run(&self, prefix: &str) -> Result<RunRecord, StoreError> {
        self.store.find_run(prefix)
    }

    fn kept(&self, key: &str) -> Result<Option<Value>, StoreError> {
        self.store.kept(key)
    }

    fn weigh(&self, runs: &[RunId]) -> Result<Freed, StoreError> {
        self.store.weigh(runs)
    }

    fn remove_run(&self, run: &RunId, epoch: u64) -> Result<Freed, StoreError> {
        self.commit(|store| store.remove_run(run, epoch))
    }

    fn sweep_texts(&self) -> Result<Freed, StoreError> {
        self.commit(|store| store.sweep_texts())
    }

    fn entries(&self, run: &RunId, after_seq: u64) -> Result<Vec<Stored>, StoreError> {
        self.store.entries(run, after_seq)
    }
}
