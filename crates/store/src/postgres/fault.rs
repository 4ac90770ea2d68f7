//! What PostgreSQL reports, as errors that say what to do.

use std::error::Error as _;

use postgres::Error;
use postgres::error::SqlState;

use crate::StoreError;

/// The error for a failure of the server of this name.
pub(super) fn fault(place: &str, error: &Error) -> StoreError {
    let place = place.to_owned();
    let detail = words(error);
    if is_lost(error) {
        return StoreError::Unreachable { place, detail };
    }
    match error.code() {
        Some(&SqlState::DISK_FULL) => StoreError::DiskFull { path: place.into() },
        Some(&SqlState::LOCK_NOT_AVAILABLE) => StoreError::Locked { path: place.into() },
        Some(&SqlState::T_R_DEADLOCK_DETECTED | &SqlState::T_R_SERIALIZATION_FAILURE) => {
            StoreError::Deadlock { place }
        }
        Some(_) => StoreError::Postgres { place, detail },
        // Not even connected.
        None if error.source().is_some() => StoreError::Unreachable { place, detail },
        None => StoreError::Postgres { place, detail },
    }
}

/// Whether the connection is gone, so that what was under way is not known to have failed.
pub(super) fn is_lost(error: &Error) -> bool {
    let of_connection = |code: &SqlState| {
        code.code().starts_with("08")
            || [
                &SqlState::ADMIN_SHUTDOWN,
                &SqlState::CRASH_SHUTDOWN,
                &SqlState::CANNOT_CONNECT_NOW,
                &SqlState::TOO_MANY_CONNECTIONS,
                &SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
            ]
            .contains(&code)
    };
    let is_io = |error: &Error| error.source().is_some_and(|source| source.is::<std::io::Error>());
    error.is_closed() || is_io(error) || error.code().is_some_and(of_connection)
}

/// What went wrong, in words.
pub(super) fn words(error: &Error) -> String {
    if let Some(told) = error.as_db_error() {
        let detail = told.detail().map(|detail| format!(" ({detail})")).unwrap_or_default();
        return format!("{}{detail}", told.message());
    }
    match error.source() {
        Some(source) if !error.to_string().contains(&source.to_string()) => format!("{error}: {source}"),
        _ => error.to_string(),
    }
}
