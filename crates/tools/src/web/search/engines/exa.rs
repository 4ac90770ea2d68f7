//! Exa: `POST /search`, as exa.ai/docs has it.
//!
//! Filters: time (`startPublishedDate`, `endPublishedDate`), sites (`includeDomains`, `excludeDomains`). Highlights come
//! with the search without a fee of their own. The answer tells what it cost (`costDollars.total`).

use deepgraph_protocol::StepError;
use serde_json::{Value as Json, json};

use super::json::{list, text};
use crate::web::search::answer::{Answered, Found};
use crate::web::search::caller::{Caller, Request};
use crate::web::search::dates;
use crate::web::search::fees::Told;
use crate::web::search::query::Asked;
use crate::web::search::text::plain;

pub(super) async fn ask(caller: &Caller, asked: &Asked) -> Result<Answered, StepError> {
    let request = Request {
        url: caller.url("/search", None)?,
        body: Some(body(asked)),
        key: Some(("x-api-key", "")),
        accept: "application/json",
    };
    let answer = caller.json(request).await?;
    let results = list(&answer, "results").ok_or_else(|| caller.lacks("results"))?;
    let cost = answer.get("costDollars").and_then(|cost| cost.get("total")).and_then(Json::as_f64);
    let found = results.iter().map(|result| found(result, asked)).collect();
    Ok(Answered { told: cost.map(Told::Usd), ..Answered::of(found) })
}

fn body(asked: &Asked) -> Json {
    let mut body = json!({
        "query": asked.text,
        "type": "auto",
        "numResults": asked.count,
        "contents": {"highlights": {"maxCharacters": 500}},
    });
    let mut set =
        |name: &str, value: Json| drop(body.as_object_mut().map(|body| body.insert(name.to_owned(), value)));
    if let Some(from) = asked.from {
        set("startPublishedDate", json!(format!("{from}T00:00:00.000Z")));
    }
    if let Some(to) = asked.to {
        set("endPublishedDate", json!(format!("{to}T23:59:59.999Z")));
    }
    if !asked.include.is_empty() {
        set("includeDomains", json!(asked.include));
    }
    if !asked.exclude.is_empty() {
        set("excludeDomains", json!(asked.exclude));
    }
    body
}

fn found(result: &Json, asked: &Asked) -> Found {
    let highlights = list(result, "highlights").into_iter().flatten().filter_map(Json::as_str);
    let highlights = highlights.collect::<Vec<_>>().join(" … ");
    let text_of = if highlights.is_empty() { text(result, "text") } else { &highlights };
    Found {
        url: text(result, "url").to_owned(),
        title: plain(text(result, "title")),
        text: plain(text_of),
        date: dates::read(text(result, "publishedDate"), asked.today),
    }
}
