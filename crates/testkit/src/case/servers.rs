//! The tools of MCP servers in a case: `servers: {NAME: {TOOL: {description, input_schema, read_only}}}`.

use std::sync::Arc;

use deepgraph_graph::{OpTable, ServerTool};

use super::read::Reader;
use super::tree::Node;
use super::words;

/// The tools of servers, by server.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServerTools(Vec<(Arc<str>, Vec<ServerTool>)>);

impl ServerTools {
    pub(crate) fn read(reader: &mut Reader, node: &Node) -> ServerTools {
        reader.map(node, "`servers`");
        let mut servers = Vec::new();
        for (server, tools) in node.entries() {
            reader.map(tools, "a server's tools");
            let tools = tools.entries().iter();
            let tools = tools.map(|(name, said)| tool(reader, name.name.clone(), said)).collect();
            servers.push((server.name.clone(), tools));
        }
        ServerTools(servers)
    }

    /// The ops with these tools.
    pub(crate) fn ops(&self) -> OpTable {
        let servers = self.0.iter();
        servers.fold(OpTable::stock(), |ops, (name, tools)| ops.with_server(name, tools.clone()))
    }
}

fn tool(reader: &mut Reader, name: Arc<str>, said: &Node) -> ServerTool {
    let any = deepgraph_protocol::Value::record([("type", deepgraph_protocol::Value::from("object"))]);
    let mut tool = ServerTool::new(name, any);
    for (key, value) in reader.entries(said, "a server's tool", &words::SERVER_TOOL) {
        match &*key.name {
            "description" => tool.description = reader.text(value, "`description`").unwrap_or_default(),
            "input_schema" => {
                if reader.map(value, "`input_schema`").is_some() {
                    tool.input_schema = value.value.clone();
                }
            }
            _ if matches!(value.value, deepgraph_protocol::Value::Bool(_)) => {
                tool.read_only = Some(value.value.is_true());
            }
            _ => drop(reader.wrong::<()>(value, "`read_only`", "true or false")),
        }
    }
    tool
}
