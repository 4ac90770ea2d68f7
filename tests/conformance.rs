//! The declared cases: of the graph language under `tests/conformance/`, of the stock graphs under `graphs/*/cases/`.

mod document;
mod runner;

use std::path::{Path, PathBuf};

use deepgraph_testkit::case::Case;

use crate::support;

/// The case files of a folder, in order of name.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "yaml"));
    files.sort();
    files
}

/// The name under which a folder keeps its snapshots, and which its tests bear.
fn family_of(folder: &Path) -> String {
    let last = |path: &Path| path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    match last(folder).as_str() {
        "cases" => last(folder.parent().expect("cases are of a graph")),
        family => format!("conformance/{family}"),
    }
}

/// Plays all cases of a folder and tells all that is not as they say.
fn play(folder: &str) {
    let folder = support::repo().join(folder);
    let mut failed = Vec::new();
    let mut snapshots = Vec::new();
    for path in files(&folder) {
        let shown =
            path.strip_prefix(support::repo()).expect("it is in the repository").display().to_string();
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{shown}: {e}"));
        match Case::parse(&shown, &text, &folder) {
            Err(mistakes) => failed.push(format!("{mistakes}")),
            Ok(case) => {
                let played = case.play();
                if !played.passed() {
                    failed.push(format!("{shown}: {}\n{played}", case.sentence));
                } else if played.snapshot {
                    snapshots.push((case.name, played.trace));
                }
            }
        }
    }
    assert!(failed.is_empty(), "{} cases failed\n\n{}", failed.len(), failed.join("\n\n"));
    for (name, trace) in snapshots {
        support::snapshot(&family_of(&folder), &name, &trace);
    }
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
    approvals: "tests/conformance/approvals",
    cancel: "tests/conformance/cancel",
    checks: "tests/conformance/checks",
    children: "tests/conformance/children",
    errors: "tests/conformance/errors",
    exits: "tests/conformance/exits",
    fanout: "tests/conformance/fanout",
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
    turns: "tests/conformance/turns",
    waiting: "tests/conformance/waiting",
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
