//! A fetched body into passages: what it is, its text, what of it is content, what it says about itself.

mod charset;
mod clean;
mod content;
mod date;
mod elements;
mod head;
mod links;
mod media;
mod unseen;
mod wall;

use deepgraph_protocol::{ErrorKind, Source, StepError};
use sha2::{Digest, Sha256};
use url::Url;

use crate::extract::html::{Outline, read_tokens, tokens_within};
use crate::extract::{self, Extracted, Format};
use crate::mapped::Mapped;
use crate::passage::{Origin, Passage};
use crate::report::SkipReason;

use super::canonical::{address, canonical, canonical_of, is_same_site};
use super::fetch::{Answer, Fetched, failure};
use head::Head;
use wall::{Judged, Obstacle};

pub use links::Link;

/// Letters of the part of an id that stands for a page.
const KEY_LETTERS: usize = 8;

/// A page that was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// Its canonical URL: what it is known by.
    pub document: String,
    /// The address where it was read.
    pub address: String,
    /// Its title.
    pub title: String,
    /// Who wrote it.
    pub author: Option<String>,
    /// When it was published, or changed last where it says only that, `YYYY-MM-DD`.
    pub date: Option<String>,
    /// When it was changed last, `YYYY-MM-DD`.
    pub modified: Option<String>,
    /// When it was fetched, RFC 3339.
    pub fetched: String,
    /// SHA-256 of its body, in hexadecimal.
    pub hash: String,
    /// What it is: `HTML`, `PDF`, ...
    pub media: &'static str,
    /// Its passages, in order.
    pub passages: Vec<Source>,
    /// Where it leads.
    pub links: Vec<Link>,
    /// What a reader should know of how it was read.
    pub notes: Vec<String>,
    /// Where it leads at once by itself, as browsers do.
    pub refresh: Option<Url>,
}

/// Refuses a body of a kind that is not read, before it is read.
pub fn wanted(url: &Url, content_type: Option<&str>) -> Result<(), StepError> {
    match media::said(content_type) {
        media::Said::Other(kind) => Err(not_read(url, &kind)),
        _ => Ok(()),
    }
}

/// The failure of an answer that is an error, where it is in truth a check for robots.
pub fn obstacle_of_error(url: &Url, answer: &Answer) -> Option<StepError> {
    let is_check = match answer.status.as_u16() {
        404 | 410 => false,
        403 | 429 | 503 => wall::is_challenge(&answer.headers) || wall::is_challenge_page(&answer.body.bytes),
        _ => wall::is_challenge_page(&answer.body.bytes),
    };
    is_check.then(|| Obstacle::BotCheck.failure(url))
}

/// Reads a body. It takes time and blocks.
///
/// # Errors
///
/// `invalid_request` for what is no text or is broken; otherwise what stands in the place of the page: see
/// [`Obstacle`].
pub fn read(fetched: &Fetched) -> Result<Page, StepError> {
    let url = &fetched.url;
    let body = fetched.body.as_slice();
    let format =
        media::format(fetched.content_type.as_deref(), url, body).map_err(|kind| not_read(url, &kind))?;
    if body.trim_ascii().is_empty() {
        return Err(Obstacle::Empty.failure(url));
    }
    if fetched.cut && matches!(format, Format::Pdf | Format::Json) {
        let what =
            format!("is larger than {} bytes: {} is read whole or not at all", body.len(), name_of(format));
        return Err(failure(ErrorKind::InvalidRequest, url, &what));
    }
    let mut read = match format {
        Format::Pdf => Read::of(extract::pdf(&name(url), body).map_err(|reason| skipped(url, &reason))?),
        format => text(format, fetched)?,
    };
    read.note(format, fetched);
    Ok(read.page(format, fetched))
}

/// What was read of a body.
#[derive(Default)]
struct Read {
    extracted: Extracted,
    head: Head,
    links: Vec<Link>,
    notes: Vec<String>,
    refresh: Option<Url>,
}

impl Read {
    fn of(extracted: Extracted) -> Read {
        Read { extracted, ..Read::default() }
    }

    fn note(&mut self, format: Format, fetched: &Fetched) {
        if format == Format::Pdf {
            let pages =
                self.extracted.passages.iter().filter_map(|passage| passage.span.page).max().unwrap_or(0);
            self.notes.push(format!("PDF with text on {pages} pages"));
        }
        if fetched.cut {
            self.notes.push(format!("cut after {} bytes", fetched.body.len()));
        }
        if let Some(broken) = &self.extracted.broken {
            self.notes.push(broken.to_string());
        }
    }

    fn page(self, format: Format, fetched: &Fetched) -> Page {
        let document = document(&fetched.url, self.head.canonical.as_deref());
        let address = address(&fetched.url);
        let hash = hex(&Sha256::digest(fetched.body.as_slice()));
        let Head { author, published, modified, .. } = self.head;
        let date = published.or_else(|| modified.clone()).or(self.extracted.date);
        let title = clean::cleaned(&self.extracted.title);
        let passages: Vec<Passage> = self.extracted.passages.into_iter().filter_map(clean::clean).collect();
        let key = key(&document, &passages);
        let source = |(number, passage): (usize, Passage)| Source {
            id: format!("{key}-{number}"),
            document: document.clone(),
            title: passage.title.unwrap_or_else(|| title.clone()),
            section: passage.section,
            span: passage.span,
            text: passage.text,
            pieces: passage.pieces,
            date: passage.date.or_else(|| date.clone()),
            url: Some(address.clone()),
            author: author.clone(),
            fetched: Some(fetched.fetched.clone()),
            hash: Some(hash.clone()),
            found: None,
            asked: None,
        };
        Page {
            passages: (1..).zip(passages).map(source).collect(),
            document,
            address,
            title,
            author,
            date,
            modified,
            fetched: fetched.fetched.clone(),
            hash,
            media: name_of(format),
            links: self.links,
            notes: self.notes,
            refresh: self.refresh,
        }
    }
}

/// Reads what is text.
fn text(format: Format, fetched: &Fetched) -> Result<Read, StepError> {
    let url = &fetched.url;
    let said = fetched.content_type.as_deref();
    let Some(decoded) = charset::decode(&fetched.body, said, fetched.cut, url.host_str()) else {
        return Err(not_read(url, "data that is no text"));
    };
    // Converted text has no place in the body: its spans are of the text.
    let is_body = matches!(decoded.text, std::borrow::Cow::Borrowed(_));
    let base = if is_body { decoded.base } else { 0 };
    let mut read = match format {
        Format::Html => html(url, &decoded.text, base)?,
        format => {
            let extracted = extract::read_text(format, &name(url), &decoded.text, base);
            Read::of(extracted.map_err(|reason| skipped(url, &reason))?)
        }
    };
    if read.extracted.passages.is_empty() && read.refresh.is_none() {
        return Err(Obstacle::Empty.failure(url));
    }
    if !is_body && decoded.encoding != "UTF-8" {
        read.notes.push(format!("converted from {}", decoded.encoding));
    }
    if decoded.damaged {
        read.notes.push("some characters are damaged".into());
    }
    Ok(read)
}

/// The most tags and texts of a page that are read: a page of 10 MiB has fewer, unless it is made to cost much.
const MOST_TOKENS: usize = 300_000;

/// Reads a page of HTML.
fn html(url: &Url, text: &str, base: usize) -> Result<Read, StepError> {
    let tokens = tokens_within(text, MOST_TOKENS);
    let head = head::head(&tokens);
    let elements = elements::elements(&tokens, text.len());
    let dropped = content::dropped(&elements, text.len());
    let is_kept = |at: usize| !content::is_dropped(&dropped, at);
    let mut outline = Outline::default();
    let html = Mapped::verbatim(text, 0);
    read_tokens(&html, &tokens, &|token| place(token).is_none_or(is_kept), &mut outline);
    let title = head.title.clone().or_else(|| outline.title().map(str::to_owned));
    let title = title.unwrap_or_else(|| name(url));
    // Beside the page's own title many have that of the site.
    let heading = outline.title().filter(|heading| title.starts_with(heading)).unwrap_or(&title).to_owned();
    let extracted = Extracted {
        passages: Origin::file(text, base).passages(&outline.finish(&heading)),
        title,
        ..Extracted::default()
    };
    let from = head.base.as_deref().and_then(|base| url.join(base).ok());
    let from = from.unwrap_or_else(|| url.clone());
    let refresh = head.refresh.as_deref().and_then(|goal| from.join(goal).ok()).filter(|goal| goal != url);
    if refresh.is_none() {
        let content: Vec<&str> =
            extracted.passages.iter().take(20).map(|passage| passage.text.as_str()).collect();
        let judged = Judged { title: &extracted.title, text: &content.join("\n"), html: text, url };
        if let Some(obstacle) = wall::obstacle(&judged) {
            return Err(obstacle.failure(url));
        }
    }
    let links = links::links(&tokens, &is_kept, &from, url);
    let mut notes = Vec::new();
    if tokens.len() == MOST_TOKENS {
        notes.push(format!("read up to its tag number {MOST_TOKENS}"));
    }
    Ok(Read { extracted, head, links, refresh, notes })
}

/// Where a tag or a text begins.
fn place(token: &html5gum::Token<usize>) -> Option<usize> {
    match token {
        html5gum::Token::StartTag(tag) => Some(tag.span.start),
        html5gum::Token::EndTag(tag) => Some(tag.span.start),
        html5gum::Token::String(text) => Some(text.span.start),
        _ => None,
    }
}

/// The canonical URL of a page: that of its address, or what it says itself, where it may: of its own site, and not
/// the site's first page for another one.
fn document(url: &Url, said: Option<&str>) -> String {
    let own = canonical_of(url).unwrap_or_else(|| address(url));
    let Some(said) = said.and_then(|said| url.join(said).ok()) else { return own };
    let is_first = |url: &Url| url.path() == "/" && url.query().is_none();
    if is_same_site(&said, url) && (!is_first(&said) || is_first(url)) {
        canonical(said.as_str()).unwrap_or(own)
    } else {
        own
    }
}

/// The part of an id that stands for a page: of its canonical URL and its text, so that two states of a page, or a
/// page and its PDF, do not share ids.
fn key(document: &str, passages: &[Passage]) -> String {
    let mut hash = Sha256::new();
    hash.update(document.as_bytes());
    for passage in passages {
        hash.update([0]);
        hash.update(passage.text.as_bytes());
    }
    hex(&hash.finalize()).chars().take(KEY_LETTERS).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The name of a page's file, for a title of last resort.
fn name(url: &Url) -> String {
    let file = url.path().trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    if file.is_empty() { url.host_str().unwrap_or_default().into() } else { file.into() }
}

fn name_of(format: Format) -> &'static str {
    match format {
        Format::Html => "HTML",
        Format::Pdf => "PDF",
        Format::Text => "text",
        Format::Markdown => "Markdown",
        Format::Json => "JSON",
        Format::JsonLines => "JSON Lines",
        Format::Csv(_) => "CSV",
    }
}

fn not_read(url: &Url, kind: &str) -> StepError {
    let what = format!("is {kind}, which is not read: HTML, PDF, text, Markdown, JSON and CSV are");
    failure(ErrorKind::InvalidRequest, url, &what)
}

fn skipped(url: &Url, reason: &SkipReason) -> StepError {
    match reason {
        SkipReason::Empty => Obstacle::Empty.failure(url),
        SkipReason::NoText => {
            failure(ErrorKind::NotFound, url, "has no text, such as a scan: use another source")
        }
        reason => failure(ErrorKind::InvalidRequest, url, &format!("can not be read: {reason}")),
    }
}
