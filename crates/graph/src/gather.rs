//! The graph file and every file whose graphs it calls, each read once.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::diagnostic::Sink;
use crate::files::{self, Files, file_call, resolve};
use crate::source::{self, FileText, Key, Kind, Node};
use crate::{OpTable, USER_SERVERS};

/// A graph file as it was read.
pub(crate) struct GraphFile {
    /// Its path from the folder of the first one: by this it is called.
    pub path: Arc<str>,
    /// Its text, under the name that a person would give it.
    pub text: FileText,
    /// Its tree; none where it is no YAML.
    pub tree: Option<Node>,
    /// The tools of its sets, by set.
    pub sets: Sets,
}

/// The tools that entries with `call: SERVER.*` stand for, by the place of the entry. Empty where they are not known.
pub(crate) type Sets = BTreeMap<source::Place, Vec<Key>>;

/// The graph file that is loaded, then those that it calls, then those that they call.
pub(crate) struct GraphFiles {
    pub list: Vec<GraphFile>,
    /// Why others can not be read, by path.
    pub missing: BTreeMap<String, String>,
}

impl GraphFile {
    /// The folder that the paths in it are relative to, with its last `/`, or "".
    pub fn folder(&self) -> &str {
        files::split(&self.path).0
    }

    /// Whether it looks like a graph at all.
    pub fn is_graph(&self) -> bool {
        self.tree.as_ref().is_none_or(|tree| tree.get("deepgraph").is_some() || tree.get("nodes").is_some())
    }
}

impl GraphFiles {
    /// The index of a file.
    pub fn find(&self, path: &str) -> Option<usize> {
        self.list.iter().position(|file| &*file.path == path)
    }
}

/// Reads the graph file and all that it calls. Their texts are added to `texts`.
pub(crate) fn gather(
    entry: &str,
    text: String,
    files: &dyn Files,
    ops: &OpTable,
    out: &mut Sink,
    texts: &mut BTreeMap<String, String>,
) -> GraphFiles {
    let (_, name) = files::split(entry);
    let mut found = GraphFiles { list: Vec::new(), missing: BTreeMap::new() };
    let mut open = VecDeque::from([(name.to_owned(), text)]);
    while let Some((path, text)) = open.pop_front() {
        let file = read(entry, &path, &text, ops, out);
        texts.insert(path, text);
        for wanted in called_files(&file) {
            let is_known = texts.contains_key(&wanted)
                || found.missing.contains_key(&wanted)
                || open.iter().any(|(path, _)| *path == wanted);
            if is_known {
                continue;
            }
            match files.read(&wanted) {
                Ok(text) => open.push_back((wanted, text)),
                Err(why) => {
                    found.missing.insert(wanted, why);
                }
            }
        }
        found.list.push(file);
    }
    found
}

fn read(entry: &str, path: &str, text: &str, ops: &OpTable, out: &mut Sink) -> GraphFile {
    let shown = files::shown(entry, path, text);
    let parsed = source::parse(text);
    out.unread(&shown, parsed.errors);
    let sets = parsed.node.as_ref().map(|tree| sets(tree, ops)).unwrap_or_default();
    GraphFile { path: path.into(), text: shown, tree: parsed.node, sets }
}

/// The files that the graphs of a file call, in its order.
fn called_files(file: &GraphFile) -> Vec<String> {
    let Some(tree) = &file.tree else { return Vec::new() };
    let mut found = Vec::new();
    for call in graphs(tree).into_iter().flat_map(calls) {
        if let Some(name) = call.text()
            && let Some(call) = file_call(name)
            && let Ok(path) = resolve(file.folder(), call.file)
            && files::is_graph_file(&path)
        {
            found.push(path);
        }
    }
    found
}

/// A graph and all that are declared in it, in the order of the file.
fn graphs(tree: &Node) -> Vec<&Node> {
    let mut found = vec![tree];
    for (_, child) in tree.get("graphs").into_iter().flat_map(Node::entries) {
        found.extend(graphs(child));
    }
    found
}

/// What the nodes and tools of a graph say that they call.
pub(crate) fn calls(graph: &Node) -> impl Iterator<Item = &Node> {
    let parts = ["nodes", "tools"].into_iter().filter_map(|part| graph.get(part));
    parts.flat_map(Node::entries).filter_map(|(_, one)| one.get("call"))
}

/// The server of `SERVER.*`.
pub(crate) fn set_of(call: &Node) -> Option<&str> {
    call.text()?.strip_suffix(".*")
}

fn sets(tree: &Node, ops: &OpTable) -> Sets {
    let mut found = Sets::new();
    for (key, tool) in graphs(tree).iter().filter_map(|g| g.get("tools")).flat_map(Node::entries) {
        let Some(server) = tool.get("call").and_then(set_of) else { continue };
        found.insert(key.place, members(key, tool, server, ops));
    }
    found
}

/// The tools that `only` names, else those that the server has. Of a user's own servers, `only` chooses among those that
/// there are.
fn members(key: &Key, tool: &Node, server: &str, ops: &OpTable) -> Vec<Key> {
    let listed = ops.server(server).unwrap_or_default();
    if let Some(only) = tool.get("only") {
        let Kind::List(items) = &only.kind else { return Vec::new() };
        let is_there = |name: &str| server != USER_SERVERS || listed.iter().any(|tool| &*tool.name == name);
        let named = items.iter().filter(|item| item.text().is_some_and(|name| is_there(name)));
        let named = named.filter_map(|item| Some(Key { name: item.text()?.clone(), place: item.place }));
        return named.collect();
    }
    listed.iter().map(|tool| Key { name: tool.name.clone(), place: key.place }).collect()
}
