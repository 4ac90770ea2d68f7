//! A graph file as a whole: its version, and the name of its root.

use std::sync::Arc;

use super::Reader;
use crate::diagnostic::code;
use crate::files;
use crate::gather::GraphFile;
use crate::source::{Key, Kind, Node};

impl Reader<'_> {
    /// The root of a file, if it may be one of this version.
    pub(crate) fn root<'t>(&mut self, file: &'t GraphFile) -> Option<&'t Node> {
        let root = file.tree.as_ref()?;
        if !matches!(root.kind, Kind::Map(_)) {
            let message = format!("a graph file is a mapping, not {}", root.kind_name());
            self.error(code::WRONG_KIND, root.place, message);
            return None;
        }
        self.check_version(root).then_some(root)
    }

    /// Whether the file may be one of this version: of another one it is not known what belongs into it.
    fn check_version(&mut self, root: &Node) -> bool {
        match root.entry("deepgraph") {
            None => {
                self.error(code::MISSING_KEY, root.place, "a graph file begins with `deepgraph: 1`")
                    .help("the number is the version of the format");
            }
            Some((_, node)) if matches!(node.kind, Kind::Int(1)) => {}
            Some((_, node)) => {
                let message = "this program reads version 1 of the format: `deepgraph: 1`";
                self.error(code::BAD_VALUE, node.place, message);
                return !matches!(node.kind, Kind::Int(_) | Kind::Float(_));
            }
        }
        true
    }

    /// The name of the root: as written, else that of the file.
    pub(crate) fn root_name(&mut self, root: &Node, file: &GraphFile) -> Arc<str> {
        let (_, file_name) = files::split(&file.path);
        let stem = file_name.rsplit_once('.').map_or(file_name, |(stem, _)| stem);
        let fit = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
        let from_file: String = stem.chars().take(64).map(fit).collect();
        let fallback: Arc<str> = if from_file.is_empty() { "graph".into() } else { from_file.into() };
        let Some(node) = root.get("name") else { return fallback };
        let Some(name) = self.plain_text(node, "`name`") else { return fallback };
        let key = Key { name: name.clone(), place: node.place };
        if self.check_label(&key, "a graph") { name } else { fallback }
    }
}
