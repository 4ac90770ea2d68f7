//! The op `search`.

use std::time::Duration;

use async_trait::async_trait;
use deepgraph_protocol::{ErrorKind, Fee, Hit, Map, Source, StepError, Value};
use deepgraph_research::passage::{fenced, render, render_hits};
use deepgraph_research::unsearched::WEB;
use serde::Deserialize;

use super::heads::{self, DOCUMENTS, READ_ALONG, SNIPPETS};
use super::{Sources, WebHits, WebQuery, WebSource};
use crate::call::CallContext;
use crate::ops::{Op, beside};

/// Hits of a search where the call does not say.
const DEFAULT_LIMIT: usize = 8;
/// The most hits of a search.
const MOST_HITS: usize = 50;
/// The most pages that are read along with a search.
const MOST_READ: usize = 4;
/// The longest time for each of them: one that hangs does not hold up the others.
const READ_TIME: Duration = Duration::from_secs(25);
/// The most bytes of each of them.
const READ_BYTES: usize = 4 * 1024;

/// `search`: passages of the documents and pages of the web.
pub(crate) struct SearchOp(pub Sources);

/// The parameters that the web is searched with.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Input {
    query: String,
    limit: Option<usize>,
    read: Option<bool>,
    from_date: Option<String>,
    to_date: Option<String>,
    language: Option<String>,
    sites: Option<Vec<String>>,
    exclude_sites: Option<Vec<String>>,
}

#[async_trait]
impl Op for SearchOp {
    async fn call(&self, input: Map, context: &CallContext) -> Result<Value, StepError> {
        let Some(web) = &self.0.web else { return self.documents(input).await };
        let asked = asked(&input)?;
        let documents = async {
            match self.0.corpus {
                Some(_) => self.documents(input.clone()).await.map(Some),
                None => Ok(None),
            }
        };
        let query = asked.query();
        let (documents, pages) = tokio::join!(documents, web.search(&query));
        let documents = documents?;
        if let Ok(pages) = &pages {
            context.charge(pages.fee);
        }
        match (documents, pages) {
            (documents, Ok(pages)) => self.answer(&asked, documents, pages, web.as_ref()).await,
            (Some(documents), Err(error)) if has_hits(&documents) => Ok(with_note(documents, &error)),
            (_, Err(error)) => Err(not_searched(error)),
        }
    }

    fn fee(&self, input: &Map) -> Option<Fee> {
        self.0.web.as_ref()?.fee(&asked(input).ok()?.query())
    }
}

impl SearchOp {
    /// What is found in the documents alone.
    async fn documents(&self, input: Map) -> Result<Value, StepError> {
        let corpus = self.0.corpus.clone().ok_or_else(no_sources)?;
        beside("reading the documents", move || deepgraph_tools::search_op(&corpus, &input)).await
    }

    async fn answer(
        &self,
        asked: &Input,
        documents: Option<Value>,
        pages: WebHits,
        web: &dyn WebSource,
    ) -> Result<Value, StepError> {
        let documents = documents.filter(has_hits);
        let Along { read, named, failed } = match asked.read {
            Some(true) => read_along(asked, pages.hits, web).await,
            _ => Along { named: pages.hits, ..Along::default() },
        };
        let passages: Vec<Source> = read.iter().flat_map(|(_, passages)| passages.clone()).collect();
        self.0.note(&passages);
        let mut parts = vec![heads::notes(&pages.notes), heads::failures(&failed)];
        if !named.is_empty() {
            parts.push(format!("{SNIPPETS}\n\n{}", render_hits(&named.iter().collect::<Vec<_>>())));
        }
        if !passages.is_empty() {
            parts.push(format!("{READ_ALONG}\n\n{}", render(&passages.iter().collect::<Vec<_>>())));
        }
        if let Some(documents) = &documents {
            parts.push(format!("{DOCUMENTS}\n\n{}", documents.text("text")));
        }
        if named.is_empty() && passages.is_empty() && documents.is_none() {
            parts.push(nothing_found(&asked.query));
        }
        parts.retain(|part| !part.is_empty());
        let mut fields = documents.and_then(|value| value.as_map().cloned()).unwrap_or_default();
        let mut hits: Vec<Value> = fields.get("hits").and_then(Value::as_list).unwrap_or_default().to_vec();
        // Where pages are read, their passages are hits, and a snippet alone is none.
        for (hit, passages) in &read {
            hits.extend(passages.iter().map(|passage| passage_hit(hit, passage)));
        }
        if asked.read != Some(true) {
            hits.extend(named.into_iter().map(|hit| Value::of(&fenced(hit))));
        }
        let mut sources = fields.get("sources").and_then(Value::as_map).cloned().unwrap_or_default();
        sources.extend(passages.iter().map(|source| (source.id.as_str().into(), Value::of(source))));
        fields.insert("text".into(), Value::from(parts.join("\n")));
        fields.insert("hits".into(), hits.into_iter().collect());
        fields.insert("sources".into(), Value::from(sources));
        Ok(Value::from(fields))
    }
}

/// What came of reading the best pages of a search.
#[derive(Default)]
struct Along {
    /// Those that could be read, each with its passages.
    read: Vec<(Hit, Vec<Source>)>,
    /// The other hits.
    named: Vec<Hit>,
    /// Which could not be read, and why.
    failed: Vec<String>,
}

/// Reads the best pages.
async fn read_along(asked: &Input, hits: Vec<Hit>, web: &dyn WebSource) -> Along {
    let read = hits.iter().take(MOST_READ).map(|hit| passages_of(asked, hit, web));
    let mut read = futures_of(read).await.into_iter();
    let mut along = Along::default();
    for hit in hits {
        match read.next() {
            Some(Ok(passages)) if !passages.is_empty() => along.read.push((hit, passages)),
            Some(Err(why)) => {
                along.failed.push(why);
                along.named.push(hit);
            }
            _ => along.named.push(hit),
        }
    }
    along
}

/// The passages of a page that fit best, or which page could not be read and why.
async fn passages_of(asked: &Input, hit: &Hit, web: &dyn WebSource) -> Result<Vec<Source>, String> {
    let Some(url) = hit.url.as_deref() else { return Ok(Vec::new()) };
    let page = tokio::time::timeout(READ_TIME, web.read(url, Some(&asked.query), 0, READ_BYTES)).await;
    let page = page.map_err(|_| format!("{url}: it did not answer in {} s", READ_TIME.as_secs()))?;
    let page = page.map_err(|error| match error.message.starts_with(url) {
        true => error.message,
        false => format!("{url}: {}", error.message),
    })?;
    let found = |source: Source| Source { found: source.found.or_else(|| hit.found.clone()), ..source };
    Ok(page.passages.into_iter().map(found).collect())
}

/// What comes of some work that is done side by side, in its order.
async fn futures_of<T>(work: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut waiting: Vec<_> = work.map(|one| (Box::pin(one), None)).collect();
    std::future::poll_fn(|context| {
        let mut is_done = true;
        for (one, done) in waiting.iter_mut().filter(|(_, done)| done.is_none()) {
            match one.as_mut().poll(context) {
                std::task::Poll::Ready(value) => *done = Some(value),
                std::task::Poll::Pending => is_done = false,
            }
        }
        if is_done { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    waiting.into_iter().filter_map(|(_, done)| done).collect()
}

fn passage_hit(hit: &Hit, passage: &Source) -> Value {
    let (source, text, title) = (passage.id.clone(), passage.text.clone(), passage.title.clone());
    Value::of(&fenced(Hit { source, document: passage.document.clone(), title, text, ..hit.clone() }))
}

fn has_hits(documents: &Value) -> bool {
    documents.get("hits").and_then(Value::as_list).is_some_and(|hits| !hits.is_empty())
}

/// What was found in the documents, with why the web had nothing.
fn with_note(documents: Value, error: &StepError) -> Value {
    let mut fields = documents.as_map().cloned().unwrap_or_default();
    let note = heads::failures(&[format!("{WEB} {}", error.message)]);
    fields.insert("text".into(), Value::from(format!("{note}{DOCUMENTS}\n\n{}", documents.text("text"))));
    Value::from(fields)
}

/// A failure of the web that says so. A query that can not be searched for is one of the call.
fn not_searched(error: StepError) -> StepError {
    match error.kind {
        ErrorKind::InvalidInput => error,
        _ => StepError { message: format!("{WEB} {}", error.message), ..error },
    }
}

fn nothing_found(query: &str) -> String {
    format!(
        "Nothing matches \"{query}\", neither in the web nor in documents. Try fewer or other words, or leave out sites, dates \
         and language."
    )
}

/// Why neither `search` nor `read` can be carried out.
pub(super) fn no_sources() -> StepError {
    let message = "this run has no sources: give it documents with --docs PATH, or the web with --web";
    StepError::new(ErrorKind::NotFound, message)
}

fn asked(input: &Map) -> Result<Input, StepError> {
    let wrong = |e| StepError::new(ErrorKind::InvalidInput, format!("the parameters can not be read: {e}"));
    let asked: Input = Value::from(input.clone()).to().map_err(wrong)?;
    match asked.query.trim() {
        "" => Err(StepError::new(ErrorKind::InvalidInput, "the parameter \"query\" is missing or empty")),
        _ => Ok(asked),
    }
}

impl Input {
    fn limit(&self) -> usize {
        self.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MOST_HITS)
    }

    fn query(&self) -> WebQuery {
        let given = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        WebQuery {
            text: self.query.clone(),
            limit: self.limit(),
            from_date: given(&self.from_date),
            to_date: given(&self.to_date),
            language: given(&self.language),
            sites: self.sites.clone().unwrap_or_default(),
            exclude_sites: self.exclude_sites.clone().unwrap_or_default(),
        }
    }
}
