//! What a file is: a case, a graph, or something else.

use std::fs;
use std::io;
use std::path::Path;

use super::name::CASES;
use crate::case::LONGEST;

/// What a file is, as far as the keys at its top and its place say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A case, be it whole or not: what [`find`](super::find) finds, and what has all keys that a case needs.
    Case,
    /// A graph.
    Graph,
    /// Anything else.
    Other,
}

impl FileKind {
    /// Looks at a file.
    ///
    /// A YAML or JSON file with the key `case` is a case, whatever else is missing in it; in a folder called `cases`,
    /// and below, so is every one that is no graph. A file with another ending is one where it has the keys `case`,
    /// `graph` and `expect`. What has the key `deepgraph`, and is no case, is a graph. Of a file that is too long to be
    /// either only the place counts.
    ///
    /// # Errors
    ///
    /// The file can not be read.
    pub fn of(path: &Path) -> io::Result<FileKind> {
        FileKind::among(path, in_cases(path.parent().filter(|folder| *folder != Path::new(""))))
    }

    /// The same, where it is known whether the file is among cases.
    pub(super) fn among(path: &Path, is_in_cases: bool) -> io::Result<FileKind> {
        let is_too_long = fs::metadata(path)?.len() > LONGEST;
        let bytes = if is_too_long { Vec::new() } else { fs::read(path)? };
        let keys = Keys::of(&String::from_utf8_lossy(&bytes));
        let is_data = is_yaml(path) || is_json(path);
        Ok(match keys {
            Keys { case: true, .. } if is_data => FileKind::Case,
            Keys { case: true, graph: true, expect: true, .. } => FileKind::Case,
            Keys { deepgraph: true, .. } => FileKind::Graph,
            _ if is_data && is_in_cases => FileKind::Case,
            _ => FileKind::Other,
        })
    }
}

/// Whether the name is that of a YAML file.
pub(super) fn is_yaml(path: &Path) -> bool {
    has_ending(path, &["yaml", "yml"])
}

/// Whether the name is that of a JSON file.
pub(super) fn is_json(path: &Path) -> bool {
    has_ending(path, &["json"])
}

fn has_ending(path: &Path, endings: &[&str]) -> bool {
    path.extension().is_some_and(|of_path| endings.iter().any(|ending| of_path == *ending))
}

/// Whether a folder (none: the current one) is called `cases` or is below one; above a checkout of git nothing counts.
pub(super) fn in_cases(folder: Option<&Path>) -> bool {
    let Ok(folder) = folder.unwrap_or(Path::new(".")).canonicalize() else { return false };
    let mut folders = folder.ancestors();
    match folder.ancestors().find(|folder| folder.join(".git").exists()) {
        Some(top) => folders.take_while(|path| *path != top).any(|path| path.ends_with(CASES)),
        None => folders.next().is_some_and(|path| path.ends_with(CASES)),
    }
}

/// Which keys stand at the top of a text.
struct Keys {
    case: bool,
    graph: bool,
    expect: bool,
    deepgraph: bool,
}

impl Keys {
    fn of(text: &str) -> Keys {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let is_json = text.trim_start().starts_with('{');
        let json: Option<serde_json::Value> = serde_json::from_str(text).ok().filter(|_| is_json);
        let has = |key: &str| match &json {
            Some(json) => json.get(key).is_some(),
            // The keys of a YAML file stand at the beginning of their lines.
            None => text.lines().any(|line| key_of(line) == Some(key)),
        };
        Keys { case: has("case"), graph: has("graph"), expect: has("expect"), deepgraph: has("deepgraph") }
    }
}

/// The key that a line begins with, plain or in quotes.
fn key_of(line: &str) -> Option<&str> {
    let key = line.split_once(':')?.0.trim_end();
    let quoted = ['"', '\''].iter().find_map(|quote| key.strip_prefix(*quote)?.strip_suffix(*quote));
    Some(quoted.unwrap_or(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(name: &str, text: &str) -> FileKind {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        FileKind::of(&path).unwrap()
    }

    #[test]
    fn what_a_file_is_is_told_from_its_keys_and_its_place() {
        use FileKind::{Case, Graph, Other};
        for (name, text, is) in [
            ("a.yaml", "case: It.\ngraph: stock:storm\nexpect: {}\n", Case),
            ("a.yaml", "\u{feff}case: It.\ngraph:\n  deepgraph: 1\nexpect: {}\n", Case),
            ("a.json", "{\"case\": \"It.\", \"graph\": \"g\", \"expect\": {}}", Case),
            ("a.txt", "case: It.\ngraph: g\nexpect: {}\n", Case),
            ("a.yml", "case: half of it\ngraph: g\n", Case),
            ("a.yaml", "'case' : half of it\n", Case),
            ("a.yaml", "deepgraph: 1\nnodes: {}\n", Graph),
            ("a.yaml", "\"deepgraph\": 1\n", Graph),
            ("a.json", "{\"deepgraph\": 1}", Graph),
            ("a.md", "# Notes\n\ncase: closed\n", Other),
            ("a.yaml", "a: {case: none}\n", Other),
            ("a.json", "[1, 2]", Other),
            ("cases/a.yaml", "graph: g\n", Case),
            ("cases/a.yaml", "deepgraph: 1\n", Graph),
            ("cases/a.md", "graph: g\n", Other),
        ] {
            assert_eq!(kind(name, text), is, "{name}: {text}");
        }
        assert!(FileKind::of(Path::new("/no/such/file.yaml")).is_err());
    }
}
