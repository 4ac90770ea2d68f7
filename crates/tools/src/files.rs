//! The files below the paths that were given, and their names as documents.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use walkdir::{DirEntry, WalkDir};

use crate::error::CorpusError;
use crate::report::{SkipReason, Skipped};

/// A path that was given: its real place and the name that its documents carry in front.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// Without links and `..`.
    pub path: PathBuf,
    /// The folder's name, for folders where there are several paths; the document's name for a file; else "".
    pub label: String,
}

/// A file that may be a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Where it is.
    pub path: PathBuf,
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change, in nanoseconds since 1970; 0 where the system does not tell.
    pub mtime: i64,
}

/// What stands below the roots.
#[derive(Debug, Default)]
pub struct Listing {
    /// Files by document name.
    pub files: BTreeMap<String, File>,
    /// What can not be a document.
    pub skipped: Vec<Skipped>,
    /// Symbolic links that lead out of the roots.
    pub linked: Vec<String>,
}

/// Finds the real places of the paths. What is given twice, or lies in a folder that is given too, counts once.
pub fn roots(paths: &[PathBuf]) -> Result<Vec<Root>, CorpusError> {
    let mut real: Vec<(PathBuf, bool)> = Vec::new();
    for path in paths {
        let found = fs::canonicalize(path).and_then(|place| Ok((fs::metadata(&place)?.is_dir(), place)));
        let (is_folder, place) = found.map_err(|error| path_error(path, error))?;
        if is_folder {
            fs::read_dir(&place).map_err(|error| path_error(path, error))?;
        }
        if !real.iter().any(|(known, _)| *known == place) {
            real.push((place, is_folder));
        }
    }
    let folders: Vec<PathBuf> =
        real.iter().filter(|(_, is_folder)| *is_folder).map(|(place, _)| place.clone()).collect();
    real.retain(|(place, _)| !folders.iter().any(|folder| folder != place && is_listed_below(folder, place)));
    let alone = real.len() == 1;
    let places: Vec<&Path> = real.iter().map(|(place, _)| place.as_path()).collect();
    let label = |place: &Path, is_folder: bool| {
        if alone && is_folder { String::new() } else { shortest_name(place, &places) }
    };
    Ok(real
        .iter()
        .map(|(place, is_folder)| Root { path: place.clone(), label: label(place, *is_folder) })
        .collect())
}

/// Whether listing a folder comes to a place: it lies below, and nothing on the way is hidden.
fn is_listed_below(folder: &Path, place: &Path) -> bool {
    place.strip_prefix(folder).is_ok_and(|below| {
        below.components().all(|part| !part.as_os_str().to_string_lossy().starts_with('.'))
    })
}

fn path_error(path: &Path, error: io::Error) -> CorpusError {
    match error.kind() {
        ErrorKind::NotFound => CorpusError::PathNotFound { path: path.into() },
        _ => CorpusError::PathUnreadable { path: path.into(), error },
    }
}

/// As many of the last parts of a path as tell it from the others.
fn shortest_name(place: &Path, all: &[&Path]) -> String {
    let parts = |path: &Path| -> Vec<String> {
        let normal = path.components().filter(|part| matches!(part, std::path::Component::Normal(_)));
        normal.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
    };
    let own = parts(place);
    let tail = |parts: &[String], count: usize| {
        parts.get(parts.len().saturating_sub(count)..).unwrap_or_default().join("/")
    };
    let is_unique = |count: &usize| {
        let name = tail(&own, *count);
        all.iter().filter(|other| **other != place).all(|other| tail(&parts(other), *count) != name)
    };
    tail(&own, (1..=own.len()).find(is_unique).unwrap_or(own.len()))
}

/// Lists the files below the roots. Hidden ones and our own index files in `index_dir` are passed over silently.
pub fn list(roots: &[Root], index_dir: &Path) -> Listing {
    let own_dir = fs::canonicalize(index_dir).ok();
    let mut listing = Listing::default();
    for root in roots {
        let walk = WalkDir::new(&root.path).follow_links(true).sort_by_file_name().into_iter();
        let wanted = |entry: &DirEntry| {
            entry.depth() == 0 || !(is_hidden(entry) || is_index_file(entry, own_dir.as_deref()))
        };
        for entry in walk.filter_entry(wanted) {
            if let Ok(entry) = &entry
                && entry.depth() > 0
                && entry.path_is_symlink()
                && leads_out(entry.path(), roots)
            {
                listing.linked.push(document_name(root, entry.path()));
            }
            match entry {
                Ok(entry) if entry.file_type().is_dir() => {}
                Ok(entry) => listing.add(root, entry.path(), entry.metadata()),
                Err(error) => listing.add_error(root, &error),
            }
        }
    }
    listing.skipped.sort();
    listing.linked.sort();
    listing
}

/// Whether a link leads to something that stands below none of the roots.
fn leads_out(link: &Path, roots: &[Root]) -> bool {
    fs::canonicalize(link).is_ok_and(|place| !roots.iter().any(|root| place.starts_with(&root.path)))
}

fn is_hidden(entry: &DirEntry) -> bool {
    entry.file_name().to_string_lossy().starts_with('.')
}

fn is_index_file(entry: &DirEntry, index_dir: Option<&Path>) -> bool {
    let name = entry.file_name().to_string_lossy();
    index_dir.is_some_and(|dir| entry.path().parent() == Some(dir)) && crate::index::is_index_name(&name)
}

impl Listing {
    fn add(&mut self, root: &Root, path: &Path, metadata: walkdir::Result<Metadata>) {
        let document = document_name(root, path);
        match metadata {
            Ok(_) if !is_citable(root, path, &document) => {
                self.skipped.push(Skipped { document, reason: SkipReason::BadName });
            }
            Ok(metadata) if metadata.is_file() => {
                let file = File { path: path.into(), size: metadata.len(), mtime: mtime(&metadata) };
                self.insert(document, file);
            }
            Ok(_) => self.skipped.push(Skipped { document, reason: SkipReason::NotAFile }),
            Err(error) => self.add_error(root, &error),
        }
    }

    /// Two files may come to the same name only where one path lies in another.
    fn insert(&mut self, document: String, file: File) {
        let mut name = document.clone();
        let mut number = 2;
        while let Some(known) = self.files.get(&name) {
            if known.path == file.path {
                return;
            }
            name = format!("{document}~{number}");
            number += 1;
        }
        self.files.insert(name, file);
    }

    fn add_error(&mut self, root: &Root, error: &walkdir::Error) {
        let document = document_name(root, error.path().unwrap_or(&root.path));
        let reason = if error.loop_ancestor().is_some() {
            SkipReason::SymlinkLoop
        } else {
            SkipReason::Unreadable { detail: io_detail(error) }
        };
        self.skipped.push(Skipped { document, reason });
    }
}

fn io_detail(error: &walkdir::Error) -> String {
    match error.io_error() {
        Some(io) if io.kind() == ErrorKind::NotFound => "it is a link to nothing".into(),
        Some(io) => io.to_string(),
        None => error.to_string(),
    }
}

fn document_name(root: &Root, path: &Path) -> String {
    let below = path.strip_prefix(&root.path).unwrap_or(path);
    let parts = below.components().map(|part| part.as_os_str().to_string_lossy().into_owned());
    let named = (!root.label.is_empty()).then(|| root.label.clone());
    named.into_iter().chain(parts).collect::<Vec<_>>().join("/")
}

/// Whether a document's name shows the place of its file as it is, on one line.
fn is_citable(root: &Root, path: &Path, document: &str) -> bool {
    let below = path.strip_prefix(&root.path).unwrap_or(path);
    let is_text = below.to_str().is_some() && !root.label.contains('\u{fffd}');
    is_text && !document.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'))
}

fn mtime(metadata: &Metadata) -> i64 {
    let since = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.and_then(|duration| i64::try_from(duration.as_nanos()).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests;
