//! The declared cases: of the graph language under `tests/conformance/`, of the stock graphs under `graphs/*/cases/`.

mod coverage;
mod document;
mod runner;

use std::path::{Path, PathBuf};

use deepgraph_testkit::suite::{self, Writes};

use crate::support;

/// The case files of a folder, in order of name.
fn files(folder: &Path) -> Vec<PathBuf> {
    let cases = suite::find(&[folder.to_owned()]).unwrap_or_else(|error| panic!("{error}"));
    cases.files.into_iter().map(|case| case.path).collect()
}

/// Plays all cases of a folder and tells all that is not as they say. Traces that are not those of their snapshots wait
/// to be reviewed, but where nothing is to be written.
fn play(folder: &str) {
    let writes = Writes::of_environment();
    let found = suite::find(&[support::repo().join(folder)]).unwrap_or_else(|error| panic!("{error}"));
    let cases = found.files;
    suite::distinct(&cases).unwrap_or_else(|error| panic!("{error}"));
    assert!(!cases.is_empty(), "{folder} has no cases");
    let played = cases.iter().map(|case| case.play(writes, None));
    let failed: Vec<String> = played
        .filter(|outcome| !outcome.verdict.passed())
        .map(|outcome| {
            let sentence = outcome.sentence.unwrap_or_default();
            format!("{}: {sentence}\n{}", outcome.name.source, outcome.text)
        })
        .collect();
    assert!(failed.is_empty(), "{} cases failed\n\n{}", failed.len(), failed.join("\n\n"));
}

macro_rules! families {
    ($($name:ident: $folder:literal,)*) => {
        mod cases {
            $(#[test] fn $name() { super::play($folder); })*
        }

        /// The folders that are played.
        const FOLDERS: &[&str] = &[$($folder),*];
    };
}

families! {
    attempts: "tests/conformance/attempts",
    approvals: "tests/conformance/approvals",
    cancel: "tests/conformance/cancel",
    checks: "tests/conformance/checks",
    children: "tests/conformance/children",
    errors: "tests/conformance/errors",
    exits: "tests/conformance/exits",
    fanout: "tests/conformance/fanout",
    fees: "tests/conformance/fees",
    files: "tests/conformance/files",
    finally: "tests/conformance/finally",
    forks: "tests/conformance/forks",
    grants: "tests/conformance/grants",
    joins: "tests/conformance/joins",
    kept: "tests/conformance/kept",
    limits: "tests/conformance/limits",
    order: "tests/conformance/order",
    people: "tests/conformance/people",
    recursion: "tests/conformance/recursion",
    reducers: "tests/conformance/reducers",
    retries: "tests/conformance/retries",
    routes: "tests/conformance/routes",
    servers: "tests/conformance/servers",
    turns: "tests/conformance/turns",
    waiting: "tests/conformance/waiting",
    windows: "tests/conformance/windows",
    writes: "tests/conformance/writes",
    deep_research: "graphs/deep_research/cases",
    quick_answer: "graphs/quick_answer/cases",
    compare: "graphs/compare/cases",
    map_reduce: "graphs/map_reduce/cases",
    plan_execute: "graphs/plan_execute/cases",
    recursive_research: "graphs/recursive_research/cases",
    reflection: "graphs/reflection/cases",
    router: "graphs/router/cases",
    storm: "graphs/storm/cases",
    teams: "graphs/teams/cases",
}

#[test]
fn every_folder_of_cases_is_played() {
    let repo = support::repo();
    let mut found = Vec::new();
    for entry in std::fs::read_dir(repo.join("tests/conformance")).expect("there are families") {
        let path = entry.expect("it can be listed").path();
        found.extend(path.is_dir().then_some(path));
    }
    for entry in std::fs::read_dir(repo.join("graphs")).expect("there are stock graphs") {
        let path = entry.expect("it can be listed").path().join("cases");
        found.extend(path.is_dir().then_some(path));
    }
    let mut found: Vec<String> = found
        .iter()
        .map(|path| path.strip_prefix(&repo).expect("it is in the repository").display().to_string())
        .collect();
    found.sort();
    let mut played: Vec<&str> = FOLDERS.to_vec();
    played.sort_unstable();
    assert_eq!(found, played, "each folder of cases has its line above");
}
