//! Where a server is, and how that is named without its password.

use std::time::Duration;

use postgres::Config;
use postgres::config::Host;

use super::PostgresOptions;
use crate::StoreError;

/// A server.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) config: Config,
    /// Its name in errors: a URL without the password.
    pub(super) name: String,
}

/// Reads the URL of a server.
pub(super) fn read(url: &str, options: &PostgresOptions) -> Result<Place, StoreError> {
    // The reader's own message names the option that is wrong, never its value.
    let wrong = |detail: String| StoreError::BadUrl { detail };
    match url.split_once("://") {
        Some(("postgres" | "postgresql", _)) => {}
        Some((scheme, _)) if scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b)) => {
            return Err(wrong(format!("{scheme}:// is none of PostgreSQL")));
        }
        None if !url.contains('=') => return Err(wrong("it has no postgres://".into())),
        _ => {}
    }
    let mut config: Config = url.parse().map_err(|e: postgres::Error| wrong(super::fault::words(&e)))?;
    if config.get_hosts().is_empty() {
        return Err(wrong("it names no host".into()));
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(options.wait.max(Duration::from_secs(1)));
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(Duration::from_secs(30));
    }
    if config.get_application_name().is_none() {
        config.application_name("deepgraph");
    }
    let name = name(&config);
    Ok(Place { config, name })
}

fn name(config: &Config) -> String {
    let ports = config.get_ports();
    let hosts = config.get_hosts().iter().enumerate().map(|(n, host)| {
        let port = ports.get(n).or(ports.first()).copied().unwrap_or(5432);
        match host {
            Host::Tcp(name) => format!("{name}:{port}"),
            #[cfg(unix)]
            Host::Unix(folder) => format!("{}:{port}", folder.display()),
        }
    });
    let user = config.get_user().map(|user| format!("{user}@")).unwrap_or_default();
    let database = config.get_dbname().or(config.get_user()).unwrap_or_default();
    format!("postgres://{user}{}/{database}", hosts.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(url: &str) -> String {
        read(url, &PostgresOptions::default()).unwrap().name
    }

    #[test]
    fn names_have_no_password() {
        assert_eq!(named("postgres://ann:s3cret@db.example/runs"), "postgres://ann@db.example:5432/runs");
        assert_eq!(named("postgresql://ann@[::1]:7000,b:7001/x"), "postgres://ann@::1:7000,b:7001/x");
        assert_eq!(
            named("postgres:///runs?host=/run/pg&user=ann&password=s3cret"),
            "postgres://ann@/run/pg:5432/runs"
        );
        let shown =
            format!("{:?}", read("postgres://ann:s3cret@db/runs", &PostgresOptions::default()).unwrap());
        assert!(!shown.contains("s3cret"), "{shown}");
    }

    #[test]
    fn what_is_no_url_is_told() {
        for url in [
            "postgres://ann:s3cret@db:port/x",
            "postgres://ann:s3cret@db/x?colour=red",
            "postgres:///x",
            "postgres://",
            "mysql://ann:s3cret@db/x",
            "runs",
        ] {
            let error = read(url, &PostgresOptions::default()).unwrap_err().to_string();
            assert!(error.contains("postgres://USER") && !error.contains("s3cret"), "{error}");
        }
    }
}
