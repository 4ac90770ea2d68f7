//! What lies in the folder before the file is opened. SQLite takes an empty file for a new one and throws its log away:
//! of a store that was cut off, that would be the rest.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use crate::StoreError;

/// The smallest file of SQLite: a page of the smallest size.
const SMALLEST: u64 = 512;
/// How each of them begins.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Refuses a file that was cut off or emptied, and a write-ahead log without its file. Changes nothing.
pub(super) fn check(path: &Path) -> Result<(), StoreError> {
    // The log first: who is just making a store writes the file before the log.
    let logged = length(&log_of(path), path)?.unwrap_or(0);
    let length = length(path, path)?;
    let damaged = |what: String| {
        let detail = format!("{what}; nothing was changed");
        Err(StoreError::Damaged { path: path.into(), detail })
    };
    match length {
        None if logged > 0 => {
            damaged("its write-ahead log is beside it, and the file itself is missing".into())
        }
        Some(length) if length < SMALLEST && logged > 0 => damaged(format!(
            "it has {length} bytes, and the write-ahead log beside it {logged}: it was cut off"
        )),
        Some(length @ 1..SMALLEST) if begins_as_ours(&beginning(path)) => {
            damaged(format!("it has {length} bytes, fewer than any store has: it was cut off"))
        }
        Some(1..SMALLEST) => {
            Err(StoreError::NotAStore { path: path.into(), detail: "it is no SQLite database".into() })
        }
        // Where there is a log, a last page that was written in part is in it.
        Some(length) if logged == 0 && page_size(&beginning(path)).is_some_and(|size| length % size != 0) => {
            damaged(format!("it has {length} bytes, and its last page is not whole: it was cut off"))
        }
        _ => Ok(()),
    }
}

/// Whether the file, or what is left of it, is there: its write-ahead log alone is no new store either.
pub(super) fn is_there(path: &Path) -> bool {
    let is_there = |path: &Path| !fs::exists(path).is_ok_and(|there| !there);
    is_there(path) || is_there(&log_of(path))
}

fn log_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

/// How many bytes a file has; none where there is no such file.
fn length(file: &Path, store: &Path) -> Result<Option<u64>, StoreError> {
    match fs::metadata(file) {
        Ok(found) if found.is_file() => Ok(Some(found.len())),
        // What is no file is told when it is opened.
        Ok(_) => Ok(None),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::CannotOpen { path: store.into(), detail: error.to_string() }),
    }
}

/// The first bytes; none where they can not be read, which is told when the file is opened.
fn beginning(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(SMALLEST).read_to_end(&mut bytes));
    if read.is_ok() { bytes } else { Vec::new() }
}

fn begins_as_ours(bytes: &[u8]) -> bool {
    let common = bytes.len().min(MAGIC.len());
    common > 0 && bytes.get(..common) == MAGIC.get(..common)
}

/// The size of a page, as the head of a file of SQLite has it: two bytes behind the magic, 1 for 65536.
fn page_size(bytes: &[u8]) -> Option<u64> {
    let size = bytes.strip_prefix(MAGIC)?.first_chunk().map(|size| u64::from(u16::from_be_bytes(*size)))?;
    let size = if size == 1 { 65_536 } else { size };
    (size >= SMALLEST && size.is_power_of_two()).then_some(size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::claimed;
    use crate::{SqliteStore, Store as _};

    /// A store with its log beside it, as a crash leaves them: the file and the log.
    fn crashed(file: &Path) -> (Vec<u8>, Vec<u8>) {
        let store = SqliteStore::open(file).unwrap();
        claimed(&store, 1);
        let (bytes, log) = (fs::read(file).unwrap(), fs::read(log_of(file)).unwrap());
        assert!(!bytes.is_empty() && !log.is_empty());
        drop(store);
        for rest in ["-wal", "-shm"] {
            drop(fs::remove_file(format!("{}{rest}", file.display())));
        }
        (bytes, log)
    }

    #[test]
    fn what_is_left_of_a_store_is_damaged_and_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("runs.db");
        let (bytes, log) = crashed(&file);
        let cut = bytes.len() - 100;
        for (left, log) in [
            (Some(&bytes[..0]), Some(&log)),
            (Some(&bytes[..1]), Some(&log)),
            (Some(&b"\n"[..]), Some(&log)),
            (None, Some(&log)),
            (Some(&bytes[..1]), None),
            (Some(&bytes[..511]), None),
            (Some(&bytes[..cut]), None),
        ] {
            for (name, part) in [(file.clone(), left), (log_of(&file), log.map(|log| &log[..]))] {
                drop(fs::remove_file(&name));
                if let Some(part) = part {
                    fs::write(&name, part).unwrap();
                }
            }
            let error = SqliteStore::open(&file).unwrap_err();
            assert!(matches!(&error, StoreError::Damaged { .. }), "{error}");
            assert!(SqliteStore::is_there(&file));
            assert_eq!(fs::read(&file).ok().as_deref(), left, "{error}");
            assert_eq!(fs::read(log_of(&file)).ok().as_ref(), log, "{error}");
        }
    }

    #[test]
    fn a_whole_file_opens_with_its_log_and_without_a_short_one_of_another_program_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("runs.db");
        assert!(!SqliteStore::is_there(&file));
        let (bytes, log) = crashed(&file);
        fs::write(&file, &bytes).unwrap();
        fs::write(log_of(&file), &log).unwrap();
        assert_eq!(SqliteStore::open(&file).unwrap().runs(9).unwrap().len(), 1);
        drop(fs::remove_file(log_of(&file)));
        fs::write(&file, "a text").unwrap();
        assert!(matches!(SqliteStore::open(&file), Err(StoreError::NotAStore { .. })));
        assert_eq!(fs::read(&file).unwrap(), b"a text");
        // An empty file alone may be a new one.
        fs::write(&file, "").unwrap();
        assert!(SqliteStore::open(&file).unwrap().runs(9).unwrap().is_empty());
    }

    #[test]
    fn pages_have_the_size_that_the_head_says() {
        let head = |size: [u8; 2]| page_size(&[MAGIC, &size[..]].concat());
        assert_eq!((head([0x10, 0]), head([0, 1]), head([2, 0])), (Some(4096), Some(65_536), Some(512)));
        assert_eq!((head([0, 0]), head([3, 0]), page_size(MAGIC), page_size(b"")), (None, None, None, None));
    }
}
