//! The researcher over pages of the web.

use deepgraph_protocol::{Hit, Source};
use deepgraph_research::passage::{render, render_hits};

use super::*;

fn hits(pages: &[(&str, &str, &str)]) -> String {
    let hit = |(url, title, text): &(&str, &str, &str)| Hit {
        url: Some((*url).into()),
        title: (*title).into(),
        text: (*text).into(),
        ..Hit::default()
    };
    let hits: Vec<Hit> = pages.iter().map(hit).collect();
    render_hits(&hits.iter().collect::<Vec<_>>())
}

fn page(id: &str, url: &str, title: &str, text: &str) -> String {
    let url = url.to_owned();
    let source = Source {
        id: id.into(),
        document: url.clone(),
        title: title.into(),
        text: text.into(),
        url: Some(url),
        ..Source::default()
    };
    render(&[&source])
}

const URUGUAY: &str = "https://atlas.example/uruguay";

#[test]
fn the_best_pages_are_read_before_anything_is_said() {
    let objective = objective("Uruguay: population");
    let mut messages = vec![Message::user("Uruguay: population")];
    let ask = |messages: &[Message]| answer(&request(messages.to_vec(), researcher_tools(), &objective));
    let first = ask(&messages);
    let found = hits(&[
        ("https://shop.example/rice", "Rice", "Buy rice."),
        ("https://atlas.example/brazil", "Brazil", "Population of Brazil: 221,359,387"),
        (URUGUAY, "Uruguay", "Population: 9"),
    ]);
    go_on(&mut messages, &first, &[&found]);
    let second = says(&ask(&messages));
    assert_eq!(
        second,
        [
            format!(r#"read {{"query":"population","source":"{URUGUAY}"}}"#),
            r#"read {"query":"population","source":"https://atlas.example/brazil"}"#.to_owned(),
        ]
    );
    let people = page("uy2345-7", URUGUAY, "Uruguay", "Population total: 3,449,444 (2025 est.)");
    let reading = ask(&messages);
    go_on(&mut messages, &reading, &[&people, "error: not_found: the page is not there"]);
    let last = says(&ask(&messages));
    assert_eq!(last.len(), 1, "{last:?}");
    assert!(
        last[0].contains("3,449,444") && last[0].contains("[uy2345-7]"),
        "a snippet says nothing: {last:?}"
    );
}

#[test]
fn further_pages_are_read_where_the_first_ones_did_not_have_it() {
    let objective = objective("Uruguay: population");
    let mut messages = vec![Message::user("Uruguay: population")];
    let ask = |messages: &[Message]| answer(&request(messages.to_vec(), researcher_tools(), &objective));
    let found: Vec<(String, String)> =
        (1..=5).map(|n| (format!("https://atlas.example/{n}"), format!("Uruguay {n}"))).collect();
    let found: Vec<(&str, &str, &str)> =
        found.iter().map(|(url, title)| (url.as_str(), title.as_str(), "Population")).collect();
    let mut read = Vec::new();
    for _ in 0..6 {
        let reply = ask(&messages);
        let calls = says(&reply);
        if reply.tool_calls.is_empty() {
            break;
        }
        let answers: Vec<String> = reply
            .tool_calls
            .iter()
            .map(|call| match &*call.name {
                "search" => hits(&found),
                _ => "error: tool: the page is behind a login".to_owned(),
            })
            .collect();
        read.extend(calls.into_iter().filter(|call| call.starts_with("read")));
        go_on(&mut messages, &reply, &answers.iter().map(String::as_str).collect::<Vec<_>>());
    }
    assert!(read.len() >= 3 && read.len() <= 5, "{read:?}");
    let distinct: std::collections::BTreeSet<&String> = read.iter().collect();
    assert_eq!(distinct.len(), read.len(), "no page is read twice: {read:?}");
}
