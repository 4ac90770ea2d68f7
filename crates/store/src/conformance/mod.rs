//! What every store must do, tried on each of them.

mod journals;
mod records;
mod removal;
#[cfg(feature = "postgres")]
#[path = "../../../../tests/support/postgres.rs"]
pub(crate) mod server;
mod values;

use deepgraph_protocol::{Entry, EntryBody, ScopePath, StepId, StepOutput, Value};
use serde_json::json;

use crate::{Append, MemoryStore, RunId, RunRecord, SqliteStore, Store};

/// A store and what keeps its place alive.
struct Kept<S> {
    store: S,
    _folder: Option<tempfile::TempDir>,
}

fn memory() -> Kept<MemoryStore> {
    Kept { store: MemoryStore::new(), _folder: None }
}

fn sqlite() -> Kept<SqliteStore> {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("runs.db")).unwrap();
    Kept { store, _folder: Some(folder) }
}

#[cfg(feature = "postgres")]
fn postgres() -> Kept<crate::PostgresStore> {
    use std::sync::atomic::{AtomicU32, Ordering};
    // A schema each: a database each would take longer.
    static DATABASE: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let url = DATABASE.get_or_init(|| server::Postgres::shared().database());
    let schema = format!("conformance {}", NEXT.fetch_add(1, Ordering::Relaxed));
    let options = crate::PostgresOptions::default().schema(schema);
    Kept { store: crate::PostgresStore::connect_with(url, &options).unwrap(), _folder: None }
}

/// Makes each function a test of every store.
macro_rules! on_every_store {
    ($($name:ident)*) => {
        mod in_memory { $(#[test] fn $name() { super::$name(&crate::conformance::memory().store); })* }
        mod in_sqlite { $(#[test] fn $name() { super::$name(&crate::conformance::sqlite().store); })* }
        #[cfg(feature = "postgres")]
        mod in_postgres { $(#[test] fn $name() { super::$name(&crate::conformance::postgres().store); })* }
    };
}
use on_every_store;

pub(crate) fn record(id: u128, created_at: i64) -> RunRecord {
    let id = RunId::parse(&format!("{id:032x}")).unwrap();
    RunRecord::queued(
        id,
        "Which ferry?",
        "deep_research",
        created_at,
        json!({"graph": "g"}),
        json!({"docs": ["d"]}),
    )
}

pub(crate) fn entry(at: i64, output: Value) -> Entry {
    let step = StepId::new("research.1");
    Entry {
        at,
        body: EntryBody::Completed {
            step,
            attempt: 1,
            output: StepOutput::Op(output),
            fee: deepgraph_protocol::Fee::NONE,
        },
    }
}

pub(crate) fn append(scope: &str, expected_position: u64, entry: Entry) -> Append {
    Append { scope: ScopePath::new(scope), expected_position, entry }
}

/// A new run with its first owner.
pub(crate) fn claimed(store: &dyn Store, id: u128) -> (RunId, u64) {
    let record = record(id, 1000);
    store.create_run(&record).unwrap();
    let epoch = store.claim(&record.run_id).unwrap();
    (record.run_id, epoch)
}
