//! Time, language and sites: what engines filter, what is filtered here, and what is said where neither can.

use serde_json::json;

use super::*;

fn filtered() -> SearchQuery {
    SearchQuery {
        from: Some("2024-01-02".into()),
        to: Some("2024-05-31".into()),
        language: Some("de".into()),
        include_sites: vec!["tides.example".into(), "doi.org".into()],
        exclude_sites: vec!["old.tides.example".into()],
        ..words("tidal energy")
    }
}

/// What an engine is asked for a query; its answer is of no interest.
async fn request(engine: Engine, query: &SearchQuery) -> Got {
    let server = Server::start(|_| Answer::new(500, "")).await;
    search_of(&[engine], &server).search(query).await.unwrap_err();
    server.only()
}

#[tokio::test]
async fn engines_are_asked_for_what_they_filter() {
    let got = request(Engine::Tavily, &filtered()).await.json();
    assert_eq!(
        (got["start_date"].as_str(), got["end_date"].as_str()),
        (Some("2024-01-02"), Some("2024-05-31"))
    );
    assert_eq!(got["include_domains"], json!(["doi.org", "tides.example"]));
    assert_eq!(got["exclude_domains"], json!(["old.tides.example"]));
    let got = request(Engine::Brave, &filtered()).await;
    assert_eq!(
        (got.parameter("freshness").as_str(), got.parameter("search_lang").as_str()),
        ("2024-01-02to2024-05-31", "de")
    );
    assert_eq!(got.parameter("q"), "tidal energy site:doi.org OR site:tides.example -site:old.tides.example");
    let got = request(Engine::Exa, &filtered()).await.json();
    assert_eq!(got["startPublishedDate"], json!("2024-01-02T00:00:00.000Z"));
    assert_eq!(got["endPublishedDate"], json!("2024-05-31T23:59:59.999Z"));
    let got = request(Engine::Serper, &filtered()).await.json();
    assert_eq!(
        (got["tbs"].as_str(), got["hl"].as_str()),
        (Some("cdr:1,cd_min:1/2/2024,cd_max:5/31/2024"), Some("de"))
    );
    let got = request(Engine::Openalex, &filtered()).await;
    assert_eq!(
        got.parameter("filter"),
        "from_publication_date:2024-01-02,to_publication_date:2024-05-31,language:de"
    );
    let got = request(Engine::Crossref, &filtered()).await;
    assert_eq!(got.parameter("filter"), "from-pub-date:2024-01-02,until-pub-date:2024-05-31");
    let got = request(Engine::Arxiv, &filtered()).await;
    assert_eq!(
        got.parameter("search_query"),
        "(all:tidal AND all:energy) AND submittedDate:[202401020000 TO 202405312359]"
    );
    let got = request(Engine::Pubmed, &filtered()).await;
    assert_eq!(
        (got.parameter("mindate").as_str(), got.parameter("maxdate").as_str()),
        ("2024/01/02", "2024/05/31")
    );
    assert_eq!(
        (got.parameter("datetype").as_str(), got.parameter("term").as_str()),
        ("pdat", "(tidal energy) AND ger[la]")
    );
}

#[tokio::test]
async fn a_time_until_now_is_handed_on_by_its_name() {
    let week = SearchQuery { within: Some(TimeRange::Week), ..words("tides") };
    assert_eq!(request(Engine::Tavily, &week).await.json()["time_range"], json!("week"));
    assert_eq!(request(Engine::Brave, &week).await.parameter("freshness"), "pw");
    assert_eq!(request(Engine::Serper, &week).await.json()["tbs"], json!("qdr:w"));
    assert_eq!(request(Engine::Searxng, &week).await.parameter("time_range"), "week");
}

#[tokio::test]
async fn wikipedia_is_asked_in_the_language_of_the_query() {
    let server =
        Server::start(|_| Answer::json(json!({"query": {"search": [{"title": "Gezeiten", "snippet": ""}]}})))
            .await;
    let base = format!("{}/wikipedia/{{language}}", server.url());
    let search = search_with(&[Engine::Wikipedia], &server, |settings| {
        settings.options.get_mut(&Engine::Wikipedia).unwrap().base_url = Some(base);
    });
    let query = SearchQuery { language: Some("de-AT".into()), ..words("Gezeiten") };
    let answer = search.search(&query).await.unwrap();
    assert_eq!(server.only().path(), "/de/w/api.php");
    assert_eq!(answer.hits[0].url.as_deref(), Some("https://de.wikipedia.org/wiki/Gezeiten"));
}

#[tokio::test]
async fn what_an_engine_does_not_filter_is_filtered_in_its_answer_or_said() {
    let page =
        |url: &str, date: &str| json!({"url": url, "title": url, "content": "", "publishedDate": date});
    let results = [
        page("https://tides.example/in", "2024-03-01"),
        page("https://tides.example/late", "2024-06-01"),
        page("https://tides.example/undated", ""),
        page("https://old.tides.example/in", "2024-03-01"),
        page("https://nottides.example/in", "2024-03-01"),
    ];
    let answer = Answer::json(json!({"results": results, "unresponsive_engines": []}));
    let server = Server::start(move |_| answer.clone()).await;
    let answer = search_of(&[Engine::Searxng], &server).search(&filtered()).await.unwrap();
    let urls: Vec<&str> = answer.hits.iter().filter_map(|hit| hit.url.as_deref()).collect();
    assert_eq!(urls, ["https://tides.example/in", "https://tides.example/undated"]);
    assert_eq!(
        answer.notes,
        [
            "searxng: 2 of 5 results are of other sites and were left out",
            "searxng: 1 results have no date and may be of another time",
        ]
    );
    let wikipedia = Answer::json(json!({"query": {"search": [{"title": "Tide", "snippet": ""}]}}));
    let server = Server::start(move |_| wikipedia.clone()).await;
    let query = SearchQuery { within: Some(TimeRange::Year), ..words("tide") };
    let answer = search_of(&[Engine::Wikipedia], &server).search(&query).await.unwrap();
    assert_eq!(answer.hits.len(), 1);
    assert!(answer.notes[0].contains("not filtered by time"), "{:?}", answer.notes);
}

#[tokio::test]
async fn engines_that_do_not_fit_are_not_asked_where_nobody_named_them() {
    let settings = SearchSettings::default();
    let search = Search::new(&settings, &|_| None).unwrap();
    let named: Vec<Engine> = search.engines().into_iter().map(|chosen| chosen.engine).collect();
    assert_eq!(named, [Engine::Wikipedia, Engine::Openalex, Engine::Arxiv, Engine::Pubmed]);
    let query = SearchQuery {
        include_sites: vec!["tides.example".into()],
        language: Some("de".into()),
        ..words("tides")
    };
    let (asked, _) = Asked::of(&query, &settings, today()).unwrap();
    let (services, notes) = search.fitting(&asked);
    assert_eq!(services.iter().map(|service| service.engine).collect::<Vec<_>>(), [Engine::Openalex]);
    assert_eq!(notes.len(), 3, "{notes:?}");
    assert!(
        notes.iter().any(|note| note == "not asked: wikipedia has nothing of tides.example"),
        "{notes:?}"
    );
    let key = |name: &str| {
        (name == "BRAVE_API_KEY" || name == "SEARXNG_URL").then(|| "https://search.example".to_owned())
    };
    let search = Search::new(&settings, &key).unwrap();
    let why: Vec<String> =
        search.engines().into_iter().map(|chosen| format!("{}: {}", chosen.engine, chosen.why)).collect();
    assert_eq!(why[..2], ["brave: BRAVE_API_KEY is set", "searxng: its address is set"]);
}

#[test]
fn settings_that_can_not_be_used_are_told() {
    let wrong = |change: fn(&mut SearchSettings)| {
        let mut settings = SearchSettings { engines: vec![Engine::Searxng], ..SearchSettings::default() };
        change(&mut settings);
        Search::new(&settings, &|_| None).unwrap_err().to_string()
    };
    let at = |base_url: &str| {
        let own = EngineSettings { base_url: Some(base_url.to_owned()), ..EngineSettings::default() };
        BTreeMap::from([(Engine::Searxng, own)])
    };
    assert!(wrong(|s| s.language = Some("!".into())).contains("the language"));
    assert!(wrong(|s| s.include_sites = vec!["a b".into()]).contains("the site"));
    for (base_url, told) in [
        ("file:///etc", "neither http nor https"),
        ("nowhere", "relative URL"),
        ("https://a.example/?q=", "a query"),
        ("https://user:secret@a.example", "a user name or a password"),
    ] {
        let settings = SearchSettings {
            engines: vec![Engine::Searxng],
            options: at(base_url),
            ..SearchSettings::default()
        };
        let error = Search::new(&settings, &|_| None).unwrap_err().to_string();
        assert!(error.contains(told) && !error.contains("secret"), "{error}");
    }
}
