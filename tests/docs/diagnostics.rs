//! The help pages of the codes: each has a graph with the mistake and the same graph without it.

use std::collections::{BTreeMap, BTreeSet};

use deepgraph_graph::{CODES, Diagnostics, OpTable, help_page, load};

use super::{compare, section};
use crate::support::repo;

/// The graphs in a part of a page.
fn graphs<'p>(page: &'p str, heading: &str) -> Vec<&'p str> {
    let part = section(page, heading);
    part.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

/// The graph of a part of a page.
fn graph<'p>(code: &str, page: &'p str, heading: &str) -> &'p str {
    match graphs(page, heading)[..] {
        [only] => only,
        ref found => panic!("{code}: {} graphs under \"{heading}\"; there must be one", found.len()),
    }
}

/// The other files that a part of a page shows, by name.
fn others(page: &str, heading: &str) -> BTreeMap<String, String> {
    let part = section(page, heading);
    let blocks = part.split("```yaml file=").skip(1).filter_map(|rest| rest.split("```").next());
    let named = blocks.filter_map(|block| block.split_once('\n'));
    named.map(|(name, text)| (name.to_owned(), text.to_owned())).collect()
}

fn said(graph: &str, others: BTreeMap<String, String>) -> Diagnostics {
    let mut files = others;
    files.insert("graph.yaml".to_owned(), graph.to_owned());
    match load("graph.yaml", &files, &OpTable::stock()) {
        Ok(loaded) => loaded.warnings,
        Err(mistakes) => mistakes,
    }
}

fn page(code: &str) -> &'static str {
    help_page(code).unwrap_or_else(|| panic!("{code} has no page"))
}

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
    let folder = std::fs::read_dir(repo().join("docs/diagnostics")).expect("there is a folder of pages");
    let names = folder.map(|file| file.expect("it can be listed").file_name().to_string_lossy().into_owned());
    let names: BTreeSet<String> = names.collect();
    let wanted: Vec<String> = CODES.iter().map(|(code, _)| format!("{code}.md")).collect();
    compare(
        "docs/diagnostics",
        names.iter().map(String::as_str).collect(),
        wanted.iter().map(String::as_str),
    );
    for (code, title) in CODES {
        let heading = format!("# {code}: {}\n", title.trim_end_matches('.'));
        assert!(page(code).starts_with(&heading), "the page should begin with {heading}");
    }
    assert_eq!(help_page("DG9999"), None);
}

#[test]
fn a_page_says_what_it_is_why_it_matters_and_how_to_mend_it() {
    for (code, _) in CODES {
        let page = page(code);
        let what = page.split("\n\n").nth(1).unwrap_or_default();
        assert!(what.len() > 20 && what.ends_with('.'), "{code}: {what}");
        for heading in ["Why it matters", "Mended"] {
            let text = section(page, heading).split("```").next().unwrap_or_default().trim();
            assert!(text.len() > 20 && text.ends_with('.'), "{code}: {heading}: {text}");
        }
        let prose = page.split("```").step_by(2).flat_map(str::lines);
        let long: Vec<&str> = prose.filter(|line| line.chars().count() > 80).collect();
        assert!(long.is_empty(), "{code}: longer than a terminal is wide: {long:?}");
    }
}

#[test]
fn the_wrong_graph_of_a_page_has_this_mistake_and_no_other() {
    for (code, _) in CODES {
        let found = said(graph(code, page(code), "Wrong"), others(page(code), "Wrong"));
        let mut codes: BTreeSet<&str> = found.iter().map(|d| d.code).collect();
        if *code == "DG0901" {
            // There are more of another kind.
            assert_eq!(codes.len(), 2, "{code}: {found}");
            codes.retain(|found| found == code);
        }
        assert_eq!(codes, BTreeSet::from([*code]), "{code}\n{found}");
    }
}

#[test]
fn the_mended_graph_of_a_page_loads_without_a_word() {
    for (code, _) in CODES {
        let found = said(graph(code, page(code), "Mended"), others(page(code), "Mended"));
        assert!(found.is_empty(), "{code}\n{found}");
    }
}
