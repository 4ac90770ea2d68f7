//! The links in the documents.

use std::collections::BTreeSet;
use std::path::Path;

use super::documents;

/// The anchors of a document's headings, as code hosts make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |line: &str| -> String {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(anchor).collect()
}

/// The targets of a document's links.
fn targets(text: &str) -> Vec<&str> {
    text.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect()
}

#[test]
fn links_lead_somewhere() {
    for (name, text) in documents() {
        let folder = Path::new(&name).parent().expect("a document is in a folder");
        for target in targets(&text).into_iter().filter(|t| !t.starts_with("http")) {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let there = match file {
                "" => text.clone(),
                file => std::fs::read_to_string(folder.join(file))
                    .unwrap_or_else(|e| panic!("{name}: {target}: {e}")),
            };
            assert!(anchor.is_empty() || anchors(&there).contains(anchor), "{name}: {target}");
        }
    }
}
