//! Reading files without doing I/O: the caller brings them.

use crate::source::FileText;

/// Files by path, relative to the folder of the graph file. Parts are joined by `/`.
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

/// A path inside the folder, in its plain form (no `.` parts); or why it is none.
pub(crate) fn inside(path: &str) -> Result<String, &'static str> {
    let drive = path.get(1..2) == Some(":");
    if path.starts_with('/') || drive || path.contains('\\') {
        return Err("a path is relative to the graph file's folder and has `/` between its parts");
    }
    let parts: Vec<&str> = path.split('/').filter(|p| !p.is_empty() && *p != ".").collect();
    if parts.contains(&"..") {
        return Err("a path can not lead out of the graph file's folder");
    }
    if parts.is_empty() { Err("a path is empty") } else { Ok(parts.join("/")) }
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
