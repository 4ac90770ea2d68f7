//! Searches against engines on this machine, which answer in the form of the real ones.

mod filters;
mod formats;
mod limits;
mod server;
mod several;

use std::collections::BTreeMap;

use server::{Answer, Got, Server};

use super::*;

/// A search over these engines, all asked at one server: the paths of their APIs tell them apart.
fn search_of(engines: &[Engine], server: &Server) -> Search {
    search_with(engines, server, |_| {})
}

fn search_with(engines: &[Engine], server: &Server, change: impl FnOnce(&mut SearchSettings)) -> Search {
    let own = |engine: &Engine| {
        let settings = EngineSettings {
            base_url: Some(format!("{}/{engine}", server.url())),
            gap: Some(0),
            ..EngineSettings::default()
        };
        (*engine, settings)
    };
    let mut settings = SearchSettings {
        engines: engines.to_vec(),
        options: engines.iter().map(own).collect::<BTreeMap<_, _>>(),
        timeout: 5,
        ..SearchSettings::default()
    };
    change(&mut settings);
    Search::new(&settings, &|name| Some(format!("key-of-{name}"))).unwrap()
}

fn words(text: &str) -> SearchQuery {
    SearchQuery { text: text.to_owned(), ..SearchQuery::default() }
}

/// What one engine makes of one answer.
async fn asked(engine: Engine, answer: Answer) -> Result<SearchAnswer, StepError> {
    let server = Server::start(move |_| answer.clone()).await;
    search_of(&[engine], &server).search(&words("tides")).await
}

/// An answer of an engine that found one page of this host.
fn one_page(got: &Got, host: &str) -> Answer {
    let url = format!("https://{host}/");
    match got.engine().as_str() {
        "tavily" => Answer::json(serde_json::json!({
            "results": [{"title": "A page", "url": url, "content": "About it."}], "usage": {"credits": 1}
        })),
        "brave" => Answer::json(serde_json::json!({
            "type": "search", "web": {"results": [{"title": "A page", "url": url, "description": "About it."}]}
        })),
        _ => Answer::json(serde_json::json!({
            "results": [{"title": "A page", "url": url, "content": "About it.", "engine": "x"}],
            "unresponsive_engines": []
        })),
    }
}
