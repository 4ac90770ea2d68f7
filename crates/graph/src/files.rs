//! Reading files without doing I/O: the caller brings them.

use crate::source::FileText;

/// Files by path, relative to the folder of the graph file that is loaded. Parts are joined by `/`, and none is `..`.
pub trait Files {
    /// The text of a file, or why it can not be read (missing, no UTF-8, no permission).
    fn read(&self, path: &str) -> Result<String, String>;
}

/// Files kept in memory, by path.
impl Files for std::collections::BTreeMap<String, String> {
    fn read(&self, path: &str) -> Result<String, String> {
        self.get(path).cloned().ok_or_else(|| "there is no such file".to_owned())
    }
}

/// What to do about a path that leads out of the folder.
pub(crate) const INSIDE: &str = "a path is relative to the file that it stands in, and all files lie in the folder of the graph file that is loaded, or below it";

/// The file that a file of `folder` (with its last `/`, or "") names by a path: in its plain form, from the folder of
/// the graph file that is loaded; or why there is none.
pub(crate) fn resolve(folder: &str, path: &str) -> Result<String, &'static str> {
    let drive = path.get(1..2) == Some(":");
    if path.starts_with('/') || drive || path.contains('\\') {
        return Err("a path is relative to the graph file's folder and has `/` between its parts");
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => match parts.pop() {
                Some(_) => {}
                None => return Err("a path can not lead out of the graph file's folder"),
            },
            part => parts.push(part),
        }
    }
    if parts.is_empty() || path.is_empty() { Err("a path is empty") } else { Ok(parts.join("/")) }
}

/// The call of a graph in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileCall<'c> {
    /// The file, as written.
    pub file: &'c str,
    /// The name after `#`; none for the root of the file.
    pub graph: Option<&'c str>,
}

/// What `FILE` or `FILE#GRAPH` names; none where a call names no file.
pub(crate) fn file_call(callee: &str) -> Option<FileCall<'_>> {
    let (file, graph) = match callee.split_once('#') {
        Some((file, graph)) => (file, Some(graph)),
        None => (callee, None),
    };
    (graph.is_some() || is_graph_file(file)).then_some(FileCall { file, graph })
}

/// Whether a path ends as those of graph files do.
pub(crate) fn is_graph_file(path: &str) -> bool {
    [".yaml", ".yml", ".json"].iter().any(|end| path.len() > end.len() && path.ends_with(end))
}

/// Folder (with its last `/`, or "") and name of a path.
pub(crate) fn split(path: &str) -> (&str, &str) {
    match path.rfind(['/', '\\']) {
        Some(at) => path.split_at(at + 1),
        None => ("", path),
    }
}

/// A file of the folder under the name that a person would give it.
pub(crate) fn shown(entry: &str, path: &str, text: &str) -> FileText {
    let (folder, _) = split(entry);
    FileText::new(format!("{folder}{path}"), text)
}
