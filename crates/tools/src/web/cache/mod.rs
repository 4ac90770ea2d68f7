//! Pages that were fetched, with what HTTP says about how long they hold (RFC 9111) and how to ask whether they still
//! do. In memory, or in a file that stays for later runs.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::{HeaderMap, Request, Response, StatusCode};
use http_cache_semantics::{AfterResponse, BeforeRequest, CacheOptions, CachePolicy};
use rusqlite::{Connection, OptionalExtension, params};
use url::Url;

use super::error::WebError;

/// Name of the file in its folder.
const FILE: &str = "pages.sqlite";
/// How long another process is waited for.
const PATIENCE: Duration = Duration::from_secs(2);
/// Version of the tables. Those of another are made anew.
const VERSION: i64 = 1;
const TABLES: &str = "
    DROP TABLE IF EXISTS page;
    CREATE TABLE page (
        url TEXT PRIMARY KEY,
        policy TEXT NOT NULL,
        content_type TEXT,
        fetched TEXT NOT NULL,
        cut INTEGER NOT NULL,
        size INTEGER NOT NULL,
        used INTEGER NOT NULL,
        body BLOB NOT NULL
    );
    CREATE INDEX page_used ON page (used);
    PRAGMA user_version = 1;";

/// A page that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Its body, unpacked.
    pub body: Arc<Vec<u8>>,
    /// Its `Content-Type`.
    pub content_type: Option<String>,
    /// When its body was fetched, RFC 3339.
    pub fetched: String,
    /// Whether it was cut at the largest size.
    pub cut: bool,
}

/// What the cache has of a page.
pub enum Kept {
    /// Nothing that could be used.
    Nothing,
    /// A page that may be used without asking.
    Fresh(Stored),
    /// A page that the site is to be asked about.
    Stale(Box<Stale>),
}

/// A page that the site is to be asked about.
pub struct Stale {
    stored: Stored,
    policy: CachePolicy,
    request: Request<()>,
    conditions: HeaderMap,
}

impl Stale {
    /// The page as it was.
    pub fn stored(&self) -> &Stored {
        &self.stored
    }

    /// The headers that ask whether it still holds.
    pub fn conditions(&self) -> HeaderMap {
        self.conditions.clone()
    }
}

/// The cache. What goes wrong with its file is passed over: then a page is fetched again.
pub struct Cache {
    connection: Mutex<Connection>,
    most: u64,
}

impl Cache {
    /// Opens it in a folder, which is made where it is not there, or in memory. `most`: bytes of bodies, about.
    ///
    /// # Errors
    ///
    /// The folder or the file in it can not be used.
    pub fn open(folder: Option<&Path>, most: u64) -> Result<Cache, WebError> {
        let connection = match folder {
            None => Connection::open_in_memory().and_then(prepared),
            Some(folder) => {
                let unusable = |problem: String| WebError::Cache { folder: folder.to_owned(), problem };
                std::fs::create_dir_all(folder).map_err(|error| unusable(error.to_string()))?;
                return Connection::open(folder.join(FILE))
                    .and_then(prepared)
                    .map(|connection| Cache { connection: Mutex::new(connection), most })
                    .map_err(|error| unusable(error.to_string()));
            }
        };
        let unusable =
            |error: rusqlite::Error| WebError::Cache { folder: "memory".into(), problem: error.to_string() };
        connection.map(|connection| Cache { connection: Mutex::new(connection), most }).map_err(unusable)
    }

    /// What is there for a request.
    pub fn look(&self, url: &Url, headers: &HeaderMap) -> Kept {
        self.look_at(url, headers, SystemTime::now()).unwrap_or(Kept::Nothing)
    }

    /// Keeps a page, where its site does not forbid it.
    pub fn keep(
        &self,
        url: &Url,
        asked: &HeaderMap,
        status: StatusCode,
        answered: &HeaderMap,
        page: &Stored,
    ) {
        let (Some(request), Some(response)) = (request(url, asked), response(status, answered)) else {
            return;
        };
        let options = CacheOptions { shared: false, ..CacheOptions::default() };
        let policy = CachePolicy::new_options(&request, &response, SystemTime::now(), options);
        if status == StatusCode::OK && policy.is_storable() && page.body.len() as u64 <= self.most / 2 {
            // A cache that can not be written is as good as none.
            let _ = self.write(url, &policy, page);
        } else {
            let _ = self.forget(url);
        }
    }

    /// The page, after its site said that it still holds.
    pub fn renew(&self, url: &Url, old: Box<Stale>, answered: &HeaderMap) -> Stored {
        if let Some(response) = response(StatusCode::NOT_MODIFIED, answered) {
            let renewed = old.policy.after_response(&old.request, &response, SystemTime::now());
            // Where the answer leaves its validators out the old rules stay.
            if let AfterResponse::NotModified(policy, _) = renewed {
                let _ = self.write_policy(url, &policy);
            }
        }
        old.stored
    }

    fn look_at(&self, url: &Url, headers: &HeaderMap, now: SystemTime) -> Option<Kept> {
        let request = request(url, headers)?;
        let (policy, stored) = self.read(url).ok()??;
        Some(match policy.before_request(&request, now) {
            BeforeRequest::Fresh(_) => Kept::Fresh(stored),
            BeforeRequest::Stale { matches: false, .. } => Kept::Nothing,
            BeforeRequest::Stale { request: conditional, matches: true } => {
                let conditions: HeaderMap = conditional
                    .headers
                    .iter()
                    .filter(|(name, _)| matches!(name.as_str(), "if-none-match" | "if-modified-since"))
                    .map(|(name, value)| (name.clone(), value.clone()))
                    .collect();
                if conditions.is_empty() {
                    return Some(Kept::Nothing);
                }
                Kept::Stale(Box::new(Stale { stored, policy, request, conditions }))
            }
        })
    }

    fn read(&self, url: &Url) -> rusqlite::Result<Option<(CachePolicy, Stored)>> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let sql =
            "UPDATE page SET used = ?2 WHERE url = ?1 RETURNING policy, content_type, fetched, cut, body";
        let row = |row: &rusqlite::Row<'_>| {
            let policy: String = row.get(0)?;
            let body: Vec<u8> = row.get(4)?;
            let stored = Stored {
                body: Arc::new(body),
                content_type: row.get(1)?,
                fetched: row.get(2)?,
                cut: row.get(3)?,
            };
            Ok((policy, stored))
        };
        let found =
            connection.prepare_cached(sql)?.query_row(params![url.as_str(), used()], row).optional()?;
        Ok(found.and_then(|(policy, stored)| Some((serde_json::from_str(&policy).ok()?, stored))))
    }

    fn write(&self, url: &Url, policy: &CachePolicy, page: &Stored) -> rusqlite::Result<()> {
        let Ok(policy) = serde_json::to_string(policy) else { return Ok(()) };
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let sql = "INSERT OR REPLACE INTO page (url, policy, content_type, fetched, cut, size, used, body)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        let size = page.body.len();
        let body = page.body.as_slice();
        connection.prepare_cached(sql)?.execute(params![
            url.as_str(),
            policy,
            page.content_type,
            page.fetched,
            page.cut,
            size,
            used(),
            body
        ])?;
        shrink(&connection, self.most)
    }

    fn write_policy(&self, url: &Url, policy: &CachePolicy) -> rusqlite::Result<()> {
        let Ok(policy) = serde_json::to_string(policy) else { return Ok(()) };
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        connection.execute("UPDATE page SET policy = ?2 WHERE url = ?1", params![url.as_str(), policy])?;
        Ok(())
    }

    fn forget(&self, url: &Url) -> rusqlite::Result<()> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        connection.execute("DELETE FROM page WHERE url = ?1", [url.as_str()])?;
        Ok(())
    }
}

fn prepared(connection: Connection) -> rusqlite::Result<Connection> {
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if version != VERSION {
        connection.execute_batch(TABLES)?;
    }
    Ok(connection)
}

/// Drops the pages that were not used for longest, until the others fit.
fn shrink(connection: &Connection, most: u64) -> rusqlite::Result<()> {
    loop {
        let size: u64 = connection
            .prepare_cached("SELECT coalesce(sum(size), 0) FROM page")?
            .query_row([], |row| row.get(0))?;
        if size <= most {
            return Ok(());
        }
        let sql = "DELETE FROM page WHERE url = (SELECT url FROM page ORDER BY used, url LIMIT 1)";
        if connection.prepare_cached(sql)?.execute([])? == 0 {
            return Ok(());
        }
    }
}

/// The time of use, in microseconds.
fn used() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_micros()).unwrap_or(i64::MAX)
}

fn request(url: &Url, headers: &HeaderMap) -> Option<Request<()>> {
    let mut request = Request::get(url.as_str()).body(()).ok()?;
    *request.headers_mut() = headers.clone();
    Some(request)
}

fn response(status: StatusCode, headers: &HeaderMap) -> Option<Response<()>> {
    let mut response = Response::builder().status(status).body(()).ok()?;
    *response.headers_mut() = headers.clone();
    // Cookies are not ours to keep.
    response.headers_mut().remove(http::header::SET_COOKIE);
    Some(response)
}

#[cfg(test)]
mod tests;
