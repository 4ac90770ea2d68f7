//! Serper: `POST /search`, results of Google, as serper.dev has it.
//!
//! Filters: time (`tbs`: `qdr:d|w|m|y`, or `cdr:1,cd_min:M/D/YYYY,cd_max:M/D/YYYY`), language (`hl`, and `lr` for the
//! pages), sites by operators in the query. The answer tells how many credits it took.

use deepgraph_protocol::StepError;
use jiff::civil::Date;
use serde_json::{Value as Json, json};

use super::json::{list, text};
use crate::web::search::answer::{Answered, Found};
use crate::web::search::caller::{Caller, Request};
use crate::web::search::dates;
use crate::web::search::engine::Engine;
use crate::web::search::fees::Told;
use crate::web::search::query::{Asked, TimeRange};
use crate::web::search::text::plain;

pub(super) async fn ask(caller: &Caller, asked: &Asked) -> Result<Answered, StepError> {
    let request = Request {
        url: caller.url("/search", None)?,
        body: Some(body(asked)),
        key: Some(("x-api-key", "")),
        accept: "application/json",
    };
    let answer = caller.json(request).await?;
    let credits = answer.get("credits").and_then(Json::as_u64);
    let found = match list(&answer, "organic") {
        Some(results) => results.iter().map(|result| found(result, asked)).collect(),
        // Where nothing is found, it may be left out.
        None if answer.get("searchParameters").is_some() => Vec::new(),
        None => return Err(caller.lacks("organic")),
    };
    Ok(Answered { told: credits.map(Told::Credits), ..Answered::of(found) })
}

fn body(asked: &Asked) -> Json {
    let query = asked.with_site_operators(Engine::Serper.traits().most_chars);
    let mut body = json!({"q": query, "num": asked.count});
    let mut set = |name: &str, value: String| {
        drop(body.as_object_mut().map(|body| body.insert(name.to_owned(), json!(value))))
    };
    if let Some(tbs) = tbs(asked) {
        set("tbs", tbs);
    }
    if let Some(language) = asked.plain_language() {
        set("hl", language.to_owned());
        set("lr", format!("lang_{language}"));
    }
    body
}

fn tbs(asked: &Asked) -> Option<String> {
    let day = |date: Date| format!("{}/{}/{}", date.month(), date.day(), date.year());
    match asked.within {
        Some(TimeRange::Day) => Some("qdr:d".to_owned()),
        Some(TimeRange::Week) => Some("qdr:w".to_owned()),
        Some(TimeRange::Month) => Some("qdr:m".to_owned()),
        Some(TimeRange::Year) => Some("qdr:y".to_owned()),
        None if asked.has_dates() => {
            let mut tbs = "cdr:1".to_owned();
            asked.from.into_iter().for_each(|from| tbs.push_str(&format!(",cd_min:{}", day(from))));
            asked.to.into_iter().for_each(|to| tbs.push_str(&format!(",cd_max:{}", day(to))));
            Some(tbs)
        }
        None => None,
    }
}

fn found(result: &Json, asked: &Asked) -> Found {
    Found {
        url: text(result, "link").to_owned(),
        title: plain(text(result, "title")),
        text: plain(text(result, "snippet")),
        date: dates::read(text(result, "date"), asked.today),
    }
}
