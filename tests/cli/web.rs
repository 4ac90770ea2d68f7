//! A run over the web, by the command: a site and a search engine on the loopback interface.

use serde_json::{Value as Json, json};

use super::world::{EXHAUSTED, SUCCEEDED, Said, USAGE, World};
use crate::support::site::{Page, Site};

const QUESTION: &str = "What is the number of quays of Harle?";

/// Pages about a port that does not exist, one of them known to links alone.
fn harle() -> Site {
    Site::start(vec![
        Page::listed(
            "/harle.html",
            "Harle",
            "Harle has 99 quays, says this snippet.",
            "<h1>Harle</h1><p>The number of quays of Harle is 12, as counted in 2024.</p><p>Its cranes are told of \
             <a href=\"/cranes.html\">elsewhere</a>.</p>",
        ),
        Page::listed(
            "/rice.html",
            "Rice",
            "Rice is cooked in water.",
            "<h1>Rice</h1><p>Rice is cooked in twice as much water as there is rice.</p>",
        ),
        Page::listed(
            "/pears.html",
            "Pears",
            "Pears are sweet.",
            "<h1>Pears</h1><p>Pears ripen in September.</p>",
        ),
        Page::new("/cranes.html", "Cranes", "<h1>Cranes</h1><p>Harle has 5 cranes.</p>"),
    ])
}

fn parsed(said: &Said) -> Json {
    serde_json::from_str(&said.out).unwrap_or_else(|e| panic!("{e}: {said:?}"))
}

#[test]
fn a_question_is_searched_for_read_and_answered_with_urls() {
    let (world, site) = (World::new(), harle());
    let config = world.write("web.yaml", &site.config());
    let recording = world.path("recording.json").to_string_lossy().into_owned();
    let said = world.deepgraph(&["run", QUESTION, "--web", "--config", &config, "--record", &recording]);
    assert_eq!(said.code, SUCCEEDED, "{said:?}");
    assert!(said.err.contains("searching the web with searxng"), "{}", said.err);
    let url = format!("{}/harle.html", site.url);
    assert!(said.err.contains(&url), "progress tells what is read: {}", said.err);
    assert!(said.out.contains("Harle is 12") && !said.out.contains("99"), "{}", said.out);
    assert!(said.out.contains(&format!("[1] Harle — {url}")), "{}", said.out);

    // What was found, read and cited.
    let sources = parsed(&world.deepgraph(&["sources", "last", "--json"]));
    let rows = sources["sources"].as_array().expect("a list");
    let row = |path: &str| {
        let is_it = |row: &&Json| row["document"].as_str().is_some_and(|document| document.ends_with(path));
        rows.iter().find(is_it).unwrap_or_else(|| panic!("{path}: {sources:#}"))
    };
    let read = row("/harle.html");
    assert_eq!(read["read"], true);
    assert_eq!(read["found"][0]["by"], "search");
    assert_eq!(read["found"][0]["engines"], "searxng");
    assert!(read["cited"].as_array().is_some_and(|cited| !cited.is_empty()), "{read:#}");
    assert!(
        read["fetched"].is_string() && read["hash"].as_str().is_some_and(|hash| hash.len() == 64),
        "{read:#}"
    );
    let unread: Vec<bool> = rows.iter().map(|row| row["read"] == true).collect();
    assert!(unread.contains(&false), "three were named and two are read: {sources:#}");
    assert_eq!(sources["citations"]["removed"], 0);
    assert!(sources["citations"]["verified"].as_u64().is_some_and(|n| n >= 1), "{sources:#}");
    let text = world.deepgraph(&["sources", "last"]).out;
    assert!(text.contains("not read") && text.contains("found by searxng"), "{text}");

    let shown = parsed(&world.deepgraph(&["show", "last", "--json"]));
    assert_eq!(shown["figures"]["citations"], sources["citations"]);
    let citation = &shown["output"]["citations"][0];
    assert_eq!((citation["url"].as_str(), citation["title"].as_str()), (Some(url.as_str()), Some("Harle")));
    let shown = world.deepgraph(&["show", "last"]).out;
    assert!(shown.contains("citations  "), "{shown}");
    let stored = shown + &world.deepgraph(&["trace", "last"]).out;
    assert!(stored.contains("checked = {removed: 0"), "{stored}");

    // The same again is the same, but for when it was fetched; and a replay needs no network.
    let first = world.deepgraph(&["trace", "last", "--redact", "--full"]).out;
    let again = world.deepgraph(&["run", QUESTION, "--web", "--config", &config]);
    assert_eq!(again.out, said.out);
    assert_eq!(world.deepgraph(&["trace", "last", "--redact", "--full"]).out, first);
    let asked = site.asked().len();
    let replayed = world.deepgraph(&["run", "--replay", &recording]);
    assert_eq!((replayed.out, site.asked().len()), (said.out, asked), "{}", replayed.err);
}

/// Searches, reads a page, follows its link, and cites as models do: by URLs, some of which it made up.
fn script(site: &str) -> String {
    let call = |turn: usize, name: &str, argument: &str, value: &str| json!({"when": {"tools": ["search"], "turn": turn}, "reply": {"calls": [{"name": name, "arguments": {argument: value}}]}});
    let report = format!(
        "The number of quays of Harle is 12, as counted in 2024 ({site}/harle.html#top). Harle has [5 cranes]({site}/cranes.html?utm_source=x).\n\n\
         The number of quays of Harle is 12 ({site}/harle). Harle has 5 cranes [4].\n\n\
         - https://harle.example/report\n\n## References\n\n1. {site}/harle.html\n4. Harle Times, https://times.example/cranes"
    );
    let rules = [
        call(0, "search", "query", "Harle"),
        call(1, "read", "source", &format!("{site}/harle.html")),
        call(2, "read", "source", &format!("[elsewhere]({site}/cranes.html)")),
        json!({"when": {"tools": ["search"]}, "reply": {"text": "All is read."}}),
        json!({"reply": {"text": report}}),
    ];
    json!({"rules": rules}).to_string()
}

#[test]
fn links_are_followed_and_invented_urls_go() {
    let (world, site) = (World::new(), harle());
    let (config, script) =
        (world.write("web.yaml", &site.config()), world.write("script.yaml", &script(&site.url)));
    let args =
        ["run", QUESTION, "--graph", "quick_answer", "--model", "scripted", "--script", &script, "--web"];
    let said = Said::of(world.command(&args).args(["--config", &config, "--json"]));
    assert_eq!(said.code, SUCCEEDED, "{said:?}");
    let end: Json =
        said.out.lines().last().and_then(|line| serde_json::from_str(line).ok()).expect("an event");
    let text = end["text"].as_str().expect("a report");
    assert!(
        text.starts_with(
            "The number of quays of Harle is 12, as counted in 2024. [1] Harle has 5 cranes. [2]\n"
        ),
        "{text}"
    );
    assert!(
        text.contains("[unsupported]") && !text.contains("times.example") && !text.contains("harle.example"),
        "{text}"
    );
    assert_eq!(text.matches("://").count(), 2, "one URL for each of the two pages that were read: {text}");
    let checked = json!({"total": 7, "verified": 3, "removed": 4});
    assert_eq!(end["figures"]["citations"], checked, "{text}");
    let urls: Vec<&str> =
        end["citations"].as_array().expect("a list").iter().filter_map(|c| c["url"].as_str()).collect();
    assert_eq!(urls, [format!("{}/harle.html", site.url), format!("{}/cranes.html", site.url)]);
    let sources = parsed(&world.deepgraph(&["sources", "last", "--json"]));
    let rows = sources["sources"].as_array().expect("a list").iter();
    let cranes =
        rows.filter(|row| row["title"] == "Cranes").map(|row| row["found"].clone()).collect::<Vec<_>>();
    assert_eq!(cranes, [json!([{"by": "link", "page": format!("{}/harle.html", site.url)}])], "{sources:#}");
    assert_eq!(sources["citations"], checked);
}

#[test]
fn a_run_that_goes_on_still_has_the_web() {
    let (world, site) = (World::new(), harle());
    let config = world.write("web.yaml", &site.config());
    let args = ["run", QUESTION, "--graph", "quick_answer", "--search", "searxng", "--config", &config];
    let said = Said::of(world.command(&args).args(["--set", "max_tool_calls=1"]));
    assert!(!said.out.contains("12"), "nothing is said of a snippet: {said:?}");
    assert!(!site.asked().iter().any(|path| path == "/harle.html"), "{:?}", site.asked());
    let said = world.deepgraph(&["resume", "last", "--set", "max_tool_calls=8"]);
    assert!(said.out.contains("Harle is 12"), "{said:?}");
    assert!(site.asked().iter().any(|path| path == "/harle.html"), "{:?}", site.asked());
}

#[test]
fn documents_and_the_web_are_searched_together() {
    let (world, site) = (World::new(), harle());
    let config = world.write("web.yaml", &site.config());
    world.write("docs/harle.md", "# Harle\n\nThe number of cranes of Harle is 5.\n");
    let docs = world.path("docs").to_string_lossy().into_owned();
    let asked = "What is the number of quays and the number of cranes of Harle?";
    let said = world.deepgraph(&["run", asked, "--web", "--docs", &docs, "--config", &config]);
    assert_eq!(said.code, SUCCEEDED, "{said:?}");
    assert!(said.out.contains("harle.md, line 3") && said.out.contains("/harle.html"), "{}", said.out);
}

#[test]
fn without_sources_it_is_told_what_to_do() {
    let world = World::new();
    let said = world.deepgraph(&["run", QUESTION]);
    assert!(said.err.contains("--docs PATH") && said.err.contains("--web"), "{}", said.err);
    let said = world.deepgraph(&["run", QUESTION, "--search", "altavista"]);
    assert!(said.err.contains("altavista") && said.err.contains("wikipedia"), "{}", said.err);
}

#[test]
fn a_web_that_can_not_be_searched_is_told_everywhere() {
    let (world, site) = (World::new(), harle());
    let nowhere = site
        .config()
        .replace(&format!("base_url: \"{}", site.url), &format!("base_url: \"{}/none", site.url));
    let config = world.write("web.yaml", &nowhere);
    let said = world.deepgraph(&["run", QUESTION, "--web", "--config", &config]);
    assert_eq!(said.code, EXHAUSTED, "{said:?}");
    assert!(said.out.contains("Nothing was found: the web could not be searched."), "{}", said.out);
    assert!(
        said.out.contains("in the web, which could not be searched: searxng: there is no such API"),
        "{}",
        said.out
    );
    assert!(!said.out.contains("in the sources"), "{}", said.out);
    let failed = "every search failed: the web could not be searched: searxng: there is no such API";
    assert!(said.err.contains(failed) && !said.err.contains("is covered"), "{}", said.err);
    let shown = world.deepgraph(&["show", "last"]);
    assert!(shown.out.contains(failed), "{}", shown.out);

    // With documents that have the answer the report stands, and says so all the same.
    world.write("docs/harle.md", "# Harle\n\nThe number of quays of Harle is 12.\n");
    let docs = world.path("docs").to_string_lossy().into_owned();
    let said = world.deepgraph(&["run", QUESTION, "--web", "--docs", &docs, "--config", &config]);
    assert_eq!(said.code, SUCCEEDED, "{said:?}");
    assert!(said.out.contains("Harle is 12"), "{}", said.out);
    assert!(said.out.contains("in the web, which could not be searched: searxng"), "{}", said.out);
}

#[test]
fn an_engine_that_is_named_needs_its_key_before_anything_runs() {
    let world = World::new();
    let said = world.deepgraph(&["run", QUESTION, "--search", "tavily"]);
    assert_eq!(said.code, USAGE, "{said:?}");
    assert!(said.err.contains("tavily") && said.err.contains("TAVILY_API_KEY"), "{}", said.err);
}

#[test]
fn a_page_that_the_question_names_is_read() {
    let (world, site) = (World::new(), harle());
    let config = world.write("web.yaml", &site.config());
    let asked = format!("What does {}/cranes.html say about cranes?", site.url);
    let said = world.deepgraph(&["run", &asked, "--web", "--config", &config]);
    assert_eq!(said.code, SUCCEEDED, "{said:?}");
    assert!(said.out.contains("Harle has 5 cranes. [1]"), "{}", said.out);
    assert!(!site.asked().iter().any(|path| path.contains("q=http")), "{:?}", site.asked());
}
