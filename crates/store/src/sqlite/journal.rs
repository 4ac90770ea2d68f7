//! Journals as rows.

use deepgraph_protocol::ScopePath;
use rusqlite::Row;

use super::session::{Session, number};
use crate::columns::{Columns, whole};
use crate::packed::{PackedAppend, PackedEntry, Unpack, unpack};
use crate::{Appended, RunId, StoreError, Stored};

impl Session {
    /// Appends a batch and changes the record.
    pub(super) fn append(&self, append: &PackedAppend) -> Result<Appended, StoreError> {
        let PackedAppend { run, epoch, entries, update } = append;
        let head = self.owned(run, *epoch)?;
        let mut seq = head.last_seq;
        for entry in entries {
            seq += 1;
            self.insert_entry(run, head.key, seq, entry)?;
        }
        if let Some(latest) = entries.iter().map(|entry| entry.at).max() {
            self.note_rows(head.key, seq, latest)?;
        }
        let mut cancel_requested = head.cancel_requested;
        if let Some(update) = update {
            self.change_record(head.key, update)?;
            self.keep(&update.keep)?;
            cancel_requested = update.plain.cancel_requested.unwrap_or(cancel_requested);
        }
        Ok(Appended { seq, cancel_requested })
    }

    fn insert_entry(&self, run: &RunId, key: i64, seq: u64, entry: &PackedEntry) -> Result<(), StoreError> {
        let scope = entry.scope.as_str();
        let sql = "SELECT coalesce(max(position) + 1, 0) FROM entries WHERE run = ?1 AND scope = ?2";
        let length: i64 = self.first(sql, (key, scope), |row| row.get(0))?.unwrap_or(0);
        if length != number(entry.position) {
            return Err(StoreError::Position {
                run: run.clone(),
                scope: ScopePath::new(scope),
                expected: entry.position,
                found: u64::try_from(length).unwrap_or(0),
            });
        }
        self.keep_texts(key, &entry.entry)?;
        let sql = "INSERT INTO entries (run, seq, scope, position, entry) VALUES (?1, ?2, ?3, ?4, ?5)";
        self.execute(sql, (key, number(seq), scope, length, &entry.entry.json)).map(|_| ())
    }

    /// The rows after `after_seq`.
    pub(super) fn entries(&self, run: &RunId, after_seq: u64) -> Result<Vec<Stored>, StoreError> {
        let head = self.head(run)?;
        let sql = "SELECT seq, scope, position, entry FROM entries WHERE run = ?1 AND seq > ?2 ORDER BY seq";
        let rows = self.all(sql, (head.key, number(after_seq)), |row| stored(self, run, row))?;
        whole(run, after_seq, head.last_seq, rows)
    }
}

/// Reads a row `seq, scope, position, entry`.
pub(super) fn stored(session: &Session, run: &RunId, row: &Row<'_>) -> Result<Stored, StoreError> {
    let seq: i64 = row.get(0).unwrap_or(0);
    let scope = ScopePath::new(row.text(1).ok().flatten().unwrap_or_default());
    let position = u64::try_from(row.get::<_, i64>(2).unwrap_or(0)).unwrap_or(0);
    let corrupt =
        |detail| StoreError::CorruptEntry { run: run.clone(), scope: scope.clone(), position, detail };
    let text = row.text(3).map_err(&corrupt)?.unwrap_or_default();
    let entry = unpack(&text, &mut |hash| session.long_text(hash)).map_err(|e| match e {
        Unpack::Store(e) => e,
        Unpack::Corrupt(detail) => corrupt(detail),
    })?;
    Ok(Stored { seq: u64::try_from(seq).unwrap_or(0), scope, position, entry })
}
