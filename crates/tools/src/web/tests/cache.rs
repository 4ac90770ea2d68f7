//! Pages that are kept, and asked about.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::site::Answer;
use super::*;

#[tokio::test]
async fn a_page_that_holds_is_not_sent_again() {
    let site = Site::start(|asked| match asked.path.as_str() {
        "/fresh" => Answer::page("Fresh.").with("cache-control", "max-age=600"),
        "/never" => Answer::page("Never.").with("cache-control", "no-store").with("etag", "\"1\""),
        _ if asked.header("if-none-match") == "\"1\"" => Answer::status(304).with("etag", "\"1\""),
        _ if !asked.header("if-modified-since").is_empty() => Answer::status(304),
        "/dated" => Answer::page("Dated.")
            .with("last-modified", "Wed, 21 Oct 2015 07:28:00 GMT")
            .with("cache-control", "no-cache"),
        _ => Answer::page("Asked.").with("etag", "\"1\"").with("cache-control", "no-cache"),
    })
    .await;
    let web = web(&settings(&site));
    for (path, times) in [("/fresh", 1), ("/never", 3), ("/asked", 3), ("/dated", 3)] {
        let first = read(&web, &site.url(path)).await.expect(path);
        for _ in 0..2 {
            assert_eq!(read(&web, &site.url(path)).await.expect(path), first, "{path}");
        }
        assert_eq!(site.paths().iter().filter(|asked| *asked == path).count(), times, "{path}");
    }
    let conditional = site.asked().iter().filter(|asked| !asked.header("if-none-match").is_empty()).count();
    assert_eq!(conditional, 2, "what is not to be kept is not asked about");
}

#[tokio::test]
async fn a_page_that_changed_is_another_one() {
    let count = AtomicUsize::new(0);
    let site = Site::start(move |_| {
        let number = count.fetch_add(1, Ordering::SeqCst);
        Answer::page(&format!("State {number}."))
            .with("etag", &format!("\"{number}\""))
            .with("cache-control", "no-cache")
    })
    .await;
    let web = web(&settings(&site));
    let first = read(&web, &site.url("/")).await.expect("a page");
    let second = read(&web, &site.url("/")).await.expect("a page");
    assert_eq!(first.url, second.url);
    assert_ne!(first.hash, second.hash);
    // What was cited of the first state is not taken for the second.
    assert_ne!(first.passages[0].id, second.passages[0].id);
    assert_eq!(site.asked()[1].header("if-none-match"), "\"0\"");
}

#[tokio::test]
async fn a_file_keeps_pages_for_later_runs() {
    let site = Site::start(|_| Answer::page("Kept.").with("cache-control", "max-age=600")).await;
    let folder = tempfile::tempdir().expect("a folder");
    let settings = WebSettings { cache: Some(folder.path().join("web")), ..settings(&site) };
    let first = read(&web(&settings), &site.url("/")).await.expect("a page");
    let second = read(&web(&settings), &site.url("/")).await.expect("a page");
    assert_eq!(first, second);
    assert_eq!(site.paths().len(), 1);
}

#[tokio::test]
async fn a_page_that_was_cut_is_asked_for_again_under_another_bound() {
    let site =
        Site::start(|_| Answer::page(&"Many words. ".repeat(2000)).with("cache-control", "max-age=600"))
            .await;
    let folder = tempfile::tempdir().expect("a folder");
    let settings = WebSettings { cache: Some(folder.path().join("web")), ..settings(&site) };
    let short = WebSettings { most_bytes: 2000, ..settings.clone() };
    let whole = read(&web(&short), &site.url("/")).await.expect("a page");
    assert!(whole.notes.iter().any(|note| note.contains("2000")), "{:?}", whole.notes);
    let whole = read(&web(&settings), &site.url("/")).await.expect("a page");
    assert_eq!(whole.notes, Vec::<String>::new(), "the whole page");
    let cut = read(&web(&short), &site.url("/")).await.expect("a page");
    assert!(cut.notes.iter().any(|note| note.contains("2000")), "what is kept is longer: {:?}", cut.notes);
}
