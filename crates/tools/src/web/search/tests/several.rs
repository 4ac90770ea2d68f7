//! Several engines at once, the same query once, and what it costs.

use std::time::Duration;

use super::*;

const TWO: [Engine; 2] = [Engine::Tavily, Engine::Brave];

#[tokio::test]
async fn one_engine_that_fails_costs_only_itself_and_is_told() {
    let server = Server::start(|got| match got.engine().as_str() {
        "tavily" => Answer::new(500, "down"),
        _ => one_page(got, "tides.example"),
    })
    .await;
    let answer = search_of(&[Engine::Tavily, Engine::Brave, Engine::Searxng], &server)
        .search(&words("tides"))
        .await
        .unwrap();
    assert_eq!(answer.hits.len(), 1);
    assert_eq!(answer.hits[0].found.as_deref(), Some("brave, searxng"));
    assert_eq!(answer.failed.len(), 1);
    assert_eq!(
        (answer.failed[0].engine, answer.failed[0].error.kind),
        (Engine::Tavily, ErrorKind::Unavailable)
    );
    assert_eq!(answer.fee, Fee { micro_usd: 5_000, unknown: 0 }, "an engine that failed costs nothing");
}

#[tokio::test]
async fn all_are_asked_at_the_same_time() {
    // None is answered before all are asked.
    let host = |got: &Got| format!("{}.example", got.engine());
    let server = Server::start(move |got| one_page(got, &host(got)).held_for(3)).await;
    let search = search_of(&[Engine::Tavily, Engine::Brave, Engine::Searxng], &server);
    assert_eq!(search.search(&words("tides")).await.unwrap().hits.len(), 3);
}

#[tokio::test]
async fn all_that_are_limited_wait_for_the_longest() {
    let server = Server::start(|got| match got.engine().as_str() {
        "tavily" => Answer::new(429, "").header("retry-after", "30"),
        _ => Answer::new(429, "").header("retry-after", "90"),
    })
    .await;
    let error = search_of(&TWO, &server).search(&words("tides")).await.unwrap_err();
    assert_eq!((error.kind, error.retry_after_ms), (ErrorKind::RateLimited, Some(90_000)));
    assert!(error.message.contains("tavily") && error.message.contains("brave"), "{error}");
}

#[tokio::test]
async fn the_same_query_is_sent_once_and_paid_once() {
    let server = Server::start(|got| one_page(got, "tides.example").after(Duration::from_millis(100))).await;
    let search = search_of(&TWO, &server);
    assert_eq!(search.fee(&words("Tidal energy")), Fee { micro_usd: 13_000, unknown: 0 });
    let spellings = ["Tidal energy", "tidal  energy", " TIDAL\tenergy\u{200b}"];
    let answers =
        futures::future::join_all(spellings.map(words).iter().map(|query| search.search(query))).await;
    let answers: Vec<SearchAnswer> = answers.into_iter().map(Result::unwrap).collect();
    assert_eq!(server.got().len(), 2, "one request to each engine");
    let paid: Vec<u64> = answers.iter().map(|answer| answer.fee.micro_usd).collect();
    assert_eq!(paid.iter().sum::<u64>(), 13_000, "{paid:?}");
    assert!(answers.iter().all(|answer| answer.hits == answers[0].hits && answer.hits.len() == 1));
    // Later, from what is kept.
    let later = search.search(&words("tidal ENERGY")).await.unwrap();
    assert!(later.fee.is_none() && later.hits == answers[0].hits);
    assert!(search.fee(&words("tidal ENERGY")).is_none());
    let other = SearchQuery { language: Some("en".into()), ..words("tidal energy") };
    assert!(!search.fee(&other).is_none(), "another filter is another query");
    search.search(&other).await.unwrap();
    assert_eq!(server.got().len(), 4);
}

#[tokio::test]
async fn only_the_engine_that_failed_is_asked_again() {
    let server = Server::start(|got| match (got.engine().as_str(), got.json()["query"].as_str()) {
        ("tavily", _) => Answer::new(500, ""),
        _ => one_page(got, "tides.example"),
    })
    .await;
    let search = search_of(&TWO, &server);
    for _ in 0..2 {
        search.search(&words("tides")).await.unwrap();
    }
    let asked = |name: &str| server.got().iter().filter(|got| got.engine() == name).count();
    assert_eq!((asked("tavily"), asked("brave")), (2, 1));
}

#[tokio::test]
async fn an_unknown_fee_is_told_as_unknown() {
    let server = Server::start(|got| one_page(got, "tides.example")).await;
    let search = search_with(&TWO, &server, |settings| {
        settings.options.get_mut(&Engine::Brave).unwrap().fee = Some(CallFee::Unknown(Unknown::Unknown));
    });
    let expected = Fee { micro_usd: 8_000, unknown: 1 };
    assert_eq!(search.fee(&words("tides")), expected);
    assert_eq!(search.search(&words("tides")).await.unwrap().fee, expected);
}

#[tokio::test]
async fn the_hits_are_no_more_than_are_wanted() {
    let results: Vec<_> = (0..20)
        .map(|n| serde_json::json!({"url": format!("https://tides.example/{n}"), "title": format!("{n}"), "content": ""}))
        .collect();
    let answer = Answer::json(serde_json::json!({"results": results}));
    let server = Server::start(move |_| answer.clone()).await;
    let search = search_of(&[Engine::Searxng], &server);
    for (limit, expected) in [(3, 3), (0, 10), (1_000, 20)] {
        let query = SearchQuery { limit, ..words(&format!("tides {limit}")) };
        assert_eq!(search.search(&query).await.unwrap().hits.len(), expected);
    }
}

#[tokio::test]
async fn a_query_that_is_too_long_for_an_engine_is_cut_and_told() {
    let server = Server::start(|got| one_page(got, "tides.example")).await;
    let answer = search_of(&[Engine::Tavily], &server).search(&words(&"tide ".repeat(200))).await.unwrap();
    let sent = server.only().json()["query"].as_str().unwrap_or_default().to_owned();
    assert!(sent.chars().count() <= 400 && sent.ends_with("tide"), "{sent}");
    assert!(
        answer.notes.iter().any(|note| note.starts_with("tavily: the query was cut")),
        "{:?}",
        answer.notes
    );
}
