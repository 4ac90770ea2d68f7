//! SearXNG: `GET /search?format=json`, as docs.searxng.org has it. The server has to allow the format `json`
//! (`search.formats` of its settings).
//!
//! Filters: language, and a time until now (`time_range`), both as far as the engines behind it can. Engines that did not
//! answer it are in `unresponsive_engines`: where nothing was found and some are, that is no empty answer.

use std::time::Duration;

use deepgraph_protocol::{ErrorKind, StepError};
use serde_json::Value as Json;

use super::json::{list, text};
use crate::web::search::answer::{Answered, Found};
use crate::web::search::caller::{Caller, Request};
use crate::web::search::dates;
use crate::web::search::query::Asked;
use crate::web::search::text::plain;

/// How long the engines behind it are left in peace: it suspends them itself for longer.
const PEACE: Duration = Duration::from_secs(30);

pub(super) async fn ask(caller: &Caller, asked: &Asked) -> Result<Answered, StepError> {
    let mut url = caller.url("/search", None)?;
    url.query_pairs_mut().append_pair("q", &query(asked)).append_pair("format", "json");
    if let Some(language) = &asked.language {
        url.query_pairs_mut().append_pair("language", &as_it_writes(language));
    }
    if let Some(within) = asked.within {
        url.query_pairs_mut().append_pair("time_range", within.name());
    }
    let request = Request { url, body: None, key: None, accept: "application/json" };
    let answer = caller.json(request).await.map_err(|error| match error.kind {
        ErrorKind::Unauthorized => {
            let what =
                "it refuses to answer in JSON: add `json` to `search.formats` in the settings of the server";
            caller.who.error(ErrorKind::InvalidRequest, what)
        }
        _ => error,
    })?;
    let results = list(&answer, "results").ok_or_else(|| caller.lacks("results"))?;
    let silent = silent(&answer);
    if results.is_empty() && !silent.is_empty() {
        return Err(caller.note(nobody_answered(caller, &silent)));
    }
    let mut answered = Answered::of(results.iter().map(|result| found(result, asked)).collect());
    if !silent.is_empty() {
        answered.notes.push(format!("searxng: without an answer of {}", named(&silent)));
    }
    Ok(answered)
}

/// One site can be left to the engines behind it; most do not know more than one.
fn query(asked: &Asked) -> String {
    match asked.include.as_slice() {
        [site] => format!("{} site:{site}", asked.text),
        _ => asked.text.clone(),
    }
}

/// `pt-BR`.
fn as_it_writes(language: &str) -> String {
    match language.split_once('-') {
        Some((language, country)) => format!("{language}-{}", country.to_uppercase()),
        None => language.to_owned(),
    }
}

/// The engines that did not answer, each with the reason.
fn silent(answer: &Json) -> Vec<(String, String)> {
    let pair = |item: &Json| match item.as_array().map(Vec::as_slice) {
        Some([name, why, ..]) => {
            Some((name.as_str()?.to_owned(), why.as_str().unwrap_or_default().to_owned()))
        }
        Some([name]) => Some((name.as_str()?.to_owned(), String::new())),
        _ => None,
    };
    list(answer, "unresponsive_engines").into_iter().flatten().filter_map(pair).collect()
}

fn named(silent: &[(String, String)]) -> String {
    silent.iter().map(|(name, why)| format!("{name} ({why})")).collect::<Vec<_>>().join(", ")
}

fn nobody_answered(caller: &Caller, silent: &[(String, String)]) -> StepError {
    let what = format!("the engines behind it did not answer: {}", named(silent));
    match silent.iter().any(|(_, why)| is_limit(why)) {
        // There is something to be done: to wait.
        true => caller.who.limited(&what, Some(PEACE)),
        false => caller.who.error(ErrorKind::Unavailable, what),
    }
}

/// Whether an engine wants to be left in peace, by the reason that SearXNG gives: it has a word for each kind of failure
/// and puts `Suspended: ` before it while it does not ask the engine again. Whatever else there is, such as `timeout`,
/// `HTTP error`, `parsing error` or `unexpected crash`, says nothing of the number of requests.
fn is_limit(why: &str) -> bool {
    let why = why.to_lowercase();
    ["too many requests", "captcha", "access denied", "suspended"].iter().any(|word| why.contains(word))
}

fn found(result: &Json, asked: &Asked) -> Found {
    Found {
        url: text(result, "url").to_owned(),
        title: plain(text(result, "title")),
        text: plain(text(result, "content")),
        date: dates::read(text(result, "publishedDate"), asked.today),
    }
}

#[cfg(test)]
mod tests {
    use super::is_limit;

    #[test]
    fn only_engines_that_want_peace_are_limits() {
        for why in
            ["too many requests", "Suspended: timeout", "CAPTCHA", "access denied", "Suspended: CAPTCHA"]
        {
            assert!(is_limit(why), "{why}");
        }
        for why in ["timeout", "HTTP error", "parsing error", "unexpected crash", "proxy error", ""] {
            assert!(!is_limit(why), "{why}");
        }
    }
}
