//! Tavily: `POST /search`, as docs.tavily.com has it.
//!
//! Filters: time (`time_range`, or `start_date` and `end_date`), sites (`include_domains`, `exclude_domains`). A basic
//! search costs one credit; the answer tells how many it took. 432 and 433 are limits of the plan.

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
        key: Some(("authorization", "Bearer ")),
        accept: "application/json",
    };
    let answer = caller.json(request).await?;
    let results = list(&answer, "results").ok_or_else(|| caller.lacks("results"))?;
    let credits = answer.get("usage").and_then(|usage| usage.get("credits")).and_then(Json::as_u64);
    let found = results.iter().map(|result| found(result, asked)).collect();
    Ok(Answered { told: credits.map(Told::Credits), ..Answered::of(found) })
}

fn body(asked: &Asked) -> Json {
    let mut body = json!({
        "query": asked.text,
        "search_depth": "basic",
        "max_results": asked.count,
        "include_usage": true,
    });
    let mut set =
        |name: &str, value: Json| drop(body.as_object_mut().map(|body| body.insert(name.to_owned(), value)));
    match asked.within {
        Some(within) => set("time_range", json!(within.name())),
        None => {
            if let Some(from) = asked.from {
                set("start_date", json!(from.to_string()));
            }
            if let Some(to) = asked.to {
                set("end_date", json!(to.to_string()));
            }
        }
    }
    if !asked.include.is_empty() {
        set("include_domains", json!(asked.include));
    }
    if !asked.exclude.is_empty() {
        set("exclude_domains", json!(asked.exclude));
    }
    body
}

fn found(result: &Json, asked: &Asked) -> Found {
    Found {
        url: text(result, "url").to_owned(),
        title: plain(text(result, "title")),
        text: plain(text(result, "content")),
        date: dates::read(text(result, "published_date"), asked.today),
    }
}
