//! Addresses of one page are one, those of two are two.

use proptest::prelude::*;

use super::*;

fn of(text: &str) -> String {
    canonical(text).unwrap_or_else(|| panic!("{text} has a canonical URL"))
}

#[test]
fn addresses_of_one_page_are_one() {
    let same: [&[&str]; 14] = [
        &[
            "https://example.com/a",
            "http://example.com/a",
            "HTTPS://EXAMPLE.COM/a/",
            "https://www.example.com/a",
        ],
        &[
            "https://example.com/",
            "http://example.com",
            "http://example.com:80/",
            "https://example.com:443//",
        ],
        &[
            "https://example.com/a",
            "https://example.com./a",
            "https://m.example.com/a",
            "https://mobile.example.com/a#top",
        ],
        &[
            "https://example.com/?a=1&b=2",
            "https://example.com/?b=2&utm_source=x&a=1",
            "https://example.com?a=1&b=2&gclid=9&",
        ],
        &["https://example.com/a%20b", "https://example.com/a b"],
        &["https://example.com/~x", "https://example.com/%7ex", "https://example.com/%7Ex"],
        &["https://example.com/%C3%A9", "https://example.com/%c3%a9", "https://example.com/é"],
        &["https://example.com/b", "https://example.com/a/../b", "https://example.com/./b"],
        &[
            "https://example.com/a",
            "https://example.com/a;jsessionid=0A1B",
            "https://example.com/a?PHPSESSID=1",
        ],
        &["https://xn--bcher-kva.example/", "https://bücher.example/", "https://BÜCHER.example"],
        &[
            "https://en.wikipedia.org/wiki/Rust",
            "https://en.m.wikipedia.org/wiki/Rust",
            "http://en.wikipedia.org/wiki/Rust#History",
        ],
        &[
            "https://news.example/x",
            "https://www.google.com/amp/s/news.example/x",
            "https://news-example.cdn.ampproject.org/c/s/news.example/x",
        ],
        &[
            "https://doi.org/10.1000/abc-1",
            "https://doi.org/10.1000/AbC-1",
            "doi:10.1000/abc-1",
            "DOI 10.1000/ABC-1.",
            "DOI: 10.1000/abc-1",
            "http://dx.doi.org/10.1000%2Fabc-1",
            "https://www.doi.org/10.1000/abc-1?utm_source=x",
            "10.1000/abc-1",
        ],
        &[
            "https://arxiv.org/abs/2301.12345",
            "http://arxiv.org/abs/2301.12345v3",
            "https://arxiv.org/pdf/2301.12345v2.pdf",
            "https://arxiv.org/pdf/2301.12345",
            "https://export.arxiv.org/abs/2301.12345",
            "https://www.arxiv.org/html/2301.12345v1",
            "arXiv:2301.12345v2",
            "https://doi.org/10.48550/arXiv.2301.12345",
        ],
    ];
    for group in same {
        for text in group {
            assert_eq!(of(text), group[0], "{text}");
        }
    }
    assert_eq!(of("arXiv:hep-th/9901001v1"), "https://arxiv.org/abs/hep-th/9901001");
}

#[test]
fn addresses_of_two_pages_are_two() {
    for (one, other) in [
        ("https://example.com/a", "https://example.com/A"),
        ("https://example.com/a", "https://sub.example.com/a"),
        ("https://example.com/?a=1", "https://example.com/?a=2"),
        ("https://example.com/?a=1&a=2", "https://example.com/?a=2&a=1"),
        ("https://example.com/#!/one", "https://example.com/#!/two"),
        ("https://example.com/#/one", "https://example.com/#/two"),
        ("http://example.com:8080/", "https://example.com:8080/"),
        ("https://example.com:8080/", "https://example.com/"),
        ("https://m.co.uk/a", "https://co.uk/a"),
        ("https://www.de/a", "https://de/a"),
        ("https://example.com/amp", "https://example.com/"),
        ("https://example.com/a%2Fb", "https://example.com/a/b"),
        ("https://example.com/?ref=main", "https://example.com/?ref=next"),
        ("https://arxiv.org/list/cs/new", "https://arxiv.org/list/math/new"),
    ] {
        assert_ne!(of(one), of(other), "{one} and {other}");
    }
}

#[test]
fn what_is_no_page_has_none() {
    for text in [
        "",
        " ",
        "file:///etc/passwd",
        "ftp://example.com/a",
        "data:text/html,x",
        "javascript:1",
        "a b",
        "10.1/x",
        "doi",
        "arxiv",
    ] {
        assert_eq!(canonical(text), None, "{text}");
    }
    assert_eq!(canonical(&format!("https://example.com/{}", "a".repeat(LONGEST))), None);
}

#[test]
fn an_address_keeps_what_a_server_needs() {
    let shown = |text: &str| address(&Url::parse(text).expect("a URL"));
    assert_eq!(shown("http://www.example.com/a/?b=2&utm_x=1&a=1#top"), "http://www.example.com/a/?b=2&a=1");
    assert_eq!(shown("https://user:secret@example.com/"), "https://example.com/");
    assert_eq!(shown("https://example.com/#!/x"), "https://example.com/#!/x");
}

#[test]
fn a_canonical_url_tells_other_ways() {
    assert_eq!(
        ways("https://gov.example/a"),
        [
            "https://gov.example/a",
            "https://www.gov.example/a",
            "http://gov.example/a",
            "http://www.gov.example/a"
        ]
    );
    assert_eq!(ways("http://127.0.0.1:8400/a"), ["http://127.0.0.1:8400/a"]);
    assert_eq!(ways("https://127.0.0.1/a"), ["https://127.0.0.1/a"]);
}

#[test]
fn sites_are_told_apart() {
    let is_same = |one: &str, other: &str| {
        is_same_site(&Url::parse(one).expect("a URL"), &Url::parse(other).expect("a URL"))
    };
    assert!(is_same("https://www.example.com/a", "http://example.com/b"));
    assert!(is_same("https://blog.example.com/a", "https://example.com/b"));
    assert!(!is_same("https://example.com/a", "https://example.org/a"));
    assert!(!is_same("https://badexample.com/a", "https://example.com/a"));
    assert!(!is_same("http://127.0.0.1:1/a", "http://127.0.0.1:2/a"));
    assert!(!is_same("http://1.127.0.0/a", "http://127.0.0.1/a"));
}

proptest! {
    #[test]
    fn any_text_is_taken(text in "\\PC{0,80}") {
        let _ = canonical(&text);
    }

    #[test]
    fn doing_it_again_changes_nothing(
        scheme in "https?|HTTP",
        host in "(www\\.|m\\.|amp\\.){0,2}[a-zé]{1,4}(\\.m)?(\\.[a-z]{2,9}){1,2}|doi\\.org|arxiv\\.org|127\\.0\\.0\\.1|cdn\\.ampproject\\.org",
        port in "(:(80|443|8080))?",
        path in "(/[a-zA-Z0-9.~%;é()<>+ v-]{0,8}|/10\\.1000|/abs|/pdf|/c/s|/2301\\.12345v1){0,4}/?",
        query in "(\\?[a-z_%=&+é;/?#!]{0,20})?",
        fragment in "(#[!/a-z%]{0,5})?",
    ) {
        let text = format!("{scheme}://{host}{port}{path}{query}{fragment}");
        if let Some(once) = canonical(&text) {
            prop_assert_eq!(canonical(&once), Some(once.clone()), "of {}", text);
        }
    }
}
