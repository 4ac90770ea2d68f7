//! What a graph in a folder of its own is called.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use deepgraph_graph::read_data;

use crate::case::LONGEST;

/// The files that a graph with a folder of its own stands in.
const GRAPH_FILES: [&str; 3] = ["graph.yaml", "graph.yml", "graph.json"];

/// What a graph is called that has no name, or whose file can not be read.
const NAMELESS: &str = "graph";

/// The names of graphs by their folders, each read once.
#[derive(Debug, Default)]
pub(super) struct GraphNames(BTreeMap<PathBuf, String>);

impl GraphNames {
    /// The `name:` of the graph file in a folder. A folder's own name would be another one in another clone.
    pub(super) fn of(&mut self, folder: &Path) -> &str {
        self.0.entry(folder.to_owned()).or_insert_with(|| read(folder).unwrap_or_else(|| NAMELESS.to_owned()))
    }
}

fn read(folder: &Path) -> Option<String> {
    let path = GRAPH_FILES.iter().map(|name| folder.join(name)).find(|path| path.is_file())?;
    if fs::metadata(&path).ok()?.len() > LONGEST {
        return None;
    }
    let mut text = String::new();
    File::open(&path).ok()?.take(LONGEST).read_to_string(&mut text).ok()?;
    let name = read_data("graph", &text).ok()?.get("name")?.as_str()?.to_owned();
    is_file_name(&name).then_some(name)
}

/// Whether a name can be that of a folder: its snapshots are in one.
fn is_file_name(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    let is_one =
        matches!(parts.next(), Some(Component::Normal(part)) if part == name) && parts.next().is_none();
    let is_plain = |c: char| !c.is_control() && !"/\\:*?\"<>|".contains(c);
    is_one && !name.starts_with('.') && name.trim() == name && name.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_is_called_what_its_file_says() {
        for (file, text, name) in [
            ("graph.yaml", "deepgraph: 1\nname: tides\n", "tides"),
            ("graph.yml", "name: 'high tides'", "high tides"),
            ("graph.json", "{\"name\": \"tides\"}", "tides"),
            ("graph.yaml", "deepgraph: 1\n", "graph"),
            ("graph.yaml", "name: [", "graph"),
            ("graph.yaml", "name: [tides]", "graph"),
            ("graph.yaml", "name: ../tides", "graph"),
            ("graph.yaml", "name: .tides", "graph"),
            ("graph.yaml", "name: a/b", "graph"),
            ("other.yaml", "name: tides", "graph"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join(file), text).unwrap();
            assert_eq!(GraphNames::default().of(folder.path()), name, "{file}: {text}");
        }
        assert_eq!(GraphNames::default().of(Path::new("/no/such/folder")), "graph");
    }

    #[test]
    fn a_graph_file_is_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("graph.yaml");
        fs::write(&path, "name: one").unwrap();
        let mut names = GraphNames::default();
        assert_eq!(names.of(folder.path()), "one");
        fs::write(&path, "name: two").unwrap();
        assert_eq!(names.of(folder.path()), "one");
    }
}
