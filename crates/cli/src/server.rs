//! A server that keeps runs.

use std::sync::Arc;

use deepgraph_store::Store;

use crate::error::CliError;

/// Connects to the PostgreSQL server of a URL.
///
/// # Errors
///
/// It can not be reached, or holds something else.
#[cfg(feature = "postgres")]
pub fn connect(url: &str) -> Result<Arc<dyn Store>, CliError> {
    Ok(Arc::new(deepgraph_store::PostgresStore::connect(url)?))
}

/// Says that this program can not.
///
/// # Errors
///
/// Always.
#[cfg(not(feature = "postgres"))]
pub fn connect(_: &str) -> Result<Arc<dyn Store>, CliError> {
    Err(CliError::NoPostgres)
}
