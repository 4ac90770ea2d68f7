//! Bugs that are planted in a copy of the engine and of the simulated driver: the invariants must find each of them.
//!
//! The copy has the bugs of `tests/planted/`, all at once, each behind a switch that is an environment variable. One
//! build is enough for all of them.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::repo;

/// The crates that a simulation needs.
const CRATES: [&str; 5] = ["protocol", "graph", "engine", "trace", "testkit"];

/// The crates that bugs are planted in.
const PLANTED: [&str; 2] = ["engine", "testkit"];

/// The switch, added to each of these.
const SWITCH: &str = r#"
/// Whether the bug of a name is switched on.
pub(crate) fn planted(name: &str) -> bool {
    static BUG: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    BUG.get_or_init(|| std::env::var("PLANTED_BUG").unwrap_or_default()) == name
}
"#;

struct Bug {
    name: String,
    /// The invariant that it breaks.
    breaks: String,
    /// The stock graph that it is looked for in.
    graph: String,
    changes: Vec<Change>,
}

struct Change {
    file: String,
    find: String,
    replace: String,
}

fn bugs() -> Vec<Bug> {
    let folder = fs::read_dir(repo().join("tests/planted")).expect("the bugs are there");
    let mut paths: Vec<PathBuf> = folder.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "txt"));
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Bug {
    let name = path.file_stem().expect("it has a name").to_string_lossy().into_owned();
    let text = fs::read_to_string(path).expect("it can be read");
    let (first, rest) = text.split_once('\n').expect("it has lines");
    let breaks = first.strip_prefix("breaks: ").expect("the first line says what it breaks");
    let (breaks, graph) = breaks.split_once(" in ").unwrap_or((breaks, "deep_research"));
    let (breaks, graph) = (breaks.to_owned(), graph.to_owned());
    let changes = format!("\n{rest}")
        .split("\n== ")
        .skip(1)
        .map(|change| {
            let (file, texts) = change.split_once('\n').expect("a change names its file");
            let (find, replace) = texts.split_once("\n--\n").expect("a change has two texts");
            let replace = replace.trim_end_matches('\n').to_owned();
            Change { file: file.to_owned(), find: find.to_owned(), replace }
        })
        .collect();
    Bug { name, breaks, graph, changes }
}

/// The file of the copy with all changes that are for it.
fn changed(file: &str, text: &str, bugs: &[Bug]) -> String {
    let mut text = text.to_owned();
    for bug in bugs {
        for change in bug.changes.iter().filter(|change| change.file == file) {
            let found = text.matches(&change.find).count();
            assert_eq!(
                found, 1,
                "tests/planted/{}.txt no longer fits: {file} has this {found} times, not once:\n{}",
                bug.name, change.find
            );
            text = text.replace(&change.find, &change.replace);
        }
    }
    if PLANTED.iter().any(|name| file == format!("crates/{name}/src/lib.rs")) {
        text += SWITCH;
    }
    text
}

/// Writes a file where it is not there yet as it should be: what has not changed is not built again.
fn write(path: &Path, text: &str) {
    if fs::read_to_string(path).is_ok_and(|there| there == text) {
        return;
    }
    fs::create_dir_all(path.parent().expect("it is in a folder")).expect("the folder can be made");
    fs::write(path, text).expect("it can be written");
}

/// Copies a folder, and notes the files that are there now.
fn copy(from: &Path, relative: &str, to: &Path, bugs: &[Bug], there: &mut BTreeSet<PathBuf>) {
    let mut entries: Vec<_> =
        fs::read_dir(from.join(relative)).expect("it is there").filter_map(Result::ok).collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = format!("{relative}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            copy(from, &path, to, bugs, there);
        } else {
            let text = fs::read_to_string(entry.path()).expect("sources are text");
            write(&to.join(&path), &changed(&path, &text, bugs));
            there.insert(to.join(&path));
        }
    }
}

/// Removes the files of a folder that are none of these: what was copied before and is gone must not be built.
fn tidy(folder: &Path, there: &BTreeSet<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        let path = entry.path();
        if path.is_dir() {
            tidy(&path, there);
        } else if !there.contains(&path) {
            fs::remove_file(&path).expect("it can be removed");
        }
    }
}

/// The workspace with the crates of a simulation only.
fn manifest() -> String {
    let text = fs::read_to_string(repo().join("Cargo.toml")).expect("it is there");
    let members: Vec<String> = CRATES.iter().map(|name| format!("\"crates/{name}\"")).collect();
    let lines: Vec<String> = text
        .lines()
        .map(|line| match line.starts_with("members = ") {
            true => format!("members = [{}]", members.join(", ")),
            false => line.to_owned(),
        })
        .collect();
    lines.join("\n") + "\n"
}

/// The folder that all is built below.
fn target() -> PathBuf {
    let program = std::env::current_exe().expect("the test is a program");
    let deps = program.parent().and_then(Path::parent).and_then(Path::parent);
    deps.expect("it is in target/PROFILE/deps").join("planted")
}

fn build(folder: &Path, bugs: &[Bug]) -> PathBuf {
    let mut there = BTreeSet::new();
    for name in CRATES {
        copy(&repo(), &format!("crates/{name}"), folder, bugs, &mut there);
    }
    // The help pages of mistakes are built in.
    copy(&repo(), "docs/diagnostics", folder, bugs, &mut there);
    ["crates", "docs"].iter().for_each(|name| tidy(&folder.join(name), &there));
    write(&folder.join("Cargo.toml"), &manifest());
    let lock = fs::read_to_string(repo().join("Cargo.lock")).expect("it is there");
    write(&folder.join("Cargo.lock"), &lock);
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--offline", "-p", "deepgraph-testkit", "--example", "simulate"])
        .arg("--manifest-path")
        .arg(folder.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(folder.join("target"))
        .env_remove("RUSTFLAGS")
        .output()
        .expect("cargo runs");
    assert!(built.status.success(), "the copy can not be built:\n{}", String::from_utf8_lossy(&built.stderr));
    folder.join("target/debug/examples").join(format!("simulate{}", std::env::consts::EXE_SUFFIX))
}

/// The folder of a graph: a stock graph by its name, another one by its path.
fn folder_of(graph: &str) -> PathBuf {
    if graph.contains('/') { repo().join(graph) } else { repo().join("graphs").join(graph) }
}

/// Nobody else writes or builds the copy as long as this is held.
fn lock(folder: &Path) -> File {
    fs::create_dir_all(folder).expect("the folder can be made");
    let file = File::create(folder.join("lock")).expect("it can be made");
    file.lock().expect("it can be locked");
    file
}

#[test]
fn every_invariant_has_a_bug_that_breaks_it() {
    let broken: BTreeSet<String> = bugs().into_iter().map(|bug| bug.breaks).collect();
    let all: BTreeSet<String> = deepgraph_testkit::invariants::names().map(str::to_owned).collect();
    assert_eq!(broken, all);
}

#[test]
fn what_is_gone_is_removed_from_the_copy() {
    let folder = tempfile::tempdir().expect("there is room");
    let of = |name: &str| folder.path().join(name);
    ["a/kept.rs", "a/gone.rs", "b/gone.rs"].iter().for_each(|name| write(&of(name), "x"));
    tidy(folder.path(), &BTreeSet::from([of("a/kept.rs")]));
    let left = ["a/kept.rs", "a/gone.rs", "b/gone.rs"].map(|name| of(name).exists());
    assert_eq!(left, [true, false, false]);
}

#[test]
fn each_planted_bug_is_found() {
    let bugs = bugs();
    let _held = lock(&target());
    let program = build(&target(), &bugs);
    let run = |graph: &str, bug: &str| {
        let output = Command::new(&program)
            .args([folder_of(graph).to_string_lossy().as_ref(), "300"])
            .env("PLANTED_BUG", bug)
            .output()
            .expect("it runs");
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    for graph in bugs.iter().map(|bug| &bug.graph).collect::<BTreeSet<_>>() {
        let (is_clean, told) = run(graph, "");
        assert!(is_clean, "without a bug nothing is broken:\n{told}");
    }
    for bug in &bugs {
        let (is_clean, told) = run(&bug.graph, &bug.name);
        let lines: Vec<&str> = told.lines().filter(|line| line.starts_with("seed ")).collect();
        let names_it = |line: &&&str| line.split(": ").nth(1) == Some(&bug.breaks);
        let shown = lines.iter().take(5).copied().collect::<Vec<_>>().join("\n");
        assert!(!is_clean && lines.iter().any(|line| names_it(&line)), "{} is not found:\n{shown}", bug.name);
        println!("{}: {}", bug.name, lines.iter().find(names_it).map_or("", |line| line));
    }
}
