//! Each engine: how it is asked, and how its answer is read.

use serde_json::json;

use super::*;

/// What an engine found in one answer, and what it was asked.
async fn found(engine: Engine, answer: Answer) -> (SearchAnswer, Got) {
    let server = Server::start(move |_| answer.clone()).await;
    let answer = search_of(&[engine], &server).search(&words("tidal energy")).await.unwrap();
    (answer, server.only())
}

/// Address, title, snippet and date of each hit.
fn told(answer: &SearchAnswer) -> Vec<(&str, &str, &str, Option<&str>)> {
    let hits = answer.hits.iter();
    hits.map(|h| (h.url.as_deref().unwrap_or_default(), &*h.title, &*h.text, h.date.as_deref())).collect()
}

#[tokio::test]
async fn tavily() {
    let answer = json!({
        "query": "tidal energy", "answer": null, "images": [], "response_time": 0.9, "request_id": "r-1",
        "results": [{
            "title": "Tidal power", "url": "https://tides.example/power", "content": "Turbines turn\nwith a < b.",
            "score": 0.91, "raw_content": null, "published_date": "Fri, 31 May 2024 10:00:00 GMT"
        }],
        "usage": {"credits": 1}
    });
    let (answer, got) = found(Engine::Tavily, Answer::json(answer)).await;
    let hit = ("https://tides.example/power", "Tidal power", "Turbines turn with a < b.", Some("2024-05-31"));
    assert_eq!(told(&answer), [hit]);
    assert_eq!(answer.fee, Fee { micro_usd: 8_000, unknown: 0 });
    assert_eq!((got.method.as_str(), got.path().as_str()), ("POST", "/search"));
    assert_eq!(got.header("authorization"), "Bearer key-of-TAVILY_API_KEY");
    assert_eq!(
        (got.header("content-type"), got.json()["query"].as_str()),
        ("application/json", Some("tidal energy"))
    );
    assert_eq!(
        (got.json()["max_results"].as_u64(), got.json()["search_depth"].as_str()),
        (Some(10), Some("basic"))
    );
}

#[tokio::test]
async fn brave() {
    let answer = json!({
        "type": "search", "query": {"original": "tidal energy"},
        "web": {"type": "search", "results": [{
            "title": "Tidal &amp; wave", "url": "https://tides.example/power", "description": "A <strong>tidal</strong> mill&#x27;s wheel",
            "page_age": "2024-05-31T08:00:00", "age": "May 31, 2024", "language": "en"
        }]}
    });
    let (answer, got) = found(Engine::Brave, Answer::json(answer)).await;
    let hit = ("https://tides.example/power", "Tidal & wave", "A tidal mill's wheel", Some("2024-05-31"));
    assert_eq!(told(&answer), [hit]);
    assert_eq!(answer.fee.micro_usd, 5_000);
    assert_eq!((got.method.as_str(), got.path().as_str()), ("GET", "/res/v1/web/search"));
    assert_eq!(got.header("x-subscription-token"), "key-of-BRAVE_API_KEY");
    assert_eq!((got.parameter("q").as_str(), got.parameter("count").as_str()), ("tidal energy", "10"));
    // Where nothing is found there is no `web`.
    assert!(asked(Engine::Brave, Answer::json(json!({"type": "search"}))).await.unwrap().hits.is_empty());
}

#[tokio::test]
async fn exa() {
    let answer = json!({
        "requestId": "r-1", "resolvedSearchType": "neural",
        "results": [{
            "title": "Tidal power", "url": "https://tides.example/power", "id": "https://tides.example/power",
            "publishedDate": "2024-05-31T00:00:00.000Z", "author": null, "highlights": ["Turbines turn.", "Twice a day."]
        }],
        "costDollars": {"total": 0.0075, "search": {"neural": 0.0075}}
    });
    let (answer, got) = found(Engine::Exa, Answer::json(answer)).await;
    let hit =
        ("https://tides.example/power", "Tidal power", "Turbines turn. … Twice a day.", Some("2024-05-31"));
    assert_eq!(told(&answer), [hit]);
    assert_eq!(answer.fee.micro_usd, 7_500, "what it says that it cost");
    assert_eq!((got.method.as_str(), got.path().as_str()), ("POST", "/search"));
    assert_eq!(
        (got.header("x-api-key"), got.json()["numResults"].as_u64()),
        ("key-of-EXA_API_KEY", Some(10))
    );
}

#[tokio::test]
async fn serper() {
    let answer = json!({
        "searchParameters": {"q": "tidal energy", "type": "search", "engine": "google"},
        "organic": [{
            "title": "Tidal power", "link": "https://tides.example/power", "snippet": "Turbines turn.",
            "date": "May 31, 2024", "position": 1
        }],
        "credits": 1
    });
    let (answer, got) = found(Engine::Serper, Answer::json(answer)).await;
    assert_eq!(
        told(&answer),
        [("https://tides.example/power", "Tidal power", "Turbines turn.", Some("2024-05-31"))]
    );
    assert_eq!(answer.fee.micro_usd, 1_000);
    assert_eq!((got.method.as_str(), got.path().as_str()), ("POST", "/search"));
    assert_eq!((got.header("x-api-key"), got.json()["num"].as_u64()), ("key-of-SERPER_API_KEY", Some(10)));
}

#[tokio::test]
async fn searxng() {
    let answer = json!({
        "query": "tidal energy", "number_of_results": 0, "answers": [], "corrections": [], "infoboxes": [], "suggestions": [],
        "results": [{
            "url": "https://tides.example/power", "title": "Tidal power", "content": "Turbines turn.", "engine": "bing",
            "engines": ["bing", "mojeek"], "score": 2.0, "category": "general", "publishedDate": "2024-05-31T00:00:00"
        }],
        "unresponsive_engines": [["google", "Suspended: CAPTCHA"]]
    });
    let (answer, got) = found(Engine::Searxng, Answer::json(answer)).await;
    assert_eq!(
        told(&answer),
        [("https://tides.example/power", "Tidal power", "Turbines turn.", Some("2024-05-31"))]
    );
    assert_eq!(answer.notes, ["searxng: without an answer of google (Suspended: CAPTCHA)"]);
    assert!(answer.fee.is_none());
    assert_eq!((got.path().as_str(), got.parameter("format").as_str()), ("/search", "json"));
}

#[tokio::test]
async fn wikipedia() {
    let answer = json!({
        "batchcomplete": true, "continue": {"sroffset": 1, "continue": "-||"},
        "query": {"searchinfo": {"totalhits": 812}, "search": [{
            "ns": 0, "title": "Tidal power/AC?", "pageid": 7,
            "snippet": "<span class=\"searchmatch\">Tidal</span> power is &quot;predictable&quot;"
        }]}
    });
    let (answer, got) = found(Engine::Wikipedia, Answer::json(answer)).await;
    let url = "https://en.wikipedia.org/wiki/Tidal_power%2FAC%3F";
    assert_eq!(told(&answer), [(url, "Tidal power/AC?", "Tidal power is \"predictable\"", None)]);
    assert_eq!((got.path().as_str(), got.parameter("srsearch").as_str()), ("/w/api.php", "tidal energy"));
    assert_eq!((got.parameter("list").as_str(), got.parameter("srlimit").as_str()), ("search", "10"));
    assert!(got.header("user-agent").starts_with("deepgraph/"));
}

#[tokio::test]
async fn arxiv() {
    let feed = r#"<?xml version="1.0" encoding="UTF-8"?>
        <feed xmlns="http://www.w3.org/2005/Atom" xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">
          <title type="html">ArXiv Query: search_query=all:tidal</title>
          <opensearch:totalResults>1</opensearch:totalResults>
          <entry>
            <id>http://arxiv.org/abs/2401.00001v2</id>
            <published>2024-05-31T17:59:59Z</published><updated>2024-06-02T00:00:00Z</updated>
            <title>Tidal streams
              and turbines</title>
            <summary>  We compute
              a &lt;b&gt; b.</summary>
            <author><name>A. Author</name></author>
          </entry>
        </feed>"#;
    let (answer, got) = found(Engine::Arxiv, Answer::new(200, feed)).await;
    let hit = (
        "https://arxiv.org/abs/2401.00001v2",
        "Tidal streams and turbines",
        "We compute a <b> b.",
        Some("2024-05-31"),
    );
    assert_eq!(told(&answer), [hit]);
    assert_eq!(
        (got.path().as_str(), got.parameter("search_query").as_str()),
        ("/api/query", "all:tidal AND all:energy")
    );
}

#[tokio::test]
async fn openalex() {
    let answer = json!({
        "meta": {"count": 1, "page": 1, "per_page": 10},
        "results": [{
            "id": "https://openalex.org/W7", "doi": "https://doi.org/10.5555/tides.7", "display_name": "Tidal <i>energy</i>",
            "publication_date": "2024-05-31", "authorships": [{"author": {"display_name": "Ada Tide"}}],
            "primary_location": {"landing_page_url": "https://journal.example/7", "source": {"display_name": "Journal of Tides"}},
            "abstract_inverted_index": {"turn": [1, 3], "Turbines": [0], "and": [2]}
        }]
    });
    let (answer, got) = found(Engine::Openalex, Answer::json(answer)).await;
    let text = "Turbines turn and turn. Ada Tide. Journal of Tides";
    assert_eq!(
        told(&answer),
        [("https://doi.org/10.5555/tides.7", "Tidal energy", text, Some("2024-05-31"))]
    );
    assert_eq!((got.path().as_str(), got.parameter("search").as_str()), ("/works", "tidal energy"));
    assert_eq!(
        (got.parameter("per_page").as_str(), got.parameter("api_key").as_str()),
        ("10", "key-of-OPENALEX_API_KEY")
    );
}

#[tokio::test]
async fn crossref() {
    let answer = json!({
        "status": "ok", "message-type": "work-list", "message-version": "1.0.0",
        "message": {"total-results": 1, "items": [{
            "DOI": "10.5555/Tides.7", "URL": "https://doi.org/10.5555/Tides.7", "title": ["Tidal energy"],
            "abstract": "<jats:p>Turbines turn.</jats:p>", "author": [{"given": "Ada", "family": "Tide"}],
            "container-title": ["Journal of Tides"], "issued": {"date-parts": [[2024, 5]]}
        }, {"DOI": "10.5555/empty", "title": [], "issued": {"date-parts": [[null]]}}]}
    });
    let (answer, got) = found(Engine::Crossref, Answer::json(answer)).await;
    let text = "Turbines turn.. Ada Tide. Journal of Tides";
    let first = answer.hits.first().unwrap();
    assert_eq!((first.title.as_str(), first.date.as_deref()), ("Tidal energy", Some("2024-05")));
    assert!(text.contains("Ada Tide") && first.text.starts_with("Turbines turn."), "{}", first.text);
    assert_eq!(answer.hits.len(), 2);
    assert_eq!((got.path().as_str(), got.parameter("query").as_str()), ("/works", "tidal energy"));
}

#[tokio::test]
async fn pubmed() {
    let server = Server::start(|got| match got.path().as_str() {
        "/entrez/eutils/esearch.fcgi" => Answer::json(json!({
            "header": {"type": "esearch"},
            "esearchresult": {"count": "2", "retmax": "2", "idlist": ["222", "111"], "querytranslation": "tidal"}
        })),
        _ => Answer::json(json!({
            "header": {"type": "esummary"},
            "result": {
                "uids": ["111", "222"],
                "111": {"uid": "111", "title": "Tidal volume.", "pubdate": "2024", "sortpubdate": "2024/01/01 00:00", "authors": []},
                "222": {
                    "uid": "222", "title": "Breathing &amp; tides", "pubdate": "2024 May 31", "sortpubdate": "2024/05/31 00:00",
                    "fulljournalname": "Journal of Breath", "authors": [{"name": "Tide A", "authtype": "Author"}]
                }
            }
        })),
    })
    .await;
    let answer = search_of(&[Engine::Pubmed], &server).search(&words("tidal energy")).await.unwrap();
    let first = (
        "https://pubmed.ncbi.nlm.nih.gov/222/",
        "Breathing & tides",
        "Tide A. Journal of Breath. 2024 May 31",
        Some("2024-05-31"),
    );
    assert_eq!(told(&answer)[0], first);
    assert_eq!(told(&answer)[1].3, Some("2024"), "a date is as exact as it is known");
    let [search, summary] = server.got().try_into().unwrap();
    assert_eq!(
        (search.parameter("db").as_str(), search.parameter("term").as_str()),
        ("pubmed", "tidal energy")
    );
    assert_eq!(
        (search.parameter("retmode").as_str(), search.parameter("api_key").as_str()),
        ("json", "key-of-NCBI_API_KEY")
    );
    assert_eq!(summary.parameter("id"), "222,111");
}
