//! What a case is called, and where its snapshot is.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Component, Path, PathBuf};

use super::graph_name::GraphNames;

/// The folders that hold graphs or tests; what they are in is the project.
const OF_PROJECT: [&str; 2] = ["graphs", "tests"];

/// The folder of the cases of a graph.
pub(super) const CASES: &str = "cases";

/// What a case is called: `GRAPH/CASE`, such as `deep_research/two_researchers`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CaseName {
    /// The names of the folders that it is in, with `/` between them, without `graphs`, `tests` and `cases`; "" where
    /// there is none. In a folder that is neither below `graphs` nor below `tests` it begins with the `name:` of the
    /// `graph.yaml` (`.yml`, `.json`) beside the folder `cases`, or with `graph` where that has none.
    pub graph: String,
    /// The file's name without its ending.
    pub case: String,
    /// The project's folder, absolute: what the folder `graphs` or `tests` is in. Where the case is in no such folder,
    /// that of its graph.
    pub root: PathBuf,
    /// The case file from there, with `/` between its parts.
    pub source: String,
}

impl CaseName {
    /// The name of a case file.
    ///
    /// The project's folder is what the last folder `graphs` or `tests` above its `cases` is in. Where the file is in a
    /// checkout of git, only folders within that count.
    pub fn of(path: &Path) -> CaseName {
        CaseName::with(path, &mut GraphNames::default())
    }

    /// The same; the names of graphs that were read are kept.
    pub(super) fn with(path: &Path, graphs: &mut GraphNames) -> CaseName {
        let path = path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or(path.to_owned());
        let folder = path.parent().unwrap_or(Path::new(""));
        let (root, is_of_graph) = root_of(folder);
        let own = is_of_graph.then(|| graphs.of(&root).to_owned());
        let below = folder.strip_prefix(&root).unwrap_or(Path::new(""));
        let is_kept = |name: &&str| *name != CASES && !OF_PROJECT.contains(name);
        let below: Vec<String> = names(below).collect();
        let named = own.iter().map(String::as_str).chain(below.iter().map(String::as_str).filter(is_kept));
        CaseName {
            graph: named.collect::<Vec<_>>().join("/"),
            case: text(path.file_stem().unwrap_or_default()),
            source: names(path.strip_prefix(&root).unwrap_or(&path)).collect::<Vec<_>>().join("/"),
            root,
        }
    }

    /// The file of its snapshot: `snapshots/GRAPH/CASE.snap` in the project's folder.
    pub fn snapshot(&self) -> PathBuf {
        self.folder().join(format!("{}.snap", self.case))
    }

    /// The folder of the snapshots of its graph.
    pub fn folder(&self) -> PathBuf {
        let folder = self.root.join("snapshots");
        self.graph.split('/').filter(|name| !name.is_empty()).fold(folder, |path, name| path.join(name))
    }

    /// The same for every case whose snapshot is the same file: also where a system does not tell large letters from
    /// small ones.
    pub(super) fn key(&self) -> (&Path, String) {
        (&self.root, self.to_string().to_lowercase())
    }

    /// A path as it is from the project's folder, where it is in there.
    pub fn from_root<'a>(&self, path: &'a Path) -> &'a Path {
        path.strip_prefix(&self.root).unwrap_or(path)
    }
}

impl fmt::Display for CaseName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.graph {
            "" => f.write_str(&self.case),
            graph => write!(f, "{graph}/{}", self.case),
        }
    }
}

/// The folder of the project, and whether that is the graph's own.
fn root_of(folder: &Path) -> (PathBuf, bool) {
    let checkout = folder.ancestors().find(|folder| folder.join(".git").exists());
    // Above the cases: what is below them only sorts them.
    let cases = folder.ancestors().filter(|folder| folder.file_name() == Some(OsStr::new(CASES)));
    let cases =
        cases.take_while(|path| checkout.is_none_or(|top| *path != top && path.starts_with(top))).last();
    let graph = cases.and_then(Path::parent).unwrap_or(folder);
    let mut within = graph.ancestors().take_while(|path| checkout.is_none_or(|top| *path != top));
    let of_project = |path: &&Path| {
        path.file_name().is_some_and(|name| OF_PROJECT.iter().any(|known| name == OsStr::new(known)))
    };
    match within.find(of_project).and_then(Path::parent) {
        Some(root) => (root.to_owned(), false),
        None => (graph.to_owned(), true),
    }
}

fn names(path: &Path) -> impl Iterator<Item = String> + '_ {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(text(name)),
        _ => None,
    })
}

fn text(name: &OsStr) -> String {
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[track_caller]
    fn named(path: &str, name: &str, root: &str, source: &str) {
        let case = CaseName::of(Path::new(path));
        assert_eq!((&*case.to_string(), &*case.source), (name, source), "{path}");
        assert_eq!(case.root, Path::new(root), "{path}");
        assert_eq!(case.snapshot(), Path::new(root).join("snapshots").join(format!("{name}.snap")), "{path}");
    }

    #[test]
    fn a_case_is_named_by_its_folders_below_the_project() {
        named("/p/graphs/deep/cases/two.yaml", "deep/two", "/p", "graphs/deep/cases/two.yaml");
        named(
            "/p/tests/conformance/joins/a.b.yaml",
            "conformance/joins/a.b",
            "/p",
            "tests/conformance/joins/a.b.yaml",
        );
        named(
            "/p/graphs/deep/cases/errors/one.json",
            "deep/errors/one",
            "/p",
            "graphs/deep/cases/errors/one.json",
        );
        named("/p/tests/one.yaml", "one", "/p", "tests/one.yaml");
        named("/tests/p/graphs/g/cases/c.yml", "g/c", "/tests/p", "graphs/g/cases/c.yml");
        named("/p/graphs/g/cases/tests/c.yml", "g/c", "/p", "graphs/g/cases/tests/c.yml");
    }

    #[test]
    fn without_such_a_folder_the_graphs_own_folder_is_the_project() {
        named("/x/tides/cases/one.yaml", "graph/one", "/x/tides", "cases/one.yaml");
        named("/x/tides/cases/late/one.yaml", "graph/late/one", "/x/tides", "cases/late/one.yaml");
        named("/x/tides/one.yaml", "graph/one", "/x/tides", "one.yaml");
    }

    #[test]
    fn such_a_case_is_named_by_its_graph_and_not_by_the_folder() {
        let outer = tempfile::tempdir().unwrap();
        let outer = outer.path().canonicalize().unwrap();
        for clone in ["tides", "tides-of-another-clone"] {
            let root = outer.join(clone);
            fs::create_dir_all(root.join("cases/late")).unwrap();
            fs::write(root.join("graph.yaml"), "deepgraph: 1\nname: sea\n").unwrap();
            let name = |path: &str| CaseName::of(&root.join(path));
            let case = name("cases/late/one.yaml");
            assert_eq!((&*case.to_string(), &*case.source), ("sea/late/one", "cases/late/one.yaml"));
            assert_eq!(case.snapshot(), root.join("snapshots/sea/late/one.snap"));
            assert_eq!(name("one.yaml").to_string(), "sea/one");
        }
    }

    #[test]
    fn folders_above_a_checkout_do_not_count() {
        let outer = tempfile::tempdir().unwrap();
        let outer = outer.path().canonicalize().unwrap();
        let project = outer.join("tests/cases/project");
        fs::create_dir_all(project.join("tides/cases")).unwrap();
        fs::create_dir_all(project.join(".git")).unwrap();
        fs::write(project.join("tides/cases/one.yaml"), "").unwrap();
        let name = CaseName::of(&project.join("tides/cases/one.yaml"));
        assert_eq!((name.to_string(), name.root), ("graph/one".into(), project.join("tides")));
    }
}
