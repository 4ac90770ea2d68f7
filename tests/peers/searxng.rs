//! A SearXNG of its own, whose JSON engine asks a small server of the test, behind the engine `searxng`.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use deepgraph_protocol::ErrorKind;
use deepgraph_runtime::tools::web::{
    Engine, EngineSettings, SearchQuery, SearchSettings, TimeRange, Web, WebSettings,
};

use super::site::Site;
use super::{Part, free_port, peers};

/// What it asks, in the form of its settings. It has no other engines, and no plugins that reach outside.
const SETTINGS: &str = "\
use_default_settings: {engines: {keep_only: []}}
general: {instance_name: peer}
server: {port: PORT, bind_address: 127.0.0.1, secret_key: secret-of-a-test, limiter: false, public_instance: false}
search: {formats: [html, json]}
plugins: {searx.plugins.calculator.SXNGPlugin: {active: false}}
engines:
  - name: harbour
    engine: json_engine
    shortcut: hb
    categories: [general]
    search_url: 'ORIGIN/find?q={query}&page={pageno}{time_range}'
    results_query: hits
    title_query: title
    url_query: url
    content_query: text
    content_html_to_text: true
    paging: true
    time_range_support: true
    time_range_url: '&within={time_range_val}'
    time_range_map: {day: 1, week: 7, month: 31, year: 366}
    enable_http: true
";

const HITS: &str = r#"{"hits": [
    {"title": "Tides", "url": "https://harbour.example/tides?utm_source=feed", "text": "The <b>tide</b> turns twice."},
    {"title": "Tides", "url": "http://harbour.example/tides/", "text": "The same page."},
    {"title": "Moorings", "url": "https://harbour.example/moorings#fees", "text": "What a mooring costs."}
]}"#;

/// The server; ended with this.
struct Searxng {
    child: Child,
    url: String,
}

impl Searxng {
    fn start(folder: &Path, dir: &Path, origin: &str) -> Searxng {
        let port = free_port();
        let settings = dir.join("settings.yml");
        let text = SETTINGS.replace("PORT", &port.to_string()).replace("ORIGIN", origin);
        std::fs::write(&settings, text).expect("the settings can be written");
        let log = std::fs::File::create(dir.join("log")).expect("the log can be written");
        let mut command = Command::new(folder.join("bin/python"));
        command.args(["-m", "searx.webapp"]).env("SEARXNG_SETTINGS_PATH", &settings);
        // It has to answer the test alone.
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
            command.env_remove(name);
        }
        command.current_dir(dir).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let child = command.spawn().expect("python can be started");
        let server = Searxng { child, url: format!("http://127.0.0.1:{port}") };
        for _ in 0..600 {
            if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return server;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        let log = std::fs::read_to_string(dir.join("log")).unwrap_or_default();
        panic!("it does not listen: {log}");
    }
}

impl Drop for Searxng {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn web(url: &str) -> Web {
    let own = EngineSettings { base_url: Some(url.to_owned()), gap: Some(0), ..EngineSettings::default() };
    let search = SearchSettings {
        engines: vec![Engine::Searxng],
        options: [(Engine::Searxng, own)].into(),
        ..SearchSettings::default()
    };
    Web::new(&WebSettings::default(), &search, &|_| None).expect("the settings can be used")
}

fn query(text: &str) -> SearchQuery {
    SearchQuery { text: text.to_owned(), ..SearchQuery::default() }
}

#[tokio::test]
async fn it_answers_a_search() {
    let Some(folder) = peers(Part::Python) else { return };
    let site = Site::of(|path| {
        let page = |body: &str| ("application/json".to_owned(), body.as_bytes().to_vec());
        match path {
            path if path.starts_with("/find?q=tide") && path.contains("page=1") => Some(page(HITS)),
            path if path.starts_with("/find?q=broken") => Some(page("no JSON")),
            path if path.starts_with("/find?") => Some(page(r#"{"hits": []}"#)),
            _ => None,
        }
    });
    let dir = tempfile::tempdir().expect("there is room for a folder");
    let server = Searxng::start(folder, dir.path(), &site.origin());
    let web = web(&server.url);
    let answer = web.search(&query("tide")).await.unwrap_or_else(|error| panic!("{error}"));
    let hits: Vec<(&str, &str)> = answer.hits.iter().map(|hit| (&*hit.document, &*hit.title)).collect();
    assert_eq!(
        hits,
        [("https://harbour.example/tides", "Tides"), ("https://harbour.example/moorings", "Moorings")],
        "{answer:?}"
    );
    let first = answer.hits.first().expect("there is one");
    assert!(first.text.contains("The tide turns twice.") && first.source.is_empty(), "{first:?}");
    assert_eq!((answer.failed.len(), answer.fee.micro_usd), (0, 0));
    let asked = site.asked();
    let since = SearchQuery { within: Some(TimeRange::Week), ..query("tide of a week") };
    let none = web.search(&since).await.unwrap_or_else(|error| panic!("{error}"));
    let new: Vec<String> = site.asked().split_off(asked.len());
    assert!(new.iter().any(|path| path.contains("q=tide+of+a+week") && path.contains("within=7")), "{new:?}");
    assert!(!none.hits.is_empty());
    assert_eq!(web.search(&query("moor")).await.expect("it answers").hits.len(), 0);
    // What its engine can not read is a failure that may pass, and no empty answer.
    let broken = self::web(&server.url).search(&query("broken")).await.expect_err("nothing was read");
    assert!(matches!(broken.kind, ErrorKind::Unavailable | ErrorKind::RateLimited), "{broken}");
    assert!(broken.message.contains("harbour (parsing error)"), "{broken}");
    drop(server);
    let gone = web.search(&query("tide again")).await.expect_err("nobody is there");
    assert!(matches!(gone.kind, ErrorKind::Network | ErrorKind::Unavailable), "{gone}");
}
