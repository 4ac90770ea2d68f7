//! What a file is: a case, a graph, or something else.

use std::fs;
use std::io;
use std::path::Path;

use deepgraph_graph::read_data;
use deepgraph_protocol::Value;

use super::name::CASES;
use crate::case::LONGEST;

/// What a file is, as far as the keys at its top and its place say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A case, be it whole or not.
    Case,
    /// A graph.
    Graph,
    /// Anything else.
    Other,
}

impl FileKind {
    /// Looks at a file, for whoever would replace it.
    ///
    /// In a folder called `cases`, and below, every YAML or JSON file with the key `case` is a case, whatever else is
    /// missing in it, and so is every one that is no graph. Elsewhere it is one only if it is a mapping that can be read,
    /// where `case` is text and `graph` or `expect` stands beside it: a note can have a line that begins with `case:`. A
    /// file with another ending is one where it has all three keys. What has the key `deepgraph`, and is no case, is a
    /// graph. Of a file that is too long to be either only the place counts.
    ///
    /// # Errors
    ///
    /// The file can not be read.
    pub fn of(path: &Path) -> io::Result<FileKind> {
        let is_in_cases = in_cases(path.parent().filter(|folder| *folder != Path::new("")));
        let text = text_of(path)?;
        let keys = Keys::of(&text);
        let case = keys.case && (is_in_cases || is_plainly_case(&text));
        Ok(Keys { case, ..keys }.kind(path, is_in_cases))
    }

    /// What a file is for whoever looks for cases to play, where it is known whether it is among cases: there a key
    /// `case` is enough anywhere, so that one with a mistake is told rather than passed over.
    pub(super) fn among(path: &Path, is_in_cases: bool) -> io::Result<FileKind> {
        Ok(Keys::of(&text_of(path)?).kind(path, is_in_cases))
    }
}

/// The text of a file; none of one that is too long.
fn text_of(path: &Path) -> io::Result<String> {
    let is_too_long = fs::metadata(path)?.len() > LONGEST;
    let bytes = if is_too_long { Vec::new() } else { fs::read(path)? };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether a text can only be a case, be it half-written.
fn is_plainly_case(text: &str) -> bool {
    let Ok(Value::Map(fields)) = read_data("", text) else { return false };
    let is_named = matches!(fields.get("case"), Some(Value::Text(_)));
    is_named && ["graph", "expect"].iter().any(|key| fields.get(*key).is_some())
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

    /// What a file with these keys is.
    fn kind(self, path: &Path, is_in_cases: bool) -> FileKind {
        let is_data = is_yaml(path) || is_json(path);
        match self {
            Keys { case: true, .. } if is_data => FileKind::Case,
            Keys { case: true, graph: true, expect: true, .. } => FileKind::Case,
            Keys { deepgraph: true, .. } => FileKind::Graph,
            _ if is_data && is_in_cases => FileKind::Case,
            _ => FileKind::Other,
        }
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
            ("a.yaml", "'case' : half of it\nexpect: {}\n", Case),
            ("a.yaml", "case: half of it\n", Other),
            ("a.yaml", "case: closed, see file 3\nby: me\n", Other),
            ("a.yaml", "case: 3\ngraph: g\n", Other),
            ("a.yaml", "case: It.\ngraph: {g\n", Other),
            ("a.json", "{\"case\": 3, \"judge\": \"x\"}", Other),
            ("a.json", "{\"case\": \"It.\", \"graph\": \"g\"}", Case),
            ("cases/a.yaml", "case: half of it\n", Case),
            ("cases/a.yaml", "case: It.\ngraph: {g\n", Case),
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
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.yaml"), "case: half of it\n").unwrap();
        assert_eq!(FileKind::among(&folder.path().join("a.yaml"), false).unwrap(), Case, "it is played");
        assert!(FileKind::of(Path::new("/no/such/file.yaml")).is_err());
    }
}
