//! In place of the client where MCP is left out of the program.

use std::sync::Arc;

use deepgraph_graph::{Bundle, ServerTool};

use super::Secrets;
use crate::{Op, RunError};

/// No servers.
#[derive(Debug, Default)]
pub(super) struct Client;

impl Client {
    pub(super) async fn connect(bundle: &Bundle, secrets: &Secrets) -> Result<Client, Vec<RunError>> {
        Client::lazy(bundle, secrets)
    }

    pub(super) fn lazy(bundle: &Bundle, _: &Secrets) -> Result<Client, Vec<RunError>> {
        let left_out = |server: &deepgraph_graph::Server| RunError::NoMcp { server: server.name.to_string() };
        let errors: Vec<RunError> = bundle.servers.iter().map(left_out).collect();
        if errors.is_empty() { Ok(Client) } else { Err(errors) }
    }

    pub(super) fn tools(&self) -> Vec<(Arc<str>, Vec<ServerTool>)> {
        Vec::new()
    }

    pub(super) fn ops(&self) -> Vec<(String, Arc<dyn Op>)> {
        Vec::new()
    }

    pub(super) async fn close(&self) {}
}
