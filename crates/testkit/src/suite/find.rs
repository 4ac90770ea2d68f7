//! Case files below paths.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use ignore::{DirEntry, WalkBuilder};

use super::graph_name::GraphNames;
use super::kind::{FileKind, in_cases, is_json, is_yaml};
use super::name::{CASES, CaseName};

/// Folders that hold what was built or fetched.
const SKIPPED: [&str; 2] = ["target", "node_modules"];

/// A case file that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseFile {
    /// The file, as it was reached.
    pub path: PathBuf,
    /// What it is called.
    pub name: CaseName,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The case files, by path.
    pub files: Vec<CaseFile>,
    /// What could not be looked into, by path.
    pub left_out: Vec<LeftOut>,
}

/// A folder or file that could not be looked into. Cases may be there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftOut {
    /// The path.
    pub path: PathBuf,
    /// Why.
    pub why: String,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is left out: {}", self.path.display(), self.why)
    }
}

/// Why cases can not be looked for.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// A path that is not there.
    #[error("there is no file or folder {}", .0.display())]
    Missing(PathBuf),
    /// A folder that can not be listed.
    #[error("{} can not be read: {error}", .path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Two files whose cases would have the same snapshot.
    #[error(
        "{} and {} are both the case `{name}`: a case is called after the folder of its graph and its file without the \
         ending, where graphs/x and tests/x are one, and so are large letters and small ones; rename one of them",
        .one.display(),
        .other.display()
    )]
    SameName {
        /// The name of the second.
        name: String,
        /// One file.
        one: PathBuf,
        /// The other.
        other: PathBuf,
    },
}

/// The case files below paths.
///
/// A path that is a file is a case. In a folder, and in those below it, cases are the YAML and JSON files in folders
/// called `cases` and below them, but for graphs (they have the key `deepgraph` and not `case`); elsewhere YAML files with
/// the key `case`. Hidden folders, `target`, `node_modules` and, in a checkout, what git ignores are skipped. Links to folders are not followed.
///
/// # Errors
///
/// A path is not there, or is a folder that can not be read. What can not be read below it is left out.
pub fn find(paths: &[PathBuf]) -> Result<Found, FindError> {
    let mut looked = Looked::default();
    for path in paths {
        if path.is_file() {
            looked.add(path);
        } else if path.is_dir() {
            looked.below(path)?;
        } else {
            return Err(FindError::Missing(path.clone()));
        }
    }
    let mut graphs = GraphNames::default();
    let name = |path: PathBuf| CaseFile { name: CaseName::with(&path, &mut graphs), path };
    let mut files: Vec<CaseFile> = looked.files.into_values().map(name).collect();
    files.sort_by(|a, b| a.path.as_os_str().as_encoded_bytes().cmp(b.path.as_os_str().as_encoded_bytes()));
    looked.left_out.sort();
    looked.left_out.dedup();
    Ok(Found { files, left_out: looked.left_out })
}

/// Whether each of the cases has a snapshot of its own.
///
/// # Errors
///
/// Two have the same name, or names that differ only in large and small letters: some systems have one file for both.
pub fn distinct(files: &[CaseFile]) -> Result<(), FindError> {
    let mut seen: BTreeMap<(&Path, String), &CaseFile> = BTreeMap::new();
    for file in files {
        if let Some(other) = seen.insert(file.name.key(), file) {
            return Err(FindError::SameName {
                name: file.name.to_string(),
                one: other.path.clone(),
                other: file.path.clone(),
            });
        }
    }
    Ok(())
}

/// What was found so far.
#[derive(Default)]
struct Looked {
    /// By the file itself: whoever names a folder and a file in it means the file once.
    files: BTreeMap<PathBuf, PathBuf>,
    left_out: Vec<LeftOut>,
}

impl Looked {
    fn add(&mut self, path: &Path) {
        let shown = shown(path);
        self.files.entry(path.canonicalize().unwrap_or(shown.clone())).or_insert(shown);
    }

    fn leave_out(&mut self, path: &Path, why: impl Into<String>) {
        self.left_out.push(LeftOut { path: shown(path), why: why.into() });
    }

    fn below(&mut self, folder: &Path) -> Result<(), FindError> {
        // Whoever stands in a folder of cases, or below one, means its cases.
        let is_among_cases = in_cases(Some(folder));
        let mut walk = WalkBuilder::new(folder);
        // What git ignores was made from something else: it is no case that somebody wrote. Settings of this machine or
        // of this user do not count.
        walk.standard_filters(false).parents(true).git_ignore(true).hidden(true).filter_entry(is_looked_at);
        for entry in walk.build() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.unreadable(folder, &error)?;
                    continue;
                }
            };
            let path = entry.path();
            let inner = path.strip_prefix(folder).unwrap_or(path).parent().unwrap_or(Path::new(""));
            let is_in_cases = is_among_cases || inner.iter().any(|name| name == CASES);
            if entry.path_is_symlink() && is_in_cases {
                self.link(path);
            }
            // Elsewhere JSON is too often something else, and long.
            if path.is_file() && (is_yaml(path) || (is_json(path) && is_in_cases)) {
                self.file(path, is_in_cases);
            }
        }
        Ok(())
    }

    /// A YAML or JSON file.
    fn file(&mut self, path: &Path, is_in_cases: bool) {
        match FileKind::among(path, is_in_cases) {
            Ok(FileKind::Case) => self.add(path),
            Ok(FileKind::Graph | FileKind::Other) => {}
            // It is told as a case with a mistake.
            Err(_) if is_in_cases => self.add(path),
            Err(error) => self.leave_out(path, format!("it can not be read: {error}")),
        }
    }

    /// A link among cases that brings none, though it was probably meant to.
    fn link(&mut self, path: &Path) {
        match std::fs::metadata(path) {
            Ok(found) if found.is_dir() => {
                self.leave_out(path, "it is a link to a folder, which is not followed")
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.leave_out(path, "it is a link to what is not there");
            }
            Err(error) => self.leave_out(path, format!("it is a link that leads nowhere: {error}")),
        }
    }

    /// What the walk could not read: an error where it is what the user named.
    fn unreadable(&mut self, folder: &Path, error: &ignore::Error) -> Result<(), FindError> {
        match path_of(error) {
            Some(path) if path != folder => {
                self.leave_out(path, format!("it can not be read: {}", io::Error::from(kind_of(error))));
                Ok(())
            }
            _ => Err(unreadable(folder, error)),
        }
    }
}

/// What the walk of a folder could not read, as an error.
pub(super) fn unreadable(folder: &Path, error: &ignore::Error) -> FindError {
    let path = path_of(error).unwrap_or(folder).to_owned();
    FindError::Unreadable { path, error: kind_of(error).into() }
}

/// Its own message names the path once more.
fn kind_of(error: &ignore::Error) -> io::ErrorKind {
    error.io_error().map_or(io::ErrorKind::Other, io::Error::kind)
}

/// A path as it is told.
fn shown(path: &Path) -> PathBuf {
    path.strip_prefix(".").unwrap_or(path).to_owned()
}

/// What the walk could not read.
fn path_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => path_of(err),
        ignore::Error::Loop { child, .. } => Some(child),
        _ => None,
    }
}

/// Nothing that was built. What was named itself is looked at in any case.
fn is_looked_at(entry: &DirEntry) -> bool {
    let is_skipped = SKIPPED.iter().any(|skipped| entry.file_name() == OsStr::new(skipped));
    entry.depth() == 0 || !(is_skipped && entry.file_type().is_some_and(|kind| kind.is_dir()))
}

#[cfg(test)]
mod tests;
