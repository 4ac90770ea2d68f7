//! What the files of the project look like.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::layers::{PURE, short};
use super::packages::{self, root};

/// The most lines of a Rust file: one idea a file.
const MOST_LINES: usize = 400;

/// Files that may be longer, each with its bound. Kept short.
const LONGER: &[(&str, usize)] = &[];

/// Marks of unfinished work. Written in halves, so that this file does not hold them.
const UNFINISHED: [&str; 5] = [
    concat!("to", "do!("),
    concat!("unimple", "mented!("),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("HA", "CK"),
];

/// What a pure crate must not touch: the clock, chance, threads, the outside, orders that differ from run to run.
const IMPURE: [&str; 9] = [
    "SystemTime::now",
    "Instant::now",
    "HashMap",
    "HashSet",
    "rand::",
    "std::fs",
    "std::net",
    "thread::",
    "std::env",
];

/// Folders of the machines that the project is made on.
const HOST_PATHS: [&str; 4] =
    [concat!("/wo", "rk/"), concat!("/tmp/", "notes"), concat!("/ro", "ot/"), concat!("/ho", "me/")];

/// The project's files, relative to its folder, with their text. Files that are no text are left out.
fn texts() -> Vec<(String, String)> {
    let files = tracked().unwrap_or_else(|| walk(&root()));
    files
        .into_iter()
        .filter_map(|name| Some((name.clone(), fs::read_to_string(root().join(name)).ok()?)))
        .collect()
}

fn rust_files() -> Vec<(String, String)> {
    texts().into_iter().filter(|(name, _)| name.ends_with(".rs")).collect()
}

/// What git keeps or would keep; none where this is no checkout.
fn tracked() -> Option<Vec<String>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root());
    let output = git.output().ok().filter(|output| output.status.success())?;
    let names: Vec<_> =
        output.stdout.split(|b| *b == 0).map(|n| String::from_utf8_lossy(n).into_owned()).collect();
    let names: Vec<_> = names.into_iter().filter(|name| !name.is_empty()).collect();
    (!names.is_empty()).then_some(names)
}

/// All files below a folder but those that the build makes.
fn walk(folder: &Path) -> Vec<String> {
    let mut open = vec![folder.to_path_buf()];
    let mut files = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            let relative = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
            match path.is_dir() {
                true if relative == "target" || relative == ".git" => {}
                true => open.push(path),
                false => files.push(relative),
            }
        }
    }
    files
}

fn expect_none(mistakes: Vec<String>) {
    assert!(mistakes.is_empty(), "\n{}", mistakes.join("\n"));
}

#[test]
fn the_files_are_found() {
    let walked = walk(&root());
    for name in ["Cargo.toml", "tests/house/files.rs", "crates/protocol/src/lib.rs"] {
        assert!(walked.iter().any(|n| n == name), "{name}");
        assert!(texts().iter().any(|(n, _)| n == name), "{name}");
    }
}

#[test]
fn rust_files_are_short() {
    let bound = |name: &str| LONGER.iter().find(|(n, _)| *n == name).map_or(MOST_LINES, |(_, bound)| *bound);
    let long = rust_files().into_iter().filter_map(|(name, text)| {
        let (lines, bound) = (text.lines().count(), bound(&name));
        (lines > bound).then(|| format!("{name} has {lines} lines, more than {bound}: split it by its ideas"))
    });
    expect_none(long.collect());
}

#[test]
fn no_module_is_a_drawer() {
    let drawers = rust_files().into_iter().filter_map(|(name, _)| {
        let name = Path::new(&name);
        let is_drawer =
            name.iter().any(|part| ["utils", "utils.rs", "util", "util.rs"].iter().any(|d| part == *d));
        is_drawer.then(|| format!("{}: name it after what it holds", name.display()))
    });
    expect_none(drawers.collect());
}

#[test]
fn nothing_is_left_unfinished() {
    let mut mistakes = Vec::new();
    for (name, text) in texts() {
        for (n, line) in text.lines().enumerate() {
            for mark in UNFINISHED.iter().filter(|mark| has_word(line, mark)) {
                mistakes.push(format!("{name}:{}: {mark}", n + 1));
            }
        }
    }
    expect_none(mistakes);
}

/// Whether `word` stands in `line` as a word of its own.
fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next().filter(|_| !word.ends_with('('));
        [before, after].into_iter().flatten().all(|c| !c.is_alphanumeric() && c != '_')
    })
}

#[test]
fn words_are_told_from_their_parts() {
    assert!(has_word("// XY: later", "XY") && has_word("XY", "XY") && has_word("a.do!(x)", "do!("));
    assert!(!has_word("XYZ", "XY") && !has_word("my_XY", "XY") && !has_word("éXY", "XY"));
}

#[test]
fn pure_crates_touch_nothing_outside() {
    let folders: Vec<_> = PURE.iter().map(|name| format!("crates/{name}/src/")).collect();
    let mut mistakes = Vec::new();
    for (name, text) in rust_files() {
        if is_test_file(&name) || !folders.iter().any(|folder| name.starts_with(folder)) {
            continue;
        }
        for (n, line) in without_tests(&text).lines().enumerate() {
            if line.trim_start().starts_with("//") {
                continue;
            }
            for word in IMPURE.iter().filter(|word| line.contains(**word)) {
                mistakes.push(format!("{name}:{}: {word}", n + 1));
            }
        }
    }
    expect_none(mistakes);
}

/// Whether a file holds tests only, by its name.
fn is_test_file(name: &str) -> bool {
    Path::new(name).iter().any(|part| part == "tests.rs" || part == "tests" || part == "conformance")
}

/// A file's text up to its module of tests.
fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text)
}

#[test]
fn every_crate_keeps_the_common_lints_and_the_pure_ones_more() {
    for package in packages::all().values().filter(|package| package.is_member) {
        let manifest = fs::read_to_string(package.folder.join("Cargo.toml")).unwrap();
        assert!(manifest.contains("[lints]\nworkspace = true"), "{} has its own lints", package.name);
        if PURE.contains(&short(package)) {
            let lints = fs::read_to_string(package.folder.join("clippy.toml")).unwrap_or_default();
            for banned in ["HashMap", "HashSet", "SystemTime::now", "Instant::now"] {
                assert!(lints.contains(banned), "the clippy.toml of {} lets {banned} pass", package.name);
            }
        }
    }
}

#[test]
fn no_file_names_a_folder_of_one_machine() {
    let mut mistakes = Vec::new();
    for (name, text) in texts() {
        for (n, line) in text.lines().enumerate() {
            for path in HOST_PATHS.iter().filter(|path| has_path(line, path)) {
                mistakes.push(format!("{name}:{}: {path}", n + 1));
            }
        }
    }
    expect_none(mistakes);
}

/// Whether an absolute path with this beginning stands in `line`: not as the end of a longer path or of an address.
fn has_path(line: &str, start: &str) -> bool {
    line.match_indices(start).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && !"._-/}".contains(c))
    })
}
