//! The document that teaches cases: its cases pass, its tables have the words of the code.

use std::collections::BTreeSet;
use std::path::Path;

use deepgraph_testkit::case::{Case, words};

use crate::support::repo;

fn document() -> String {
    std::fs::read_to_string(repo().join("docs/cases.md")).expect("the document is there")
}

/// The cases of the document, each with the line before it.
fn cases(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (line, number) in text.lines().zip(1..) {
        match &mut open {
            None if line == "```yaml" => open = Some((number, String::new())),
            Some(_) if line == "```" => found.extend(open.take()),
            Some((_, case)) => *case += &format!("{line}\n"),
            None => {}
        }
    }
    found
}

/// The names in the first column of the table below a heading.
fn keys(text: &str, heading: &str) -> BTreeSet<String> {
    let mut lines = text.lines();
    assert!(lines.any(|line| line.trim_start_matches('#') == format!(" {heading}")), "no heading {heading}");
    let below = lines.take_while(|line| !line.starts_with('#'));
    let rows = below.filter(|line| line.starts_with("| `"));
    rows.filter_map(|row| row.split('`').nth(1)).map(str::to_owned).collect()
}

#[test]
fn its_cases_pass() {
    let text = document();
    let cases = cases(&text);
    assert!(cases.len() >= 5, "only {} cases were found", cases.len());
    for (line, text) in cases {
        let case = Case::parse("case.yaml", &text, Path::new(""))
            .unwrap_or_else(|mistakes| panic!("docs/cases.md:{line}\n{mistakes}"));
        let played = case.play();
        assert!(played.passed(), "docs/cases.md:{line}\n{played}");
    }
}

#[test]
fn its_tables_have_the_words_of_the_code() {
    let text = document();
    let tables: [(&str, &[&str]); 15] = [
        ("Case keys", &words::CASE),
        ("Server tool keys", &words::SERVER_TOOL),
        ("What a model answers", &words::MODEL),
        ("Tokens keys", &words::TOKENS),
        ("Cost keys", &words::COST),
        ("Request keys", &words::REQUEST),
        ("What an op brings back", &words::OP),
        ("What a person says", &words::PERSON),
        ("Error keys", &words::ERROR),
        ("Cancel keys", &words::CANCEL),
        ("Fork keys", &words::FORK),
        ("Attempt keys", &words::ATTEMPT),
        ("Exit keys", &words::EXIT),
        ("Expect keys of an instance", &words::EXPECT_OF_SCOPE),
        ("Expect keys of the run", &words::EXPECT_OF_RUN),
    ];
    for (heading, words) in tables {
        let wanted: BTreeSet<String> = words.iter().map(|word| (*word).to_owned()).collect();
        assert_eq!(keys(&text, heading), wanted, "{heading}");
    }
}
