//! In place of the client where MCP is left out of the program.

use std::sync::Arc;

use deepgraph_graph::{Bundle, ServerTool};

use super::{DownServer, Secrets, UserServers};
use crate::{Op, Ops, RunError};

/// No servers.
#[derive(Debug, Default)]
pub(super) struct Client {
    down: Vec<DownServer>,
}

impl Client {
    pub(super) async fn connect(
        bundle: &Bundle,
        secrets: &Secrets,
        user: &UserServers,
    ) -> Result<Client, Vec<RunError>> {
        Client::lazy(bundle, secrets, user)
    }

    pub(super) fn lazy(bundle: &Bundle, _: &Secrets, user: &UserServers) -> Result<Client, Vec<RunError>> {
        let left_out = |server: &str| RunError::NoMcp { server: server.to_owned() };
        let required = bundle.servers.iter().filter(|server| server.required).map(|server| &*server.name);
        let own = user.servers.iter().filter(|_| bundle.user_tools);
        let own_required =
            own.clone().filter(|(_, server)| server.settings.required).map(|(name, _)| &**name);
        let errors: Vec<RunError> = required.chain(own_required).map(left_out).collect();
        if !errors.is_empty() {
            return Err(errors);
        }
        let down = |name: &str, why: Option<&String>| DownServer {
            server: name.to_owned(),
            why: why.cloned().unwrap_or_else(|| left_out(name).to_string()),
        };
        let of_graph = bundle.servers.iter().map(|server| down(&server.name, None));
        let down = of_graph.chain(own.map(|(name, server)| down(name, server.lacks.as_ref())));
        Ok(Client { down: down.collect() })
    }

    pub(super) fn down(&self) -> &[DownServer] {
        &self.down
    }

    pub(super) fn tools(&self) -> Vec<(Arc<str>, Vec<ServerTool>)> {
        Vec::new()
    }

    pub(super) fn ops(&self, _: &Ops) -> Vec<(String, Arc<dyn Op>)> {
        Vec::new()
    }

    pub(super) async fn close(&self) {}
}
