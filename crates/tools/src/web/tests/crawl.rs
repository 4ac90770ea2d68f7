//! A site with several pages, read by following its links.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use url::Url;

use super::super::canonical::{canonical, is_same_site};
use super::site::Answer;
use super::*;

/// Reads a page and all of the same site that it leads to. What can not be read is told with its failure.
async fn crawl(web: &Web, start: &str, most: usize) -> (BTreeMap<String, WebPage>, Vec<StepError>) {
    let first = Url::parse(start).expect("a URL");
    let mut waiting = VecDeque::from([start.to_owned()]);
    let mut seen: BTreeSet<String> = canonical(start).into_iter().collect();
    let (mut pages, mut failed) = (BTreeMap::new(), Vec::new());
    while let Some(url) = waiting.pop_front() {
        if pages.len() >= most {
            break;
        }
        match web.read(&url, None, 0, usize::MAX).await {
            Ok(page) => {
                for link in &page.links {
                    let is_near = Url::parse(&link.url).is_ok_and(|url| is_same_site(&url, &first));
                    if is_near && canonical(&link.url).is_some_and(|link| seen.insert(link)) {
                        waiting.push_back(link.url.clone());
                    }
                }
                pages.insert(page.url.clone(), page);
            }
            Err(error) => failed.push(error),
        }
    }
    (pages, failed)
}

/// A text with single spaces.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// How many pieces of a page's passages stand in its body as they are, and how many are written as entities there. White
/// space is not compared.
fn found(page: &WebPage, body: &str) -> (usize, usize) {
    let (mut same, mut other) = (0, 0);
    for passage in &page.passages {
        let whole = vec![(0, passage.text.len() as u64, passage.span)];
        let pieces: Vec<_> = passage.pieces.iter().map(|piece| (piece.at, piece.len, piece.span)).collect();
        for (at, len, span) in if pieces.is_empty() { whole } else { pieces } {
            let ours = passage.text.get(at as usize..(at + len) as usize).expect("a piece in the text");
            let theirs = body.get(span.start as usize..span.end as usize).expect("a span in the body");
            let is_same = plain(ours) == plain(theirs);
            assert!(is_same || theirs.contains('&'), "{}: {ours:?} is {theirs:?}", page.url);
            if is_same { same += 1 } else { other += 1 }
        }
    }
    (same, other)
}

/// A manual as a generator of documentation writes it: contents, chapters, an appendix that nothing leads to.
fn manual(path: &str) -> Option<String> {
    let around = |title: &str, body: &str| {
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\" /><title>{title} &#8212; Manual</title></head><body>\
             <div class=\"related\" role=\"navigation\"><ul><li><a href=\"genindex.html\">index</a></li></ul></div>\
             <div class=\"document\"><div class=\"body\" role=\"main\"><section><h1>{title}<a class=\"headerlink\" href=\"#x\">¶</a></h1>\n{body}\
             </section></div></div><div class=\"sphinxsidebar\" role=\"navigation\"><h3>Contents</h3></div>\
             <div class=\"footer\" role=\"contentinfo\">&copy; The authors.</div></body></html>"
        )
    };
    let number: Option<u32> =
        path.strip_prefix("/ch").and_then(|rest| rest.strip_suffix(".html")?.parse().ok());
    match (path, number) {
        ("/" | "/index.html", _) => {
            let items: String =
                (1..=6).map(|n| format!("<li><a href=\"ch{n}.html#s1\">Chapter {n}</a></li>\n")).collect();
            Some(around("Manual", &format!("<p>All chapters of the manual.</p><ul>\n{items}</ul>")))
        }
        (_, Some(n @ 1..=6)) => Some(around(
            &format!("{n}. Chapter"),
            &format!(
                "<p>Valve {n} opens at {n}50&nbsp;kPa &amp; closes at {n}20&nbsp;kPa. See <a class=\"reference internal\" \
                 href=\"ch{}.html\"><span>the next one</span></a> or <a href=\"https://elsewhere.test/\">elsewhere</a>.</p>\n\
                 <table><tr><th>Part</th><th>Mass</th></tr><tr><td>Seat {n}</td><td>{n}4 g</td></tr></table>",
                n % 6 + 1
            ),
        )),
        _ => None,
    }
}

#[tokio::test]
async fn a_site_is_read_by_its_links_and_all_spans_are_found() {
    let site = Site::start(|asked| match manual(&asked.path) {
        Some(body) => Answer::html(&body),
        None => Answer::status(404),
    })
    .await;
    let (pages, failed) = crawl(&web(&settings(&site)), &site.url("/"), 100).await;
    assert_eq!((pages.len(), failed.len()), (7, 0), "{failed:?}");
    assert_eq!(
        site.paths(),
        ["/", "/ch1.html", "/ch2.html", "/ch3.html", "/ch4.html", "/ch5.html", "/ch6.html"]
    );
    let mut ids = BTreeSet::new();
    for page in pages.values() {
        let path = page.address.strip_prefix(&site.url("")).expect("a page of the site");
        let (same, _) = found(page, &manual(path).expect("its body"));
        assert!(same > 0);
        assert!(!text_of(page).contains("Contents") && !text_of(page).contains("¶"), "{}", text_of(page));
        assert!(page.passages.iter().all(|passage| ids.insert(passage.id.clone())), "ids are of one passage");
    }
    let third = pages.get(&site.url("/ch3.html")).expect("chapter 3");
    let text = plain(&text_of(third));
    assert!(text.contains("Valve 3 opens at 350 kPa & closes at 320 kPa."), "{text}");
    assert!(text.contains("Part: Seat 3 | Mass: 34 g"), "{text}");
}
