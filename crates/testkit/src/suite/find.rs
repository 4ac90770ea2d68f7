//! Case files below paths.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use ignore::{DirEntry, WalkBuilder};

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

/// Why cases can not be looked for.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// A path that is not there.
    #[error("there is no file or folder {}", .0.display())]
    Missing(PathBuf),
    /// A folder that can not be listed, or a file that can not be read.
    #[error("{} can not be read: {error}", .path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Two files whose cases would have the same snapshot.
    #[error("{} and {} are both the case `{name}`: rename one of them", .one.display(), .other.display())]
    SameName {
        /// The name.
        name: String,
        /// One file.
        one: PathBuf,
        /// The other.
        other: PathBuf,
    },
}

/// The case files below paths, by path.
///
/// A path that is a file is a case. In a folder, and in those below it, cases are the YAML and JSON files in folders
/// called `cases` and below them; elsewhere YAML files with a line that begins with `case:`. Hidden folders, `target`,
/// `node_modules` and, in a checkout, what git ignores are skipped.
///
/// # Errors
///
/// A path is not there or can not be read, or two cases have the same name.
pub fn find(paths: &[PathBuf]) -> Result<Vec<CaseFile>, FindError> {
    // By the file itself: whoever names a folder and a file in it means the file once.
    let mut found: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    let mut add = |path: &Path| {
        let shown = path.strip_prefix(".").unwrap_or(path).to_owned();
        found.entry(path.canonicalize().unwrap_or(shown.clone())).or_insert(shown);
    };
    for path in paths {
        if path.is_file() {
            add(path);
        } else if path.is_dir() {
            below(path, &mut add)?;
        } else {
            return Err(FindError::Missing(path.clone()));
        }
    }
    let mut files: Vec<CaseFile> =
        found.into_values().map(|path| CaseFile { name: CaseName::of(&path), path }).collect();
    files.sort_by(|a, b| a.path.as_os_str().as_encoded_bytes().cmp(b.path.as_os_str().as_encoded_bytes()));
    let mut seen: BTreeMap<PathBuf, &CaseFile> = BTreeMap::new();
    for file in &files {
        if let Some(other) = seen.insert(file.name.snapshot(), file) {
            return Err(FindError::SameName {
                name: file.name.to_string(),
                one: other.path.clone(),
                other: file.path.clone(),
            });
        }
    }
    Ok(files)
}

fn below(folder: &Path, add: &mut impl FnMut(&Path)) -> Result<(), FindError> {
    // Whoever stands in a folder of cases, or below one, means its cases.
    let is_among_cases = in_cases(folder);
    let mut walk = WalkBuilder::new(folder);
    // What git ignores was made from something else: it is no case that somebody wrote. Settings of this machine or of
    // this user do not count.
    walk.standard_filters(false).parents(true).git_ignore(true).hidden(true).filter_entry(is_looked_at);
    for entry in walk.build() {
        let entry = entry.map_err(|error| FindError::Unreadable {
            path: folder.to_owned(),
            error: io::Error::other(error),
        })?;
        let path = entry.path();
        let is_file = path.is_file();
        let (is_yaml, is_json) = (has_ending(path, &["yaml", "yml"]), has_ending(path, &["json"]));
        if !is_file || !(is_yaml || is_json) {
            continue;
        }
        let inner = path.strip_prefix(folder).unwrap_or(path).parent().unwrap_or(Path::new(""));
        if is_among_cases || inner.iter().any(|name| name == CASES) || (is_yaml && says_case(path)?) {
            add(path);
        }
    }
    Ok(())
}

/// Nothing that was built. What was named itself is looked at in any case.
fn is_looked_at(entry: &DirEntry) -> bool {
    let is_skipped = SKIPPED.iter().any(|skipped| entry.file_name() == OsStr::new(skipped));
    entry.depth() == 0 || !(is_skipped && entry.file_type().is_some_and(|kind| kind.is_dir()))
}

/// Whether a folder is called `cases` or is below one; above a checkout of git nothing counts.
fn in_cases(folder: &Path) -> bool {
    let Ok(folder) = folder.canonicalize() else { return false };
    let mut folders = folder.ancestors();
    match folder.ancestors().find(|folder| folder.join(".git").exists()) {
        Some(top) => folders.take_while(|path| *path != top).any(|path| path.ends_with(CASES)),
        None => folders.next().is_some_and(|path| path.ends_with(CASES)),
    }
}

/// Whether the file's text has the key `case` at its top level.
fn says_case(path: &Path) -> Result<bool, FindError> {
    let bytes =
        std::fs::read(path).map_err(|error| FindError::Unreadable { path: path.to_owned(), error })?;
    Ok(bytes.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"case:")))
}

/// Whether a path ends like one of these.
fn has_ending(path: &Path, endings: &[&str]) -> bool {
    path.extension().is_some_and(|of_path| endings.iter().any(|ending| of_path == OsStr::new(ending)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn project(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(
                path,
                if name.contains("said") { "a: 1\ncase: It is one.\n" } else { "a: {case: none}\n" },
            )
            .unwrap();
        }
        folder
    }

    fn found(folder: &tempfile::TempDir, paths: &[&str]) -> Result<Vec<String>, FindError> {
        let paths: Vec<PathBuf> = paths.iter().map(|path| folder.path().join(path)).collect();
        let shown =
            |file: &CaseFile| file.path.strip_prefix(folder.path()).unwrap().to_string_lossy().into_owned();
        find(&paths).map(|files| files.iter().map(shown).collect())
    }

    #[test]
    fn cases_are_those_in_their_folders_and_what_says_that_it_is_one() {
        let folder = project(&[
            "graphs/b/cases/two.yaml",
            "graphs/b/cases/deep/one.json",
            "graphs/b/graph.yaml",
            "graphs/b/said.json",
            "graphs/a/cases/three.yml",
            "graphs/a/cases/notes.md",
            "tests/said.yaml",
            "tests/other.yaml",
            ".hidden/cases/x.yaml",
            "target/cases/x.yaml",
            "web/node_modules/m/cases/x.yaml",
        ]);
        let all = [
            "graphs/a/cases/three.yml",
            "graphs/b/cases/deep/one.json",
            "graphs/b/cases/two.yaml",
            "tests/said.yaml",
        ];
        assert_eq!(found(&folder, &[""]).unwrap(), all);
        assert_eq!(found(&folder, &["graphs/b/cases"]).unwrap(), all[1..3]);
        assert_eq!(found(&folder, &[".hidden"]).unwrap(), [".hidden/cases/x.yaml"], "it was named");
        assert_eq!(found(&folder, &["tests/other.yaml"]).unwrap(), ["tests/other.yaml"], "a file is a case");
        assert_eq!(found(&folder, &["graphs/a", "graphs/a/cases/three.yml"]).unwrap(), all[..1], "once");
    }

    #[test]
    fn what_git_ignores_is_no_case() {
        let folder =
            project(&["graphs/a/cases/one.yaml", "graphs/a/cases/made.yaml", "copies/cases/one.yaml"]);
        fs::create_dir(folder.path().join(".git")).unwrap();
        fs::write(folder.path().join(".gitignore"), "/copies\nmade.*\n").unwrap();
        assert_eq!(found(&folder, &[""]).unwrap(), ["graphs/a/cases/one.yaml"]);
        assert_eq!(found(&folder, &["graphs"]).unwrap(), ["graphs/a/cases/one.yaml"]);
        assert_eq!(found(&folder, &["copies"]).unwrap(), ["copies/cases/one.yaml"], "it was named");
    }

    #[test]
    fn what_is_not_there_and_what_is_there_twice_is_an_error() {
        let folder = project(&["graphs/a/cases/one.yaml", "tests/a/said.yaml", "graphs/a/cases/said.yml"]);
        assert!(matches!(found(&folder, &["graphs", "nothing"]), Err(FindError::Missing(_))));
        let error = found(&folder, &[""]).unwrap_err().to_string();
        assert!(error.contains("`a/said`") && error.contains("rename one"), "{error}");
        assert!(found(&folder, &["tests/a", "graphs/a/cases/one.yaml"]).is_ok());
    }
}
