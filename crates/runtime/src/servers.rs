//! The MCP servers of a graph: their tools as ops.
//!
//! A graph file declares servers with texts that read secrets. [`Secrets`] holds what these texts read.
//! [`Servers::connect`] reaches all servers and asks for their tools, with which the graph is loaded again
//! ([`Servers::op_table`]); for a run whose graph knows the tools already, [`Servers::lazy`] asks nothing before a call
//! needs it. [`Servers::add_to`] makes each tool the op `SERVER.TOOL`.
//!
//! Without the feature `mcp` the same functions are there, and refuse graphs that have servers.

#[cfg(not(feature = "mcp"))]
mod absent;
#[cfg(feature = "mcp")]
mod client;
mod secrets;

use std::sync::Arc;

use deepgraph_graph::{Bundle, OpTable, ServerTool};

#[cfg(not(feature = "mcp"))]
use self::absent::Client;
#[cfg(feature = "mcp")]
use self::client::Client;
pub use self::secrets::Secrets;
use crate::{Ops, RunError};

/// The servers of a graph. They live as long as this does; [`Servers::close`] ends them in good order.
#[derive(Debug, Default)]
pub struct Servers(Client);

impl Servers {
    /// Connects to all servers of a graph at once and asks them for their tools. Needs a tokio runtime, on which the
    /// servers live. Each has half a minute to be ready. Where the future is dropped, all that were started are ended.
    ///
    /// # Errors
    ///
    /// What is wrong with each server that can not be used. The others are closed again.
    pub async fn connect(bundle: &Bundle, secrets: &Secrets) -> Result<Servers, Vec<RunError>> {
        Client::connect(bundle, secrets).await.map(Servers)
    }

    /// The servers of a graph that was loaded with their tools. Each is connected to by the first call of one of its
    /// tools.
    ///
    /// # Errors
    ///
    /// A text of a server that can not be made.
    pub fn lazy(bundle: &Bundle, secrets: &Secrets) -> Result<Servers, Vec<RunError>> {
        Client::lazy(bundle, secrets).map(Servers)
    }

    /// The tools of each server, both by name.
    pub fn tools(&self) -> Vec<(Arc<str>, Vec<ServerTool>)> {
        self.0.tools()
    }

    /// Ops with the tools of these servers: what the graph is loaded again with.
    pub fn op_table(&self, ops: &OpTable) -> OpTable {
        self.tools().into_iter().fold(ops.clone(), |table, (server, tools)| table.with_server(&server, tools))
    }

    /// Adds an op for each tool. Its result is `{text, data}`. A call that has no timeout of its own has one of a
    /// minute.
    pub fn add_to(&self, ops: &mut Ops) {
        for (name, op) in self.0.ops() {
            ops.add(name, op);
        }
    }

    /// Ends all connections at once, and waits until started commands are gone. Those that do not want to go are made
    /// to, after some seconds.
    pub async fn close(&self) {
        self.0.close().await;
    }
}
