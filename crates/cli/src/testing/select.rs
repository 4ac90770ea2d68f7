//! The cases that are meant: by path, by a part of their names.

use std::path::{Path, PathBuf};

use deepgraph_testkit::suite::{CaseFile, FindError, LeftOut, distinct, find};

use super::error::TestError;
use crate::when::number;

/// The cases that are meant.
#[derive(Debug)]
pub struct Selection {
    /// All that were found below the paths.
    pub found: Vec<CaseFile>,
    /// Those of them that are to be played.
    pub chosen: Vec<CaseFile>,
    /// Parts of names that no case has.
    pub unmatched: Vec<String>,
    /// What could not be looked into.
    pub left_out: Vec<LeftOut>,
    /// Whether all cases of their projects were found and are meant: no part of a name was given, and each project is
    /// within what was looked through.
    pub is_whole: bool,
}

/// Finds the cases. What is there as a path, or ends as a case file does, is a path; anything else is a part of the
/// names of cases. Without a path the current folder is looked through.
///
/// # Errors
///
/// A path is not there or can not be read, two of the cases that are meant have the same name, or nothing was found.
pub fn select(given: &[String]) -> Result<Selection, TestError> {
    if given.iter().any(String::is_empty) {
        return Err(TestError::EmptyArgument);
    }
    let (mut paths, mut parts) = (Vec::new(), Vec::new());
    for text in given {
        match is_path(text) {
            true => paths.push(PathBuf::from(text)),
            false => parts.push(text),
        }
    }
    if paths.is_empty() {
        paths.push(PathBuf::from("."));
    }
    let looked = find(&paths)?;
    let found = looked.files;
    if found.is_empty() {
        return Err(TestError::NoCases(nothing_below(&paths)));
    }
    let has = |file: &CaseFile, part: &str| file.name.to_string().contains(part);
    let unmatched: Vec<String> =
        parts.iter().filter(|part| !found.iter().any(|file| has(file, part))).map(|p| (*p).clone()).collect();
    // It was probably meant as a path.
    if let Some(path) = unmatched.iter().find(|part| part.contains(std::path::is_separator)) {
        return Err(FindError::Missing(PathBuf::from(path)).into());
    }
    let is_chosen = |file: &&CaseFile| parts.is_empty() || parts.iter().any(|part| has(file, part));
    let chosen: Vec<CaseFile> = found.iter().filter(is_chosen).cloned().collect();
    if chosen.is_empty() {
        return Err(TestError::NoCases(no_such_name(&paths, &parts, &found)));
    }
    distinct(&chosen)?;
    let is_whole = parts.is_empty() && looked.left_out.is_empty() && covers(&paths, &found);
    Ok(Selection { found, chosen, unmatched, left_out: looked.left_out, is_whole })
}

/// Whether the projects of all cases are within the folders that were looked through.
fn covers(paths: &[PathBuf], found: &[CaseFile]) -> bool {
    let folders: Vec<PathBuf> = paths.iter().filter_map(|path| path.canonicalize().ok()).collect();
    found.iter().all(|file| folders.iter().any(|folder| file.name.root.starts_with(folder)))
}

fn is_path(text: &str) -> bool {
    let is_case_file = [".yaml", ".yml", ".json"].iter().any(|ending| text.ends_with(ending));
    is_case_file || Path::new(text).exists()
}

/// Entries of a folder, or names of cases, that are listed.
const LISTED: usize = 12;

fn nothing_below(paths: &[PathBuf]) -> String {
    let looked: String =
        paths.iter().map(|path| format!("\n  {}: {}", path.display(), inside(path))).collect();
    format!(
        "no cases were found. Looked in, with what is there:{looked}\n\
         Cases are YAML and JSON files in folders called cases, such as graphs/my_graph/cases, and other YAML files with \
         a line that begins with case:"
    )
}

fn inside(folder: &Path) -> String {
    let Ok(entries) = std::fs::read_dir(folder) else { return "it can not be listed".to_owned() };
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| {
            let mark = if entry.path().is_dir() { "/" } else { "" };
            format!("{}{mark}", entry.file_name().to_string_lossy())
        })
        .collect();
    names.sort();
    if names.is_empty() { "nothing".to_owned() } else { some(&names) }
}

fn no_such_name(paths: &[PathBuf], parts: &[&String], found: &[CaseFile]) -> String {
    let names: Vec<String> = found.iter().map(|file| file.name.to_string()).collect();
    let folders: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    let parts: Vec<String> = parts.iter().map(|part| format!("\"{part}\"")).collect();
    format!(
        "no case has {} in its name; in {} there are {}: {}\n`deepgraph test --list` lists all",
        parts.join(" or "),
        folders.join(", "),
        number(names.len() as u64),
        some(&names)
    )
}

fn some(names: &[String]) -> String {
    let more = names.len().saturating_sub(LISTED);
    let shown = names[..names.len() - more].join(", ");
    if more == 0 { shown } else { format!("{shown} and {} more", number(more as u64)) }
}
