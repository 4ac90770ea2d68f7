//! What the ops `search` and `read` work over: the user's documents, the web, or both.

mod heads;
mod read;
mod search;
#[cfg(test)]
mod tests;
#[cfg(feature = "web")]
mod web;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use deepgraph_protocol::{Fee, Hit, Source, StepError};
use deepgraph_tools::Corpus;

pub(crate) use read::read;
pub(crate) use search::SearchOp;

/// Documents and the web; each may be missing.
#[derive(Clone, Default)]
pub struct Sources {
    /// The user's documents.
    pub corpus: Option<Arc<Corpus>>,
    /// The web.
    pub web: Option<Arc<dyn WebSource>>,
    /// The pages whose passages were read, by what the ids of these begin with.
    pages: Arc<Mutex<BTreeMap<String, String>>>,
}

/// Search and pages of the web, or of something that works like it: whatever has URLs.
#[async_trait]
pub trait WebSource: Send + Sync {
    /// Finds pages.
    ///
    /// # Errors
    ///
    /// The query can not be asked; no engine answered.
    async fn search(&self, query: &WebQuery) -> Result<WebHits, StepError>;

    /// Reads a page from a passage on, from 1 (0: from the beginning), or the passages that answer a query best, up to so
    /// many bytes of text.
    ///
    /// # Errors
    ///
    /// The page may not be asked, can not be had, or has nothing to read.
    async fn read(
        &self,
        url: &str,
        query: Option<&str>,
        from: usize,
        most_bytes: usize,
    ) -> Result<PageRead, StepError>;

    /// What a search costs at most; none: nothing.
    fn fee(&self, query: &WebQuery) -> Option<Fee> {
        let _ = query;
        None
    }
}

/// What is searched for in the web.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WebQuery {
    /// The words.
    pub text: String,
    /// The most hits that are wanted.
    pub limit: usize,
    /// Only pages of this day or later: `YYYY-MM-DD`.
    pub from_date: Option<String>,
    /// Only pages of this day or earlier.
    pub to_date: Option<String>,
    /// Only pages in this language, by its code.
    pub language: Option<String>,
    /// Only pages of these sites.
    pub sites: Vec<String>,
    /// No pages of these sites.
    pub exclude_sites: Vec<String>,
}

/// The pages that a search named.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WebHits {
    /// Each with `url`, and with its canonical URL as `document`; `text` is a snippet, `source` is empty.
    pub hits: Vec<Hit>,
    /// What a reader of them should know.
    pub notes: Vec<String>,
    /// What the search cost.
    pub fee: Fee,
}

/// A page, or as much of it as was asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageRead {
    /// Its canonical URL.
    pub url: String,
    /// Its title.
    pub title: String,
    /// The passages, in the order of the page; their `document` is its canonical URL.
    pub passages: Vec<Source>,
    /// How many passages the page has.
    pub total_passages: usize,
    /// Where to read on: the number of the next passage, from 1; none at the end, and for a query.
    pub next: Option<usize>,
    /// Where it links to: URL and text of each, those that matter most first.
    pub links: Vec<(String, String)>,
    /// What a reader should know: that it was cut, that it may be older than it looks.
    pub notes: Vec<String>,
}

impl Sources {
    /// Documents and the web.
    pub fn new(corpus: Option<Arc<Corpus>>, web: Option<Arc<dyn WebSource>>) -> Sources {
        Sources { corpus, web, pages: Arc::default() }
    }

    /// Remembers which page the ids of some passages belong to.
    fn note(&self, passages: &[Source]) {
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        for source in passages {
            if let (Some(url), Some((key, _))) = (&source.url, source.id.rsplit_once('-')) {
                pages.insert(key.to_owned(), url.clone());
            }
        }
    }

    /// The page that a passage's id belongs to.
    fn page_of(&self, id: &str) -> Option<String> {
        let (key, number) = id.rsplit_once('-')?;
        let pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        number.parse::<usize>().ok().and_then(|_| pages.get(key).cloned())
    }
}

impl From<Option<Arc<Corpus>>> for Sources {
    fn from(corpus: Option<Arc<Corpus>>) -> Sources {
        Sources::new(corpus, None)
    }
}

impl fmt::Debug for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sources")
            .field("corpus", &self.corpus.is_some())
            .field("web", &self.web.is_some())
            .finish()
    }
}
