//! The graph as a whole.

use std::collections::BTreeMap;

use deepgraph_protocol::ExitClass;

use super::channel::Channel;
use super::intent::Intent;
use super::limit::Limit;
use super::node::Node;
use super::route::Route;
use super::server::Server;
use super::tool::Tool;
use super::tree::{Mapping, Tree};
use super::types::{Field, Record};
use super::yaml;
use crate::{Concurrency, Diagnostics, Loaded, OpTable, load};

/// A graph that is being built. Nodes run in the order in which they are added, where the order counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    name: String,
    description: Option<String>,
    config: Mapping,
    types: Mapping,
    state: Mapping,
    input: Vec<String>,
    output: Vec<String>,
    mcp: Mapping,
    tools: Mapping,
    limits: Mapping,
    exits: Mapping,
    concurrency: Concurrency,
    intents: Mapping,
    start: Option<Tree>,
    finally: Option<Tree>,
    nodes: Mapping,
    graphs: Mapping,
    files: BTreeMap<String, String>,
}

impl Graph {
    /// A graph of this name, with nothing in it.
    pub fn new(name: impl Into<String>) -> Graph {
        Graph { name: name.into(), ..Graph::default() }
    }

    /// What it does; also for a model that is offered it as a tool.
    pub fn description(mut self, text: impl Into<String>) -> Graph {
        self.description = Some(text.into());
        self
    }

    /// A key of the configuration: set from outside, the same during the whole run.
    pub fn config(mut self, key: impl Into<String>, field: impl Into<Field>) -> Graph {
        self.config.add(key, field.into().tree());
        self
    }

    /// A record type, known here and in the graphs below as [`Type::named`](super::Type::named).
    pub fn record(mut self, name: impl Into<String>, record: Record) -> Graph {
        self.types.add(name, Tree::Map(record.0));
        self
    }

    /// A channel: a named, typed place for what the graph knows.
    pub fn channel(mut self, name: impl Into<String>, channel: impl Into<Channel>) -> Graph {
        self.state.add(name, channel.into().tree());
        self
    }

    /// Channels that a caller gives.
    pub fn input<N: Into<String>>(mut self, channels: impl IntoIterator<Item = N>) -> Graph {
        self.input.extend(channels.into_iter().map(Into::into));
        self
    }

    /// Channels that a caller gets.
    pub fn output<N: Into<String>>(mut self, channels: impl IntoIterator<Item = N>) -> Graph {
        self.output.extend(channels.into_iter().map(Into::into));
        self
    }

    /// An MCP server whose tools can be called as `NAME.TOOL`.
    pub fn mcp(mut self, name: impl Into<String>, server: impl Into<Server>) -> Graph {
        self.mcp.add(name, server.into().tree());
        self
    }

    /// A tool that model nodes may offer.
    pub fn tool<V>(mut self, name: impl Into<String>, tool: Tool<V>) -> Graph {
        self.tools.add(name, tool.tree());
        self
    }

    /// A limit.
    pub fn limit(mut self, name: impl Into<String>, limit: Limit) -> Graph {
        self.limits.add(name, limit.tree());
        self
    }

    /// An exit of your own with its class: completion, error, budget, cap or waiting.
    pub fn exit(mut self, name: impl Into<String>, class: ExitClass) -> Graph {
        let known = ExitClass::DECLARABLE.iter().find(|(_, one)| *one == class);
        // One that no graph can declare is told by the check.
        let word = known.map_or_else(|| format!("{class:?}").to_lowercase(), |(word, _)| (*word).to_owned());
        self.exits.add(name, Tree::Text(word));
        self
    }

    /// What may be at work at once in the whole run. Only for the graph that is run.
    pub fn concurrency(mut self, caps: Concurrency) -> Graph {
        self.concurrency = caps;
        self
    }

    /// A class of questions with configuration of its own. Only for the graph that is run.
    pub fn intent(mut self, name: impl Into<String>, intent: Intent) -> Graph {
        self.intents.add(name, intent.tree());
        self
    }

    /// Where it begins.
    pub fn start(mut self, route: impl Into<Route>) -> Graph {
        self.start = Some(route.into().tree());
        self
    }

    /// The stage that every exit passes.
    pub fn finally(mut self, route: impl Into<Route>) -> Graph {
        self.finally = Some(route.into().tree());
        self
    }

    /// A node.
    pub fn node<V>(mut self, name: impl Into<String>, node: Node<V>) -> Graph {
        self.nodes.add(name, node.tree());
        self
    }

    /// A graph that can be called here and below by its own name.
    pub fn graph(mut self, child: Graph) -> Graph {
        let keys = child.keys();
        self.graphs.add(child.name, Tree::Map(keys));
        self.files.extend(child.files);
        self
    }

    /// A file that the graph names, such as a prompt or a graph that it calls, by the path that it has there.
    pub fn file(mut self, path: impl Into<String>, text: impl Into<String>) -> Graph {
        self.files.insert(path.into(), text.into());
        self
    }

    /// The name of the file that [`Graph::to_yaml`] is the text of: that of the graph.
    pub fn file_name(&self) -> String {
        let plain = |c: char| if c.is_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
        let name: String = self.name.chars().map(plain).collect();
        if name.is_empty() { "graph.yaml".to_owned() } else { format!("{name}.yaml") }
    }

    /// The graph as a graph file. Written under [`Graph::file_name`] beside the files that it names, it loads to the
    /// same bundle, with the same hash.
    pub fn to_yaml(&self) -> String {
        let mut keys = Mapping::default().with("deepgraph", Tree::Int(1));
        if !self.name.is_empty() {
            keys.set("name", Tree::Text(self.name.clone()));
        }
        for (key, value) in self.keys().entries() {
            keys.set(key, value.clone());
        }
        yaml::write(&keys)
    }

    /// All files: the graph under its [`Graph::file_name`], and those that it names.
    pub fn files(&self) -> BTreeMap<String, String> {
        let mut files = self.files.clone();
        files.insert(self.file_name(), self.to_yaml());
        files
    }

    /// Checks and compiles the graph against these ops.
    ///
    /// # Errors
    ///
    /// All mistakes, each with its line in [`Graph::to_yaml`].
    pub fn load(&self, ops: &OpTable) -> Result<Loaded, Diagnostics> {
        load(&self.file_name(), &self.files(), ops)
    }

    /// The keys that a graph may have wherever it stands, in the order of the reference.
    fn keys(&self) -> Mapping {
        let parts = [
            ("description", self.description.clone().map(Tree::Text)),
            ("config", some(&self.config)),
            ("types", some(&self.types)),
            ("state", Some(Tree::Map(self.state.clone()))),
            ("input", named(&self.input)),
            ("output", named(&self.output)),
            ("mcp", some(&self.mcp)),
            ("tools", some(&self.tools)),
            ("limits", some(&self.limits)),
            ("exits", some(&self.exits)),
            ("concurrency", some(&caps(self.concurrency))),
            ("intents", some(&self.intents)),
            ("start", self.start.clone()),
            ("finally", self.finally.clone()),
            ("nodes", Some(Tree::Map(self.nodes.clone()))),
            ("graphs", some(&self.graphs)),
        ];
        let mut keys = Mapping::default();
        for (key, part) in parts {
            if let Some(part) = part {
                keys.set(key, part);
            }
        }
        keys
    }
}

/// A part of a graph; none where nothing is in it.
fn some(part: &Mapping) -> Option<Tree> {
    (!part.is_empty()).then(|| Tree::Map(part.clone()))
}

fn named(channels: &[String]) -> Option<Tree> {
    (!channels.is_empty()).then(|| Tree::names(channels.iter().cloned()))
}

fn caps(concurrency: Concurrency) -> Mapping {
    let Concurrency { graphs, model_calls, tool_calls } = concurrency;
    let mut caps = Mapping::default();
    for (key, cap) in [("graphs", graphs), ("model_calls", model_calls), ("tool_calls", tool_calls)] {
        if let Some(cap) = cap {
            caps.set(key, Tree::Int(i64::try_from(cap).unwrap_or(i64::MAX)));
        }
    }
    caps
}
