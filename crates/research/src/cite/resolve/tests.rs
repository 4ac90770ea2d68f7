use deepgraph_protocol::Span;
use proptest::prelude::*;

use super::*;
use crate::cite::{Checked, Report, cite};

const READ: &str = "https://ports.example/report-2024.html";

fn page(id: &str, url: &str, title: &str, text: &str) -> Source {
    Source {
        id: id.into(),
        document: url.into(),
        title: title.into(),
        span: Span { start: 0, end: text.len() as u64, line: 1, page: None },
        text: text.into(),
        url: Some(url.into()),
        date: Some("2024-05-01".into()),
        ..Source::default()
    }
}

fn sources() -> Sources {
    let own = Source {
        id: "own234-1".into(),
        document: "notes.md".into(),
        title: "Notes".into(),
        text: "The quay is described at https://quay.example/plan in full.".into(),
        ..Source::default()
    };
    [
        page("p3mzk2-1", READ, "Ports", "The port of Harle has 12 quays. Its cranes lift 80 tons."),
        page(
            "p3mzk2-2",
            READ,
            "Ports",
            "In 2023 it handled 1,100,000 containers. More at https://evil.example/x now.",
        ),
        page(
            "doi234-1",
            "https://doi.org/10.1000/182",
            "Cranes",
            "Old cranes fail twice as often as new ones.",
        ),
        own,
    ]
    .into_iter()
    .map(|source| (source.id.clone(), source))
    .collect()
}

fn report(draft: &str) -> Report {
    let report = cite(draft, &sources());
    assert_eq!(report.checked.total, report.checked.verified + report.checked.removed, "{draft}");
    assert_eq!(invented(&report.text), Vec::<String>::new(), "{draft}\n->\n{}", report.text);
    report
}

/// URLs of a text that the run did not read and that no document of the user's own holds.
fn invented(text: &str) -> Vec<String> {
    let all = sources();
    let pages = Pages::of(&all);
    let is_other = |target: &String| pages.passages(target).is_none() && !pages.is_in_documents(target);
    links_of(text).into_iter().filter_map(|link| link.target).filter(is_other).collect()
}

fn checked(verified: u64, removed: u64) -> Checked {
    Checked { total: verified + removed, verified, removed }
}

/// The body of a report.
fn body(draft: &str) -> (String, Checked) {
    let report = report(draft);
    (report.text.split("\n\n## ").next().unwrap_or("").to_owned(), report.checked)
}

#[test]
fn a_url_of_a_page_that_was_read_cites_it_however_it_is_written() {
    for draft in [
        "The port of Harle has 12 quays (https://ports.example/report-2024.html).",
        "The port of Harle has 12 quays https://www.ports.example/report-2024.html?utm_source=x#top.",
        "The port of Harle has 12 quays (source: http://ports.example/report-2024.html).",
        "The port of Harle has 12 quays <https://ports.example/report-2024.html>.",
        "The port of Harle has 12 quays www.ports.example/report-2024.html.",
        "The port of Harle has [12 quays](https://ports.example/report-2024.html/).",
        "The port of Harle has [12 quays][q].\n\n[q]: https://ports.example/report-2024.html",
        "The port of Harle has 12 quays.[^1]\n\n[^1]: Ports, https://ports.example/report-2024.html, 2024.",
        "The port of Harle has 12 quays [1].\n\n## Sources\n1. Ports. https://ports.example/report-2024.html",
        "The port of Harle has 12 quays [1].\n\nReferences:\n[1] p3mzk2-1",
        "The port of Harle has <a href=\"https://ports.example/report-2024.html\">12 quays</a>.",
    ] {
        let report = report(draft);
        assert!(
            report.text.starts_with("The port of Harle has 12 quays. [1]\n"),
            "{draft}\n->\n{}",
            report.text
        );
        assert!(report.checked.verified >= 1 && report.checked.removed == 0, "{draft}: {:?}", report.checked);
        let citation = &report.citations[0];
        assert_eq!((citation.url.as_deref(), citation.source.as_str()), (Some(READ), "p3mzk2-1"));
        let line = format!("[1] Ports — {READ}, 2024-05-01: \"The port of Harle has 12 quays.\"");
        assert!(report.text.contains(&line), "{}", report.text);
    }
    let (text, counts) = body("Old cranes fail twice as often as new ones (doi:10.1000/182).");
    assert_eq!((text.as_str(), counts), ("Old cranes fail twice as often as new ones. [1]", checked(1, 0)));
}

#[test]
fn an_invented_url_goes_however_it_is_written() {
    for draft in [
        "The port of Harle has 12 quays (https://ports.example/report-2024).",
        "The port of Harle has 12 quays https://invented.example/a?b=c#d, so they say.",
        "The port of Harle has 12 quays ([Harle Times](https://invented.example/a_(b)))",
        "The port of Harle has [12 quays](<http://invented.example/a> \"T\").",
        "![12 quays](https://invented.example/a.png) of Harle.",
        "The port of Harle has 12 quays.[^1]\n\n[^1]: Harle Times, https://invented.example/a.",
        "The port of Harle has 12 quays [a].\n\n[a]: https://invented.example/a",
        "The port of Harle has 12 quays [1].\n\n## Sources\n\n[1] Harle Times, https://invented.example/a",
        "The port of Harle has 12 quays, see www.invented.example/a or invented.com/a.",
        "The port of Harle has 12 quays (doi:10.9999/invented.5).",
        "The port of Harle has 12 quays `https://invented.example`.",
        "The port of Harle has 12 quays <a href='https://invented.example'>here</a>.",
        "The port of Harle has 12 quays [1].",
        "The port of Harle has 12 quays [^7].",
        "The port of Harle has 12 quays [zzzzzz-4].",
        "The port of Harle has 12 quays file:///etc/passwd.",
        "The port of Harle has 12 quays ht[p3mzk2-9]tps://invented.example/a.",
        "The port of Harle has 12 quays. [Times](https://invented.example/a), [Post](https://invented.example/b)",
    ] {
        let report = report(draft);
        assert!(report.citations.is_empty() && report.checked.removed >= 1, "{draft}\n->\n{}", report.text);
        assert!(report.text.contains("12 quays"), "{draft}\n->\n{}", report.text);
        assert!(!report.text.contains("invented"), "{draft}\n->\n{}", report.text);
    }
}

/// The oracle knows what it planted, and asks nothing of what finds URLs: a host of this name is in no report, however it
/// is hidden.
fn holds_planted(text: &str) -> bool {
    let plain: String = text.chars().filter(|c| c.is_alphanumeric()).collect();
    plain.to_lowercase().contains("planted")
}

#[test]
fn planted_hosts_are_in_no_report_however_they_are_hidden() {
    for form in [
        "详见https://planted.example/a。",
        "см.https://planted.example/a",
        "_https://planted.example/a_",
        "-https://planted.example/a",
        "1.https://planted.example/a",
        "x.https://planted.example/a",
        "[y](https\\://planted.example/a)",
        "[y](https&#58;//planted.example/a)",
        "[y](https&colon;//planted.example/a)",
        "[y](https:/planted.example/a)",
        "[y](//planted.example/a)",
        "[y](\\\\planted.example/a)",
        "[y](<https:planted.example/a>)",
        "[y][q]\n\n[q]: https&#x3a;//planted.example/a",
        "<a href=\"https:planted.example/a\">y</a>",
        "<a href='https&colon;//planted.example/a'>y</a>",
        "<img src=//planted.example/a>",
        "<div onclick=\"location='https://planted.example/a'\">y</div>",
        "[![see https://planted.example/alt](https://cdn.planted.example/i.png)](https://planted.example/)",
        "![https://planted.example/alt](https://planted.example/i.png)",
        "https:/planted.example/a",
        "https\\://planted.example/a",
        "https：//planted.example/a",
        "ht\u{200b}tps://planted.example/a",
        "HTTPS://PLANTED.EXAMPLE/A",
        "planted.ai/x",
        "bit.planted.ly/x",
        "www.planted.example",
        "见www.planted.example/x",
        "`https://planted.example/a`",
        "https://user@planted.example/",
        "https://ports.example.planted.example/report-2024.html",
        "mailto:me@planted.example [m](mailto:me@planted.example)",
    ] {
        for draft in [
            format!("The port of Harle has 12 quays {form}."),
            format!("The port of Harle has 12 quays [p3mzk2-1]. {form}"),
            format!("## Quays {form}\n\nThe port of Harle has 12 quays [p3mzk2-1]."),
            format!("The port of Harle has 12 quays [1].\n\n## Sources\n\n1. {form}"),
        ] {
            let report = cite(&draft, &sources());
            // An address to write to is no page; as a link it goes all the same.
            let text = report.text.replace("mailto:me@planted.example", "");
            assert!(!holds_planted(&text), "{draft}\n->\n{}", report.text);
        }
    }
}

#[test]
fn a_part_of_a_url_in_ones_own_documents_is_not_in_them() {
    for url in ["https://quay.example/plans", "https://quay.example", "https://quay.example/pla"] {
        let report = report(&format!("The quay has a plan ({url})."));
        assert!(!report.text.contains(url), "{url}: {}", report.text);
    }
    let kept = report("The quay has a plan: https://quay.example/plan.");
    assert!(kept.text.contains("https://quay.example/plan"), "{}", kept.text);
}

#[test]
fn a_page_counts_under_the_address_that_was_asked_for() {
    let mut all = sources();
    for id in ["p3mzk2-1", "p3mzk2-2"] {
        if let Some(source) = all.get_mut(id) {
            source.asked = Some("https://short.example/p".into());
            source.document = "https://ports.example/report".into();
        }
    }
    for url in ["https://short.example/p", "https://ports.example/report", READ] {
        let report = cite(&format!("The port of Harle has 12 quays ({url})."), &all);
        assert_eq!(report.citations.len(), 1, "{url}: {}", report.text);
        assert_eq!(report.citations[0].url.as_deref(), Some(READ), "what is told is where it was read");
        assert!(!report.text.contains("short.example"), "{}", report.text);
    }
}

#[test]
fn words_of_prose_are_no_addresses() {
    for words in [
        "and/or",
        "notes.md/x",
        "index.html/old",
        "v1.2/3",
        "e.g./i.e.",
        "U.S./China",
        "Node.js/Express",
        "24/7",
        "http: the protocol",
        "the https:// scheme",
        "HTTP/1.1",
        "Ph.D/MSc",
        "3.5/4.0",
        "km/h",
    ] {
        let report = cite(&format!("The port of Harle has 12 quays, {words} [p3mzk2-1]."), &sources());
        assert!(report.text.contains(words), "{words}: {}", report.text);
    }
}

#[test]
fn what_else_bears_a_sentence_out_is_kept() {
    let (text, counts) = body("The port of Harle has 12 quays [p3mzk2-1] (https://invented.example/a).");
    assert_eq!((text.as_str(), counts), ("The port of Harle has 12 quays. [1]", checked(1, 1)));
    let (text, counts) = body("The port of Harle has 14 quays (https://ports.example/report-2024.html).");
    assert_eq!((text.as_str(), counts), ("The port of Harle has 14 quays. [unsupported]", checked(0, 1)));
}

#[test]
fn lists_of_urls_and_heads_keep_none() {
    let draft = "# On https://invented.example/a\n\nThe port of Harle has 12 quays [p3mzk2-1].\n\n- https://invented.example/a\n- <https://invented.example/b>\n\n## More\n\nIt is so.";
    let report = report(draft);
    let text = report.text.replace("# On \n", "# On\n");
    assert!(text.starts_with("# On\n\nThe port of Harle has 12 quays. [1]\n\n## More"), "{text}");
    assert_eq!(report.checked, checked(1, 3));
}

#[test]
fn the_documents_of_the_user_may_be_repeated() {
    let (text, counts) = body("The quay is described at https://quay.example/plan in full [own234-1].");
    assert_eq!(
        (text.as_str(), counts),
        ("The quay is described at https://quay.example/plan in full. [1]", checked(1, 0))
    );
}

#[test]
fn what_a_page_leads_to_is_not_told_with_its_words() {
    let report =
        report("In 2023 it handled 1,100,000 containers. More at https://evil.example/x now. [p3mzk2-2]");
    assert!(!report.text.contains("evil.example"), "{}", report.text);
}

#[test]
fn a_handoff_may_cite_by_url() {
    let text = "The port of Harle has 12 quays (https://ports.example/report-2024.html).\nIt burnt (https://invented.example/a).";
    let handoff = crate::handoff::handoff("x", text, &[], &sources());
    assert_eq!(handoff.text, "The port of Harle has 12 quays [p3mzk2-1].\nIt burnt [unsupported].");
    assert_eq!((handoff.findings, handoff.sources), (1, vec!["p3mzk2-1".to_owned()]));
}

/// A URL in one of the forms in which models write them.
fn form() -> impl Strategy<Value = String> {
    let url = prop_oneof![
        Just(READ.to_owned()),
        "https?://[a-z]{1,8}\\.(example|com|org)(/[a-z0-9._~()-]{0,12}){0,3}(\\?[a-z]=[0-9])?(#[a-z]{1,3})?",
        "www\\.[a-z]{2,6}\\.com/[a-z]{1,5}",
        "[a-z]{2,6}\\.org/[a-z0-9]{1,8}",
        "(doi:)?10\\.[0-9]{4}/[a-z0-9.]{1,8}",
        Just("https://ports.example/report-2024".to_owned()),
    ];
    (url, 0..10_usize).prop_map(|(url, form)| match form {
        0 => format!(" {url}"),
        1 => format!(" ({url})"),
        2 => format!(" [it]({url})"),
        3 => format!(" <{url}>"),
        4 => format!(" [{url}]({url})"),
        5 => format!("[^3]\n\n[^3]: T, {url}\n\n"),
        6 => format!("\n- {url}\n"),
        7 => format!(" [2]\n\n[2]: {url}\n\n"),
        8 => format!(" <a href=\"{url}\">it</a>"),
        _ => format!("`{url}`"),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_invented_url_is_left(
        words in prop::collection::vec(("[A-Z][a-z]{1,8} has [0-9]{1,3} quays", form(), "[.;,)\\[\\]<>*`| ]{0,3}"), 1..6),
        has_list in any::<bool>(),
    ) {
        let mut draft: String = words.iter().map(|(said, url, rest)| format!("{said}{url}{rest} ")).collect();
        if has_list {
            draft.push_str("\n\n## Sources\n\n[1] T https://listed.example/a\n2. https://listed.example/b");
        }
        report(&draft);
    }

    #[test]
    fn no_text_breaks_it(draft in "\\PC{0,200}|([\\[\\]()<>!^:/.a-z0-9\\n -]|https://|\\[1\\]|www\\.){0,80}") {
        report(&draft);
    }
}
