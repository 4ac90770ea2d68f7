//! A documentation site as it is: the policy and the developer's reference of Debian, served on the loopback, and
//! crawled.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Component, Path, PathBuf};

use deepgraph_protocol::ErrorKind;
use deepgraph_runtime::tools::web::{SearchSettings, Web, WebPage, WebSettings};

use super::site::Site;
use super::{Part, peers};

/// More text than a page of them has.
const ALL: usize = 4 * 1024 * 1024;
/// Pages of each crawl.
const PAGES: usize = 30;

/// Serves a folder.
fn serve(root: &Path) -> Site {
    let root = root.to_owned();
    Site::of(move |path| {
        let path = PathBuf::from(path.split(['?', '#']).next().unwrap_or_default().trim_start_matches('/'));
        let inside = path.components().all(|part| matches!(part, Component::Normal(_)));
        let mut file = root.join(&path);
        if file.is_dir() {
            file.push("index.html");
        }
        let body = std::fs::read(&file).ok().filter(|_| inside)?;
        let kind = match file.extension().and_then(|extension| extension.to_str()) {
            Some("html") => "text/html",
            Some("txt") => "text/plain",
            _ => "application/octet-stream",
        };
        Some((kind.to_owned(), body))
    })
}

fn web(site: &Site) -> Web {
    let host = site.origin().trim_start_matches("http://").to_owned();
    let settings = WebSettings { allow: vec![host], gap: 0, ..WebSettings::default() };
    Web::new(&settings, &SearchSettings::default(), &|_| None).expect("the settings can be used")
}

/// Reads pages from one on, following the links within the folder of it.
async fn crawl(web: &Web, start: &str) -> BTreeMap<String, WebPage> {
    let folder = start.rsplit_once('/').map_or(start, |(folder, _)| folder);
    let mut open = VecDeque::from([start.to_owned()]);
    let mut seen = BTreeSet::from([start.to_owned()]);
    let mut read = BTreeMap::new();
    while let Some(url) = open.pop_front().filter(|_| read.len() < PAGES) {
        let page = web.read(&url, None, 0, ALL).await.unwrap_or_else(|error| panic!("{url}: {error}"));
        for link in &page.links {
            let target = link.url.split('#').next().unwrap_or_default().to_owned();
            if target.starts_with(folder) && target.ends_with(".html") && seen.insert(target.clone()) {
                open.push_back(target);
            }
        }
        read.insert(url, page);
    }
    read
}

/// What each passage says stands in the page's own bytes, at its span.
fn is_found_again(page: &WebPage, bytes: &[u8], url: &str) {
    for passage in &page.passages {
        let (from, to) = (passage.span.start as usize, passage.span.end as usize);
        let cut =
            bytes.get(from..to).unwrap_or_else(|| panic!("{url}: {:?} is not within the page", passage.span));
        let cut = String::from_utf8_lossy(cut);
        // Between the words stand tags and references to characters.
        let words: Vec<&str> =
            passage.text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| w.len() > 3).collect();
        let found = words.iter().filter(|word| cut.contains(*word)).count();
        assert!(
            found * 10 >= words.len() * 9,
            "{url}: {} of {} words\n{}\n---\n{cut}",
            found,
            words.len(),
            passage.text
        );
    }
}

fn file_of(root: &Path, site: &Site, url: &str) -> Vec<u8> {
    let path = url.trim_start_matches(&site.origin()).trim_start_matches('/');
    std::fs::read(root.join(path)).unwrap_or_else(|error| panic!("{url}: {error}"))
}

#[tokio::test]
async fn the_policy_is_crawled() {
    let Some(folder) = peers(Part::Pages) else { return };
    let root = folder.join("usr/share/doc/debian-policy");
    let site = serve(&root);
    let web = web(&site);
    let start = format!("{}/policy.html/index.html", site.origin());
    let read = crawl(&web, &start).await;
    assert!(read.len() >= 20, "{:?}", read.keys());
    for (url, page) in &read {
        assert!(page.title.contains("Debian Policy Manual"), "{url}: {}", page.title);
        is_found_again(page, &file_of(&root, &site, url), url);
    }
    let binary = &read[&format!("{}/policy.html/ch-binary.html", site.origin())];
    assert!(binary.title.contains("Binary packages"), "{}", binary.title);
    let sections: BTreeSet<&str> = binary.passages.iter().map(|passage| &*passage.section).collect();
    assert!(sections.iter().any(|section| section.contains("The package name")), "{sections:?}");
    // Navigation is no content.
    assert!(!binary.passages.iter().any(|passage| passage.text.contains("Quick search")));
    // What is asked for is found, with its span.
    let url = format!("{}/policy.html/ch-relationships.html", site.origin());
    let found = web.read(&url, Some("virtual packages provides"), 0, 4000).await.expect("it is read");
    assert!(
        !found.passages.is_empty() && found.next.is_none() && found.passages.len() < found.total_passages
    );
    assert!(found.passages.iter().any(|passage| passage.text.to_lowercase().contains("virtual package")));
    is_found_again(&found, &file_of(&root, &site, &url), &url);
    // Robots were asked about once, and each page was fetched once.
    let asked = site.asked();
    assert_eq!(asked.iter().filter(|path| *path == "/robots.txt").count(), 1);
    assert_eq!(asked.iter().filter(|path| path.ends_with("/ch-relationships.html")).count(), 1);
    let gone = web.read(&format!("{}/policy.html/no-such.html", site.origin()), None, 0, ALL).await;
    assert_eq!(gone.expect_err("there is none").kind, ErrorKind::NotFound);
}

#[tokio::test]
async fn the_reference_is_crawled() {
    let Some(folder) = peers(Part::Pages) else { return };
    let root = folder.join("usr/share/developers-reference");
    let site = serve(&root);
    let web = web(&site);
    let start = format!("{}/index.html", site.origin());
    let read = crawl(&web, &start).await;
    assert!(read.len() >= 8, "{:?}", read.keys());
    for (url, page) in &read {
        assert!(!page.title.is_empty() && page.media == "HTML", "{url}: {}", page.title);
        is_found_again(page, &file_of(&root, &site, url), url);
    }
    let passages: usize = read.values().map(|page| page.passages.len()).sum();
    assert!(passages > 200, "{passages}");
}

#[tokio::test]
async fn the_loopback_is_asked_only_where_it_is_allowed() {
    let Some(folder) = peers(Part::Pages) else { return };
    let site = serve(&folder.join("usr/share/doc/debian-policy"));
    let web = Web::new(&WebSettings::default(), &SearchSettings::default(), &|_| None).expect("usable");
    let refused = web.read(&format!("{}/policy.html/index.html", site.origin()), None, 0, ALL).await;
    assert_eq!(refused.expect_err("it is private").kind, ErrorKind::Refused);
    assert_eq!(site.asked(), [""; 0]);
}
