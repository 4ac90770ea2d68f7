//! Crossref: `GET /works?query=`, as api.crossref.org has it. With `mailto` it serves from a pool of its own.
//!
//! Filters: time (`from-pub-date`, `until-pub-date`).

use deepgraph_protocol::StepError;
use serde_json::Value as Json;

use super::json::{first, joined, list, names, text};
use crate::web::search::answer::{Answered, Found};
use crate::web::search::caller::{Caller, Request};
use crate::web::search::dates;
use crate::web::search::query::Asked;
use crate::web::search::text::{of_markup, plain};

const FIELDS: &str = "DOI,URL,title,abstract,author,container-title,issued";

pub(super) async fn ask(caller: &Caller, asked: &Asked) -> Result<Answered, StepError> {
    let mut url = caller.url("/works", None)?;
    url.query_pairs_mut()
        .append_pair("query", &asked.text)
        .append_pair("rows", &asked.count.to_string())
        .append_pair("select", FIELDS);
    let mut filters = Vec::new();
    filters.extend(asked.from.map(|from| format!("from-pub-date:{from}")));
    filters.extend(asked.to.map(|to| format!("until-pub-date:{to}")));
    if !filters.is_empty() {
        url.query_pairs_mut().append_pair("filter", &filters.join(","));
    }
    if let Some(contact) = &caller.contact {
        url.query_pairs_mut().append_pair("mailto", contact);
    }
    let answer = caller.json(Request { url, body: None, key: None, accept: "application/json" }).await?;
    let items = answer.get("message").and_then(|message| list(message, "items"));
    let items = items.ok_or_else(|| caller.lacks("message.items"))?;
    Ok(Answered::of(items.iter().map(found).collect()))
}

fn found(work: &Json) -> Found {
    let doi = text(work, "DOI");
    let authors = names(
        list(work, "author")
            .into_iter()
            .flatten()
            .map(|author| [text(author, "given"), text(author, "family")].join(" ").trim().to_owned()),
    );
    let about = joined(&[&authors, first(work, "container-title")]);
    Found {
        url: if doi.is_empty() { text(work, "URL").to_owned() } else { format!("https://doi.org/{doi}") },
        title: of_markup(first(work, "title")),
        text: plain(&joined(&[&of_markup(text(work, "abstract")), &about])),
        date: issued(work),
    }
}

/// `{"date-parts": [[2020, 5, 31]]}`, as exact as it is known.
fn issued(work: &Json) -> Option<String> {
    let parts = list(work.get("issued")?, "date-parts")?.first()?.as_array()?;
    dates::of_parts(&parts.iter().map_while(Json::as_i64).collect::<Vec<_>>())
}
