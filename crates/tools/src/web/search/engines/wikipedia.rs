//! Wikipedia: `action=query&list=search` of the MediaWiki API, of the Wikipedia in the language of the query.
//!
//! No filters: articles have no date of publication. `error.code` is `ratelimited` where there were too many requests.

use deepgraph_protocol::{ErrorKind, StepError};
use serde_json::Value as Json;
use url::Url;

use super::json::{list, text};
use crate::web::search::answer::{Answered, Found};
use crate::web::search::caller::{Caller, Request};
use crate::web::search::query::Asked;
use crate::web::search::text::of_markup;

pub(super) async fn ask(caller: &Caller, asked: &Asked) -> Result<Answered, StepError> {
    let language = asked.plain_language().unwrap_or("en");
    let mut url = caller.url("/w/api.php", Some(language))?;
    url.query_pairs_mut()
        .append_pair("action", "query")
        .append_pair("list", "search")
        .append_pair("srsearch", &asked.text)
        .append_pair("srlimit", &asked.count.to_string())
        .append_pair("srprop", "snippet")
        .append_pair("format", "json")
        .append_pair("formatversion", "2");
    let request = Request { url, body: None, key: None, accept: "application/json" };
    let answer = caller.json(request).await.map_err(|error| read_only(caller, error))?;
    let results = answer.get("query").and_then(|query| list(query, "search"));
    let results = results.ok_or_else(|| caller.lacks("query.search"))?;
    Ok(Answered::of(results.iter().filter_map(|result| found(result, language)).collect()))
}

/// Servers that lag behind, or take no requests for a moment.
fn read_only(caller: &Caller, error: StepError) -> StepError {
    let passes = ["maxlag", "readonly", "internal_api_error"].iter().any(|code| error.message.contains(code));
    match error.kind {
        ErrorKind::InvalidRequest if passes => StepError { kind: ErrorKind::Unavailable, ..error },
        // A host that does not exist: there is no Wikipedia in this language.
        ErrorKind::Network if error.unsent && caller.base_url.contains("{language}") => StepError {
            message: format!("{} (is there a Wikipedia in this language?)", error.message),
            ..error
        },
        _ => error,
    }
}

fn found(result: &Json, language: &str) -> Option<Found> {
    let title = text(result, "title");
    let mut url = Url::parse(&format!("https://{language}.wikipedia.org/wiki/")).ok()?;
    url.path_segments_mut().ok()?.pop_if_empty().push(&title.replace(' ', "_"));
    let text = of_markup(text(result, "snippet"));
    (!title.is_empty()).then(|| Found { url: url.into(), title: title.to_owned(), text, date: None })
}
