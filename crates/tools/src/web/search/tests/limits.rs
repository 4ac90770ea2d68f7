//! What is no answer: limits, quotas, captchas and errors, whatever their status.

use std::time::Duration;

use serde_json::json;

use super::*;

async fn failure(engine: Engine, answer: Answer) -> StepError {
    asked(engine, answer).await.unwrap_err()
}

#[tokio::test]
async fn a_limit_is_no_empty_answer_whatever_its_status() {
    let page =
        "<!DOCTYPE html><html><title>Just a moment</title><p>Unusual traffic: are you a robot?</p></html>";
    let silent = json!({"results": [], "unresponsive_engines": [["google", "Suspended: too many requests"], ["bing", "timeout"]]});
    for (engine, answer) in [
        (Engine::Searxng, Answer::new(202, "<html>wait</html>")),
        (Engine::Tavily, Answer::new(202, "{}")),
        (Engine::Searxng, Answer::new(200, page)),
        (Engine::Exa, Answer::json(json!({"error": "Rate limit exceeded", "tag": "RATE_LIMITED"}))),
        (
            Engine::Wikipedia,
            Answer::json(json!({"error": {"code": "ratelimited", "info": "You have made too many edits."}})),
        ),
        (
            Engine::Pubmed,
            Answer::json(
                json!({"error": "API rate limit exceeded", "api-key": "1.2.3.4", "count": "4", "limit": "3"}),
            ),
        ),
        (Engine::Pubmed, Answer::new(429, r#"{"error":"API rate limit exceeded","count":"4","limit":"3"}"#)),
        (Engine::Searxng, Answer::json(silent)),
        (Engine::Arxiv, Answer::new(200, "Rate exceeded.")),
        (Engine::Arxiv, Answer::new(503, "Rate exceeded.")),
        (Engine::Openalex, Answer::new(403, r#"{"error":"Rate limit exceeded","message":"Slow down."}"#)),
        (
            Engine::Brave,
            Answer::new(
                429,
                r#"{"type":"ErrorResponse","error":{"status":429,"code":"RATE_LIMITED","detail":"Too fast."}}"#,
            ),
        ),
    ] {
        let shown = format!("{engine} {answer:?}");
        let error = failure(engine, answer).await;
        assert_eq!(error.kind, ErrorKind::RateLimited, "{shown}: {error}");
        assert!(error.retry_after_ms.is_some_and(|ms| ms > 0), "{shown}");
        assert!(error.message.starts_with(engine.name()), "{error}");
    }
}

#[tokio::test]
async fn other_failures_are_told_apart() {
    let errors = r#"<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><entry>
        <id>http://arxiv.org/api/errors#incorrect_id_format</id><title>Error</title><summary>incorrect id format</summary>
        </entry></feed>"#;
    for (engine, answer, kind, told) in [
        (
            Engine::Tavily,
            Answer::new(401, r#"{"detail":{"error":"Unauthorized: missing or invalid API key."}}"#),
            ErrorKind::Unauthorized,
            "TAVILY_API_KEY",
        ),
        (
            Engine::Tavily,
            Answer::new(432, r#"{"detail":{"error":"This request exceeds your plan's set usage limit."}}"#),
            ErrorKind::Unauthorized,
            "nothing left to pay",
        ),
        (
            Engine::Brave,
            Answer::new(422, r#"{"error":{"code":"SUBSCRIPTION_TOKEN_INVALID","detail":"no"}}"#),
            ErrorKind::Unauthorized,
            "BRAVE_API_KEY",
        ),
        (
            Engine::Serper,
            Answer::new(403, r#"{"message":"Unauthorized.","statusCode":403}"#),
            ErrorKind::Unauthorized,
            "SERPER_API_KEY",
        ),
        (
            Engine::Serper,
            Answer::new(400, r#"{"message":"Not enough credits","statusCode":400}"#),
            ErrorKind::Unauthorized,
            "Not enough credits",
        ),
        (
            Engine::Exa,
            Answer::new(402, r#"{"error":"No credits","tag":"NO_MORE_CREDITS"}"#),
            ErrorKind::Unauthorized,
            "No credits",
        ),
        (
            Engine::Searxng,
            Answer::new(403, "<h1>403 Forbidden</h1>"),
            ErrorKind::InvalidRequest,
            "search.formats",
        ),
        (
            Engine::Crossref,
            Answer::new(
                400,
                r#"{"status":"failed","message-type":"validation-failure","message":[{"type":"x","message":"bad filter"}]}"#,
            ),
            ErrorKind::InvalidRequest,
            "bad filter",
        ),
        (Engine::Arxiv, Answer::new(200, errors), ErrorKind::InvalidRequest, "incorrect id format"),
        (
            Engine::Wikipedia,
            Answer::json(json!({"error": {"code": "maxlag", "info": "Waiting for a server"}})),
            ErrorKind::Unavailable,
            "maxlag",
        ),
        (Engine::Exa, Answer::new(500, ""), ErrorKind::Unavailable, "HTTP 500"),
        (
            Engine::Exa,
            Answer::new(301, "").header("location", "https://new.example/"),
            ErrorKind::InvalidRequest,
            "https://new.example/",
        ),
        (Engine::Exa, Answer::new(404, "<html>nothing</html>"), ErrorKind::NotFound, "base_url"),
        (Engine::Exa, Answer::new(200, "<html><p>Welcome</p></html>"), ErrorKind::Unavailable, "Welcome"),
        (Engine::Exa, Answer::json(json!({"other": 1})), ErrorKind::InvalidOutput, "`results`"),
        (Engine::Openalex, Answer::new(200, "[1, 2"), ErrorKind::Unavailable, "no JSON object"),
        (
            Engine::Arxiv,
            Answer::new(200, "<?xml version='1.0'?><feed"),
            ErrorKind::InvalidOutput,
            "can not be read",
        ),
        (
            Engine::Searxng,
            Answer::json(json!({"results": [], "unresponsive_engines": [["bing", "timeout"]]})),
            ErrorKind::Unavailable,
            "bing",
        ),
        (
            Engine::Searxng,
            Answer::json(
                json!({"results": [], "unresponsive_engines": [["bing", "parsing error"], ["qwant", "HTTP error"]]}),
            ),
            ErrorKind::Unavailable,
            "qwant (HTTP error)",
        ),
        (
            Engine::Searxng,
            Answer::json(
                json!({"results": [], "unresponsive_engines": [["bing", "parsing error"], ["qwant", "CAPTCHA"]]}),
            ),
            ErrorKind::RateLimited,
            "qwant (CAPTCHA)",
        ),
    ] {
        let error = failure(engine, answer).await;
        assert_eq!(error.kind, kind, "{error}");
        assert!(error.message.contains(told), "{error}");
        assert!(!error.message.contains("key-of"), "{error}");
    }
}

#[tokio::test]
async fn nothing_found_is_an_answer() {
    for (engine, answer) in [
        (Engine::Tavily, json!({"results": []})),
        (Engine::Searxng, json!({"results": [], "unresponsive_engines": []})),
        (Engine::Wikipedia, json!({"query": {"search": []}})),
        (
            Engine::Pubmed,
            json!({"esearchresult": {"count": "0", "idlist": [], "errorlist": {"phrasesnotfound": ["tides"]}}}),
        ),
        (Engine::Serper, json!({"searchParameters": {"q": "tides"}, "credits": 1})),
    ] {
        let answer = asked(engine, Answer::json(answer)).await.unwrap();
        assert!(answer.hits.is_empty() && answer.failed.is_empty(), "{engine}");
    }
}

#[tokio::test]
async fn an_engine_that_asks_for_peace_gets_it() {
    let server = Server::start(|_| Answer::new(429, "").header("retry-after", "120")).await;
    let search = search_of(&[Engine::Crossref], &server);
    for query in ["tides", "the moon"] {
        let error = search.search(&words(query)).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::RateLimited);
        assert!(error.retry_after_ms.is_some_and(|ms| ms > 100_000), "{error:?}");
    }
    assert_eq!(server.got().len(), 1, "the second query was not sent");
}

#[tokio::test]
async fn an_engine_that_does_not_answer_is_given_up() {
    let server = Server::start(|_| Answer::new(200, "{}").after(Duration::from_secs(60))).await;
    let search = search_with(&[Engine::Exa], &server, |settings| settings.timeout = 1);
    let error = search.search(&words("tides")).await.unwrap_err();
    assert_eq!((error.kind, error.unsent), (ErrorKind::StepTimeout, false));
}

#[tokio::test]
async fn an_engine_that_is_not_there_was_not_asked() {
    let nobody = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = nobody.local_addr().unwrap();
    drop(nobody);
    let own = EngineSettings { base_url: Some(format!("http://{address}")), ..EngineSettings::default() };
    let settings = SearchSettings {
        engines: vec![Engine::Exa],
        options: BTreeMap::from([(Engine::Exa, own)]),
        ..SearchSettings::default()
    };
    let search = Search::new(&settings, &|_| Some("a-long-key".to_owned())).unwrap();
    let error = search.search(&words("tides")).await.unwrap_err();
    assert_eq!((error.kind, error.unsent), (ErrorKind::Network, true), "{error}");
}

#[test]
fn engines_without_their_keys_name_them() {
    let settings = SearchSettings {
        engines: vec![Engine::Tavily, Engine::Brave, Engine::Searxng],
        ..SearchSettings::default()
    };
    let error = Search::new(&settings, &|_| None).unwrap_err().to_string();
    for variable in ["TAVILY_API_KEY", "BRAVE_API_KEY", "SEARXNG_URL"] {
        assert!(error.contains(variable), "{error}");
    }
    // Those that are not named are left out.
    let search = Search::new(&SearchSettings::default(), &|_| None).unwrap();
    assert!(search.engines().iter().all(|chosen| chosen.engine != Engine::Tavily));
}
