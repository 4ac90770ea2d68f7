//! A store of its own for one run, that another process can open too.

use std::path::PathBuf;
use std::sync::Arc;

use deepgraph_store::{PostgresStore, SqliteStore, Store};
use tempfile::TempDir;

use crate::support::postgres::Postgres;

/// The store; gone when this is dropped.
pub enum Place {
    Sqlite(TempDir),
    /// The file of somebody else's folder.
    Home(PathBuf),
    /// The address of a database of its own.
    Postgres(String),
}

impl Place {
    pub fn sqlite() -> Place {
        Place::Sqlite(tempfile::tempdir().expect("there is room for a folder"))
    }

    pub fn postgres() -> Place {
        Place::Postgres(Postgres::shared().database())
    }

    /// What [`Place::open_named`] opens.
    pub fn name(&self) -> String {
        match self {
            Place::Sqlite(folder) => folder.path().join("runs.sqlite").to_string_lossy().into_owned(),
            Place::Home(file) => file.to_string_lossy().into_owned(),
            Place::Postgres(url) => url.clone(),
        }
    }

    pub fn open(&self) -> Arc<dyn Store> {
        Place::open_named(&self.name())
    }

    pub fn open_named(name: &str) -> Arc<dyn Store> {
        if name.starts_with("postgres") {
            Arc::new(PostgresStore::connect(name).expect("the server answers"))
        } else {
            Arc::new(SqliteStore::open(name).expect("the file can be opened"))
        }
    }
}
