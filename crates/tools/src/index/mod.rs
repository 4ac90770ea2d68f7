//! The index: one SQLite file for each set of paths.

mod rows;
mod update;

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags};
use sha2::{Digest, Sha256};

use crate::files::Root;

pub use rows::{
    DocumentRow, Row, document_by_key, document_by_name, names_and_titles, passages_of, rows_by_id, totals,
};
pub use update::update;

/// Raised with every change of the tables or of what extraction makes of a file: an index of another version is
/// built anew.
const VERSION: i32 = 3;
/// "dgdx": tells our index files from other SQLite files.
const APPLICATION: i32 = 0x6467_6478;
/// How long to wait for another process that writes the same index.
const BUSY: Duration = Duration::from_secs(120);

/// The place of the index of a set of paths.
pub fn index_file(roots: &[Root], index_dir: &Path) -> PathBuf {
    let mut places: Vec<&Path> = roots.iter().map(|root| root.path.as_path()).collect();
    places.sort();
    let mut hash = Sha256::new();
    for place in places {
        hash.update(place.as_os_str().as_encoded_bytes());
        hash.update([0]);
    }
    let name: String = hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    index_dir.join(format!("docs-{name}.sqlite"))
}

/// Whether a file name is that of an index or of what SQLite keeps beside it.
pub fn is_index_name(name: &str) -> bool {
    name.starts_with("docs-")
        && [".sqlite", ".sqlite-wal", ".sqlite-shm"].iter().any(|end| name.ends_with(end))
}

/// Opens an index file, with empty tables where it is new, damaged or of another version.
pub fn open_file(file: &Path) -> Result<Connection, Trouble> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(|error| Trouble::Io(error.to_string()))?;
    }
    match open_patiently(file) {
        Err(Trouble::Sqlite(error)) if is_damage(&error) => {
            remove(file)?;
            open_patiently(file)
        }
        opened => opened,
    }
}

/// Opens a file that another process may be making at this moment: there SQLite does not always wait by itself.
fn open_patiently(file: &Path) -> Result<Connection, Trouble> {
    let start = Instant::now();
    loop {
        match try_open(file) {
            Err(Trouble::Sqlite(error)) if is_busy(&error) && start.elapsed() < BUSY => {
                thread::sleep(Duration::from_millis(20));
            }
            opened => return opened,
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Opens an index that goes with the process.
pub fn open_in_memory() -> rusqlite::Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    prepare(&mut connection)?;
    Ok(connection)
}

/// Why an index file can not be used.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// The system says no.
    #[error("{0}")]
    Io(String),
    /// SQLite says no.
    #[error("{0}")]
    Sqlite(#[from] rusqlite::Error),
}

fn try_open(file: &Path) -> Result<Connection, Trouble> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "normal")?;
    prepare(&mut connection)?;
    Ok(connection)
}

/// Makes sure that the tables of this version are there.
fn prepare(connection: &mut Connection) -> rusqlite::Result<()> {
    if has_version(connection)? {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    // Another process may have done it meanwhile.
    if !has_version(&transaction)? {
        transaction.execute_batch(
            "DROP TABLE IF EXISTS words; DROP TABLE IF EXISTS passage; DROP TABLE IF EXISTS document;",
        )?;
        transaction.execute_batch(include_str!("schema.sql"))?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    transaction.commit()
}

fn has_version(connection: &Connection) -> rusqlite::Result<bool> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    Ok(number("user_version")? == VERSION && number("application_id")? == APPLICATION)
}

/// Whether an error says that the file is damaged, rather than busy or out of reach.
pub fn is_damage(error: &rusqlite::Error) -> bool {
    match error {
        rusqlite::Error::SqliteFailure(failure, message) => {
            let text = message.as_deref().unwrap_or_default();
            matches!(failure.code, ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
                || text.contains("no such table")
                || text.contains("no such column")
                || text.contains("malformed")
        }
        rusqlite::Error::FromSqlConversionFailure(..) | rusqlite::Error::InvalidColumnType(..) => true,
        _ => false,
    }
}

/// Removes an index file with what SQLite keeps beside it.
pub fn remove(file: &Path) -> Result<(), Trouble> {
    for ending in ["", "-wal", "-shm"] {
        let mut name = file.as_os_str().to_owned();
        name.push(ending);
        match fs::remove_file(PathBuf::from(name)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Trouble::Io(error.to_string()));
            }
            _ => {}
        }
    }
    Ok(())
}
