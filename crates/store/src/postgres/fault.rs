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

/// The error for a connection that could not be made.
pub(super) fn not_connected(place: &str, error: &Error) -> StoreError {
    let (place, detail) = (place.to_owned(), words(error));
    match refusal(error) {
        Some(remedy) => StoreError::Refused { place, detail, remedy },
        None => StoreError::Unreachable { place, detail },
    }
}

/// What to do where the server is there and lets this user not in.
fn refusal(error: &Error) -> Option<&'static str> {
    let Some(code) = error.code() else {
        let is_of_tls = error.to_string().contains("TLS");
        return is_of_tls.then_some(
            "Connections are not encrypted: leave sslmode out of the URL, and use a socket, a network of your own or a tunnel",
        );
    };
    let of_login = [&SqlState::INVALID_PASSWORD, &SqlState::INVALID_AUTHORIZATION_SPECIFICATION];
    let told = error.as_db_error().map_or("", |told| told.message());
    match code {
        code if of_login.contains(&code) && told.contains("no encryption") => Some(
            "The server insists on TLS, and connections are not encrypted here: let it take others from this machine, or use \
             a socket or a tunnel",
        ),
        &SqlState::INVALID_PASSWORD => {
            Some("Correct the password in the URL (DEEPGRAPH_STORE is the place for it)")
        }
        &SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
            Some("Correct the user in the URL, or let the server's administrator create and admit it")
        }
        &SqlState::INVALID_CATALOG_NAME => {
            Some("Correct the database in the URL, or create it: createdb NAME")
        }
        _ => None,
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
        return format!("{}{detail}", told.message().trim_end_matches('.'));
    }
    match error.source() {
        Some(source) if !error.to_string().contains(&source.to_string()) => format!("{error}: {source}"),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PostgresStore;
    use crate::conformance::server::Postgres;

    fn refused(url: &str) -> StoreError {
        PostgresStore::connect(url).unwrap_err()
    }

    #[test]
    fn a_server_that_lets_nobody_in_is_told_from_one_that_is_not_there() {
        let server = Postgres::start();
        let file = server.sql("SHOW hba_file");
        let rules = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, format!("local all locked scram-sha-256\n{rules}")).unwrap();
        server.sql("CREATE ROLE locked LOGIN PASSWORD 'right'");
        server.sql("SELECT pg_reload_conf()");
        let url = server.database();
        let as_user = |user: &str| url.replace("user=deepgraph", &format!("user={user}"));
        for (url, detail, to_do) in [
            (as_user("locked&password=s3cret"), "password authentication failed", "Correct the password"),
            (as_user("nobody_of_ours"), "does not exist", "Correct the user"),
            (server.url("no_such_database"), "does not exist", "createdb"),
            (format!("{url}&sslmode=require"), "TLS", "sslmode"),
        ] {
            let error = refused(&url);
            assert!(matches!(error, StoreError::Refused { .. }), "{url}: {error:?}");
            let told = error.to_string();
            assert!(told.contains(detail) && told.contains(to_do) && !told.contains("s3cret"), "{told}");
            assert!(!told.contains("can not be reached") && !told.contains("resume"), "{told}");
        }
        server.stop();
        assert!(matches!(refused(&url), StoreError::Unreachable { .. }));
    }

    #[test]
    fn a_database_that_can_not_keep_all_texts_is_refused_at_once() {
        let server = Postgres::shared();
        server.sql("CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
        let error = refused(&server.url("latin"));
        assert!(matches!(&error, StoreError::Encoding { encoding, .. } if encoding == "LATIN1"), "{error}");
        let schemas = "SELECT count(*) FROM pg_namespace WHERE nspname = 'deepgraph'";
        assert_eq!(server.sql_in(&server.url("latin"), schemas), "0", "nothing was made");
    }
}
