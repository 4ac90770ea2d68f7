//! A store that lives as long as the process.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use deepgraph_protocol::{RunStatus, ScopePath, Value};

use crate::find::{self, Ids};
use crate::{Append, Appended, Freed, RunId, RunRecord, RunUpdate, Store, StoreError, Stored, limits};

/// Runs in memory: for tests, and for runs that nobody will resume.
#[derive(Debug, Default)]
pub struct MemoryStore {
    runs: Mutex<BTreeMap<RunId, Run>>,
    kept: Mutex<BTreeMap<String, Value>>,
}

#[derive(Debug)]
struct Run {
    record: RunRecord,
    rows: Vec<Stored>,
    lengths: BTreeMap<ScopePath, u64>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> MemoryStore {
        MemoryStore::default()
    }

    /// The runs. A thread that panicked while it held the lock has left nothing half done: every change below
    /// checks first and then writes without a way to fail.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<RunId, Run>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for MemoryStore {
    fn create_run(&self, record: &RunRecord) -> Result<(), StoreError> {
        limits::check_record(record)?;
        let mut runs = self.lock();
        if runs.contains_key(&record.run_id) {
            return Err(StoreError::RunExists { run: record.run_id.clone() });
        }
        let record = RunRecord { epoch: 0, last_event_seq: 0, ..record.clone() };
        runs.insert(record.run_id.clone(), Run { record, rows: Vec::new(), lengths: BTreeMap::new() });
        Ok(())
    }

    fn claim(&self, run: &RunId) -> Result<u64, StoreError> {
        let mut runs = self.lock();
        let found = known(&mut runs, run)?;
        found.record.epoch += 1;
        Ok(found.record.epoch)
    }

    fn append(
        &self,
        run: &RunId,
        epoch: u64,
        batch: &[Append],
        update: Option<&RunUpdate>,
    ) -> Result<Appended, StoreError> {
        limits::check_batch(run, batch)?;
        if let Some(update) = update {
            limits::check_update(run, update)?;
        }
        let mut runs = self.lock();
        let found = owned(&mut runs, run, epoch)?;
        let lengths = found.lengths_after(run, batch)?;
        found.lengths.extend(lengths);
        for append in batch {
            found.push(append);
        }
        if let Some(update) = update {
            update.apply(&mut found.record);
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend(update.keep.iter().cloned());
        }
        let RunRecord { last_event_seq: seq, cancel_requested, .. } = found.record;
        Ok(Appended { seq, cancel_requested })
    }

    fn update_run(&self, run: &RunId, epoch: u64, update: &RunUpdate) -> Result<(), StoreError> {
        self.append(run, epoch, &[], Some(update)).map(|_| ())
    }

    fn request_cancel(&self, run: &RunId) -> Result<RunStatus, StoreError> {
        let mut runs = self.lock();
        let record = &mut known(&mut runs, run)?.record;
        record.cancel_requested |= !record.status.is_terminal();
        Ok(record.status)
    }

    fn run(&self, run: &RunId) -> Result<Option<RunRecord>, StoreError> {
        Ok(self.lock().get(run).map(|found| found.record.clone()))
    }

    fn runs(&self, limit: usize) -> Result<Vec<RunRecord>, StoreError> {
        Ok(newest_first(&self.lock()).take(limit).cloned().collect())
    }

    fn find_run(&self, prefix: &str) -> Result<RunRecord, StoreError> {
        let runs = self.lock();
        let run = find::find(&*runs, prefix)?;
        runs.get(&run).map(|found| found.record.clone()).ok_or(StoreError::UnknownRun { run })
    }

    fn kept(&self, key: &str) -> Result<Option<Value>, StoreError> {
        Ok(self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned())
    }

    fn weigh(&self, runs: &[RunId]) -> Result<Freed, StoreError> {
        let kept = self.lock();
        let mut freed = Freed::default();
        for run in runs {
            freed += kept.get(run).map(Run::weight).unwrap_or_default();
        }
        Ok(freed)
    }

    fn remove_run(&self, run: &RunId, epoch: u64) -> Result<Freed, StoreError> {
        let mut runs = self.lock();
        let freed = owned(&mut runs, run, epoch)?.weight();
        runs.remove(run);
        Ok(freed)
    }

    /// There are no texts of their own here.
    fn sweep_texts(&self) -> Result<Freed, StoreError> {
        Ok(Freed::default())
    }

    fn entries(&self, run: &RunId, after_seq: u64) -> Result<Vec<Stored>, StoreError> {
        let mut runs = self.lock();
        let rows = &known(&mut runs, run)?.rows;
        Ok(rows.iter().filter(|row| row.seq > after_seq).cloned().collect())
    }
}

impl Run {
    /// The lengths that the batch's journals have after it, or the first position that does not fit.
    fn lengths_after(&self, run: &RunId, batch: &[Append]) -> Result<BTreeMap<ScopePath, u64>, StoreError> {
        let mut lengths = BTreeMap::new();
        for append in batch {
            let known = || self.lengths.get(&append.scope).copied().unwrap_or(0);
            let length = lengths.entry(append.scope.clone()).or_insert_with(known);
            if *length != append.expected_position {
                return Err(StoreError::Position {
                    run: run.clone(),
                    scope: append.scope.clone(),
                    expected: append.expected_position,
                    found: *length,
                });
            }
            *length += 1;
        }
        Ok(lengths)
    }

    fn weight(&self) -> Freed {
        let bytes = self.rows.iter().map(|row| limits::length(&row.entry)).sum();
        Freed { entries: self.rows.len() as u64, texts: 0, bytes }
    }

    fn push(&mut self, append: &Append) {
        self.record.last_event_seq += 1;
        self.record.updated_at = self.record.updated_at.max(append.entry.at);
        self.rows.push(Stored {
            seq: self.record.last_event_seq,
            scope: append.scope.clone(),
            position: append.expected_position,
            entry: append.entry.clone(),
        });
    }
}

impl Ids for BTreeMap<RunId, Run> {
    fn starting_with(&self, prefix: &str, limit: usize) -> Result<Vec<RunId>, StoreError> {
        let ids = newest_first(self).map(|record| &record.run_id);
        Ok(ids.filter(|id| id.as_str().starts_with(prefix)).take(limit).cloned().collect())
    }
}

fn newest_first(runs: &BTreeMap<RunId, Run>) -> impl Iterator<Item = &RunRecord> {
    let mut records: Vec<_> = runs.values().map(|found| &found.record).collect();
    records.sort_by(|a, b| (b.created_at, &b.run_id).cmp(&(a.created_at, &a.run_id)));
    records.into_iter()
}

fn known<'a>(runs: &'a mut BTreeMap<RunId, Run>, run: &RunId) -> Result<&'a mut Run, StoreError> {
    runs.get_mut(run).ok_or_else(|| StoreError::UnknownRun { run: run.clone() })
}

fn owned<'a>(runs: &'a mut BTreeMap<RunId, Run>, run: &RunId, epoch: u64) -> Result<&'a mut Run, StoreError> {
    let found = known(runs, run)?;
    if found.record.epoch != epoch {
        return Err(StoreError::Fenced { run: run.clone(), epoch, current: found.record.epoch });
    }
    Ok(found)
}
