//! What files declare: graphs with their channels, tools, nodes and limits by name. Read before anything that
//! refers to them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use deepgraph_protocol::{ExitClass, ExitReason};

use super::fields::{TypeEnv, Typing};
use super::keys::Keys;
use super::servers::ServerDecl;
use super::sets::ToolSet;
use super::state::{channel_list, state};
use super::{Reader, callable};
use crate::diagnostic::code;
use crate::gather::{GraphFile, GraphFiles, set_of};
use crate::source::{Key, Kind, Node, Place};
use crate::{Channel, ChannelIx, Field, NodeIx, ToolIx, USER_SERVERS, nearest, vocabulary};

/// All graphs of the files; the root of the first file is the first. None where that is no graph.
pub(crate) struct Decls<'t> {
    pub graphs: Vec<Decl<'t>>,
    /// How many of them can be part of a run. The others, at the end, are graphs of called files that nothing calls.
    pub kept: usize,
    /// The configuration of all graphs together.
    pub config: BTreeMap<Arc<str>, Field>,
    /// The servers of all graphs; one may be declared several times.
    pub servers: Vec<ServerDecl<'t>>,
    pub files: &'t GraphFiles,
}

/// What one graph declares.
pub(crate) struct Decl<'t> {
    pub name: Arc<str>,
    pub path: Arc<str>,
    /// The file that it stands in.
    pub file: usize,
    pub node: &'t Node,
    pub place: Place,
    /// The graph that it is declared in; none for the root of a file.
    pub parent: Option<usize>,
    pub types: TypeEnv,
    pub config: BTreeMap<Arc<str>, (Field, Place)>,
    /// Config keys whose declaration could not be read.
    pub config_lost: BTreeSet<Arc<str>>,
    pub channels: Vec<Channel>,
    pub channel_places: Vec<Place>,
    pub input: Vec<ChannelIx>,
    pub output: Vec<ChannelIx>,
    pub tools: Vec<Named<'t>>,
    /// Entries that stand for several of the tools.
    pub sets: Vec<ToolSet<'t>>,
    pub nodes: Vec<Named<'t>>,
    pub limits: Vec<Named<'t>>,
    pub exits: BTreeMap<Arc<str>, ExitClass>,
    /// The graphs that it can call, by name: index among all.
    pub callable: BTreeMap<Arc<str>, usize>,
    /// Whether it was read without finding a mistake in its channels, input and output.
    pub sound: bool,
}

/// Something that is declared under a name.
#[derive(Clone, Copy)]
pub(crate) struct Named<'t> {
    pub key: &'t Key,
    pub node: &'t Node,
}

impl Decl<'_> {
    /// What it is, for messages.
    pub fn title(&self) -> String {
        format!("graph \"{}\"", self.name)
    }

    /// The channel of a name.
    pub fn channel(&self, name: &str) -> Option<(ChannelIx, &Channel)> {
        self.channels.iter().enumerate().find(|(_, c)| &*c.name == name).map(|(i, c)| (ChannelIx(i), c))
    }

    /// The node of a name.
    pub fn node_of(&self, name: &str) -> Option<NodeIx> {
        self.nodes.iter().position(|n| &*n.key.name == name).map(NodeIx)
    }

    /// Whether it is the graph that is run, and not only called.
    pub fn is_first(&self) -> bool {
        self.file == 0 && self.parent.is_none()
    }

    /// The input channels.
    pub fn inputs(&self) -> impl Iterator<Item = &Channel> {
        self.input.iter().filter_map(|c| self.channels.get(c.0))
    }

    /// The output channels.
    pub fn outputs(&self) -> impl Iterator<Item = &Channel> {
        self.output.iter().filter_map(|c| self.channels.get(c.0))
    }

    /// Names of config keys, also of those whose declaration could not be read.
    pub fn config_names(&self) -> impl Iterator<Item = &str> + Clone {
        self.config.keys().chain(&self.config_lost).map(|key| &**key)
    }

    /// What is said of a key that is not declared under `config`: the message and the help.
    pub fn no_config_key(&self, key: &str) -> (String, String) {
        let message =
            format!("{} does not declare the config key \"{}\"", self.title(), nearest::shortened(key));
        let help = nearest::hint(key, self.config_names()).unwrap_or_else(|| {
            "declare it under `config` of this graph: one name is one value run-wide".to_owned()
        });
        (message, help)
    }

    /// Names of channels.
    pub fn channel_names(&self) -> impl Iterator<Item = &str> + Clone {
        self.channels.iter().map(|c| &*c.name)
    }
}

/// The names of declared things.
pub(crate) fn names<'s>(list: &'s [Named<'_>]) -> impl Iterator<Item = &'s str> + Clone {
    list.iter().map(|n| &*n.key.name)
}

/// Reads the declarations of all graphs of the files.
pub(crate) fn declare<'t>(reader: &mut Reader<'_>, files: &'t GraphFiles) -> Decls<'t> {
    let mut decls =
        Decls { graphs: Vec::new(), kept: 0, config: BTreeMap::new(), servers: Vec::new(), files };
    for (index, file) in files.list.iter().enumerate() {
        reader.enter(files, index);
        // That a called file is no graph is told where it is called.
        let is_read = index == 0 || file.is_graph();
        if let Some(root) = is_read.then(|| reader.root(file)).flatten() {
            let outer = Outer { file: index, parent: None, types: TypeEnv::default() };
            let key = Key { name: reader.root_name(root, file), place: root.place };
            graph(reader, &mut decls, &key, root, &outer);
        }
        if decls.graphs.is_empty() {
            return decls;
        }
    }
    callable::link(&mut decls);
    super::settings::join_config(reader, &mut decls);
    decls
}

/// What a graph takes over from the one that it is declared in.
struct Outer {
    file: usize,
    parent: Option<usize>,
    types: TypeEnv,
}

fn graph<'t>(reader: &mut Reader<'_>, decls: &mut Decls<'t>, key: &Key, node: &'t Node, outer: &Outer) {
    let what = match outer.parent {
        None => "a graph".to_owned(),
        Some(_) => format!("graph \"{}\"", key.name),
    };
    check_graph_keys(reader, node, &what, outer);
    let path = path(decls, key, outer);
    let types = match node.get("types") {
        Some(types) if reader.mapping(types, "`types`") => {
            outer.types.with(types, &reader.file, &mut reader.out)
        }
        _ => outer.types.clone(),
    };
    let before = reader.out.len();
    let mut decl = Decl {
        name: key.name.clone(),
        path,
        file: outer.file,
        node,
        place: key.place,
        parent: outer.parent,
        config: BTreeMap::new(),
        config_lost: BTreeSet::new(),
        channels: Vec::new(),
        channel_places: Vec::new(),
        input: Vec::new(),
        output: Vec::new(),
        tools: Vec::new(),
        sets: Vec::new(),
        nodes: Vec::new(),
        limits: Vec::new(),
        exits: BTreeMap::new(),
        callable: BTreeMap::new(),
        sound: true,
        types,
    };
    config(reader, &mut decl);
    state(reader, &mut decl);
    decl.input = channel_list(reader, &decl, "input");
    decl.output = channel_list(reader, &decl, "output");
    decl.sound = reader.out.len() == before;
    tools(reader, &mut decl, decls.files.list.get(outer.file));
    decl.limits = named(reader, node, "limits", "a limit");
    decl.nodes = named(reader, node, "nodes", "a node");
    if node.get("nodes").is_none() && matches!(node.kind, Kind::Map(_)) {
        reader.error(code::MISSING_KEY, key.place, format!("{what} has no `nodes`"));
    }
    exits(reader, &mut decl);
    let graph = decls.graphs.len();
    for Named { key, node } in named(reader, node, "mcp", "a server") {
        decls.servers.push(ServerDecl { key, node, graph });
    }
    let inner = Outer { file: outer.file, parent: Some(graph), types: decl.types.clone() };
    decls.graphs.push(decl);
    children(reader, decls, node, &inner);
}

/// The path of a graph in the bundle.
fn path(decls: &Decls<'_>, key: &Key, outer: &Outer) -> Arc<str> {
    let file = decls.files.list.get(outer.file).map_or("", |file| crate::files::called(&file.path));
    match (decls.graphs.first(), outer.parent) {
        (None, _) => key.name.clone(),
        (Some(_), None) => file.into(),
        (Some(root), Some(_)) if outer.file == 0 => format!("{}/{}", root.name, key.name).into(),
        (Some(_), Some(_)) => format!("{file}#{}", key.name).into(),
    }
}

fn check_graph_keys(reader: &mut Reader<'_>, node: &Node, what: &str, outer: &Outer) {
    // A file that is called is not started by the clock.
    let ignored = if outer.file > 0 && outer.parent.is_none() { "schedule" } else { "" };
    let keys = Keys::of(what, &vocabulary::GRAPH);
    let later: Vec<&str> = keys.later.iter().copied().filter(|key| *key != ignored).collect();
    let known: Vec<&str> =
        keys.known.iter().copied().chain([ignored]).filter(|key| !key.is_empty()).collect();
    reader.check_keys(node, Keys { what, known: &known, later: &later });
    for key in vocabulary::ROOT_ONLY {
        if let Some((key, _)) = node.entry(key)
            && outer.parent.is_some()
            && &*key.name != "schedule"
        {
            let message = format!("only the root graph has the key \"{}\"", key.name);
            let help = (&*key.name == "name").then(|| "a graph's name is the key under `graphs`".to_owned());
            reader.error(code::CONFLICT, key.place, message).hint(help);
        }
    }
}

fn children<'t>(reader: &mut Reader<'_>, decls: &mut Decls<'t>, node: &'t Node, outer: &Outer) {
    for child in named(reader, node, "graphs", "a graph") {
        let same = |g: &&Decl<'_>| g.file == outer.file && g.name == child.key.name;
        if let Some(first) = decls.graphs.iter().find(same) {
            let line = first.place.line;
            let message = format!("a graph \"{}\" is already declared in line {line}", child.key.name);
            reader.error(code::TAKEN, child.key.place, message).help("names of graphs are unique in a file");
        }
        graph(reader, decls, child.key, child.node, outer);
    }
}

/// The tools; an entry that is a set stands for several.
fn tools<'t>(reader: &mut Reader<'_>, decl: &mut Decl<'t>, file: Option<&'t GraphFile>) {
    for entry in named(reader, decl.node, "tools", "a tool") {
        let Some(members) = file.and_then(|file| file.sets.get(&entry.key.place)) else {
            decl.tools.push(entry);
            continue;
        };
        let from = decl.tools.len();
        decl.tools.extend(members.iter().map(|key| Named { key, node: entry.node }));
        let known = match entry.node.get("only") {
            Some(only) => matches!(only.kind, Kind::List(_)),
            None => entry
                .node
                .get("call")
                .and_then(set_of)
                .is_some_and(|server| server == USER_SERVERS || reader.ops.server(server).is_some()),
        };
        let tools = (from..decl.tools.len()).map(ToolIx).collect();
        decl.sets.push(ToolSet { key: entry.key, node: entry.node, tools, known });
    }
}

fn config(reader: &mut Reader<'_>, decl: &mut Decl<'_>) {
    for Named { key, node } in named(reader, decl.node, "config", "a config key") {
        match typing(reader).field(node, &decl.types, &[]) {
            Some(field) => {
                decl.config.insert(key.name.clone(), (field, key.place));
            }
            None => {
                decl.config_lost.insert(key.name.clone());
            }
        }
    }
}

fn exits(reader: &mut Reader<'_>, decl: &mut Decl<'_>) {
    for Named { key, node } in named(reader, decl.node, "exits", "an exit") {
        if ExitReason::built_in(&key.name).is_some() || &*key.name == "inherit" {
            let message = format!("the exit \"{}\" is built in", key.name);
            reader.error(code::RESERVED, key.place, message).help("use it as it is, or choose another name");
            continue;
        }
        let classes = ExitClass::DECLARABLE;
        let given = node.text().map_or("", |t| &**t);
        match classes.iter().find(|(name, _)| *name == given) {
            Some((_, class)) => {
                decl.exits.insert(key.name.clone(), *class);
            }
            None => {
                let names = nearest::listed(classes.iter().map(|(n, _)| *n));
                let message = format!("the class of an exit is one of {names}");
                reader
                    .error(code::BAD_VALUE, node.place, message)
                    .hint(nearest::hint(given, classes.iter().map(|(n, _)| *n)));
                decl.exits.insert(key.name.clone(), ExitClass::Completion);
            }
        }
    }
}

/// The entries of a mapping of named things.
pub(super) fn named<'t>(reader: &mut Reader<'_>, node: &'t Node, key: &str, what: &str) -> Vec<Named<'t>> {
    let Some(list) = node.get(key) else { return Vec::new() };
    if list.is_null() || !reader.mapping(list, &format!("`{key}`")) {
        return Vec::new();
    }
    let most = match what {
        "a graph" => 100,
        "a limit" => 200,
        _ => 2000,
    };
    if list.entries().len() > most {
        let message = format!("`{key}` has {} entries; at most {most} are read", list.entries().len());
        reader.error(code::TOO_LARGE, list.place, message);
    }
    let mut found = Vec::new();
    for (key, node) in list.entries().iter().take(most) {
        // Under a name that it can not have it is read all the same, so that what refers to it and what is wrong
        // in it are not lost.
        match what {
            "a channel" => reader.check_channel_name(key),
            "a tool" | "a node" | "a graph" | "an exit" | "a server" | "an intent" => {
                reader.check_label(key, what)
            }
            _ => reader.check_name(key, what),
        };
        found.push(Named { key, node });
    }
    found
}

pub(crate) fn typing<'s>(reader: &'s mut Reader<'_>) -> Typing<'s, 'static> {
    Typing { file: &reader.file, out: &mut reader.out, own: None }
}

impl Reader<'_> {
    /// Whether a node is a mapping; an error where it is not.
    pub(crate) fn mapping(&mut self, node: &Node, what: &str) -> bool {
        let good = matches!(node.kind, Kind::Map(_));
        if !good {
            let message = format!("{what} must be a mapping, is {}", node.kind_name());
            self.error(code::WRONG_KIND, node.place, message);
        }
        good
    }

    /// The names of a list of names.
    pub(crate) fn name_list(&mut self, node: &Node, what: &str) -> Vec<(Arc<str>, Place)> {
        let Kind::List(items) = &node.kind else {
            let message = format!("{what} must be a list of names, is {}", node.kind_name());
            self.error(code::WRONG_KIND, node.place, message)
                .hint(node.text().map(|t| format!("write [{}]", nearest::shortened(t))));
            return Vec::new();
        };
        let mut names = Vec::new();
        for item in items {
            if let Some(name) = self.plain_text(item, "a name") {
                names.push((name, item.place));
            }
        }
        names
    }
}
