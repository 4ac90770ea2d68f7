//! Reading files without doing I/O: the caller brings them.

use crate::source::FileText;

/// Files by path, relative to the folder of the graph file that is loaded. Parts are joined by `/`, and none is `..`.
///
/// A path that begins with `stock:NAME/` names a file of the stock graph NAME, wherever that is kept.
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

/// What paths into stock graphs begin with.
pub(crate) const STOCK: &str = "stock:";

/// The file of a stock graph that holds it.
const STOCK_FILE: &str = "graph.yaml";

/// The file that a file of `folder` (with its last `/`, or "") names by a path: in its plain form, from the folder of
/// the graph file that is loaded; or why there is none.
pub(crate) fn resolve(folder: &str, path: &str) -> Result<String, &'static str> {
    if let Some(name) = path.strip_prefix(STOCK) {
        return match name.is_empty() || name.contains(['/', '\\', '.']) {
            true => Err("a stock graph is called by its name: stock:deep_research"),
            false => Ok(format!("{path}/{STOCK_FILE}")),
        };
    }
    let drive = path.get(1..2) == Some(":");
    if path.starts_with('/') || drive || path.contains('\\') {
        return Err("a path is relative to the graph file's folder and has `/` between its parts");
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            // A stock graph's folder is apart from all others.
            ".." => match parts.pop() {
                Some(part) if !part.starts_with(STOCK) => {}
                _ => return Err("a path can not lead out of the graph file's folder"),
            },
            part => parts.push(part),
        }
    }
    if parts.is_empty() || path.is_empty() { Err("a path is empty") } else { Ok(parts.join("/")) }
}

/// A file by the name that calls give it.
pub(crate) fn called(path: &str) -> &str {
    match path.strip_suffix(STOCK_FILE).and_then(|path| path.strip_suffix('/')) {
        Some(stock) if stock.starts_with(STOCK) => stock,
        _ => path,
    }
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
    let is_file = graph.is_some() || is_graph_file(file) || file.starts_with(STOCK);
    is_file.then_some(FileCall { file, graph })
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
