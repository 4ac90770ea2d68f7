//! The servers behind the MCP client.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use deepgraph_graph::{Bundle, Context, Server as Declared, ServerTool, Text, Transport as Texts};
use deepgraph_protocol::{Hidden, Map, StepError, Value};
use deepgraph_tools::mcp::{McpServers, Options, Server, ToolDecl, Transport};

use super::Secrets;
use crate::{CallContext, Op, RunError};

/// The longest time of a call that has no timeout of its own.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// The servers, and the secrets that nothing from them may hold.
#[derive(Debug, Default)]
pub(super) struct Client {
    servers: McpServers,
    /// Those that do nothing twice under one key, by name.
    keyed: BTreeSet<Arc<str>>,
    secrets: Hidden,
}

impl Client {
    pub(super) async fn connect(bundle: &Bundle, secrets: &Secrets) -> Result<Client, Vec<RunError>> {
        let declared = filled_in(bundle, secrets)?;
        let keyed = keyed(bundle);
        let declared = declared.into_iter().map(|(server, transport)| (server.name.to_string(), transport));
        match McpServers::connect(declared, Options::default()).await {
            Ok(servers) => Ok(Client { servers, keyed, secrets: secrets.hidden() }),
            Err(errors) => {
                let told = errors
                    .iter()
                    .map(|e| RunError::Server { problem: secrets.hidden().text(&e.to_string()) });
                Err(told.collect())
            }
        }
    }

    pub(super) fn lazy(bundle: &Bundle, secrets: &Secrets) -> Result<Client, Vec<RunError>> {
        let mut servers = McpServers::default();
        for (server, transport) in filled_in(bundle, secrets)? {
            let known = bundle.ops.server(&server.name).unwrap_or_default();
            let tools = known.iter().map(listed).collect();
            servers.add(Server::lazy(&server.name, transport, tools, Options::default()));
        }
        Ok(Client { servers, keyed: keyed(bundle), secrets: secrets.hidden() })
    }

    pub(super) fn tools(&self) -> Vec<(Arc<str>, Vec<ServerTool>)> {
        let tools = |server: &Server| server.tools().iter().map(|tool| self.declared(tool)).collect();
        self.servers.iter().map(|server| (server.name().into(), tools(server))).collect()
    }

    /// A tool as graphs know it.
    fn declared(&self, tool: &ToolDecl) -> ServerTool {
        ServerTool {
            name: tool.name.as_str().into(),
            description: self.secrets.text(&tool.description).into(),
            input_schema: self.secrets.value(&tool.input_schema),
            read_only: tool.read_only,
        }
    }

    pub(super) fn ops(&self) -> Vec<(String, Arc<dyn Op>)> {
        let mut ops: Vec<(String, Arc<dyn Op>)> = Vec::new();
        for server in self.servers.iter() {
            for tool in server.tools() {
                let op = Called {
                    server: server.clone(),
                    takes_key: self.keyed.contains(server.name()),
                    tool: tool.name.clone(),
                    secrets: self.secrets.clone(),
                };
                ops.push((format!("{}.{}", server.name(), tool.name), Arc::new(op)));
            }
        }
        ops
    }

    pub(super) async fn close(&self) {
        self.servers.close().await;
    }
}

/// The servers that take keys.
fn keyed(bundle: &Bundle) -> BTreeSet<Arc<str>> {
    let keyed = bundle.servers.iter().filter(|server| server.takes_keys);
    keyed.map(|server| server.name.clone()).collect()
}

/// A tool as the client knows it.
fn listed(tool: &ServerTool) -> ToolDecl {
    ToolDecl {
        name: tool.name.to_string(),
        description: tool.description.to_string(),
        input_schema: tool.input_schema.clone(),
        read_only: tool.read_only,
    }
}

/// How each server is reached, with its secrets.
fn filled_in<'b>(
    bundle: &'b Bundle,
    secrets: &Secrets,
) -> Result<Vec<(&'b Declared, Transport)>, Vec<RunError>> {
    let names = secrets.names();
    let mut servers = Vec::new();
    let mut errors = Vec::new();
    for server in &bundle.servers {
        match transport(bundle, &names, &server.transport) {
            Ok(transport) => servers.push((server, transport)),
            Err(problem) => errors.push(RunError::ServerText {
                server: server.name.to_string(),
                problem: secrets.hidden().text(&problem),
            }),
        }
    }
    if errors.is_empty() { Ok(servers) } else { Err(errors) }
}

fn transport(bundle: &Bundle, names: &Context, texts: &Texts) -> Result<Transport, String> {
    let render = |text: &Text| bundle.programs.render(text, names).map_err(|error| error.to_string());
    let pairs = |pairs: &[(Arc<str>, Text)]| {
        let render = |(name, text): &(Arc<str>, Text)| Ok((name.to_string(), render(text)?));
        pairs.iter().map(render).collect::<Result<Vec<_>, String>>()
    };
    match texts {
        Texts::Http { url, headers } => Ok(Transport::Http { url: render(url)?, headers: pairs(headers)? }),
        Texts::Command { command, env } => {
            let mut words = command.iter().map(render).collect::<Result<Vec<_>, String>>()?.into_iter();
            let program = words.next().ok_or("`command` names no program")?;
            Ok(Transport::Command { program, args: words.collect(), env: pairs(env)? })
        }
    }
}

/// A tool of a server.
struct Called {
    server: Server,
    takes_key: bool,
    tool: String,
    secrets: Hidden,
}

#[async_trait]
impl Op for Called {
    async fn call(&self, input: Map, context: &CallContext) -> Result<Value, StepError> {
        // Whoever calls bounds the time: what is dropped is given up, and the server is told.
        match self.server.call_under(context.idempotency_key(), &self.tool, &input, Duration::MAX).await {
            Ok(answer) => Ok(self.secrets.value(&answer)),
            Err(error) => Err(StepError { message: self.secrets.text(&error.message), ..error }),
        }
    }

    fn takes_key(&self) -> bool {
        self.takes_key
    }

    fn default_timeout(&self) -> Option<Duration> {
        Some(DEFAULT_TIMEOUT)
    }
}
