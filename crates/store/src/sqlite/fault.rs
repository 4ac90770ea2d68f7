//! What SQLite reports, as errors that say what to do.

use std::path::Path;

use rusqlite::{Error, ErrorCode};

use crate::StoreError;

/// The error for a failure of SQLite on this file.
pub(super) fn fault(path: &Path, error: Error) -> StoreError {
    let path = path.to_path_buf();
    let detail = match &error {
        Error::SqliteFailure(_, Some(message)) => message.clone(),
        other => other.to_string(),
    };
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Locked { path },
        Some(ErrorCode::DiskFull) => StoreError::DiskFull { path },
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => StoreError::ReadOnly { path },
        Some(ErrorCode::CannotOpen) => StoreError::CannotOpen { path, detail },
        Some(ErrorCode::NotADatabase) => {
            StoreError::NotAStore { path, detail: "it is no SQLite database".into() }
        }
        // Less was read than the file says that there is.
        Some(ErrorCode::SystemIoFailure) if is_short(&error) => {
            StoreError::Damaged { path, detail: "it ends too early".into() }
        }
        Some(ErrorCode::SystemIoFailure) => StoreError::DiskFault { path },
        Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged { path, detail },
        _ => StoreError::Sqlite { path, detail },
    }
}

fn is_short(error: &Error) -> bool {
    error.sqlite_error().is_some_and(|error| error.extended_code == rusqlite::ffi::SQLITE_IOERR_SHORT_READ)
}
