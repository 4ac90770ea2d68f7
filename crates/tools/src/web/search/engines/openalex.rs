//! OpenAlex: `GET /works?search=`, as developers.openalex.org has it. Without a key it allows some hundred searches a day,
//! with one in `OPENALEX_API_KEY`, which costs nothing, ten times as many.
//!
//! Filters: time (`from_publication_date`, `to_publication_date`), language. 403 and 429 are its limits.

use std::collections::BTreeMap;

use deepgraph_protocol::StepError;
use serde_json::Value as Json;

use super::json::{joined, list, names, text};
use crate::web::search::answer::{Answered, Found};
use crate::web::search::caller::{Caller, Request};
use crate::web::search::query::Asked;
use crate::web::search::text::{of_markup, plain};
use crate::web::search::{dates, sites};

/// The words of an abstract that are put together.
const MOST_WORDS: u64 = 150;
const FIELDS: &str =
    "id,doi,display_name,publication_date,authorships,abstract_inverted_index,primary_location";

pub(super) async fn ask(caller: &Caller, asked: &Asked) -> Result<Answered, StepError> {
    let mut url = caller.url("/works", None)?;
    url.query_pairs_mut()
        .append_pair("search", &asked.text)
        .append_pair("per_page", &asked.count.to_string())
        .append_pair("select", FIELDS);
    let filter = filter(asked);
    if !filter.is_empty() {
        url.query_pairs_mut().append_pair("filter", &filter);
    }
    if let Some(contact) = &caller.contact {
        url.query_pairs_mut().append_pair("mailto", contact);
    }
    if let Some(key) = &caller.key {
        url.query_pairs_mut().append_pair("api_key", key);
    }
    let answer = caller.json(Request { url, body: None, key: None, accept: "application/json" }).await?;
    let results = list(&answer, "results").ok_or_else(|| caller.lacks("results"))?;
    Ok(Answered::of(results.iter().map(|work| found(work, asked)).collect()))
}

fn filter(asked: &Asked) -> String {
    let mut filters = Vec::new();
    filters.extend(asked.from.map(|from| format!("from_publication_date:{from}")));
    filters.extend(asked.to.map(|to| format!("to_publication_date:{to}")));
    filters.extend(asked.plain_language().map(|language| format!("language:{language}")));
    filters.join(",")
}

fn found(work: &Json, asked: &Asked) -> Found {
    let landing = work.get("primary_location").map_or("", |place| text(place, "landing_page_url"));
    let journal = work
        .get("primary_location")
        .and_then(|place| place.get("source"))
        .map_or("", |s| text(s, "display_name"));
    let authors = list(work, "authorships").into_iter().flatten();
    let authors = names(authors.filter_map(|one| Some(text(one.get("author")?, "display_name").to_owned())));
    let date = text(work, "publication_date");
    let about = joined(&[&authors, journal]);
    Found {
        url: address(&[text(work, "doi"), landing, text(work, "id")], asked).to_owned(),
        title: of_markup(text(work, "display_name")),
        text: plain(&joined(&[&summary(work), &about])),
        date: dates::read(date, asked.today),
    }
}

/// The first address that is one, of the sites that are wanted where one is.
fn address<'a>(all: &[&'a str], asked: &Asked) -> &'a str {
    let is_wanted = |url: &&&str| !url.is_empty() && sites::allows(url, &asked.include, &asked.exclude);
    let first = all.iter().find(|url| !url.is_empty());
    all.iter().find(is_wanted).or(first).copied().unwrap_or_default()
}

/// The beginning of an abstract, which is there as the places of each of its words.
fn summary(work: &Json) -> String {
    let Some(index) = work.get("abstract_inverted_index").and_then(Json::as_object) else {
        return String::new();
    };
    let mut words: BTreeMap<u64, &str> = BTreeMap::new();
    for (word, places) in index {
        let places = places.as_array().into_iter().flatten().filter_map(Json::as_u64);
        words.extend(places.filter(|place| *place < MOST_WORDS).map(|place| (place, word.as_str())));
    }
    of_markup(&words.into_values().collect::<Vec<_>>().join(" "))
}
