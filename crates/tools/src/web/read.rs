//! The web, and reading a page of it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use deepgraph_protocol::{ErrorKind, Source, StepError};
use sha2::{Digest, Sha256};
use url::Url;

use crate::index::Row;
use crate::read::{best, in_order};
use crate::search::Query;

use super::canonical::{canonical, canonical_of, ways};
use super::error::WebError;
use super::fetch::{Fetched, Fetcher, aside};
use super::guard::{Lookup, SystemLookup};
use super::page::{self, Link, Page};
use super::search::{Search, SearchAnswer, SearchQuery, SearchSettings};
use super::settings::WebSettings;

/// Pages whose text is kept, so that reading on does not cut them into passages again.
const MOST_PAGES: usize = 16;
/// Addresses that are remembered by canonical URL.
const MOST_ADDRESSES: usize = 10_000;
/// Pages in a row that lead on by themselves.
const MOST_REFRESHES: usize = 2;

/// A page, or as much of it as was asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WebPage {
    /// Its canonical URL: the document of its passages.
    pub url: String,
    /// The address where it was read, behind all redirects.
    pub address: String,
    /// Its title.
    pub title: String,
    /// Who wrote it, as it says.
    pub author: Option<String>,
    /// When it was published, or changed last where it says only that, `YYYY-MM-DD`.
    pub date: Option<String>,
    /// When it was changed last, as it says, `YYYY-MM-DD`.
    pub modified: Option<String>,
    /// When its body was fetched, RFC 3339 in UTC.
    pub fetched: String,
    /// SHA-256 of its body, unpacked, in lower-case hexadecimal.
    pub hash: String,
    /// What it is: `HTML`, `PDF`, `text`, `Markdown`, `JSON`, `JSON Lines`, `CSV`.
    pub media: &'static str,
    /// The passages, in the order of the page. Their spans are bytes of its body; of its text in UTF-8 where the body
    /// is encoded otherwise; of the text of a page of paper in a PDF.
    pub passages: Vec<Source>,
    /// How many passages the page has.
    pub total_passages: usize,
    /// Where to read on: the number of the next passage, from 1. None at the end, and for a query.
    pub next: Option<usize>,
    /// Where the content of the page leads.
    pub links: Vec<Link>,
    /// What a reader should know of how it was read, such as "cut after 10485760 bytes".
    pub notes: Vec<String>,
}

/// Search engines and pages of the web. It can be shared between tasks; work that blocks is done on threads for it.
pub struct Web {
    search: Search,
    fetcher: Fetcher,
    /// Pages by the address of their body and its hash, the last used last.
    pages: Mutex<Vec<(String, Arc<Page>)>>,
    /// Where pages were read, by the canonical URL that was asked and by that of where they were.
    addresses: Mutex<BTreeMap<String, String>>,
}

impl Web {
    /// By settings. `key` gives the value of an environment variable that holds a key of a search engine.
    ///
    /// # Errors
    ///
    /// For settings that can not be used.
    pub fn new(
        web: &WebSettings,
        search: &SearchSettings,
        key: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Web, WebError> {
        Web::with_lookup(web, Search::new(search, key)?, &(Arc::new(SystemLookup) as Arc<dyn Lookup>))
    }

    pub(super) fn with_lookup(
        web: &WebSettings,
        search: Search,
        lookup: &Arc<dyn Lookup>,
    ) -> Result<Web, WebError> {
        Ok(Web {
            search,
            fetcher: Fetcher::new(web, lookup)?,
            pages: Mutex::default(),
            addresses: Mutex::default(),
        })
    }

    /// The search engines, and what they cost.
    pub fn engines(&self) -> &Search {
        &self.search
    }

    /// Asks the search engines.
    ///
    /// # Errors
    ///
    /// As [`Search::search`] tells.
    pub async fn search(&self, query: &SearchQuery) -> Result<SearchAnswer, StepError> {
        self.search.search(query).await
    }

    /// Reads a page: as many passages as hold `most_bytes` of text, at least one.
    ///
    /// `url` is an address, a canonical URL, a DOI or an arXiv id. With a query, the passages that answer it best, in the
    /// order of the page; without, from passage `from` on, which counts from 1 (0 is the beginning).
    ///
    /// # Errors
    ///
    /// `invalid_input` for what is no address; `refused` for one that may not be asked (see `docs/web.md`), that
    /// `robots.txt` closes, or that shows a check for robots; `unauthorized` behind a login; `not_found` where there is
    /// no page, no text or no such passage; `rate_limited`, `unavailable` and `network` where trying later may help;
    /// `invalid_request` for what can not be read.
    pub async fn read(
        &self,
        url: &str,
        query: Option<&str>,
        from: usize,
        most_bytes: usize,
    ) -> Result<WebPage, StepError> {
        let page = self.page(url).await?;
        let asked =
            asked(url).ok().and_then(|asked| canonical_of(&asked)).filter(|asked| *asked != page.document);
        let query = query.map(str::to_owned);
        let mut read = aside(move || chosen(&page, query.as_deref(), from, most_bytes)).await??;
        for passage in &mut read.passages {
            passage.asked.clone_from(&asked);
        }
        Ok(read)
    }

    /// The whole page, at the first address of those that it may have which can be reached.
    async fn page(&self, text: &str) -> Result<Arc<Page>, StepError> {
        let asked = asked(text)?;
        let known = canonical_of(&asked).unwrap_or_default();
        let mut addresses = vec![asked.to_string()];
        // A canonical URL is a name; where it does not answer, another way to write it may.
        if asked.as_str() == known || known.trim_end_matches('/') == asked.as_str().trim_end_matches('/') {
            addresses = ways(&known);
            addresses.splice(0..0, self.address_of(&known));
        }
        let mut failed = None;
        for address in addresses {
            let Ok(url) = Url::parse(&address) else { continue };
            match self.page_at(&url).await {
                Ok(page) => {
                    self.remember(known, &page);
                    return Ok(page);
                }
                Err(error) if error.kind == ErrorKind::Network && error.unsent => {
                    failed.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        Err(failed.unwrap_or_else(|| no_address(text)))
    }

    async fn page_at(&self, url: &Url) -> Result<Arc<Page>, StepError> {
        let mut url = url.clone();
        for _ in 0..=MOST_REFRESHES {
            let fetched = self.fetcher.fetch(&url).await?;
            let page = self.text_of(fetched).await?;
            match &page.refresh {
                Some(next) => url = next.clone(),
                None => return Ok(page),
            }
        }
        Err(super::fetch::failure(ErrorKind::InvalidRequest, &url, "leads on by itself again and again"))
    }

    /// The text of a body: from memory, or read now.
    async fn text_of(&self, fetched: Fetched) -> Result<Arc<Page>, StepError> {
        let body = Arc::clone(&fetched.body);
        let hash = aside(move || Sha256::digest(body.as_slice())).await?;
        let name = format!("{hash:x?} {} {:?} {}", fetched.url, fetched.content_type, fetched.fetched);
        if let Some(page) = self.known(&name) {
            return Ok(page);
        }
        let page = Arc::new(aside(move || page::read(&fetched)).await??);
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        pages.push((name, Arc::clone(&page)));
        if pages.len() > MOST_PAGES {
            pages.remove(0);
        }
        Ok(page)
    }

    fn known(&self, name: &str) -> Option<Arc<Page>> {
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        let at = pages.iter().position(|(known, _)| known == name)?;
        let known = pages.remove(at);
        let page = Arc::clone(&known.1);
        pages.push(known);
        Some(page)
    }

    fn address_of(&self, canonical: &str) -> Option<String> {
        self.addresses.lock().unwrap_or_else(PoisonError::into_inner).get(canonical).cloned()
    }

    fn remember(&self, asked: String, page: &Page) {
        let mut addresses = self.addresses.lock().unwrap_or_else(PoisonError::into_inner);
        if addresses.len() >= MOST_ADDRESSES {
            addresses.pop_first();
        }
        // Never under the name that the page gives itself: it may be another page's.
        if let Some(canonical) = Url::parse(&page.address).ok().and_then(|url| canonical_of(&url)) {
            addresses.insert(canonical, page.address.clone());
        }
        if !asked.is_empty() {
            addresses.insert(asked, page.address.clone());
        }
    }
}

/// The address that a text means.
fn asked(text: &str) -> Result<Url, StepError> {
    let text = text.trim();
    let named = || canonical(text).and_then(|named| Url::parse(&named).ok());
    // Written without a scheme, as people do.
    let bare = || {
        let host = text.split(['/', '?', '#']).next().unwrap_or_default();
        let is_host = host.contains('.') && !host.contains(char::is_whitespace) && !host.contains(':');
        is_host.then(|| Url::parse(&format!("https://{text}")).ok()).flatten()
    };
    match Url::parse(text) {
        Ok(url) if url.has_host() || matches!(url.scheme(), "file" | "data" | "javascript" | "ftp") => {
            Ok(url)
        }
        _ => named().or_else(bare).ok_or_else(|| no_address(text)),
    }
}

fn no_address(text: &str) -> StepError {
    let short: String = text.chars().take(120).collect();
    let what = format!(
        "\"{short}\" is no address of a page: give a URL that begins with https:// or http://, or a DOI"
    );
    StepError::new(ErrorKind::InvalidInput, what)
}

/// The passages of a page that were asked for.
fn chosen(page: &Page, query: Option<&str>, from: usize, most_bytes: usize) -> Result<WebPage, StepError> {
    let total = page.passages.len();
    let start = from.max(1);
    if start > total {
        let what = format!(
            "{} has {total} passages, so there is no passage {start}: ask for 1 to {total}",
            page.address
        );
        return Err(StepError::new(ErrorKind::NotFound, what));
    }
    let rows = (1..).zip(&page.passages).skip(start - 1);
    let rows: Vec<Row> =
        rows.map(|(ordinal, source)| Row { ordinal, source: source.clone(), names: String::new() }).collect();
    let query = query.and_then(|text| Query::within(text, &rows));
    let (rows, next) = match &query {
        Some(query) => (best(query, rows, most_bytes), None),
        None => in_order(rows, most_bytes),
    };
    Ok(WebPage {
        url: page.document.clone(),
        address: page.address.clone(),
        title: page.title.clone(),
        author: page.author.clone(),
        date: page.date.clone(),
        modified: page.modified.clone(),
        fetched: page.fetched.clone(),
        hash: page.hash.clone(),
        media: page.media,
        passages: rows.into_iter().map(|row| row.source).collect(),
        total_passages: total,
        next,
        links: page.links.clone(),
        notes: page.notes.clone(),
    })
}
