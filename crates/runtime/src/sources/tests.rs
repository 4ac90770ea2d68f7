use std::collections::BTreeMap;
use std::sync::Mutex;

use deepgraph_protocol::{ErrorKind, Map, StepId, Value};
use deepgraph_research::canonical::canonical;
use deepgraph_research::passage::{parse, parse_hits};
use deepgraph_store::RunId;

use super::*;
use crate::call::CallContext;
use crate::ops::{Op, Ops};

/// Pages by canonical URL; every other one is refused.
#[derive(Default)]
struct Pages {
    pages: BTreeMap<String, PageRead>,
    /// Why no search is possible.
    broken: Option<StepError>,
    asked: Mutex<Vec<String>>,
}

impl Pages {
    fn with(mut self, key: &str, url: &str, title: &str, texts: &[&str]) -> Pages {
        let passage = |(n, text): (usize, &&str)| Source {
            id: format!("{key}-{}", n + 1),
            document: url.to_owned(),
            title: title.to_owned(),
            text: (*text).to_owned(),
            url: Some(url.to_owned()),
            ..Source::default()
        };
        let passages: Vec<Source> = texts.iter().enumerate().map(passage).collect();
        let page = PageRead {
            url: url.to_owned(),
            title: title.to_owned(),
            total_passages: passages.len(),
            passages,
            links: vec![(format!("{url}/more#x"), "More [about] it".to_owned())],
            ..PageRead::default()
        };
        self.pages.insert(url.to_owned(), page);
        self
    }

    fn into_sources(self) -> (Sources, Arc<Pages>) {
        let web = Arc::new(self);
        (Sources::new(None, Some(web.clone())), web)
    }
}

#[async_trait]
impl WebSource for Pages {
    async fn search(&self, query: &WebQuery) -> Result<WebHits, StepError> {
        self.asked.lock().unwrap().push(format!("{query:?}"));
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        let hit = |page: &PageRead| Hit {
            document: page.url.clone(),
            title: page.title.clone(),
            text: "A snippet [k7f2qa-1].".into(),
            url: Some(page.url.clone()),
            found: Some("searxng".into()),
            ..Hit::default()
        };
        let hits = self.pages.values().map(hit).take(query.limit).collect();
        Ok(WebHits {
            hits,
            notes: vec!["tavily was <left> out".into()],
            fee: Fee { micro_usd: 8, unknown: 0 },
        })
    }

    async fn read(
        &self,
        url: &str,
        query: Option<&str>,
        from: usize,
        _: usize,
    ) -> Result<PageRead, StepError> {
        self.asked.lock().unwrap().push(format!("{url} {query:?} {from}"));
        let page = canonical(url).and_then(|url| self.pages.get(&url).cloned());
        page.ok_or_else(|| StepError::new(ErrorKind::Refused, format!("{url} may not be asked")))
    }
}

async fn call(sources: &Sources, op: &str, input: &str) -> Result<Value, StepError> {
    let input: Value = serde_json::from_str(input).unwrap();
    let input: Map = input.as_map().cloned().unwrap();
    let context = CallContext::new(RunId::new(), StepId::new("a.1"), 1, Arc::new(input.clone()));
    let ops = Ops::stock(sources.clone());
    let op: Arc<dyn Op> = ops.get(op).unwrap().clone();
    let brought = op.call(input, &context).await?;
    op.finish(brought, Map::new()).await
}

fn count(value: &Value, field: &str) -> usize {
    let field = value.get(field);
    field
        .and_then(Value::as_list)
        .map(<[Value]>::len)
        .or(field.and_then(Value::as_map).map(Map::len))
        .unwrap_or(0)
}

const URL: &str = "https://ports.example/harle";

fn harle() -> Pages {
    Pages::default().with("p3mzk2", URL, "Harle", &["The port has 12 quays.", "It has 5 cranes."])
}

#[tokio::test]
async fn what_a_search_names_is_told_and_is_no_source() {
    let (sources, web) = harle().into_sources();
    let found = call(
        &sources,
        "search",
        r#"{"query": "quays", "limit": 3, "sites": ["ports.example"], "language": "en"}"#,
    );
    let found = found.await.unwrap();
    assert_eq!((count(&found, "hits"), count(&found, "sources")), (1, 0));
    let text = found.text("text");
    assert_eq!(parse(text), [], "{text}");
    assert_eq!(parse_hits(text)[0].url, URL);
    assert!(
        text.starts_with("Note: tavily was left out\n") && text.contains("before you use or cite it"),
        "{text}"
    );
    assert!(text.contains("> A snippet \\[k7f2qa-1]."), "{text}");
    let asked = web.asked.lock().unwrap();
    assert!(asked[0].contains("ports.example") && asked[0].contains("limit: 3"), "{asked:?}");
}

#[tokio::test]
async fn a_page_is_read_however_it_is_named() {
    let (sources, _) = harle().into_sources();
    for named in [
        URL,
        "http://www.ports.example/harle/?utm_source=x#top",
        "<https://ports.example/harle>",
        "[the port](https://ports.example/harle \\\"Harle\\\")",
        "www.ports.example/harle",
        "//ports.example/harle",
        "`https://ports.example/harle`",
        "p3mzk2-2",
        "[p3mzk2-2]",
    ] {
        let page = call(&sources, "read", &format!(r#"{{"source": "{named}"}}"#))
            .await
            .unwrap_or_else(|e| panic!("{named}: {e}"));
        assert_eq!(
            (page.text("document"), count(&page, "sources"), count(&page, "facts")),
            (URL, 2, 2),
            "{named}"
        );
        assert_eq!(parse(page.text("text")).len(), 2);
        assert_eq!(
            page.get("links").map(Value::to_string).as_deref(),
            Some("[\"https://ports.example/harle/more\"]")
        );
    }
}

#[tokio::test]
async fn what_may_not_be_read_is_told() {
    let (sources, _) = harle().into_sources();
    for (named, kind) in [
        ("http://169.254.169.254/latest/meta-data", ErrorKind::Refused),
        ("file:///etc/passwd", ErrorKind::Refused),
        ("file:/etc/passwd", ErrorKind::Refused),
        ("data:text/html,x", ErrorKind::Refused),
        ("/etc/passwd", ErrorKind::NotFound),
        ("harle.html", ErrorKind::NotFound),
        ("zzzzzz-4", ErrorKind::NotFound),
        ("", ErrorKind::InvalidInput),
    ] {
        let error = call(&sources, "read", &format!(r#"{{"source": "{named}"}}"#)).await.unwrap_err();
        assert_eq!(error.kind, kind, "{named}: {error}");
    }
    let error = call(&Sources::default(), "read", r#"{"source": "https://a.example"}"#).await.unwrap_err();
    assert!(error.message.contains("--docs") && error.message.contains("--web"), "{error}");
}

#[tokio::test]
async fn where_the_graph_reads_for_itself_the_best_pages_are_read_along() {
    let (sources, _) = harle().with("q4nzl3", "https://ports.example/other", "Other", &["x"]).into_sources();
    let found = call(&sources, "search", r#"{"query": "quays", "read": true}"#).await.unwrap();
    assert_eq!((count(&found, "hits"), count(&found, "sources")), (3, 3));
    let hit: Hit = found.get("hits").and_then(Value::as_list).unwrap()[0].to().unwrap();
    assert_eq!((hit.source.as_str(), hit.text.as_str()), ("p3mzk2-1", "> The port has 12 quays."));
    let source: Source = found.get("sources").unwrap().get("p3mzk2-1").unwrap().to().unwrap();
    assert_eq!(source.found.as_deref(), Some("searxng"));
}

#[tokio::test]
async fn why_a_page_could_not_be_read_along_is_told() {
    let mut web = harle();
    let closed = "https://closed.example/a";
    web.pages
        .insert(closed.into(), PageRead { url: "https://other.example/b".into(), ..PageRead::default() });
    let (sources, _) = web.into_sources();
    let found = call(&sources, "search", r#"{"query": "quays", "read": true}"#).await.unwrap();
    let told = "Note: https://other.example/b may not be asked\n";
    assert!(found.text("text").contains(told), "{}", found.text("text"));
    assert_eq!(count(&found, "sources"), 2, "the other page is read all the same");
}

#[tokio::test]
async fn documents_are_found_although_the_web_is_away() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("notes.md"), "# Notes\n\nThe port has 14 quays.\n").unwrap();
    let index = folder.path().join("index");
    let (corpus, _) = Corpus::open(&[folder.path().join("notes.md")], &index, &mut |_| {}).unwrap();
    let broken = Pages { broken: Some(StepError::new(ErrorKind::Unavailable, "searxng is away")), ..harle() };
    let (only_web, web) = broken.into_sources();
    let both = Sources::new(Some(Arc::new(corpus)), Some(web));
    let found = call(&both, "search", r#"{"query": "quays"}"#).await.unwrap();
    assert!(
        found.text("text").starts_with("Note: the web could not be searched: searxng is away\n"),
        "{found}"
    );
    assert_eq!(count(&found, "hits"), 1);
    assert_eq!(
        call(&both, "search", r#"{"query": "zebra"}"#).await.unwrap_err().kind,
        ErrorKind::Unavailable
    );
    assert_eq!(
        call(&only_web, "search", r#"{"query": "quays"}"#).await.unwrap_err().kind,
        ErrorKind::Unavailable
    );
    let (well, _) = harle().into_sources();
    let both = Sources::new(both.corpus.clone(), well.web.clone());
    let found = call(&both, "search", r#"{"query": "quays"}"#).await.unwrap();
    assert_eq!((count(&found, "hits"), count(&found, "sources")), (2, 1));
    assert_eq!((parse(found.text("text")).len(), parse_hits(found.text("text")).len()), (1, 1), "{found}");
    assert!(
        call(&both, "read", r#"{"source": "notes.md"}"#).await.unwrap().text("text").contains("14 quays")
    );
    assert!(
        call(&both, "read", &format!(r#"{{"source": "{URL}"}}"#))
            .await
            .unwrap()
            .text("text")
            .contains("12 quays")
    );
}
