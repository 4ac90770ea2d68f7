//! Journals as rows.

use std::collections::BTreeMap;

use deepgraph_protocol::ScopePath;
use postgres::Row;

use super::plain;
use super::session::{Session, number};
use super::texts::{AT_ONCE, Texts};
use super::transaction::Earlier;
use crate::columns::{Columns, whole};
use crate::packed::{PackedAppend, PackedEntry, Unpack, unpack};
use crate::{Appended, RunId, StoreError, Stored};

impl Session {
    /// Appends a batch and changes the record.
    ///
    /// `earlier` is the transaction that wrote it last, where nobody knows whether that was committed. What is there
    /// is not written a second time: entries are looked for by their words; a change of the record alone leaves no row
    /// of its own, so the server is asked what became of its transaction.
    pub(super) fn append(
        &mut self,
        append: &PackedAppend,
        earlier: Earlier<'_>,
    ) -> Result<Appended, StoreError> {
        let PackedAppend { run, epoch, entries, update } = append;
        if entries.is_empty() && update.is_none() {
            let head = self.owned_now(run, *epoch)?;
            return Ok(Appended { seq: head.last_seq, cancel_requested: head.cancel_requested });
        }
        let head = self.owned(run, *epoch)?;
        let there = match (earlier.is_unsure, entries.is_empty()) {
            (false, _) => None,
            (true, false) => self.seq_of(head.key, entries)?,
            (true, true) => self.is_committed(*earlier.transaction)?.then_some(head.last_seq),
        };
        if let Some(seq) = there {
            return Ok(Appended { seq, cancel_requested: head.cancel_requested });
        }
        let mut seq = head.last_seq;
        if !entries.is_empty() {
            self.check_positions(run, head.key, entries)?;
            self.keep_texts(head.key, entries.iter().map(|entry| &entry.entry))?;
            seq = self.insert_entries(head.key, head.last_seq, entries)?;
        }
        let mut cancel_requested = head.cancel_requested;
        if let Some(update) = update {
            self.change_record(head.key, update)?;
            self.keep(&update.keep)?;
            cancel_requested = update.plain.cancel_requested.unwrap_or(cancel_requested);
        }
        if entries.is_empty() {
            *earlier.transaction = self.transaction()?;
        }
        Ok(Appended { seq, cancel_requested })
    }

    /// The seq of the last of these entries, if all of them are there.
    fn seq_of(&mut self, key: i64, entries: &[PackedEntry]) -> Result<Option<u64>, StoreError> {
        let sql = "SELECT seq FROM entries WHERE run = $1 AND scope = $2 AND position = $3 AND entry = $4";
        let mut last = None;
        for entry in entries {
            let scope = plain::write(&entry.scope);
            let row = self.first(sql, &[&key, &&*scope, &number(entry.position), &entry.entry.json])?;
            let Some(seq) = row.and_then(|row| row.try_get::<_, i64>(0).ok()) else { return Ok(None) };
            last = u64::try_from(seq).ok();
        }
        Ok(last)
    }

    fn check_positions(&mut self, run: &RunId, key: i64, entries: &[PackedEntry]) -> Result<(), StoreError> {
        let scopes: Vec<_> = entries.iter().map(|entry| plain::write(&entry.scope)).collect();
        let scopes: Vec<&str> = scopes.iter().map(AsRef::as_ref).collect();
        // One look into the index for each scope, however long its journal is.
        let sql = "SELECT scope, (SELECT max(position) + 1 FROM entries WHERE run = $1 AND entries.scope = s.scope) \
            FROM (SELECT DISTINCT unnest($2::text[]) AS scope) AS s";
        let mut lengths: BTreeMap<String, i64> = BTreeMap::new();
        for row in self.all(sql, &[&key, &scopes])? {
            let length = row.try_get::<_, Option<i64>>(1).ok().flatten().unwrap_or(0);
            lengths.insert(row.try_get(0).unwrap_or_default(), length);
        }
        for (entry, scope) in entries.iter().zip(scopes) {
            let length = lengths.entry(scope.to_owned()).or_insert(0);
            if *length != number(entry.position) {
                return Err(StoreError::Position {
                    run: run.clone(),
                    scope: ScopePath::new(entry.scope.as_str()),
                    expected: entry.position,
                    found: u64::try_from(*length).unwrap_or(0),
                });
            }
            *length += 1;
        }
        Ok(())
    }

    fn insert_entries(
        &mut self,
        key: i64,
        last_seq: u64,
        entries: &[PackedEntry],
    ) -> Result<u64, StoreError> {
        let seqs: Vec<i64> = (number(last_seq) + 1..).take(entries.len()).collect();
        let scopes: Vec<_> = entries.iter().map(|entry| plain::write(&entry.scope)).collect();
        let scopes: Vec<&str> = scopes.iter().map(AsRef::as_ref).collect();
        let positions: Vec<i64> = entries.iter().map(|entry| number(entry.position)).collect();
        let texts: Vec<&str> = entries.iter().map(|entry| entry.entry.json.as_str()).collect();
        let sql = "INSERT INTO entries (run, seq, scope, position, entry) \
            SELECT $1, * FROM unnest($2::bigint[], $3::text[], $4::bigint[], $5::text[])";
        self.execute(sql, &[&key, &seqs, &scopes, &positions, &texts])?;
        let seq = last_seq + entries.len() as u64;
        let latest = entries.iter().map(|entry| entry.at).max().unwrap_or(i64::MIN);
        let sql = "UPDATE runs SET last_seq = $2, updated_at = greatest(updated_at, $3) WHERE key = $1";
        self.execute(sql, &[&key, &number(seq), &latest])?;
        Ok(seq)
    }

    /// The rows after `after_seq`.
    pub(super) fn entries(&mut self, run: &RunId, after_seq: u64) -> Result<Vec<Stored>, StoreError> {
        let head = self.head(run)?;
        let sql = "SELECT seq, scope, position, entry FROM entries WHERE run = $1 AND seq > $2 ORDER BY seq";
        let rows = self.all(sql, &[&head.key, &number(after_seq)])?;
        let mut stored = Vec::with_capacity(rows.len());
        for some in rows.chunks(AT_ONCE) {
            let mut texts = self.texts_of(some.iter().map(|row| row.try_get(3).unwrap_or("")))?;
            for row in some {
                stored.push(entry_of(run, row, &mut texts)?);
            }
        }
        whole(run, after_seq, head.last_seq, stored)
    }
}

/// Reads a row `seq, scope, position, entry`.
fn entry_of(run: &RunId, row: &Row, texts: &mut Texts) -> Result<Stored, StoreError> {
    let number =
        |column| Columns::number(row, column).ok().flatten().and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
    let (seq, position) = (number(0), number(2));
    let scope = ScopePath::new(plain::read(row.try_get(1).unwrap_or_default()));
    let corrupt =
        |detail| StoreError::CorruptEntry { run: run.clone(), scope: scope.clone(), position, detail };
    let text: &str = row.try_get(3).map_err(|e| corrupt(e.to_string()))?;
    let entry = unpack(text, &mut |hash| Ok(texts.get(hash))).map_err(|e| match e {
        Unpack::Store(e) => e,
        Unpack::Corrupt(detail) => corrupt(detail),
    })?;
    Ok(Stored { seq, scope, position, entry })
}
