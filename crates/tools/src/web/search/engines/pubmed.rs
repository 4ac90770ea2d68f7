//! PubMed: `esearch.fcgi`, then `esummary.fcgi` of the E-utilities, as NCBI's NBK25499 has them: three requests in a second,
//! ten with a key in `NCBI_API_KEY`, which costs nothing.
//!
//! Filters: time (`datetype=pdat` with `mindate` and `maxdate`, which stand together), language (`LANGUAGE[la]`). Too many
//! requests are told in JSON as `API rate limit exceeded`.

use deepgraph_protocol::{ErrorKind, StepError};
use serde_json::Value as Json;
use url::Url;

use super::json::{joined, list, names, text};
use crate::web::search::answer::{Answered, Found};
use crate::web::search::caller::{Caller, Request};
use crate::web::search::dates;
use crate::web::search::query::Asked;
use crate::web::search::text::{of_markup, plain};

/// Codes of languages, and their names in `[la]`.
const LANGUAGES: [(&str, &str); 16] = [
    ("cs", "cze"),
    ("da", "dan"),
    ("de", "ger"),
    ("en", "eng"),
    ("es", "spa"),
    ("fr", "fre"),
    ("hu", "hun"),
    ("it", "ita"),
    ("ja", "jpn"),
    ("ko", "kor"),
    ("nl", "dut"),
    ("pl", "pol"),
    ("pt", "por"),
    ("ru", "rus"),
    ("sv", "swe"),
    ("zh", "chi"),
];

pub(super) async fn ask(caller: &Caller, asked: &Asked) -> Result<Answered, StepError> {
    let mut url = address(caller, "/entrez/eutils/esearch.fcgi")?;
    url.query_pairs_mut()
        .append_pair("term", &term(asked))
        .append_pair("retmax", &asked.count.to_string())
        .append_pair("sort", "relevance");
    if asked.has_dates() {
        let day = |date: jiff::civil::Date| date.to_string().replace('-', "/");
        url.query_pairs_mut()
            .append_pair("datetype", "pdat")
            .append_pair("mindate", &asked.from.map_or_else(|| "1800/01/01".to_owned(), day))
            .append_pair("maxdate", &day(asked.to.unwrap_or(asked.today)));
    }
    let answer = json(caller, url).await?;
    let search = answer.get("esearchresult").ok_or_else(|| caller.lacks("esearchresult"))?;
    if let Some(error) = search.get("ERROR").and_then(Json::as_str) {
        return Err(caller.note(caller.who.told(&Json::from(error), None)));
    }
    let ids = list(search, "idlist").ok_or_else(|| caller.lacks("esearchresult.idlist"))?;
    let ids: Vec<&str> = ids.iter().filter_map(Json::as_str).filter(|id| is_id(id)).collect();
    if ids.is_empty() {
        return Ok(Answered::default());
    }
    let mut url = address(caller, "/entrez/eutils/esummary.fcgi")?;
    url.query_pairs_mut().append_pair("id", &ids.join(","));
    let answer = json(caller, url).await?;
    let summaries = answer.get("result").ok_or_else(|| caller.lacks("result"))?;
    // In the order of the search.
    let found = ids.iter().filter_map(|id| found(id, summaries.get(id)?, asked)).collect();
    Ok(Answered::of(found))
}

async fn json(caller: &Caller, url: Url) -> Result<Json, StepError> {
    caller.json(Request { url, body: None, key: None, accept: "application/json" }).await.map_err(|error| {
        // Its words for a key that is wrong.
        let is_key =
            error.kind == ErrorKind::InvalidRequest && error.message.to_lowercase().contains("api key");
        if is_key { StepError { kind: ErrorKind::Unauthorized, ..error } } else { error }
    })
}

fn address(caller: &Caller, path: &str) -> Result<Url, StepError> {
    let mut url = caller.url(path, None)?;
    url.query_pairs_mut()
        .append_pair("db", "pubmed")
        .append_pair("retmode", "json")
        .append_pair("tool", "deepgraph");
    if let Some(contact) = &caller.contact {
        url.query_pairs_mut().append_pair("email", contact);
    }
    if let Some(key) = &caller.key {
        url.query_pairs_mut().append_pair("api_key", key);
    }
    Ok(url)
}

fn term(asked: &Asked) -> String {
    match language(asked) {
        Some(language) => format!("({}) AND {language}[la]", asked.text),
        None => asked.text.clone(),
    }
}

/// What it calls the language of the query, if it is known here.
pub(super) fn language(asked: &Asked) -> Option<&'static str> {
    let plain = asked.plain_language()?;
    LANGUAGES.iter().find(|(code, _)| *code == plain).map(|(_, name)| *name)
}

fn is_id(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit())
}

fn found(id: &str, summary: &Json, asked: &Asked) -> Option<Found> {
    let title = of_markup(text(summary, "title"));
    if title.is_empty() {
        return None;
    }
    let authors = list(summary, "authors").into_iter().flatten();
    let authors = names(authors.map(|author| text(author, "name").to_owned()));
    let journal = text(summary, "fulljournalname");
    let sorted_by = dates::read(text(summary, "sortpubdate"), asked.today);
    // The date in words is as exact as it is known; the one for sorting is filled up.
    let date = dates::read(text(summary, "pubdate"), asked.today).or(sorted_by);
    Some(Found {
        url: format!("https://pubmed.ncbi.nlm.nih.gov/{id}/"),
        title,
        text: plain(&joined(&[&authors, journal, text(summary, "pubdate")])),
        date,
    })
}
