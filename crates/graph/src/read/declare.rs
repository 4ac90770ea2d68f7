//! What a file declares: graphs with their channels, tools, nodes and limits by name. Read before anything that
//! refers to them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use deepgraph_protocol::{ExitClass, ExitReason};

use super::Reader;
use super::fields::{TypeEnv, Typing};
use super::keys::Keys;
use crate::diagnostic::code;
use crate::source::{Key, Kind, Node, Place};
use crate::{Channel, ChannelIx, Field, NodeIx, ToolIx, nearest, vocabulary};

/// All graphs of a file; the root is the first.
pub(crate) struct Decls<'t> {
    pub graphs: Vec<Decl<'t>>,
    /// The configuration of all graphs together.
    pub config: BTreeMap<Arc<str>, Field>,
}

/// What one graph declares.
pub(crate) struct Decl<'t> {
    pub name: Arc<str>,
    pub path: Arc<str>,
    pub node: &'t Node,
    pub place: Place,
    /// The graph that it is declared in; none for the root.
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

    /// The tool of a name.
    pub fn tool_of(&self, name: &str) -> Option<ToolIx> {
        self.tools.iter().position(|t| &*t.key.name == name).map(ToolIx)
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

    /// Names of channels.
    pub fn channel_names(&self) -> impl Iterator<Item = &str> + Clone {
        self.channels.iter().map(|c| &*c.name)
    }
}

/// The names of declared things.
pub(crate) fn names<'s>(list: &'s [Named<'_>]) -> impl Iterator<Item = &'s str> + Clone {
    list.iter().map(|n| &*n.key.name)
}

/// Reads the declarations of all graphs of a file.
pub(crate) fn declare<'t>(reader: &mut Reader<'_>, root: &'t Node, name: Arc<str>) -> Decls<'t> {
    let mut decls = Decls { graphs: Vec::new(), config: BTreeMap::new() };
    let outer = Outer { parent: None, types: TypeEnv::default() };
    let key = Key { name, place: root.place };
    graph(reader, &mut decls, &key, root, &outer);
    visibility(&mut decls);
    super::settings::join_config(reader, &mut decls);
    decls
}

/// What a graph takes over from the one that it is declared in.
struct Outer {
    parent: Option<usize>,
    types: TypeEnv,
}

fn graph<'t>(reader: &mut Reader<'_>, decls: &mut Decls<'t>, key: &Key, node: &'t Node, outer: &Outer) {
    let what = match outer.parent {
        None => "a graph".to_owned(),
        Some(_) => format!("graph \"{}\"", key.name),
    };
    check_graph_keys(reader, node, &what, outer.parent.is_some());
    let path = match decls.graphs.first() {
        None => key.name.clone(),
        Some(root) => format!("{}/{}", root.name, key.name).into(),
    };
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
    decl.tools = named(reader, node, "tools", "a tool");
    decl.limits = named(reader, node, "limits", "a limit");
    decl.nodes = named(reader, node, "nodes", "a node");
    if node.get("nodes").is_none() && matches!(node.kind, Kind::Map(_)) {
        reader.error(code::MISSING_KEY, key.place, format!("{what} has no `nodes`"));
    }
    exits(reader, &mut decl);
    let inner = Outer { parent: Some(decls.graphs.len()), types: decl.types.clone() };
    decls.graphs.push(decl);
    children(reader, decls, node, &inner);
}

fn check_graph_keys(reader: &mut Reader<'_>, node: &Node, what: &str, child: bool) {
    reader.check_keys(node, Keys::of(what, &vocabulary::GRAPH));
    for key in vocabulary::ROOT_ONLY {
        if let Some((key, _)) = node.entry(key)
            && child
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
        if let Some(first) = decls.graphs.iter().find(|g| g.name == child.key.name) {
            let line = first.place.line;
            let message = format!("a graph \"{}\" is already declared in line {line}", child.key.name);
            reader.error(code::TAKEN, child.key.place, message).help("names of graphs are unique in a file");
        }
        graph(reader, decls, child.key, child.node, outer);
    }
}

/// A graph can call the graphs declared in it and in the graphs around it.
fn visibility(decls: &mut Decls<'_>) {
    let parents: Vec<Option<usize>> = decls.graphs.iter().map(|g| g.parent).collect();
    let named: Vec<(Arc<str>, Option<usize>)> =
        decls.graphs.iter().map(|g| (g.name.clone(), g.parent)).collect();
    for (index, graph) in decls.graphs.iter_mut().enumerate() {
        let mut around = Some(index);
        while let Some(outer) = around {
            for (child, (name, parent)) in named.iter().enumerate() {
                if *parent == Some(outer) {
                    graph.callable.entry(name.clone()).or_insert(child);
                }
            }
            around = parents.get(outer).copied().flatten();
        }
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

fn state(reader: &mut Reader<'_>, decl: &mut Decl<'_>) {
    if decl.node.get("state").is_none() && matches!(decl.node.kind, Kind::Map(_)) {
        reader.error(code::MISSING_KEY, decl.place, format!("{} has no `state`", decl.title()));
    }
    for Named { key, node } in named(reader, decl.node, "state", "a channel") {
        if let Some((persist, _)) = node.entry("persist") {
            reader.not_built(persist.place, "the key \"persist\"");
        }
        let extra = ["reduce", "persist"];
        if let Some((reduce, _)) = node.entry("reduce")
            && node.get("type").is_none()
            && node.get("enum").is_none()
        {
            let message = format!("the channel \"{}\" has a reducer and no `type`", key.name);
            reader.error(code::MISSING_KEY, reduce.place, message).help("write {type: ..., reduce: ...}");
            decl.channels.push(reader.lost_channel(key, node));
        } else {
            let channel = match typing(reader).field(node, &decl.types, &extra) {
                Some(field) => reader.channel(key, node, field),
                None => reader.lost_channel(key, node),
            };
            decl.channels.push(channel);
        }
        decl.channel_places.push(key.place);
    }
}

fn channel_list(reader: &mut Reader<'_>, decl: &Decl<'_>, what: &str) -> Vec<ChannelIx> {
    let Some(list) = decl.node.get(what) else { return Vec::new() };
    let mut found = Vec::new();
    for (name, place) in reader.name_list(list, &format!("`{what}`")) {
        match decl.channel(&name) {
            Some((ix, _)) if found.contains(&ix) => {
                reader.error(code::TAKEN, place, format!("\"{name}\" is listed twice"));
            }
            Some((ix, _)) => found.push(ix),
            None => {
                let message = format!("unknown channel \"{}\" in `{what}`", nearest::shortened(&name));
                reader
                    .error(code::UNKNOWN_CHANNEL, place, message)
                    .hint(nearest::hint(&name, decl.channel_names()));
            }
        }
    }
    found
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
fn named<'t>(reader: &mut Reader<'_>, node: &'t Node, key: &str, what: &str) -> Vec<Named<'t>> {
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
            "a tool" | "a node" | "a graph" | "an exit" => reader.check_label(key, what),
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
