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

#[test]
fn pages_that_the_question_names_are_read_first_and_their_address_is_no_query() {
    let url = "http://127.0.0.1:8501/a";
    let asked = format!("What does {url} say about crew training?");
    let mut messages = vec![Message::user(&*asked)];
    let ask = |messages: &[Message]| answer(&request(messages.to_vec(), researcher_tools(), &[]));
    let first = ask(&messages);
    assert_eq!(says(&first), [format!(r#"read {{"query":"crew training","source":"{url}"}}"#)]);
    let mut other = messages.clone();
    let training = page("a23456-2", url, "Norvane N60", "Crew training for the N60 takes six weeks.");
    go_on(&mut messages, &first, &[&training]);
    let last = says(&ask(&messages)).join("\n");
    assert!(last.contains("six weeks. [a23456-2]"), "{last}");
    // What is not there is searched for, by what is asked alone.
    go_on(&mut other, &first, &["error: not_found: there is no such page"]);
    assert_eq!(says(&ask(&other)), [r#"search {"query":"crew training"}"#]);
}

#[test]
fn a_page_alone_is_what_is_asked_about() {
    let url = "http://127.0.0.1:8501/b";
    let mut messages = vec![Message::user(&*format!("Summarise {url}"))];
    let ask = |messages: &[Message]| answer(&request(messages.to_vec(), researcher_tools(), &[]));
    let first = ask(&messages);
    assert_eq!(says(&first), [format!(r#"read {{"source":"{url}"}}"#)]);
    go_on(
        &mut messages,
        &first,
        &[&page("b23456-1", url, "Norvane N60", "The Norvane N60 is an electric ferry.")],
    );
    let last = says(&ask(&messages)).join("\n");
    assert!(last.contains("electric ferry. [b23456-1]"), "{last}");
}

#[test]
fn a_supervisor_hands_the_addresses_on() {
    let asked = "Compare Uruguay and Chile on population (https://atlas.example/Am)";
    let reply = answer(&request(vec![Message::user(asked)], supervisor_tools(), &[]));
    assert_eq!(
        delegated(&reply),
        ["Uruguay: population https://atlas.example/Am", "Chile: population https://atlas.example/Am"]
    );
    let reply = answer(&request(vec![Message::user("https://atlas.example/Am")], supervisor_tools(), &[]));
    assert_eq!(delegated(&reply), ["https://atlas.example/Am"]);
}

#[test]
fn searches_that_all_failed_are_told_and_not_taken_for_sources_without_an_answer() {
    let objective = objective("Uruguay: population");
    let mut messages = vec![Message::user("Uruguay: population")];
    let ask = |messages: &[Message]| answer(&request(messages.to_vec(), researcher_tools(), &objective));
    let failed = "error: unauthorized: the web could not be searched: searxng: it refuses to answer us";
    for _ in 0..6 {
        let reply = ask(&messages);
        if reply.tool_calls.is_empty() {
            break;
        }
        go_on(&mut messages, &reply, &vec![failed; reply.tool_calls.len()]);
    }
    let told =
        "Not found: anything in the web, which could not be searched: searxng: it refuses to answer us";
    let findings = ask(&messages).text;
    assert_eq!(findings.lines().last(), Some(told), "{findings}");
    assert!(!findings.contains("no source speaks of"), "{findings}");
    // The supervisor does not ask once more in other words.
    let mut lead = vec![Message::user("Population of Uruguay")];
    let reply = answer(&request(lead.clone(), supervisor_tools(), &[]));
    go_on(&mut lead, &reply, &[&findings]);
    assert!(says(&answer(&request(lead, supervisor_tools(), &[])))[0].starts_with("Done"));
    let draft = super::super::answer::report_of("Population of Uruguay", &findings);
    assert!(draft.contains("Nothing was found: the web could not be searched."), "{draft}");
    assert!(draft.contains(&format!("- {told}.")), "{draft}");
    assert!(!draft.contains("in the sources"), "{draft}");
}
