//! The file: how it is opened, what tables it has, how an older one is brought up to date.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::fault::fault;
use super::files;
use super::session::Session;
use super::{SqliteOptions, Synchronous};
use crate::StoreError;

/// Marks a file as ours (SQLite's `application_id`): "dpgr".
const APPLICATION_ID: i64 = 0x6470_6772;

/// The steps from an empty file to the present schema. The file's `user_version` tells how many it has taken;
/// a step, once released, never changes.
const MIGRATIONS: [&str; 3] = [
    "
    CREATE TABLE runs (
        key              INTEGER PRIMARY KEY,
        run_id           TEXT    NOT NULL UNIQUE,
        status           TEXT    NOT NULL,
        question         TEXT    NOT NULL,
        graph            TEXT    NOT NULL,
        created_at       INTEGER NOT NULL,
        updated_at       INTEGER NOT NULL,
        current_step     TEXT,
        completed_steps  INTEGER NOT NULL,
        attempt          INTEGER NOT NULL,
        deadline         INTEGER,
        cost_cents       INTEGER,
        last_seq         INTEGER NOT NULL,
        cancel_requested INTEGER NOT NULL,
        exits            TEXT    NOT NULL,
        report           TEXT,
        output           TEXT    NOT NULL,
        epoch            INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX runs_by_age ON runs (created_at, run_id);

    -- Apart from the rest of the record, because it is long and seldom changes.
    CREATE TABLE setups (
        run      INTEGER PRIMARY KEY REFERENCES runs (key) ON DELETE CASCADE,
        bundle   TEXT NOT NULL,
        settings TEXT NOT NULL
    ) STRICT;

    CREATE TABLE entries (
        run      INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
        seq      INTEGER NOT NULL,
        scope    TEXT    NOT NULL,
        position INTEGER NOT NULL,
        entry    TEXT    NOT NULL,
        UNIQUE (run, seq),
        UNIQUE (run, scope, position)
    ) STRICT;

    -- Long texts of entries and records, each once, by the SHA-256 of its bytes.
    CREATE TABLE texts (
        hash TEXT PRIMARY KEY,
        text TEXT NOT NULL
    ) STRICT;
",
    "
    -- Values that runs leave for those after them.
    CREATE TABLE kept (
        key   TEXT PRIMARY KEY,
        value TEXT NOT NULL
    ) STRICT;
",
    r#"
    -- Which runs use which long text, so that those that nobody uses can be told; run 0 stands for the kept values.
    CREATE TABLE text_uses (
        hash TEXT    NOT NULL,
        run  INTEGER NOT NULL,
        PRIMARY KEY (hash, run)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX text_uses_by_run ON text_uses (run);

    -- The uses so far: what follows each {"$text":" in the JSON. In a text of it the quotes would be escaped.
    CREATE TEMP TABLE parts (run INTEGER, json TEXT);
    INSERT INTO parts
        SELECT run, entry FROM entries WHERE instr(entry, '{"$text":"') > 0
        UNION ALL SELECT key, exits FROM runs UNION ALL SELECT key, output FROM runs
        UNION ALL SELECT run, bundle FROM setups UNION ALL SELECT run, settings FROM setups
        UNION ALL SELECT 0, value FROM kept;
    WITH RECURSIVE found (run, rest) AS (
        SELECT run, substr(json, instr(json, '{"$text":"') + 10) FROM parts WHERE instr(json, '{"$text":"') > 0
        UNION ALL
        SELECT run, substr(rest, instr(rest, '{"$text":"') + 10) FROM found WHERE instr(rest, '{"$text":"') > 0
    )
    INSERT OR IGNORE INTO text_uses (hash, run) SELECT substr(rest, 1, 64), run FROM found;
    DROP TABLE parts;
"#,
];

/// Opens the file for writing, makes it where there is none, and brings it up to date.
pub(super) fn open(path: &Path, options: &SqliteOptions) -> Result<Session, StoreError> {
    make_folder(path)?;
    files::check(path)?;
    let failed = |e| fault(path, e);
    let mut connection = connect(path, options.wait)?;
    // Looked at before anything is changed: a file of another program must stay as it is.
    if check_owner(&mut connection, path)? {
        // Only a file without tables can take this on: room that a removal leaves can be given back later.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL").map_err(failed)?;
    }
    use_write_ahead_log(&connection, path, options.wait)?;
    let synchronous = match options.synchronous {
        Synchronous::Full => "FULL",
        Synchronous::Normal => "NORMAL",
    };
    connection.pragma_update(None, "synchronous", synchronous).map_err(failed)?;
    connection.pragma_update(None, "foreign_keys", true).map_err(failed)?;
    migrate(&mut connection, path)?;
    Ok(Session { connection, path: path.into() })
}

/// One more connection to a file that is open already, for reading only.
pub(super) fn open_to_read(path: &Path, wait: Duration) -> Result<Session, StoreError> {
    let connection = connect(path, wait)?;
    connection.pragma_update(None, "query_only", true).map_err(|e| fault(path, e))?;
    Ok(Session { connection, path: path.into() })
}

fn connect(path: &Path, wait: Duration) -> Result<Connection, StoreError> {
    // Without SQLITE_OPEN_URI, so that a name such as `file:x?mode=memory` is just a name.
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let failed = |e| fault(path, e);
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.busy_timeout(wait).map_err(failed)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

fn make_folder(path: &Path) -> Result<(), StoreError> {
    let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) else { return Ok(()) };
    std::fs::create_dir_all(folder).map_err(|e| match e.kind() {
        std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
            StoreError::ReadOnly { path: path.into() }
        }
        std::io::ErrorKind::StorageFull => StoreError::DiskFull { path: path.into() },
        _ => StoreError::CannotOpen { path: path.into(), detail: e.to_string() },
    })
}

fn pragma(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}

/// Refuses a file of another program. Whether the file is a new one.
fn check_owner(connection: &mut Connection, path: &Path) -> Result<bool, StoreError> {
    let failed = |e| fault(path, e);
    // One transaction, so that a file that another process is just making is seen before or after, not between.
    let read = connection.transaction().map_err(failed)?;
    let things: i64 =
        read.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(failed)?;
    let application = pragma(&read, "application_id").map_err(failed)?;
    let version = pragma(&read, "user_version").map_err(failed)?;
    let is_new = things == 0 && application == 0 && version == 0;
    if application != APPLICATION_ID && !is_new {
        let detail = "it is an SQLite database of another program".into();
        return Err(StoreError::NotAStore { path: path.into(), detail });
    }
    check_version(version, path)?;
    Ok(is_new)
}

fn check_version(version: i64, path: &Path) -> Result<(), StoreError> {
    let known = MIGRATIONS.len() as i64;
    if version > known {
        return Err(StoreError::Newer { path: path.into(), found: version, known });
    }
    Ok(())
}

/// The switch to write-ahead logging needs the file for itself and does not wait for it as other statements do.
fn use_write_ahead_log(connection: &Connection, path: &Path, wait: Duration) -> Result<(), StoreError> {
    let started = Instant::now();
    loop {
        let switched =
            connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0));
        match switched {
            Ok(mode) if mode.eq_ignore_ascii_case("wal") => return Ok(()),
            Ok(mode) => return Err(StoreError::NoWal { path: path.into(), mode }),
            Err(e) if e.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && started.elapsed() < wait => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(e) => return Err(fault(path, e)),
        }
    }
}

fn migrate(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let failed = |e| fault(path, e);
    let taken = pragma(connection, "user_version").map_err(failed)?;
    if taken == MIGRATIONS.len() as i64 {
        return Ok(());
    }
    let write = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    // Read again under the lock: another process may have been faster.
    let taken = pragma(&write, "user_version").map_err(failed)?;
    check_version(taken, path)?;
    for step in MIGRATIONS.iter().skip(usize::try_from(taken).unwrap_or(0)) {
        write.execute_batch(step).map_err(failed)?;
    }
    write.pragma_update(None, "application_id", APPLICATION_ID).map_err(failed)?;
    write.pragma_update(None, "user_version", MIGRATIONS.len() as i64).map_err(failed)?;
    write.commit().map_err(failed)
}
