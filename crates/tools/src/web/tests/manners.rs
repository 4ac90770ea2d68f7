//! `robots.txt`, and turns at a host.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::site::Answer;
use super::*;

fn polite(site: &Site) -> WebSettings {
    WebSettings { robots: true, ..settings(site) }
}

#[tokio::test]
async fn robots_are_asked_once_and_obeyed() {
    let site = Site::start(|asked| match asked.path.as_str() {
        "/robots.txt" => Answer::of(
            "text/plain",
            "User-agent: deepgraph\nDisallow: /private\n\nUser-agent: *\nDisallow: /",
        ),
        "/hop" => Answer::redirect("/private/a"),
        _ => Answer::page("Open."),
    })
    .await;
    let web = web(&polite(&site));
    assert!(read(&web, &site.url("/a")).await.is_ok());
    assert!(read(&web, &site.url("/b")).await.is_ok());
    for path in ["/private/a", "/hop"] {
        let (kind, message) = failed(read(&web, &site.url(path)).await);
        assert_eq!(kind, ErrorKind::Refused);
        assert!(message.contains("robots.txt"), "{message}");
    }
    assert_eq!(site.paths(), ["/robots.txt", "/a", "/b", "/hop"]);
    // Switched off, they are not even asked for.
    assert!(page_of(&site, "/private/a").await.is_ok());
    assert_eq!(site.paths().last().map(String::as_str), Some("/private/a"));
}

#[tokio::test]
async fn no_robots_file_closes_nothing_and_a_broken_site_is_left_alone() {
    for (status, kind) in [
        (200, None),
        (404, None),
        (403, None),
        (500, Some(ErrorKind::Unavailable)),
        (503, Some(ErrorKind::Unavailable)),
        (429, Some(ErrorKind::Unavailable)),
    ] {
        let site = Site::start(move |asked| match asked.path.as_str() {
            "/robots.txt" => Answer::status(status),
            _ => Answer::page("Open."),
        })
        .await;
        let web = web(&polite(&site));
        for _ in 0..2 {
            let outcome = read(&web, &site.url("/a")).await;
            assert_eq!(outcome.err().map(|error| error.kind), kind, "{status}");
        }
        assert_eq!(site.paths().iter().filter(|path| *path == "/robots.txt").count(), 1, "{status}");
    }
}

#[tokio::test]
async fn robots_behind_a_redirect_are_read() {
    let site = Site::start(|asked| match asked.path.as_str() {
        "/robots.txt" => Answer::redirect("/real-robots"),
        "/real-robots" => Answer::of("text/plain", "User-agent: *\nDisallow: /a"),
        _ => Answer::page("Open."),
    })
    .await;
    let (kind, _) = failed(read(&web(&polite(&site)), &site.url("/a")).await);
    assert_eq!(kind, ErrorKind::Refused);
}

#[tokio::test]
async fn a_host_is_asked_one_at_a_time() {
    static NOW: AtomicUsize = AtomicUsize::new(0);
    static MOST: AtomicUsize = AtomicUsize::new(0);
    let site = Site::start(|_| {
        let now = NOW.fetch_add(1, Ordering::SeqCst) + 1;
        MOST.fetch_max(now, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(5));
        NOW.fetch_sub(1, Ordering::SeqCst);
        Answer::page("One.")
    })
    .await;
    let gap = Duration::from_millis(20);
    let settings = WebSettings { gap: gap.as_millis() as u64, ..settings(&site) };
    // Two that know nothing of each other.
    let (one, other) = (web(&settings), web(&settings));
    let begin = Instant::now();
    let urls: Vec<String> = (0..3).map(|number| site.url(&format!("/{number}"))).collect();
    let reads = urls.iter().flat_map(|url| [read(&one, url), read(&other, url)]);
    let outcomes = futures::future::join_all(reads).await;
    assert!(outcomes.iter().all(Result::is_ok));
    assert_eq!((MOST.load(Ordering::SeqCst), site.paths().len()), (1, 6));
    assert!(begin.elapsed() >= gap * 5, "five gaps are kept");
}

#[tokio::test]
async fn the_gap_holds_around_robots_too() {
    let times = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = times.clone();
    let site = Site::start(move |asked| {
        seen.lock().expect("nobody panicked").push(Instant::now());
        match asked.path.as_str() {
            "/robots.txt" => Answer::of("text/plain", ""),
            _ => Answer::page("Open."),
        }
    })
    .await;
    let gap = Duration::from_millis(300);
    let web = web(&WebSettings { gap: 300, ..polite(&site) });
    assert!(read(&web, &site.url("/a")).await.is_ok());
    assert!(read(&web, &site.url("/b")).await.is_ok());
    let times = times.lock().expect("nobody panicked");
    assert_eq!(times.len(), 3);
    // What is measured at the site may be a little less than what was waited for.
    assert!(times.windows(2).all(|two| two[1] - two[0] > gap / 2), "{times:?}");
}
