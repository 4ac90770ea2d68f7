//! Redirects, statuses, sizes, times, packings, kinds.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::super::USER_AGENT;
use super::site::Answer;
use super::*;

#[tokio::test]
async fn a_page_is_read_with_what_it_says_about_itself() {
    let site = Site::start(|_| {
        Answer::html(
            "<html><head><title>Glass &amp; sand</title><meta name=author content='Ada B'>\
             <meta property=article:published_time content=2024-03-01T10:00:00Z><link rel=canonical href='/glass?x=1'></head>\
             <body><nav><a href=/home>Home</a></nav><main><h1>Glass &amp; sand</h1><p>Glass is made of sand, soda and lime. \
             It melts at 1500 degrees, far above the 1085 degrees at which copper does. See <a href='/copper#melting'>copper</a> \
             and <a href='https://other.test/tin?utm_source=x'>tin</a>.</p></main></body></html>",
        )
    })
    .await;
    let page = page_of(&site, "/glass?utm_source=mail").await.expect("a page");
    assert_eq!(page.url, site.url("/glass?x=1"));
    assert_eq!(page.address, site.url("/glass"));
    assert_eq!(page.title, "Glass & sand");
    assert_eq!((page.author.as_deref(), page.date.as_deref()), (Some("Ada B"), Some("2024-03-01")));
    assert_eq!((page.media, page.total_passages, page.next), ("HTML", 1, None));
    let source = &page.passages[0];
    assert_eq!(source.document, page.url);
    assert_eq!(source.url.as_deref(), Some(page.address.as_str()));
    assert_eq!(source.hash.as_deref(), Some(page.hash.as_str()));
    assert!(page.hash.len() == 64 && page.fetched.ends_with('Z'), "{} {}", page.hash, page.fetched);
    assert!(source.id.ends_with("-1") && source.text.starts_with("Glass is made of sand"), "{source:?}");
    let links: Vec<_> = page.links.iter().map(|link| (link.url.clone(), link.text.as_str())).collect();
    assert_eq!(links, [(site.url("/copper"), "copper"), ("https://other.test/tin".into(), "tin")]);
    let asked = &site.asked()[0];
    assert_eq!(asked.header("user-agent"), USER_AGENT.to_lowercase());
    assert!(asked.header("accept").contains("text/html") && asked.header("accept-encoding").contains("zstd"));
    assert_eq!((asked.header("referer"), asked.header("cookie")), ("", ""));
}

#[tokio::test]
async fn redirects_are_followed_to_their_end() {
    let site = Site::start(|asked| match asked.path.as_str() {
        "/a" => Answer::redirect("/b").having_status(301),
        "/b" => Answer::redirect("c?x=1").having_status(307),
        "/c?x=1" => Answer::html("<meta http-equiv=refresh content='0; url=/d'>"),
        "/d" => Answer::page("The end."),
        "/loop" => Answer::redirect("/loop2"),
        "/loop2" => Answer::redirect("/loop"),
        "/nowhere" => Answer::redirect("http://[bad"),
        "/again" => Answer::html("<meta http-equiv=refresh content='0; url=/again2'>"),
        "/again2" => Answer::html("<meta http-equiv=refresh content='0; url=/again'>"),
        path => {
            let number: u32 = path.trim_start_matches("/n").parse().unwrap_or(0);
            if number == 0 { Answer::page("Ten.") } else { Answer::redirect(&format!("/n{}", number - 1)) }
        }
    })
    .await;
    let page = page_of(&site, "/a").await.expect("a page");
    assert_eq!(page.address, site.url("/d"));
    assert!(page_of(&site, "/n10").await.is_ok());
    for (path, words) in [
        ("/n11", "more than 10 times"),
        ("/loop", "in a circle"),
        ("/nowhere", "no URL"),
        ("/again", "again and again"),
    ] {
        let (kind, message) = failed(page_of(&site, path).await);
        assert_eq!(kind, ErrorKind::InvalidRequest, "{path}");
        assert!(message.contains(words), "{message}");
    }
}

#[tokio::test]
async fn statuses_are_failures_with_a_kind() {
    let site = Site::start(|asked| {
        let status = asked.path.trim_start_matches('/').parse().unwrap_or(500);
        Answer::status(status).with("retry-after", "7")
    })
    .await;
    for (status, kind, wait) in [
        (404, ErrorKind::NotFound, None),
        (410, ErrorKind::NotFound, None),
        (401, ErrorKind::Unauthorized, None),
        (403, ErrorKind::Unauthorized, None),
        (429, ErrorKind::RateLimited, Some(7000)),
        (500, ErrorKind::Unavailable, Some(7000)),
        (503, ErrorKind::Unavailable, Some(7000)),
        (418, ErrorKind::InvalidRequest, None),
    ] {
        let error = page_of(&site, &format!("/{status}")).await.expect_err("a failure");
        assert_eq!((error.kind, error.retry_after_ms), (kind, wait), "{status}");
        assert!(
            error.message.starts_with(&site.url("/")) && error.message.contains(&status.to_string()),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_page_is_cut_and_a_document_is_not() {
    let long = "A line that is one of many, and no more.\n".repeat(5000);
    let body = long.clone();
    let site = Site::start(move |asked| match asked.path.as_str() {
        "/text" => Answer::of("text/plain", body.clone()),
        "/bomb" => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            let _ = encoder.write_all(body.repeat(100).as_bytes());
            Answer::of("text/plain", encoder.finish().unwrap_or_default()).with("content-encoding", "gzip")
        }
        "/pdf" => Answer::of("application/pdf", format!("%PDF-1.7\n{body}")),
        _ => Answer::of("application/json", format!("[\"{}\"]", "a".repeat(60_000))),
    })
    .await;
    let small = WebSettings { most_bytes: 50_000, ..settings(&site) };
    for path in ["/text", "/bomb"] {
        let page = read(&web(&small), &site.url(path)).await.expect(path);
        assert!(page.notes.contains(&"cut after 50000 bytes".to_owned()), "{:?}", page.notes);
        assert!(page.passages.iter().all(|passage| passage.span.end <= 50_000), "{path}");
    }
    for path in ["/pdf", "/json"] {
        let (kind, message) = failed(read(&web(&small), &site.url(path)).await);
        assert_eq!(kind, ErrorKind::InvalidRequest);
        assert!(message.contains("is larger than 50000 bytes"), "{message}");
    }
}

#[tokio::test]
async fn kinds_are_told_apart_and_others_refused_by_name() {
    let site = Site::start(|asked| match asked.path.as_str() {
        "/json" => Answer::of("application/json", "{\"name\": \"Oslo\", \"population\": 717710}"),
        "/csv" => Answer::of("text/csv", "city,population\nOslo,717710\nBergen,291940\n"),
        "/md" => Answer::of("text/markdown", "# Cities\n\nOslo has 717710 people.\n"),
        "/readme.md" => Answer::of("text/plain", "# Cities\n\nOslo has 717710 people.\n"),
        "/text" => Answer::of("text/plain; charset=utf-8", "Oslo has 717710 people."),
        "/latin" => Answer::of(
            "text/plain; charset=utf-8",
            b"Malm\xF6 has 357377 people, V\xE4xj\xF6 fewer.".to_vec(),
        ),
        "/none" => Answer::status(200).with("x", "y"),
        "/bytes" => Answer::of("application/octet-stream", b"\x00\x01\x02\x03\x04".to_vec()),
        "/broken" => Answer::of("application/json", "{\"a\": "),
        "/packed" => Answer::of("text/plain", "x").with("content-encoding", "sdch"),
        _ => Answer::of("video/mp4", b"\0\0\0\x18ftyp".to_vec()),
    })
    .await;
    for (path, media, words) in [
        ("/json", "JSON", "717710"),
        ("/csv", "CSV", "717710"),
        ("/md", "Markdown", "Oslo has"),
        ("/readme.md", "Markdown", "Oslo has"),
        ("/text", "text", "Oslo has"),
        ("/latin", "text", "Malmö has 357377 people, Växjö fewer."),
    ] {
        let page = page_of(&site, path).await.expect(path);
        assert_eq!(page.media, media, "{path}");
        assert!(text_of(&page).contains(words), "{}", text_of(&page));
    }
    for (path, kind, words) in [
        ("/none", ErrorKind::NotFound, "is empty"),
        ("/bytes", ErrorKind::InvalidRequest, "no text"),
        ("/broken", ErrorKind::InvalidRequest, "broken JSON"),
        ("/packed", ErrorKind::InvalidRequest, "sdch"),
        ("/video", ErrorKind::InvalidRequest, "is video/mp4, which is not read"),
    ] {
        let (found, message) = failed(page_of(&site, path).await);
        assert_eq!(found, kind, "{path}: {message}");
        assert!(message.contains(words), "{message}");
    }
}

#[tokio::test]
async fn trouble_on_the_way_is_network_trouble() {
    let site = Site::start(|asked| match asked.path.as_str() {
        "/half" => Answer::page("Half.").breaking_at(40),
        _ => Answer::silence(),
    })
    .await;
    let short = WebSettings { timeout: 1, ..settings(&site) };
    for (path, words) in [("/half", "broke off"), ("/silent", "within 1 seconds")] {
        let (kind, message) = failed(read(&web(&short), &site.url(path)).await);
        assert_eq!(kind, ErrorKind::Network, "{message}");
        assert!(message.contains(words), "{message}");
    }
    let nobody = WebSettings { allow: vec!["127.0.0.1".into()], robots: false, ..WebSettings::default() };
    let error = read(&web(&nobody), "http://127.0.0.1:1/").await.expect_err("nobody listens");
    assert_eq!((error.kind, error.unsent), (ErrorKind::Network, true), "{error}");
    let error = read(&web(&nobody), "https://no-such-name.example/").await.expect_err("no such name");
    assert_eq!((error.kind, error.unsent), (ErrorKind::Network, true), "{error}");
    assert!(error.message.contains("no such name"), "{error}");
}

#[tokio::test]
async fn a_server_without_tls_is_network_trouble_over_https() {
    let site = Site::start(|_| Answer::page("Plain.")).await;
    let (kind, message) =
        failed(read(&web(&settings(&site)), &site.url("/").replace("http:", "https:")).await);
    assert_eq!(kind, ErrorKind::Network, "{message}");
}
