//! Brave: `GET /res/v1/web/search`, as api-dashboard.search.brave.com has it.
//!
//! Filters: time (`freshness`: `pd`, `pw`, `pm`, `py`, or `YYYY-MM-DDtoYYYY-MM-DD`), language (`search_lang`, of the
//! languages that it has), sites by operators in the query. A wrong key is HTTP 422 with the code
//! `SUBSCRIPTION_TOKEN_INVALID`.

use deepgraph_protocol::StepError;
use serde_json::Value as Json;

use super::json::{list, text};
use crate::web::search::answer::{Answered, Found};
use crate::web::search::caller::{Caller, Request};
use crate::web::search::dates;
use crate::web::search::engine::Engine;
use crate::web::search::query::{Asked, TimeRange};
use crate::web::search::text::of_markup;

/// The languages that it has by their own code.
const LANGUAGES: [&str; 42] = [
    "ar", "bg", "bn", "ca", "cs", "da", "de", "el", "en", "en-gb", "es", "et", "eu", "fi", "fr", "gl", "gu",
    "he", "hi", "hr", "hu", "is", "it", "kn", "ko", "lt", "lv", "ml", "mr", "ms", "nb", "nl", "pa", "pl",
    "pt-br", "pt-pt", "ro", "ru", "sk", "sl", "zh-hans", "zh-hant",
];
/// The others, and what it calls languages that have another code elsewhere.
const CALLED: [(&str, &str); 12] = [
    ("ja", "jp"),
    ("no", "nb"),
    ("pt", "pt-pt"),
    ("sr", "sr"),
    ("sv", "sv"),
    ("ta", "ta"),
    ("te", "te"),
    ("th", "th"),
    ("tr", "tr"),
    ("uk", "uk"),
    ("vi", "vi"),
    ("zh", "zh-hans"),
];
/// The first day of a range that has none.
const FIRST_DAY: &str = "1990-01-01";

pub(super) async fn ask(caller: &Caller, asked: &Asked) -> Result<Answered, StepError> {
    let mut url = caller.url("/res/v1/web/search", None)?;
    let query = asked.with_site_operators(Engine::Brave.traits().most_chars);
    url.query_pairs_mut()
        .append_pair("q", &query)
        .append_pair("count", &asked.count.to_string())
        .append_pair("result_filter", "web")
        .append_pair("text_decorations", "false");
    if let Some(freshness) = freshness(asked) {
        url.query_pairs_mut().append_pair("freshness", &freshness);
    }
    if let Some(language) = language(asked) {
        url.query_pairs_mut().append_pair("search_lang", language);
    }
    let key = Some(("x-subscription-token", ""));
    let answer = caller.json(Request { url, body: None, key, accept: "application/json" }).await?;
    // Where nothing is found, there is no `web`.
    let results = match answer.get("web") {
        Some(web) => list(web, "results").ok_or_else(|| caller.lacks("web.results"))?,
        None if text(&answer, "type") == "search" => return Ok(Answered::default()),
        None => return Err(caller.lacks("web")),
    };
    Ok(Answered::of(results.iter().map(|result| found(result, asked)).collect()))
}

fn freshness(asked: &Asked) -> Option<String> {
    match asked.within {
        Some(TimeRange::Day) => Some("pd".to_owned()),
        Some(TimeRange::Week) => Some("pw".to_owned()),
        Some(TimeRange::Month) => Some("pm".to_owned()),
        Some(TimeRange::Year) => Some("py".to_owned()),
        None if asked.has_dates() => {
            let from = asked.from.map_or_else(|| FIRST_DAY.to_owned(), |from| from.to_string());
            Some(format!("{from}to{}", asked.to.unwrap_or(asked.today)))
        }
        None => None,
    }
}

/// What it calls the language of the query, if it has it.
pub(super) fn language(asked: &Asked) -> Option<&'static str> {
    let (whole, plain) = (asked.language.as_deref()?, asked.plain_language()?);
    let own = |code: &str| LANGUAGES.iter().find(|own| **own == code).copied();
    let called = |code: &str| CALLED.iter().find(|(other, _)| *other == code).map(|(_, own)| *own);
    own(whole).or_else(|| own(plain)).or_else(|| called(plain))
}

fn found(result: &Json, asked: &Asked) -> Found {
    let date = dates::read(text(result, "page_age"), asked.today);
    Found {
        url: text(result, "url").to_owned(),
        title: of_markup(text(result, "title")),
        text: of_markup(text(result, "description")),
        date: date.or_else(|| dates::read(text(result, "age"), asked.today)),
    }
}
