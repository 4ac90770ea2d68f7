//! Journals as rows.

use deepgraph_protocol::ScopePath;
use rusqlite::Row;

use super::records::text_of;
use super::session::{Session, number};
use super::texts::{self, Unpack};
use crate::{Append, RunId, RunUpdate, StoreError, Stored};

impl Session<'_> {
    /// Appends a batch and changes the record; returns the seq of the run's last row.
    pub(super) fn append(
        &self,
        run: &RunId,
        epoch: u64,
        batch: &[Append],
        update: Option<&RunUpdate>,
    ) -> Result<u64, StoreError> {
        let head = self.owned(run, epoch)?;
        let mut seq = head.last_seq;
        for append in batch {
            seq += 1;
            self.insert_entry(run, head.key, seq, append)?;
        }
        if let Some(latest) = batch.iter().map(|append| append.entry.at).max() {
            self.note_rows(head.key, seq, latest)?;
        }
        if let Some(update) = update {
            self.change_record(run, head.key, update)?;
            self.keep(run, &update.keep)?;
        }
        Ok(seq)
    }

    fn insert_entry(&self, run: &RunId, key: i64, seq: u64, append: &Append) -> Result<(), StoreError> {
        let scope = append.scope.as_str();
        let sql = "SELECT coalesce(max(position) + 1, 0) FROM entries WHERE run = ?1 AND scope = ?2";
        let length: i64 = self.first(sql, (key, scope), |row| row.get(0))?.unwrap_or(0);
        if length != number(append.expected_position) {
            return Err(StoreError::Position {
                run: run.clone(),
                scope: append.scope.clone(),
                expected: append.expected_position,
                found: u64::try_from(length).unwrap_or(0),
            });
        }
        let entry = self.pack(run, "an entry", &append.entry)?;
        let sql = "INSERT INTO entries (run, seq, scope, position, entry) VALUES (?1, ?2, ?3, ?4, ?5)";
        self.execute(sql, (key, number(seq), scope, length, entry)).map(|_| ())
    }

    /// The rows after `after_seq`.
    pub(super) fn entries(&self, run: &RunId, after_seq: u64) -> Result<Vec<Stored>, StoreError> {
        let head = self.head(run)?;
        let sql = "SELECT seq, scope, position, entry FROM entries WHERE run = ?1 AND seq > ?2 ORDER BY seq";
        let rows = self.all(sql, (head.key, number(after_seq)), |row| stored(self, run, row))?;
        let wanted = after_seq.saturating_add(1)..=head.last_seq;
        let first_gap = wanted.clone().zip(&rows).find(|(seq, row)| *seq != row.seq).map(|(seq, _)| seq);
        match first_gap.or_else(|| wanted.clone().nth(rows.len())) {
            Some(seq) => Err(StoreError::MissingEntry { run: run.clone(), seq }),
            None => Ok(rows),
        }
    }
}

/// Reads a row `seq, scope, position, entry`.
pub(super) fn stored(session: &Session<'_>, run: &RunId, row: &Row<'_>) -> Result<Stored, StoreError> {
    let seq: i64 = row.get(0).unwrap_or(0);
    let scope = ScopePath::new(text_of(row, 1).unwrap_or_default());
    let position = u64::try_from(row.get::<_, i64>(2).unwrap_or(0)).unwrap_or(0);
    let corrupt =
        |detail| StoreError::CorruptEntry { run: run.clone(), scope: scope.clone(), position, detail };
    let text = text_of(row, 3).map_err(&corrupt)?;
    let entry = texts::unpack(session, &text).map_err(|e| match e {
        Unpack::Store(e) => e,
        Unpack::Corrupt(detail) => corrupt(detail),
    })?;
    Ok(Stored { seq: u64::try_from(seq).unwrap_or(0), scope, position, entry })
}
