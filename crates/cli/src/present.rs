//! What is there already where a file is to be written: nothing that a person made is replaced.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use deepgraph_testkit::suite::FileKind;
use deepgraph_trace::Recording;

/// What a path holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Present {
    /// Nothing that could be lost: no file, an empty one, a device or a pipe, or a folder.
    Nothing,
    /// A case.
    Case,
    /// A graph.
    Graph,
    /// A recording, of whatever form.
    Recording,
    /// Any other file.
    Other,
}

impl Present {
    /// Looks at a path.
    pub fn at(path: &Path) -> Present {
        let Ok(found) = fs::metadata(path) else {
            // A link that leads nowhere was made by somebody too.
            return if fs::symlink_metadata(path).is_ok() { Present::Other } else { Present::Nothing };
        };
        if !found.is_file() || found.len() == 0 {
            return Present::Nothing;
        }
        if fs::read_to_string(path).is_ok_and(|text| Recording::is_one(&text)) {
            return Present::Recording;
        }
        match FileKind::of(path) {
            Ok(FileKind::Case) => Present::Case,
            Ok(FileKind::Graph) => Present::Graph,
            Ok(FileKind::Other) | Err(_) => Present::Other,
        }
    }
}

impl fmt::Display for Present {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Present::Nothing => "nothing",
            Present::Case => "a case",
            Present::Graph => "a graph",
            Present::Recording => "a recording",
            Present::Other => "another file",
        })
    }
}

/// The names `NAME`, `NAME-2`, `NAME-3` and so on of a file, without end.
pub fn names(path: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let stem = path.file_stem().unwrap_or_default().to_owned();
    let numbered = path.to_owned();
    std::iter::once(path.to_owned()).chain((2u32..).map(move |number| {
        let mut name = stem.clone();
        name.push(format!("-{number}"));
        if let Some(ending) = numbered.extension() {
            name.push(".");
            name.push(ending);
        }
        numbered.with_file_name(name)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_holds_is_told_from_its_keys() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.yaml");
        for (text, holds) in [
            ("case: It.\ngraph: stock:storm\nexpect: {}\n", Present::Case),
            ("case: half of it\ngraph: g\n", Present::Case),
            ("case: closed, see file 3\n", Present::Other),
            ("deepgraph: 1\nnodes: {}\n", Present::Graph),
            ("{\"deepgraph_recording\": 1}", Present::Recording),
            ("a: 1\n", Present::Other),
        ] {
            fs::write(&path, text).unwrap();
            assert_eq!(Present::at(&path), holds, "{text}");
        }
    }

    #[test]
    fn links_to_nowhere_and_other_bytes_are_files_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        assert_eq!(Present::at(&path), Present::Nothing);
        assert_eq!(Present::at(folder.path()), Present::Nothing);
        fs::write(&path, "").unwrap();
        assert_eq!(Present::at(&path), Present::Nothing);
        fs::write(&path, [0xff, 0xfe]).unwrap();
        assert_eq!(Present::at(&path), Present::Other);
        #[cfg(unix)]
        {
            let link = folder.path().join("link");
            std::os::unix::fs::symlink(folder.path().join("nowhere"), &link).unwrap();
            assert_eq!(Present::at(&link), Present::Other);
        }
    }

    #[test]
    fn names_are_counted_from_two() {
        let counted: Vec<PathBuf> = names(Path::new("a/b.yaml")).take(3).collect();
        assert_eq!(counted, ["a/b.yaml", "a/b-2.yaml", "a/b-3.yaml"].map(PathBuf::from));
        assert_eq!(names(Path::new("g")).nth(1), Some(PathBuf::from("g-2")));
    }
}
