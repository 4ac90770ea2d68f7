//! Tools of MCP servers as ops.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_protocol::Value;
use serde::{Deserialize, Serialize};

use super::{Op, OpTable};
use crate::types::{builtin, from_schema};
use crate::{Field, RecordType, Type};

/// The name under which graphs know the tools of the servers in a user's own configuration: `mcp.*` is all of them.
pub const USER_SERVERS: &str = "mcp";

/// A tool as its MCP server lists it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerTool {
    /// Its name on the server; of a user's own servers, the name under which it is offered.
    pub name: Arc<str>,
    /// What it does, for models.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub description: Arc<str>,
    /// JSON Schema of its arguments: an object.
    pub input_schema: Value,
    /// Whether it changes nothing, as the server says; none where it says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// Whether a second call with the same arguments changes nothing more, as the server says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// Whether it may destroy what is there, as the server says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// Of a user's own servers: where it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<ToolOrigin>,
}

/// The server that a tool of [`USER_SERVERS`] comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolOrigin {
    /// The name of the server in the configuration.
    pub server: Arc<str>,
    /// The name of the tool on it.
    pub tool: Arc<str>,
}

impl ServerTool {
    /// A tool of which nothing is known but its name and the schema of its arguments.
    pub fn new(name: impl Into<Arc<str>>, input_schema: Value) -> ServerTool {
        ServerTool {
            name: name.into(),
            description: "".into(),
            input_schema,
            read_only: None,
            idempotent: None,
            destructive: None,
            origin: None,
        }
    }
}

impl OpTable {
    /// Adds the tools of a server, each as the op `SERVER.TOOL`, in place of those that it had. From then on the
    /// server has these tools and no others: calls of others are errors.
    ///
    /// An op's input is read from the schema as far as types can say it; models see the schema itself. Its result is
    /// `{text, data, sources, facts}`. It writes unless the server says that it only reads.
    pub fn with_server(mut self, server: &str, tools: Vec<ServerTool>) -> OpTable {
        for old in self.servers.remove(server).unwrap_or_default() {
            self.ops.remove(&*op_name(server, &old.name));
        }
        // By name, so that nothing depends on the order in which a server lists them.
        let by_name: BTreeMap<Arc<str>, ServerTool> =
            tools.into_iter().map(|t| (t.name.clone(), t)).collect();
        let tools: Vec<ServerTool> = by_name.into_values().collect();
        for tool in &tools {
            let op = op_of(server, tool);
            self.ops.insert(op.name.clone(), op);
        }
        self.servers.insert(server.into(), tools);
        self
    }

    /// The tools of a server, by name; none where they are not known.
    pub fn server(&self, name: &str) -> Option<&[ServerTool]> {
        self.servers.get(name).map(Vec::as_slice)
    }

    /// Whether an op is a tool of a server.
    pub(crate) fn is_served(&self, name: &str) -> bool {
        name.split_once('.').is_some_and(|(server, tool)| {
            self.server(server).is_some_and(|tools| tools.iter().any(|t| &*t.name == tool))
        })
    }
}

/// The name of the op that is a tool of a server.
pub(crate) fn op_name(server: &str, tool: &str) -> Arc<str> {
    format!("{server}.{tool}").into()
}

/// What the call of a server's tool gives back. Of a call that writes, `sources` and `facts` are empty.
pub(crate) fn result() -> Arc<RecordType> {
    let built_in = |name: &str| builtin::built_in(name).unwrap_or(Type::Any);
    let fields = vec![
        ("text".into(), Field::of(Type::String)),
        ("data".into(), Field::of(Type::Any)),
        ("sources".into(), Field::of(Type::Map(Box::new(built_in("source"))))),
        ("facts".into(), Field::of(Type::List(Box::new(built_in("fact"))))),
    ];
    Arc::new(RecordType { name: None, fields, open: false })
}

/// The schema of an input of which nothing is known.
pub(crate) fn any_input() -> Value {
    Value::record([("type", Value::from("object"))])
}

fn op_of(server: &str, tool: &ServerTool) -> Op {
    // Providers refuse parameters that are no object.
    let is_object = tool.input_schema.text("type") == "object";
    let schema = if is_object { tool.input_schema.clone() } else { any_input() };
    let (input, open) = from_schema::properties(&schema);
    Op {
        name: op_name(server, &tool.name),
        description: tool.description.clone(),
        input,
        given: Vec::new(),
        result: result(),
        writes: tool.read_only != Some(true),
        schema: Some(schema),
        open,
    }
}
