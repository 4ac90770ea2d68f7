//! What can go wrong with a store.

use std::path::PathBuf;

use deepgraph_protocol::ScopePath;

use crate::RunId;

/// A failure of a store: what was wrong, where, and what to do.
///
/// After an error nothing of the call has been written.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A text is no run id.
    #[error("\"{text}\" is no run id: ids look like 01981c2e-7a40-7c11-9d5e-1f0a8c2b4d6e")]
    BadRunId {
        /// The text, cut to 80 characters.
        text: String,
    },
    /// There is no such run.
    #[error("there is no run {run} in this store: `deepgraph runs` lists those that there are")]
    UnknownRun {
        /// The id.
        run: RunId,
    },
    /// No run is meant by this text.
    #[error("no run is called \"{prefix}\" and no run's id starts with it; {}", name_newest(.newest))]
    NoSuchRun {
        /// The text, cut to 80 characters.
        prefix: String,
        /// The newest runs, newest first.
        newest: Vec<RunId>,
    },
    /// More than one run is meant by this text.
    #[error("more than one run's id starts with \"{prefix}\": {}; give more of it", list(.candidates))]
    AmbiguousRun {
        /// The text.
        prefix: String,
        /// Some of the runs, newest first.
        candidates: Vec<RunId>,
    },
    /// A run of this id is recorded already.
    #[error("run {run} is recorded already: start a new run under a new id, or resume that one")]
    RunExists {
        /// The id.
        run: RunId,
    },
    /// Somebody else has taken the run over.
    #[error(
        "run {run} has been taken over: this process holds epoch {epoch}, the run is at {current}. \
         Nothing was written. Stop here; the run goes on elsewhere"
    )]
    Fenced {
        /// The run.
        run: RunId,
        /// The epoch of the writer.
        epoch: u64,
        /// The epoch of the run.
        current: u64,
    },
    /// The journal is not as long as the writer thinks.
    #[error(
        "the journal of scope \"{scope}\" of run {run} has {found} entries, the writer expected {expected}. \
         Nothing was written. Read the journal again before appending to it"
    )]
    Position {
        /// The run.
        run: RunId,
        /// The scope.
        scope: ScopePath,
        /// How many entries the writer expected.
        expected: u64,
        /// How many there are.
        found: u64,
    },
    /// Something is nested so deeply that it could not be read again.
    #[error(
        "{what} of run {run} is nested more than {max} levels deep and could not be read again. Nothing was written. Hand on flatter data"
    )]
    TooDeep {
        /// The run.
        run: RunId,
        /// What: an entry or a field of the record.
        what: String,
        /// The greatest depth.
        max: usize,
    },
    /// Something can not be put into JSON.
    #[error("{what} of run {run} can not be written as JSON: {detail}")]
    Encode {
        /// The run.
        run: RunId,
        /// What: an entry or a field of the record.
        what: String,
        /// Why.
        detail: String,
    },
    /// A row of a journal can not be read.
    #[error(
        "the entry at position {position} of scope \"{scope}\" of run {run} can not be read: {detail}. \
         The run can not be shown or resumed from here; restore the file from a copy, or run the question again"
    )]
    CorruptEntry {
        /// The run.
        run: RunId,
        /// The scope.
        scope: ScopePath,
        /// The position in the scope's journal, from 0.
        position: u64,
        /// Why.
        detail: String,
    },
    /// A row of a journal is missing.
    #[error(
        "row {seq} of run {run} is missing. The run can not be shown or resumed from here; restore the file \
         from a copy, or run the question again"
    )]
    MissingEntry {
        /// The run.
        run: RunId,
        /// The row's number in the run, from 1.
        seq: u64,
    },
    /// A run record can not be read.
    #[error(
        "the field {field} of the record of run {run} can not be read: {detail}. Restore the file from a copy, \
         or run the question again"
    )]
    CorruptRecord {
        /// The run's id as it stands there.
        run: String,
        /// The field.
        field: &'static str,
        /// Why.
        detail: String,
    },
    /// A value that a run left can not be read.
    #[error(
        "the value kept as \"{key}\" can not be read: {detail}. Restore the file from a copy, or run without what \
         was kept"
    )]
    CorruptKept {
        /// Its key.
        key: String,
        /// Why.
        detail: String,
    },
    /// Another process holds the file for too long.
    #[error(
        "{path} is locked by another process and did not become free. Nothing was written. Try again; if it \
         stays locked, look for a program that has it open", path = .path.display()
    )]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// The disk is full.
    #[error(
        "the disk that holds {path} is full. Nothing was written. Make room. A run that was recorded \
         goes on with `deepgraph resume`: committed steps are kept", path = .path.display()
    )]
    DiskFull {
        /// The file.
        path: PathBuf,
    },
    /// The file or its folder may not be written.
    #[error(
        "{path} or its folder is read-only for this user. The folder must be writable, for the files that SQLite \
         keeps beside it; change the permissions or name another place", path = .path.display()
    )]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The file can not be opened or made.
    #[error(
        "{path} can not be opened or made: {detail}. It must be a file in a folder that this user may write; \
         correct it or name another place", path = .path.display()
    )]
    CannotOpen {
        /// The file.
        path: PathBuf,
        /// Why.
        detail: String,
    },
    /// The file is something else.
    #[error("{path} is not a store of deepgraph: {detail}. It was left as it is; name another file", path = .path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        detail: String,
    },
    /// A later version of this program wrote the file.
    #[error(
        "{path} was written by a later version of this program (its schema is {found}, this program knows up to \
         {known}). It was left as it is; use that version, or name another file", path = .path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The schema of the file.
        found: i64,
        /// The latest schema that this program knows.
        known: i64,
    },
    /// The file system can not keep the file safely.
    #[error(
        "the file system of {path} does not allow a write-ahead log (the journal mode stays \"{mode}\"). Put the \
         file on a local disk", path = .path.display()
    )]
    NoWal {
        /// The file.
        path: PathBuf,
        /// The journal mode that SQLite chose.
        mode: String,
    },
    /// The file is damaged.
    #[error(
        "{path} is damaged: {detail}. Restore it from a copy; what can be read of it comes out of \
         `sqlite3 FILE .recover`", path = .path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        detail: String,
    },
    /// The thread of the store has ended: a fault of ours.
    #[error(
        "{place}: the thread of the store has ended unexpectedly. Start the program again. A run that was recorded \
         goes on with `deepgraph resume`: committed steps are kept. Please report this"
    )]
    Stopped {
        /// The file or server.
        place: String,
    },
    /// The thread of the store can not be started.
    #[error(
        "{place}: the thread of the store can not be started: {detail}. Raise the limit of threads of this user"
    )]
    NoThread {
        /// The file or server.
        place: String,
        /// What the system says.
        detail: String,
    },
    /// The server can not be reached, or the connection to it broke.
    #[error(
        "{place} can not be reached: {detail}. Nothing was written. See that the server runs and can be reached \
         from here. A run that was recorded goes on with `deepgraph resume`: committed steps are kept"
    )]
    Unreachable {
        /// The server, without its password.
        place: String,
        /// What went wrong.
        detail: String,
    },
    /// The server is there and lets this user not in.
    #[error("{place} refuses the connection: {detail}. Nothing was written. {remedy}")]
    Refused {
        /// The server, without its password.
        place: String,
        /// What it says.
        detail: String,
        /// What to do: a sentence without its full stop.
        remedy: &'static str,
    },
    /// The database of the server can not keep all texts.
    #[error(
        "{place}: the database keeps its texts as {encoding}, which does not have all characters. Nothing was written. \
         Name a database in UTF8, as by CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0"
    )]
    Encoding {
        /// The server, without its password.
        place: String,
        /// The encoding, as the server calls it.
        encoding: String,
    },
    /// The connection broke while the server committed, and it could not be reached again to look.
    #[error(
        "the connection to {place} broke while a change was being committed, and the server could not be reached \
         again: {detail}. The change may have been written or not; a resume of the run finds out"
    )]
    OutcomeUnknown {
        /// The server, without its password.
        place: String,
        /// What went wrong.
        detail: String,
    },
    /// Two transactions waited for each other, again and again.
    #[error("{place}: two processes kept waiting for each other. Nothing was written. Try again")]
    Deadlock {
        /// The server, without its password.
        place: String,
    },
    /// A text is no URL of a server.
    #[error(
        "the URL of the store can not be used: {detail}. It looks like postgres://USER:PASSWORD@HOST:PORT/DATABASE, or \
         postgres:///DATABASE?host=/run/postgresql for a socket"
    )]
    BadUrl {
        /// What is wrong with it. Holds no password.
        detail: String,
    },
    /// Anything else that a PostgreSQL server says.
    #[error("{place}: {detail}. Nothing was written")]
    Postgres {
        /// The server, without its password.
        place: String,
        /// What it says.
        detail: String,
    },
    /// The system did not read or write the file as it should.
    #[error(
        "{path}: disk I/O error: the system could not read or write it. Nothing was written. Look for a limit on the size of \
         files (`ulimit -f`), a folder that went away, or a failing disk. A run that was recorded goes on with \
         `deepgraph resume`: committed steps are kept", path = .path.display()
    )]
    DiskFault {
        /// The file.
        path: PathBuf,
    },
    /// Anything else that SQLite or the system says.
    #[error("{path}: {detail}. Nothing was written", path = .path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// What it says.
        detail: String,
    },
}

fn list(runs: &[RunId]) -> String {
    runs.iter().map(RunId::as_str).collect::<Vec<_>>().join(", ")
}

fn name_newest(runs: &[RunId]) -> String {
    if runs.is_empty() {
        "there are no runs yet".into()
    } else {
        format!("the newest runs are {}", list(runs))
    }
}
