//! Fetching: one page with its redirects, within bounds of time, size and politeness.

mod ask;
mod client;
mod failure;
mod packed;
mod turns;

use std::sync::Arc;
use std::time::Duration;

use deepgraph_protocol::{ErrorKind, StepError};
use http::{HeaderMap, header};
use jiff::Timestamp;
use url::Url;

use super::cache::{Cache, Kept, Stored};
use super::error::WebError;
use super::guard::{Guard, Lookup};
use super::page;
use super::robots::Robots;
use super::settings::WebSettings;
use client::Clients;
use turns::Turn;

pub use ask::{Answer, Asker, TimeLeft};
pub use client::USER_AGENT;
pub use failure::failure;

/// Redirects that are followed.
const MOST_REDIRECTS: usize = 10;

/// A page as it came.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// Where it was at last.
    pub url: Url,
    /// Its body.
    pub body: Arc<Vec<u8>>,
    /// Its `Content-Type`.
    pub content_type: Option<String>,
    /// When, RFC 3339 in UTC.
    pub fetched: String,
    /// Whether it was cut at the largest size.
    pub cut: bool,
}

/// Fetches pages.
pub struct Fetcher {
    asker: Asker,
    robots: Option<Robots>,
    cache: Arc<Cache>,
    gap: Duration,
    most_bytes: usize,
    timeout: Duration,
}

impl Fetcher {
    /// By settings; names are looked up by `lookup`.
    pub fn new(settings: &WebSettings, lookup: &Arc<dyn Lookup>) -> Result<Fetcher, WebError> {
        let guard = Guard::new(&settings.allow)?;
        let clients = Clients::new(&guard, lookup, settings.proxy)?;
        Ok(Fetcher {
            asker: Asker::new(clients, guard),
            robots: settings.robots.then(Robots::default),
            cache: Arc::new(Cache::open(settings.cache.as_deref(), settings.cache_bytes)?),
            gap: Duration::from_millis(settings.gap),
            most_bytes: settings.most_bytes,
            timeout: Duration::from_secs(settings.timeout.max(1)),
        })
    }

    /// Fetches a page: from the cache where that may be, else from the site.
    ///
    /// # Errors
    ///
    /// `refused` for an address that may not be asked, at the start or after a redirect, and where `robots.txt` says
    /// no; by status; `network` where the connection fails, breaks off or takes too long; `invalid_request` for an
    /// answer that can not be used: packed in an unknown way, or of a kind that is not read.
    pub async fn fetch(&self, url: &Url) -> Result<Fetched, StepError> {
        let mut time = TimeLeft::new(self.timeout);
        let mut url = url.clone();
        let mut seen: Vec<Url> = Vec::new();
        loop {
            url.set_fragment(None);
            match self.step(&url, &mut time).await? {
                Step::Page(stored) => return Ok(fetched(url, stored)),
                Step::Redirect(next) => {
                    seen.push(url.clone());
                    if seen.contains(&next) {
                        return Err(failure(ErrorKind::InvalidRequest, &url, "redirects in a circle"));
                    }
                    if seen.len() > MOST_REDIRECTS {
                        let what = format!("redirects more than {MOST_REDIRECTS} times");
                        return Err(failure(ErrorKind::InvalidRequest, &url, &what));
                    }
                    self.asker.check(&next).map_err(|error| redirected(&url, error))?;
                    url = next;
                }
            }
        }
    }

    /// Asks for one URL, when it is our turn.
    async fn step(&self, url: &Url, time: &mut TimeLeft) -> Result<Step, StepError> {
        self.asker.check(url)?;
        if let Kept::Fresh(stored) = self.look(url).await {
            return Ok(Step::Page(stored));
        }
        let host =
            format!("{}:{}", url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or(0));
        let mut turn = Turn::at(&host).await;
        // Somebody before us may have fetched it.
        let kept = self.look(url).await;
        let mut headers = ask::headers();
        match &kept {
            Kept::Fresh(stored) => return Ok(Step::Page(stored.clone())),
            Kept::Stale(old) => headers.extend(old.conditions()),
            Kept::Nothing => {}
        }
        let delay = match &self.robots {
            Some(robots) => {
                if !robots.knows(url) {
                    turn.rest(self.gap).await;
                    turn.used();
                }
                robots.allow(&self.asker, url, time).await?
            }
            None => None,
        };
        turn.rest(self.gap.max(delay.unwrap_or_default())).await;
        let wanted = |headers: &HeaderMap| page::wanted(url, content_type(headers).as_deref());
        let answer = self.asker.ask(url, headers, self.most_bytes, time, &wanted).await?;
        drop(turn);
        self.take(url, answer, kept).await
    }

    async fn take(&self, url: &Url, answer: Answer, kept: Kept) -> Result<Step, StepError> {
        if let (304, Kept::Stale(old)) = (answer.status.as_u16(), kept) {
            let (cache, url) = (Arc::clone(&self.cache), url.clone());
            return aside(move || Step::Page(cache.renew(&url, old, &answer.headers))).await;
        }
        if let Some(location) =
            answer.headers.get(header::LOCATION).filter(|_| answer.status.is_redirection())
        {
            return url.join(&String::from_utf8_lossy(location.as_bytes())).map(Step::Redirect).map_err(
                |error| {
                    failure(ErrorKind::InvalidRequest, url, &format!("redirects to what is no URL ({error})"))
                },
            );
        }
        if !answer.status.is_success() {
            return Err(page::obstacle_of_error(url, &answer)
                .unwrap_or_else(|| failure::of_status(url, answer.status, &answer.headers)));
        }
        let is_whole = !answer.body.cut;
        let stored = Stored {
            body: Arc::new(answer.body.bytes),
            content_type: content_type(&answer.headers),
            fetched: now(),
            cut: answer.body.cut,
        };
        let (cache, url) = (Arc::clone(&self.cache), url.clone());
        aside(move || {
            // What was cut is not kept: another bound may hold next time.
            if is_whole {
                cache.keep(&url, &ask::headers(), answer.status, &answer.headers, &stored);
            }
            Step::Page(stored)
        })
        .await
    }

    async fn look(&self, url: &Url) -> Kept {
        let (cache, url) = (Arc::clone(&self.cache), url.clone());
        let kept = aside(move || cache.look(&url, &ask::headers())).await.unwrap_or(Kept::Nothing);
        // Kept under another bound, it may be longer than what is read now.
        let fits = |stored: &Stored| !stored.cut && stored.body.len() <= self.most_bytes;
        match kept {
            Kept::Fresh(stored) if !fits(&stored) => Kept::Nothing,
            Kept::Stale(stale) if !fits(stale.stored()) => Kept::Nothing,
            kept => kept,
        }
    }
}

/// What one request leads to.
enum Step {
    Page(Stored),
    Redirect(Url),
}

/// Does work that blocks on a thread for it.
pub async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, StepError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| StepError::new(ErrorKind::Tool, format!("reading a page failed: {error}")))
}

fn fetched(url: Url, stored: Stored) -> Fetched {
    let Stored { body, content_type, fetched, cut } = stored;
    Fetched { url, body, content_type, fetched, cut }
}

fn redirected(from: &Url, error: StepError) -> StepError {
    let from = super::canonical::address(from);
    StepError { message: format!("{from} redirects: {}", error.message), ..error }
}

fn content_type(headers: &HeaderMap) -> Option<String> {
    headers.get(header::CONTENT_TYPE).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

fn now() -> String {
    let now = Timestamp::now();
    Timestamp::from_second(now.as_second()).unwrap_or(now).to_string()
}
