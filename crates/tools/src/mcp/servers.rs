//! All servers of a run.

use std::collections::BTreeMap;

use futures::future::join_all;

use super::declared::{Options, Transport};
use super::error::McpError;
use super::server::Server;

/// Servers by their names in the graph.
#[derive(Clone, Debug, Default)]
pub struct McpServers(BTreeMap<String, Server>);

impl McpServers {
    /// Connects to all servers at once, each within the time that the options give.
    ///
    /// # Errors
    ///
    /// What is wrong with each server that can not be used, by name. The others are closed again.
    pub async fn connect(
        declared: impl IntoIterator<Item = (String, Transport)>,
        options: Options,
    ) -> Result<McpServers, Vec<McpError>> {
        let declared: BTreeMap<String, Transport> = declared.into_iter().collect();
        let declared = declared.into_iter().map(|(name, transport)| (name, transport, options)).collect();
        let mut servers = McpServers::default();
        let mut errors = Vec::new();
        for attempt in McpServers::connect_each(declared).await {
            match attempt {
                Ok(server) => servers.add(server),
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() {
            return Ok(servers);
        }
        servers.close().await;
        Err(errors)
    }

    /// Connects to servers at once, each within its time: what came of each, in the same order. Those that are there
    /// stay connected.
    pub async fn connect_each(declared: Vec<(String, Transport, Options)>) -> Vec<Result<Server, McpError>> {
        let connect = |(name, transport, options): (String, Transport, Options)| async move {
            Server::connect(&name, transport, options).await
        };
        join_all(declared.into_iter().map(connect)).await
    }

    /// Adds a server, or puts it in place of one of the same name.
    pub fn add(&mut self, server: Server) {
        self.0.insert(server.name().to_owned(), server);
    }

    /// The server of a name.
    pub fn get(&self, name: &str) -> Option<&Server> {
        self.0.get(name)
    }

    /// All servers, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Server> {
        self.0.values()
    }

    /// Closes all servers at once, and waits until they are. To be called at the end of a run, however it ends.
    pub async fn close(&self) {
        join_all(self.iter().map(Server::close)).await;
    }
}
