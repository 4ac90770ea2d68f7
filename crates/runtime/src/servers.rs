//! MCP servers: their tools as ops.
//!
//! A graph file declares servers with texts that read secrets. [`Secrets`] holds what these texts read. A user has servers
//! of his own in his configuration, [`McpSettings`]; [`UserServers`] are these, ready to be reached. Their tools are
//! offered where a graph has `mcp.*`.
//!
//! [`Servers::connect`] reaches all of them and asks for their tools, with which the graph is loaded again
//! ([`Servers::op_table`]); for a run whose graph knows the tools already, [`Servers::lazy`] asks nothing before a call
//! needs it. [`Servers::add_to`] makes each tool the op `SERVER.TOOL`; those of the user's own servers are `mcp.TOOL`.
//!
//! Without the feature `mcp` the same functions are there, and refuse graphs that need servers.

#[cfg(not(feature = "mcp"))]
mod absent;
#[cfg(feature = "mcp")]
mod called;
#[cfg(feature = "mcp")]
mod client;
#[cfg(feature = "mcp")]
mod offered;
mod secrets;
mod settings;
mod texts;
mod user;

use std::sync::Arc;

use deepgraph_graph::{Bundle, OpTable, ServerTool};
use serde::{Deserialize, Serialize};

#[cfg(not(feature = "mcp"))]
use self::absent::Client;
#[cfg(feature = "mcp")]
use self::client::Client;
pub use self::secrets::Secrets;
pub use self::settings::{Effect, McpServerSettings, McpSettings};
pub use self::user::UserServers;
use crate::{Ops, RunError};

/// A server that could not be reached when the run began, and is not required: the run goes on without its tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DownServer {
    /// Its name.
    pub server: String,
    /// Why, and what to do. Holds no secret.
    pub why: String,
}

/// The servers of a run. They live as long as this does; [`Servers::close`] ends them in good order.
#[derive(Debug, Default)]
pub struct Servers(Client);

impl Servers {
    /// Connects to all servers of a graph at once and asks them for their tools; to the user's own as well, where the
    /// graph offers their tools. Needs a tokio runtime, on which the servers live. Each has half a minute to be ready.
    /// Where the future is dropped, all that were started are ended. Servers that are not required may be
    /// [down](Servers::down).
    ///
    /// # Errors
    ///
    /// What is wrong with each server that can not be used, and with the settings of the user's own. The others are closed
    /// again.
    pub async fn connect(
        bundle: &Bundle,
        secrets: &Secrets,
        user: &UserServers,
    ) -> Result<Servers, Vec<RunError>> {
        Client::connect(bundle, secrets, user).await.map(Servers)
    }

    /// The servers of a graph that was loaded with their tools. Each is connected to by the first call of one of its
    /// tools. A tool of the user's own whose server is no more among them can not be called.
    ///
    /// # Errors
    ///
    /// A text of a server that can not be made.
    pub fn lazy(bundle: &Bundle, secrets: &Secrets, user: &UserServers) -> Result<Servers, Vec<RunError>> {
        Client::lazy(bundle, secrets, user).map(Servers)
    }

    /// The servers that could not be reached when they were connected to, in the order of the graph, then those of the
    /// user by name.
    pub fn down(&self) -> &[DownServer] {
        self.0.down()
    }

    /// The tools of each server whose tools are known, both by name; those of the user's own servers under
    /// [`USER_SERVERS`](deepgraph_graph::USER_SERVERS).
    pub fn tools(&self) -> Vec<(Arc<str>, Vec<ServerTool>)> {
        self.0.tools()
    }

    /// Ops with the tools of these servers: what the graph is loaded again with.
    pub fn op_table(&self, ops: &OpTable) -> OpTable {
        self.tools().into_iter().fold(ops.clone(), |table, (server, tools)| table.with_server(&server, tools))
    }

    /// Adds an op for each tool. Its result is `{text, data, sources, facts}`: what a call that reads
    /// brought can be cited, and its facts are found by the scorer of `ops`. A call that has no timeout of its own has one of a
    /// minute, or that of the user's settings. Tools that the graph names, of servers that are down, are ops as well: a call
    /// tries the server again.
    pub fn add_to(&self, ops: &mut Ops) {
        for (name, op) in self.0.ops(ops) {
            ops.add(name, op);
        }
    }

    /// Ends all connections at once, and waits until started commands are gone. Those that do not want to go are made
    /// to, after some seconds.
    pub async fn close(&self) {
        self.0.close().await;
    }
}
