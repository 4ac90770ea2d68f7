//! Snapshots that belong to no case any more.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use super::find::{CaseFile, FindError, unreadable};
use super::outcome::Outcome;
use super::snapshot::Snapshot;

/// The snapshots of cases that belong to none of the cases that were found, by path: in the folder `snapshots` of each of
/// their projects, at any depth.
///
/// `found` have to be all cases of these projects, played or not. A snapshot belongs to a case that keeps its trace there;
/// of a case that was not played or could not be read it is taken to do so. Only snapshots whose header names a case
/// file as their source are called unreferenced: others are those of Rust tests, or of people.
///
/// # Errors
///
/// A folder can not be read.
pub fn unreferenced(found: &[CaseFile], played: &[Outcome]) -> Result<Vec<PathBuf>, FindError> {
    let kept_none = |outcome: &&Outcome| outcome.keeps_snapshot == Some(false);
    let dropped: BTreeSet<PathBuf> = played.iter().filter(kept_none).map(|o| o.name.snapshot()).collect();
    let kept: BTreeSet<PathBuf> = found.iter().map(|file| file.name.snapshot()).collect();
    let roots: BTreeSet<&Path> = found.iter().map(|file| &*file.name.root).collect();
    let mut unreferenced = BTreeSet::new();
    for folder in roots.iter().map(|root| root.join("snapshots")).filter(|folder| folder.is_dir()) {
        // Whatever git ignores: a snapshot that waits is often among it.
        for entry in WalkBuilder::new(&folder).standard_filters(false).build() {
            let entry = entry.map_err(|error| unreadable(&folder, &error))?;
            let Some(snapshot) = snapshot_of(entry.path()) else { continue };
            let is_kept = kept.contains(&snapshot) && !dropped.contains(&snapshot);
            if !is_kept && is_of_a_case(entry.path()) {
                unreferenced.insert(entry.into_path());
            }
        }
    }
    Ok(unreferenced.into_iter().collect())
}

/// The snapshot that a file is, or that waits in it.
fn snapshot_of(path: &Path) -> Option<PathBuf> {
    let name = path.to_str()?;
    let name = name.strip_suffix(".new").unwrap_or(name);
    name.ends_with(".snap").then(|| PathBuf::from(name))
}

/// Whether a file is the snapshot of a case file, there or not. What can not be read as a snapshot is left alone.
fn is_of_a_case(file: &Path) -> bool {
    let Ok(Some(read)) = Snapshot::read(file) else { return false };
    read.source()
        .is_some_and(|source| [".yaml", ".yml", ".json"].iter().any(|ending| source.ends_with(ending)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::find::find;
    use super::super::outcome::Verdict;
    use super::*;

    fn outcome(file: &CaseFile, keeps_snapshot: bool) -> Outcome {
        Outcome {
            name: file.name.clone(),
            file: file.path.clone(),
            sentence: None,
            verdict: Verdict::Passed,
            text: String::new(),
            keeps_snapshot: Some(keeps_snapshot),
        }
    }

    #[test]
    fn only_snapshots_of_cases_that_are_gone_are_called_unreferenced() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["graphs/g/cases/here.yaml", "graphs/g/cases/plain.yaml", "graphs/g/cases/broken.yaml"] {
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs::write(root.join(name), "").unwrap();
        }
        for (name, source) in [
            ("g/here.snap", "graphs/g/cases/here.yaml"),
            ("g/broken.snap", "graphs/g/cases/broken.yaml"),
            ("g/plain.snap", "graphs/g/cases/plain.yaml"),
            ("g/gone.snap", "graphs/g/cases/gone.yaml"),
            ("g/waits.snap.new", "graphs/g/cases/waits.yaml"),
            ("g/moved.snap", "graphs/g/cases/here.yaml"),
            ("g/deep/gone.snap", "graphs/g/cases/deep/gone.yaml"),
            ("g/rust.snap", "tests/runs.rs"),
            ("h/gone.snap", "graphs/h/cases/gone.yaml"),
        ] {
            Snapshot::new(source, "text").write(&root.join("snapshots").join(name)).unwrap();
        }
        fs::write(root.join("snapshots/g/odd.snap"), "not one").unwrap();
        let files = find(std::slice::from_ref(&root)).unwrap().files;
        let of = |case: &str| files.iter().find(|file| file.name.case == case).unwrap();
        let played = [outcome(of("here"), true), outcome(of("plain"), false)];
        let found = unreferenced(&files, &played).unwrap();
        let shown: Vec<_> =
            found.iter().map(|path| path.strip_prefix(root.join("snapshots")).unwrap()).collect();
        let wanted = [
            "g/deep/gone.snap",
            "g/gone.snap",
            "g/moved.snap",
            "g/plain.snap",
            "g/waits.snap.new",
            "h/gone.snap",
        ];
        assert_eq!(shown, wanted.map(Path::new));
    }
}
