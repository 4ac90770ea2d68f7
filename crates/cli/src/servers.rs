//! The MCP servers of a graph: their secrets, asking them for their tools, and the graph with these.

use std::env;

use deepgraph_graph::{Bundle, Diagnostics, Loaded};
use deepgraph_runtime::{Secrets, Servers};
use serde_json::json;

use crate::error::CliError;
use crate::graphs;
use crate::progress::{Format, emit};
use crate::screen::Screen;
use crate::session::{self, Session};
use crate::when::counted;

/// The secrets of a graph's servers, from the environment.
///
/// # Errors
///
/// All that are missing, with their servers.
pub fn secrets(bundle: &Bundle) -> Result<Secrets, CliError> {
    Secrets::read(bundle, |name| env::var(name).ok()).map_err(session::unusable)
}

/// Connects to the servers of a graph and loads it again with their tools.
///
/// # Errors
///
/// Servers that can not be used; the mistakes that the graph has with these tools.
pub fn connect(
    session: &mut Session,
    bundle: &Bundle,
    secrets: &Secrets,
    format: Format,
    screen: &Screen,
) -> Result<Result<Loaded, Diagnostics>, CliError> {
    if format == Format::Lines {
        let names: Vec<&str> = bundle.servers.iter().map(|server| &*server.name).collect();
        screen.say(&format!("connecting to {}", names.join(", ")));
    }
    session.connect(bundle, secrets)?;
    match format {
        Format::Lines => screen.say(&told(session.servers())),
        Format::Json => {
            let tools = session.servers().tools();
            let servers = tools.iter().map(|(name, tools)| json!({"name": name, "tools": tools.len()}));
            emit(&json!({"type": "servers", "servers": servers.collect::<Vec<_>>()}));
        }
        Format::Quiet => {}
    }
    Ok(graphs::with_tools(bundle, session.servers()))
}

/// What the servers have: `crm with 12 tools, files with 1 tool`.
fn told(servers: &Servers) -> String {
    let tools = |count: usize| counted(count as u64, "tool", "tools");
    let servers = servers.tools();
    let servers: Vec<String> =
        servers.iter().map(|(name, list)| format!("{name} with {}", tools(list.len()))).collect();
    servers.join(", ")
}
