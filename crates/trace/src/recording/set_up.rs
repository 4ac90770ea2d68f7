//! How a recorded run was set up, for another run under a graph that may not be the recorded one.

use std::collections::BTreeMap;

use deepgraph_graph::{Bundle, OpTable};
use deepgraph_protocol::{Map, Value};

use super::Recording;

impl Recording {
    /// These ops with the tools that the servers had: a graph that calls such tools compiles against them, and no server
    /// is asked.
    pub fn ops(&self, ops: OpTable) -> OpTable {
        self.servers.iter().fold(ops, |ops, (name, tools)| ops.with_server(name, tools.clone()))
    }

    /// The recorded configuration as far as the graph has its keys, as [`Bundle::config_of`] takes it.
    pub fn config_for(&self, bundle: &Bundle) -> BTreeMap<String, Value> {
        let known = self.config.iter().filter(|(key, _)| bundle.config.contains_key(*key));
        known.map(|(key, value)| (key.to_string(), value.clone())).collect()
    }

    /// The recorded input as far as the graph has its channels, as [`Bundle::input_of`] takes it.
    pub fn input_for(&self, bundle: &Bundle) -> Map {
        let root = bundle.root();
        let inputs = root.input.iter().filter_map(|ix| root.channels.get(ix.0));
        let recorded = inputs.filter_map(|channel| {
            self.input.get(&channel.name).map(|value| (channel.name.clone(), value.clone()))
        });
        recorded.collect()
    }
}
