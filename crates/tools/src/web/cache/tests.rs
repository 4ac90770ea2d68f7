//! What is kept, for how long, and what goes first.

use http::HeaderValue;

use super::*;

fn url(path: &str) -> Url {
    Url::parse("http://site.test").expect("a URL").join(path).expect("a path")
}

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let pairs = pairs.iter().map(|(name, value)| {
        (http::HeaderName::from_static(name), HeaderValue::from_str(value).expect("a value"))
    });
    pairs.collect()
}

fn page(body: &str) -> Stored {
    Stored {
        body: Arc::new(body.as_bytes().to_vec()),
        content_type: Some("text/html".into()),
        fetched: "2026-01-02T03:04:05Z".into(),
        cut: false,
    }
}

fn keep(cache: &Cache, path: &str, body: &str, answered: &[(&'static str, &str)]) {
    cache.keep(&url(path), &HeaderMap::new(), StatusCode::OK, &headers(answered), &page(body));
}

fn look(cache: &Cache, path: &str, later: u64) -> &'static str {
    let now = SystemTime::now() + Duration::from_secs(later);
    match cache.look_at(&url(path), &HeaderMap::new(), now) {
        None | Some(Kept::Nothing) => "nothing",
        Some(Kept::Fresh(_)) => "fresh",
        Some(Kept::Stale(_)) => "stale",
    }
}

#[test]
fn a_page_is_kept_as_its_site_says() {
    let cache = Cache::open(None, 1_000_000).expect("memory");
    keep(&cache, "/fresh", "a", &[("cache-control", "max-age=60"), ("etag", "\"1\"")]);
    keep(&cache, "/private", "a", &[("cache-control", "private, max-age=60"), ("set-cookie", "id=secret")]);
    keep(&cache, "/never", "a", &[("cache-control", "no-store, max-age=60"), ("etag", "\"1\"")]);
    keep(
        &cache,
        "/ask",
        "a",
        &[("cache-control", "no-cache"), ("last-modified", "Wed, 21 Oct 2015 07:28:00 GMT")],
    );
    keep(&cache, "/once", "a", &[("cache-control", "max-age=60")]);
    for (path, now, later) in [
        ("/fresh", "fresh", "stale"),
        ("/private", "fresh", "nothing"),
        ("/never", "nothing", "nothing"),
        ("/ask", "stale", "stale"),
        ("/once", "fresh", "nothing"),
        ("/other", "nothing", "nothing"),
    ] {
        assert_eq!((look(&cache, path, 0), look(&cache, path, 100)), (now, later), "{path}");
    }
    // What is not to be stored any more is dropped.
    keep(&cache, "/fresh", "b", &[("cache-control", "no-store")]);
    assert_eq!(look(&cache, "/fresh", 0), "nothing");
}

#[test]
fn a_page_that_holds_is_fresh_again() {
    let cache = Cache::open(None, 1_000_000).expect("memory");
    keep(&cache, "/a", "body", &[("cache-control", "max-age=0"), ("etag", "\"1\"")]);
    let Some(Kept::Stale(stale)) = cache.look_at(&url("/a"), &HeaderMap::new(), SystemTime::now()) else {
        panic!("the site is to be asked")
    };
    assert_eq!(stale.conditions(), headers(&[("if-none-match", "\"1\"")]));
    let renewed =
        cache.renew(&url("/a"), stale, &headers(&[("cache-control", "max-age=60"), ("etag", "\"1\"")]));
    assert_eq!(renewed, page("body"));
    assert_eq!(look(&cache, "/a", 0), "fresh");
}

#[test]
fn those_not_used_for_longest_go_first() {
    let cache = Cache::open(None, 100).expect("memory");
    let fresh = [("cache-control", "max-age=60")];
    for path in ["/a", "/b", "/c"] {
        keep(&cache, path, &"x".repeat(40), &fresh);
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(
        [look(&cache, "/a", 0), look(&cache, "/b", 0), look(&cache, "/c", 0)],
        ["nothing", "fresh", "fresh"]
    );
    keep(&cache, "/large", &"x".repeat(60), &fresh);
    assert_eq!([look(&cache, "/large", 0), look(&cache, "/c", 0)], ["nothing", "fresh"]);
}

#[test]
fn a_file_stays_and_a_broken_one_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let inner = folder.path().join("cache");
    keep(&Cache::open(Some(&inner), 1000).expect("a file"), "/a", "x", &[("cache-control", "max-age=60")]);
    assert_eq!(look(&Cache::open(Some(&inner), 1000).expect("a file"), "/a", 0), "fresh");
    std::fs::write(folder.path().join(FILE), "no database at all, but text".repeat(100)).expect("a file");
    let error = Cache::open(Some(folder.path()), 1000).err().expect("an error").to_string();
    assert!(error.contains("services.web.cache"), "{error}");
}
