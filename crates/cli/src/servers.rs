//! The MCP servers of a run, those of its graph and the user's own: their secrets, asking them for their tools, and the
//! graph with these.

mod consent;
mod named;

use std::collections::BTreeMap;
use std::env;

use deepgraph_graph::{Bundle, Diagnostics, Loaded, Transport, USER_SERVERS};
use deepgraph_runtime::{McpSettings, Secrets, Servers, UserServers};
use serde_json::json;

pub use self::consent::Consent;
pub use self::named::named;
use crate::error::CliError;
use crate::graphs;
use crate::progress::{Format, emit};
use crate::screen::{Screen, one_line};
use crate::services::Services;
use crate::session::{self, Session};
use crate::when::counted;

/// The most signs of a command that is shown.
const MOST_COMMAND: usize = 200;

/// What it takes to reach the servers of a run.
#[derive(Debug)]
pub struct Access {
    /// The secrets of the graph's servers.
    pub secrets: Secrets,
    /// The user's own servers; none where the graph does not offer their tools.
    pub user: UserServers,
    /// The commands that servers are started with, as they are written down, with the names of these.
    commands: Vec<String>,
    /// Why servers of a run's record are not reached.
    refused: Vec<String>,
}

/// How the servers of a graph and those of the configuration are reached, with secrets from the environment.
///
/// # Errors
///
/// Programs of the graph that may not be started; all secrets that are missing, with their servers; what is wrong in the
/// settings of the user's own.
pub fn access(bundle: &Bundle, services: &Services, consent: Consent) -> Result<Access, CliError> {
    consent.check(bundle, &[services.mcp()])?;
    let variable = |name: &str| env::var(name).ok();
    let secrets = Secrets::read(bundle, variable).map_err(session::unusable)?;
    let settings = if bundle.user_tools { services.mcp() } else { McpSettings::default() };
    let user = UserServers::read(&settings, variable).map_err(session::unusable)?;
    Ok(Access { secrets, user, commands: commands(bundle, &settings), refused: Vec::new() })
}

/// The same for a run that is gone on with: of the servers in its record, those that [`named`] found as well. The others
/// count as down.
///
/// # Errors
///
/// As [`access`].
pub fn access_again(
    bundle: &Bundle,
    recorded: &Services,
    named: &[McpSettings],
    consent: Consent,
) -> Result<Access, CliError> {
    consent.check(bundle, named)?;
    let variable = |name: &str| env::var(name).ok();
    let secrets = Secrets::read(bundle, variable).map_err(session::unusable)?;
    let recorded = if bundle.user_tools { recorded.mcp() } else { McpSettings::default() };
    let (settings, refused): (McpSettings, BTreeMap<String, String>) = named::split(recorded, named);
    let mut user = UserServers::read(&settings, variable).map_err(session::unusable)?;
    for (name, why) in &refused {
        user.leave_out(name, why);
    }
    let refused = refused.into_values().collect();
    Ok(Access { secrets, user, commands: commands(bundle, &settings), refused })
}

impl Access {
    /// Whether there are servers at all.
    pub fn is_needed(&self, bundle: &Bundle) -> bool {
        !bundle.servers.is_empty() || !self.user.is_empty()
    }

    /// What is told of a run that is gone on with: a line for each server that is left out, and for each command that is
    /// started.
    pub fn told_again(&self) -> Vec<String> {
        let commands = self.commands.iter().map(|command| format!("started when it is called: {command}"));
        self.refused.iter().cloned().chain(commands).collect()
    }
}

/// `NAME: PROGRAM ARGUMENT ...`, secrets by name.
fn told(name: &str, words: &[&str]) -> String {
    format!("{name}: {}", one_line(&words.join(" "), MOST_COMMAND))
}

fn commands(bundle: &Bundle, settings: &McpSettings) -> Vec<String> {
    let mut lines = Vec::new();
    for server in &bundle.servers {
        if let Transport::Command { command, .. } = &server.transport {
            let words: Vec<&str> = command.iter().map(|text| &*text.source).collect();
            lines.push(told(&server.name, &words));
        }
    }
    for (name, server) in settings.0.iter().filter(|(_, server)| !server.command.is_empty()) {
        let words: Vec<&str> = server.command.iter().map(String::as_str).collect();
        lines.push(told(name, &words));
    }
    lines
}

/// Connects to the servers of a run and loads its graph again with their tools. What is started is told before.
///
/// # Errors
///
/// Servers that can not be used; the mistakes that the graph has with these tools.
pub fn connect(
    session: &mut Session,
    bundle: &Bundle,
    access: &Access,
    format: Format,
    screen: &Screen,
) -> Result<Result<Loaded, Diagnostics>, CliError> {
    if format != Format::Quiet {
        access.commands.iter().for_each(|command| screen.say(&format!("starting {command}")));
    }
    if format == Format::Lines {
        let of_graph = bundle.servers.iter().map(|server| &*server.name);
        let names: Vec<&str> = of_graph.chain(access.user.names()).collect();
        screen.say(&format!("connecting to {}", names.join(", ")));
    }
    session.connect(bundle, access)?;
    let down = session.servers().down();
    match format {
        Format::Lines => {
            let counts = counts(session.servers());
            if !counts.is_empty() {
                screen.say(&counts);
            }
            let warn = |why: &str| screen.warn(&format!("{why}\nThe run goes on without it"));
            down.iter().for_each(|down| warn(&down.why));
        }
        Format::Json => {
            let tools = listed(session.servers());
            let servers = tools.iter().map(|(name, tools)| json!({"name": name, "tools": tools}));
            let mut event = json!({"type": "servers", "servers": servers.collect::<Vec<_>>()});
            if !down.is_empty() {
                event["down"] = json!(down);
            }
            emit(&event);
        }
        Format::Quiet => {}
    }
    Ok(graphs::with_tools(bundle, session.servers()))
}

/// The servers that are there, with the number of their tools.
fn listed(servers: &Servers) -> Vec<(String, usize)> {
    let mut listed: Vec<(String, usize)> = Vec::new();
    for (name, tools) in servers.tools() {
        if &*name != USER_SERVERS {
            listed.push((name.to_string(), tools.len()));
            continue;
        }
        // Their tools are one list, in which each says where it comes from.
        let mut own: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
        for origin in tools.iter().filter_map(|tool| tool.origin.as_ref()) {
            *own.entry(&origin.server).or_default() += 1;
        }
        listed.extend(own.into_iter().map(|(name, count)| (name.to_owned(), count)));
    }
    listed
}

/// What the servers have: `crm with 12 tools, files with 1 tool`.
fn counts(servers: &Servers) -> String {
    let tools = |count: usize| counted(count as u64, "tool", "tools");
    let servers: Vec<String> =
        listed(servers).into_iter().map(|(name, count)| format!("{name} with {}", tools(count))).collect();
    servers.join(", ")
}
