//! The documents say what the program does: their graphs load and run, their tables have the names of the code.

mod diagnostics;
mod graphs;
mod links;
mod reference;
mod schema;
// Its commands are those of a Unix shell.
#[cfg(unix)]
mod testing;

use std::collections::BTreeSet;
use std::fs;

use crate::support::repo;

/// The documents with their text, by path.
fn documents() -> Vec<(String, String)> {
    let folder = fs::read_dir(repo().join("docs")).expect("there is a folder of documents");
    let mut paths: Vec<_> = folder.map(|entry| entry.expect("it can be listed").path()).collect();
    paths.push(repo().join("README.md"));
    paths.sort();
    paths.retain(|path| path.extension().is_some_and(|e| e == "md"));
    let read = |path: &std::path::PathBuf| fs::read_to_string(path).expect("a document is text");
    paths.iter().map(|path| (path.display().to_string(), read(path))).collect()
}

/// The text of one document.
fn document(name: &str) -> String {
    fs::read_to_string(repo().join(name)).expect("the document is there")
}

/// The graphs of a document: its YAML blocks that begin as graph files do, each with its line.
fn graphs_of(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (index, line) in text.lines().enumerate() {
        match &mut open {
            None if line == "```yaml" || line.starts_with("```yaml ") => {
                open = Some((index + 2, String::new()))
            }
            Some(_) if line == "```" => found.extend(open.take()),
            Some((_, block)) => *block += &format!("{line}\n"),
            None => {}
        }
    }
    found.retain(|(_, block)| block.starts_with("deepgraph: 1\n"));
    found
}

/// What stands below a heading, up to the next one.
fn section<'t>(text: &'t str, heading: &str) -> &'t str {
    let is_heading = |line: &str| line.starts_with('#') && line.trim_start_matches('#').starts_with(' ');
    let mut start = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if let (true, Some(start)) = (is_heading(line), start) {
            return &text[start..at];
        }
        at += line.len();
        if is_heading(line) && line.trim_start_matches('#').trim() == heading {
            start = Some(at);
        }
    }
    &text[start.unwrap_or_else(|| panic!("there is no heading \"{heading}\""))..]
}

/// The cells of the table of a section, its head left out.
fn rows(section: &str) -> Vec<Vec<&str>> {
    section.lines().filter(|line| line.starts_with('|')).skip(2).map(cells).collect()
}

fn cells(row: &str) -> Vec<&str> {
    row.trim().trim_start_matches('|').trim_end_matches('|').split(" | ").map(str::trim).collect()
}

/// The words in backticks.
fn words(text: &str) -> BTreeSet<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// The names in the first column of the table of a section.
fn first_column<'t>(text: &'t str, heading: &str) -> BTreeSet<&'t str> {
    rows(section(text, heading)).into_iter().filter_map(|cells| words(cells[0]).pop_first()).collect()
}

/// Compares the names of a document with those of the code.
fn compare<'a>(what: &str, written: BTreeSet<&str>, wanted: impl IntoIterator<Item = &'a str>) {
    let wanted: BTreeSet<&str> = wanted.into_iter().collect();
    let missing: Vec<_> = wanted.difference(&written).collect();
    let invented: Vec<_> = written.difference(&wanted).collect();
    assert!(
        missing.is_empty() && invented.is_empty(),
        "{what}: missing in the document {missing:?}, not in the code {invented:?}"
    );
}
