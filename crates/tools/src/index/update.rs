//! Bringing an index up to date with the files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use sha2::{Digest, Sha256};

use crate::extract::{Extracted, extract};
use crate::files::{File, Listing};
use crate::report::{IndexProgress, IndexReport, MAX_DOCUMENT_BYTES, SkipReason, Skipped};

use super::rows::{totals, write_pieces};

/// Files are read this many at once at most, and no more than so many bytes unless one alone is larger.
const BATCH_FILES: usize = 64;
const BATCH_BYTES: u64 = 32 * 1024 * 1024;
/// A file that changed less than this before it was read may change again within the same tick of its clock.
const RECENT_NANOS: i64 = 2_000_000_000;
/// Letters of a document's key, where they tell it from all others.
const KEY_LETTERS: usize = 6;

/// What the index knows of a file.
struct Known {
    id: i64,
    size: u64,
    mtime: i64,
    recent: bool,
    hash: Vec<u8>,
    /// Whether it has passages, and so counts as a document.
    readable: bool,
}

/// What became of a file that was read.
enum Outcome {
    /// It has the same content as before.
    Same,
    /// It was read anew.
    New { hash: Vec<u8>, found: Result<Extracted, SkipReason> },
    /// The system did not let us read it.
    Unreadable(SkipReason),
}

/// Reads new and changed files and drops those that are gone, in one transaction: others see the index as it was
/// or as it will be.
pub fn update(
    connection: &mut Connection,
    listing: &Listing,
    progress: &mut dyn FnMut(IndexProgress<'_>),
) -> rusqlite::Result<IndexReport> {
    let mut report = IndexReport {
        skipped: listing.skipped.clone(),
        linked: listing.linked.clone(),
        ..IndexReport::default()
    };
    let known = known_files(connection)?;
    if is_current(&known, listing) {
        report.unchanged = known.values().filter(|known| known.readable).count();
    } else {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        write(&transaction, listing, &mut report, progress)?;
        transaction.commit()?;
    }
    report.skipped.extend(skipped_files(connection)?);
    report.skipped.sort();
    (report.documents, report.passages) = totals(connection)?;
    Ok(report)
}

fn is_current(known: &BTreeMap<String, Known>, listing: &Listing) -> bool {
    known.len() == listing.files.len()
        && listing
            .files
            .iter()
            .all(|(name, file)| known.get(name).is_some_and(|known| is_untouched(known, file)))
}

fn is_untouched(known: &Known, file: &File) -> bool {
    known.size == file.size && known.mtime == file.mtime && !known.recent
}

fn write(
    transaction: &Transaction<'_>,
    listing: &Listing,
    report: &mut IndexReport,
    progress: &mut dyn FnMut(IndexProgress<'_>),
) -> rusqlite::Result<()> {
    // Read again under the lock: another process may have been faster.
    let known = known_files(transaction)?;
    for (name, known) in &known {
        if !listing.files.contains_key(name) {
            remove(transaction, known.id)?;
            report.removed += usize::from(known.readable);
        }
    }
    let mut keys = keys(transaction)?;
    let changed: Vec<(&String, &File)> = listing
        .files
        .iter()
        .filter(|(name, file)| !known.get(*name).is_some_and(|known| is_untouched(known, file)))
        .collect();
    let untouched = known.iter().filter(|(name, known)| {
        known.readable && listing.files.get(*name).is_some_and(|file| is_untouched(known, file))
    });
    report.unchanged = untouched.count();
    let mut done = 0;
    while let Some(rest) = changed.get(done..).filter(|rest| !rest.is_empty()) {
        let batch = rest.get(..batch_len(rest)).unwrap_or(rest);
        for (number, (name, _)) in batch.iter().enumerate() {
            progress(IndexProgress { document: name, done: done + number, total: changed.len() });
        }
        for ((name, file), outcome) in batch.iter().zip(read_batch(batch, &known)) {
            store(transaction, name, file, known.get(*name), outcome, &mut keys, report)?;
        }
        done += batch.len();
    }
    Ok(())
}

fn batch_len(files: &[(&String, &File)]) -> usize {
    let mut bytes = 0;
    let fits = files.iter().take(BATCH_FILES).take_while(|(_, file)| {
        bytes += file.size.min(MAX_DOCUMENT_BYTES);
        bytes <= BATCH_BYTES
    });
    fits.count().max(1)
}

/// Reads files on a few threads. The outcomes come in the order of the files.
fn read_batch(batch: &[(&String, &File)], known: &BTreeMap<String, Known>) -> Vec<Outcome> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(8);
    let share = batch.len().div_ceil(threads).max(1);
    thread::scope(|scope| {
        let workers: Vec<_> = batch
            .chunks(share)
            .map(|part| {
                scope.spawn(move || {
                    part.iter()
                        .map(|(name, file)| read_safely(name, file, known.get(*name)))
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        let outcomes = workers.into_iter().zip(batch.chunks(share)).flat_map(|(worker, part)| {
            worker.join().unwrap_or_else(|_| part.iter().map(|_| Outcome::Unreadable(gave_up())).collect())
        });
        outcomes.collect()
    })
}

/// A document that some library chokes on is left out; the others are not affected.
fn read_safely(name: &str, file: &File, known: Option<&Known>) -> Outcome {
    catch_unwind(AssertUnwindSafe(|| read(name, file, known)))
        .unwrap_or_else(|_| Outcome::Unreadable(gave_up()))
}

fn gave_up() -> SkipReason {
    SkipReason::Unreadable {
        detail: "reading it failed in a way that we did not foresee; please report it".into(),
    }
}

fn read(name: &str, file: &File, known: Option<&Known>) -> Outcome {
    if file.size > MAX_DOCUMENT_BYTES {
        return Outcome::New { hash: Vec::new(), found: Err(SkipReason::TooLarge { bytes: file.size }) };
    }
    let bytes = match fs::read(&file.path) {
        Ok(bytes) => bytes,
        Err(error) => return Outcome::Unreadable(SkipReason::Unreadable { detail: error.to_string() }),
    };
    let hash = Sha256::digest(&bytes).to_vec();
    if known.is_some_and(|known| known.hash == hash) {
        return Outcome::Same;
    }
    Outcome::New { found: extract(name, &bytes), hash }
}

fn store(
    transaction: &Transaction<'_>,
    name: &str,
    file: &File,
    known: Option<&Known>,
    outcome: Outcome,
    keys: &mut BTreeSet<String>,
    report: &mut IndexReport,
) -> rusqlite::Result<()> {
    match (outcome, known) {
        (Outcome::Same, known) => {
            report.unchanged += usize::from(known.is_some_and(|known| known.readable));
            let sql = "UPDATE document SET size = ?2, mtime = ?3, recent = ?4 WHERE id = ?1";
            let id = known.map_or(0, |known| known.id);
            transaction.prepare_cached(sql)?.execute(params![id, file.size, file.mtime, is_recent(file)])?;
        }
        (Outcome::New { hash, found }, known) => {
            let key = match known {
                Some(known) => remove(transaction, known.id)?,
                None => new_key(name, keys),
            };
            report.indexed_now += usize::from(found.is_ok());
            insert(transaction, name, file, &key, &hash, found)?;
        }
        // Not kept in the index, so that it is tried again the next time.
        (Outcome::Unreadable(reason), known) => {
            if let Some(known) = known {
                remove(transaction, known.id)?;
            }
            report.skipped.push(Skipped { document: name.into(), reason });
        }
    }
    Ok(())
}

fn insert(
    transaction: &Transaction<'_>,
    name: &str,
    file: &File,
    key: &str,
    hash: &[u8],
    found: Result<Extracted, SkipReason>,
) -> rusqlite::Result<()> {
    let (found, skipped) = match found {
        Ok(mut found) => {
            let broken = found.broken.take();
            (found, broken)
        }
        Err(reason) => (Extracted::default(), Some(reason)),
    };
    let skipped = skipped.and_then(|reason| serde_json::to_string(&reason).ok());
    // The path tells what a document is about, too.
    let names = format!("{} {}", found.names, name.replace(['/', '_', '-', '.'], " "));
    let sql =
        "INSERT INTO document (key, name, size, mtime, recent, hash, title, date, names, passages, skipped)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    transaction.prepare_cached(sql)?.execute(params![
        key,
        name,
        file.size,
        file.mtime,
        is_recent(file),
        hash,
        found.title,
        found.date,
        names,
        found.passages.len(),
        skipped,
    ])?;
    let document = transaction.last_insert_rowid();
    let passage_sql = "INSERT INTO passage (document, ordinal, title, date, section, text, start, \"end\", line, page, pieces)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    let words_sql = "INSERT INTO words (rowid, title, section, names, text) VALUES (?1, ?2, ?3, ?4, ?5)";
    let mut passages = transaction.prepare_cached(passage_sql)?;
    let mut words = transaction.prepare_cached(words_sql)?;
    for (ordinal, passage) in (1_i64..).zip(&found.passages) {
        let span = passage.span;
        passages.execute(params![
            document,
            ordinal,
            passage.title,
            passage.date,
            passage.section,
            passage.text,
            span.start,
            span.end,
            span.line,
            span.page,
            write_pieces(&passage.pieces),
        ])?;
        let title = passage.title.as_ref().unwrap_or(&found.title);
        words.execute(params![
            transaction.last_insert_rowid(),
            title,
            passage.section,
            names,
            passage.text
        ])?;
    }
    Ok(())
}

/// Removes a document and gives its key.
fn remove(transaction: &Transaction<'_>, id: i64) -> rusqlite::Result<String> {
    let words = "DELETE FROM words WHERE rowid IN (SELECT id FROM passage WHERE document = ?1)";
    transaction.prepare_cached(words)?.execute([id])?;
    transaction.prepare_cached("DELETE FROM passage WHERE document = ?1")?.execute([id])?;
    let sql = "DELETE FROM document WHERE id = ?1 RETURNING key";
    let key: Option<String> =
        transaction.prepare_cached(sql)?.query_row([id], |row| row.get(0)).optional()?;
    Ok(key.unwrap_or_default())
}

fn is_recent(file: &File) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok();
    let now = now.and_then(|now| i64::try_from(now.as_nanos()).ok()).unwrap_or(0);
    file.mtime > now - RECENT_NANOS
}

fn known_files(connection: &Connection) -> rusqlite::Result<BTreeMap<String, Known>> {
    let mut statement =
        connection.prepare("SELECT name, id, size, mtime, recent, hash, passages > 0 FROM document")?;
    let rows = statement.query_map([], |row| {
        let known = Known {
            id: row.get(1)?,
            size: row.get(2)?,
            mtime: row.get(3)?,
            recent: row.get(4)?,
            hash: row.get(5)?,
            readable: row.get(6)?,
        };
        Ok((row.get(0)?, known))
    })?;
    rows.collect()
}

fn keys(connection: &Connection) -> rusqlite::Result<BTreeSet<String>> {
    connection.prepare("SELECT key FROM document")?.query_map([], |row| row.get(0))?.collect()
}

fn skipped_files(connection: &Connection) -> rusqlite::Result<Vec<Skipped>> {
    let mut statement = connection.prepare("SELECT name, skipped FROM document WHERE skipped IS NOT NULL")?;
    let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
    let mut skipped = Vec::new();
    for row in rows {
        let (document, reason) = row?;
        if let Ok(reason) = serde_json::from_str(&reason) {
            skipped.push(Skipped { document, reason });
        }
    }
    Ok(skipped)
}

/// A short hash of a document's name: the same in every index, unless another document has it already.
fn new_key(name: &str, keys: &mut BTreeSet<String>) -> String {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let mut key = String::new();
    // More letters than five bits a byte of the hash would allow are never needed: keys are unique before that.
    for byte in Sha256::digest(name.as_bytes()) {
        key.push(char::from(LETTERS[usize::from(byte % 32)]));
        if key.len() >= KEY_LETTERS && !keys.contains(&key) {
            break;
        }
    }
    keys.insert(key.clone());
    key
}
