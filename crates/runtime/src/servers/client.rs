//! The servers behind the MCP client.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use deepgraph_graph::{
    Bundle, Callee, Context, Server as Declared, ServerTool, Text, ToolOrigin, Transport as Texts,
    USER_SERVERS,
};
use deepgraph_protocol::Hidden;
use deepgraph_tools::mcp::{McpError, McpServers, Options, Server, ToolDecl, Transport};

use super::called::{Allowance, Called, Unusable};
use super::settings::McpServerSettings;
use super::user::UserServer;
use super::{DownServer, Secrets, UserServers, offered};
use crate::{Op, Ops, RunError};

/// The servers, and the secrets that nothing from them may hold.
#[derive(Debug, Default)]
pub(super) struct Client {
    /// Those of the graph.
    servers: McpServers,
    /// Those of the graph that do nothing twice under one key, by name.
    keyed: BTreeSet<Arc<str>>,
    /// Tools that the graph names, of servers whose tools are not known: server and tool.
    unlisted: BTreeSet<(String, String)>,
    /// The user's own that can be called.
    own: McpServers,
    /// The settings of these.
    settings: BTreeMap<String, McpServerSettings>,
    /// The tools of the user's own servers, as they are offered; none where the graph does not offer them.
    user_tools: Option<Vec<ServerTool>>,
    down: Vec<DownServer>,
    /// Why the tools of servers that are left out can not be called.
    left_out: BTreeMap<String, String>,
    secrets: Hidden,
}

impl Client {
    pub(super) async fn connect(
        bundle: &Bundle,
        secrets: &Secrets,
        user: &UserServers,
    ) -> Result<Client, Vec<RunError>> {
        let declared = filled_in(bundle, secrets)?;
        let mut client = Client::with_secrets(bundle, secrets, user);
        let own: Vec<(&String, &UserServer)> =
            user.servers.iter().filter(|(_, server)| bundle.user_tools && server.lacks.is_none()).collect();
        let reached = declared
            .iter()
            .map(|(server, transport)| (server.name.to_string(), transport.clone(), Options::default()))
            .chain(own.iter().map(|(name, server)| reached(name, &server.settings)))
            .collect();
        let mut came = McpServers::connect_each(reached).await.into_iter();
        let mut wrong = Vec::new();
        for ((server, transport), came) in declared.iter().zip(came.by_ref()) {
            client.add_declared(server, transport, came, &mut wrong);
        }
        let mut offers = Vec::new();
        for ((name, server), came) in own.iter().zip(came) {
            offers.extend(client.add_own(name, &server.settings, came, &mut wrong));
        }
        wrong.extend(offered::clashes(&offers));
        if !wrong.is_empty() {
            client.close().await;
            return Err(wrong.into_iter().map(|problem| RunError::Server { problem }).collect());
        }
        if bundle.user_tools {
            let lacking =
                user.servers.iter().filter_map(|(name, server)| Some((name, server.lacks.as_ref()?)));
            for (name, why) in lacking {
                client.down.push(DownServer { server: name.clone(), why: why.clone() });
            }
            client.user_tools = (!user.is_empty()).then_some(offers);
        }
        client.unlisted = client.unlisted_calls(bundle);
        Ok(client)
    }

    pub(super) fn lazy(
        bundle: &Bundle,
        secrets: &Secrets,
        user: &UserServers,
    ) -> Result<Client, Vec<RunError>> {
        let mut client = Client::with_secrets(bundle, secrets, user);
        for (server, transport) in filled_in(bundle, secrets)? {
            let name = &server.name;
            client.servers.add(match bundle.ops.server(name) {
                Some(known) => {
                    Server::lazy(name, transport, known.iter().map(listed).collect(), Options::default())
                }
                None => Server::unlisted(name, transport, Options::default()),
            });
        }
        client.unlisted = client.unlisted_calls(bundle);
        let known = bundle.ops.server(USER_SERVERS).filter(|_| bundle.user_tools);
        for (name, server) in user.servers.iter().filter(|(_, server)| server.lacks.is_none()) {
            let from = |tool: &&ServerTool| tool.origin.as_ref().is_some_and(|o| *o.server == **name);
            let tools: Vec<ToolDecl> =
                known.unwrap_or_default().iter().filter(from).map(listed_there).collect();
            if !tools.is_empty() {
                let (name, transport, options) = reached(name, &server.settings);
                let lazy = Server::lazy(&name, transport, tools, options);
                client.own.add(lazy);
                client.settings.insert(name, server.settings.clone());
            }
        }
        client.left_out = user.left_out.clone();
        client.user_tools = known.map(<[ServerTool]>::to_vec);
        Ok(client)
    }

    fn with_secrets(bundle: &Bundle, secrets: &Secrets, user: &UserServers) -> Client {
        let keyed = bundle.servers.iter().filter(|server| server.takes_keys);
        Client {
            keyed: keyed.map(|server| server.name.clone()).collect(),
            secrets: secrets.hidden().and(user.secrets.values().cloned()),
            ..Client::default()
        }
    }

    /// What came of a server that the graph declares.
    fn add_declared(
        &mut self,
        server: &Declared,
        transport: &Transport,
        came: Result<Server, McpError>,
        wrong: &mut Vec<String>,
    ) {
        match came {
            Ok(server) => self.servers.add(server),
            Err(error) if server.required => wrong.push(self.secrets.text(&error.to_string())),
            Err(error) => {
                let why = self.secrets.text(&error.to_string());
                self.down.push(DownServer { server: server.name.to_string(), why });
                self.servers.add(Server::unlisted(&server.name, transport.clone(), Options::default()));
            }
        }
    }

    /// What came of one of the user's own servers: the tools that it offers.
    fn add_own(
        &mut self,
        name: &str,
        settings: &McpServerSettings,
        came: Result<Server, McpError>,
        wrong: &mut Vec<String>,
    ) -> Vec<ServerTool> {
        let server = match came {
            Ok(server) => server,
            Err(error) => {
                // The place of its settings is another one than that of a server of a graph.
                let place = format!("mcp.{name}.");
                let why = error.to_string().replace(&place, &format!("services.{place}"));
                let why = self.secrets.text(&why);
                match settings.required {
                    true => wrong.push(why),
                    false => self.down.push(DownServer { server: name.to_owned(), why }),
                }
                return Vec::new();
            }
        };
        let offers = offered::chosen(name, settings, server.tools());
        self.own.add(server);
        self.settings.insert(name.to_owned(), settings.clone());
        match offers {
            Ok(tools) => tools.into_iter().map(|tool| self.hide(tool)).collect(),
            Err(mistakes) => {
                wrong.extend(mistakes);
                Vec::new()
            }
        }
    }

    /// Calls of the graph whose servers could not be asked.
    fn unlisted_calls(&self, bundle: &Bundle) -> BTreeSet<(String, String)> {
        let calls = bundle.graphs.iter().flat_map(|graph| graph.calls());
        let called = calls.flat_map(|call| {
            let op = match &call.callee {
                Callee::Op(op) => Some(op),
                Callee::Graph(_) => None,
            };
            op.into_iter().chain(call.compensate.as_ref().map(|undo| &undo.op))
        });
        let of_servers = called.filter_map(|op| op.split_once('.'));
        let unlisted = of_servers
            .filter(|(server, tool)| self.servers.get(server).is_some_and(|s| s.tool(tool).is_none()));
        unlisted.map(|(server, tool)| (server.to_owned(), tool.to_owned())).collect()
    }

    pub(super) fn down(&self) -> &[DownServer] {
        &self.down
    }

    pub(super) fn tools(&self) -> Vec<(Arc<str>, Vec<ServerTool>)> {
        let tools = |server: &Server| server.tools().iter().map(|tool| self.declared(tool)).collect();
        let listed = self.servers.iter().filter(|server| server.is_listed());
        let of_graph = listed.map(|server| (server.name().into(), tools(server)));
        of_graph.chain(self.user_tools.clone().map(|tools| (USER_SERVERS.into(), tools))).collect()
    }

    /// A tool as graphs know it.
    fn declared(&self, tool: &ToolDecl) -> ServerTool {
        self.hide(ServerTool {
            name: tool.name.as_str().into(),
            description: tool.description.as_str().into(),
            input_schema: tool.input_schema.clone(),
            read_only: tool.read_only,
            idempotent: tool.idempotent,
            destructive: tool.destructive,
            origin: None,
        })
    }

    /// The same tool without secrets.
    fn hide(&self, tool: ServerTool) -> ServerTool {
        ServerTool {
            description: self.secrets.text(&tool.description).into(),
            input_schema: self.secrets.value(&tool.input_schema),
            ..tool
        }
    }

    pub(super) fn ops(&self, known: &Ops) -> Vec<(String, Arc<dyn Op>)> {
        let mut ops: Vec<(String, Arc<dyn Op>)> = Vec::new();
        for server in self.servers.iter() {
            let listed = server.tools().iter().map(|tool| &tool.name);
            let named = self.unlisted.iter().filter(|(of, _)| of == server.name()).map(|(_, tool)| tool);
            for tool in listed.chain(named) {
                let op = Called {
                    server: server.clone(),
                    takes_key: self.keyed.contains(server.name()),
                    tool: tool.clone(),
                    scorer: known.scorer().clone(),
                    secrets: self.secrets.clone(),
                    timeout: None,
                    allowance: None,
                };
                ops.push((format!("{}.{tool}", server.name()), Arc::new(op)));
            }
        }
        ops.extend(self.user_ops(known));
        ops
    }

    /// The tools of the user's own servers as ops, `mcp.NAME`.
    fn user_ops(&self, known: &Ops) -> Vec<(String, Arc<dyn Op>)> {
        let allowance = |(name, settings): (&String, &McpServerSettings)| {
            Some((name.clone(), Arc::new(Allowance::of(name, settings.max_calls?))))
        };
        let allowances: BTreeMap<String, Arc<Allowance>> =
            self.settings.iter().filter_map(allowance).collect();
        let tools = self.user_tools.iter().flatten();
        let op = |tool: &ServerTool| {
            let ToolOrigin { server, tool: on_server } = tool.origin.as_ref()?;
            let op: Arc<dyn Op> = match self.own.get(server).zip(self.settings.get(&**server)) {
                Some((client, settings)) => Arc::new(Called {
                    server: client.clone(),
                    takes_key: settings.takes_keys,
                    tool: on_server.to_string(),
                    scorer: known.scorer().clone(),
                    secrets: self.secrets.clone(),
                    timeout: settings.timeout,
                    allowance: allowances.get(&**server).cloned(),
                }),
                None => {
                    let why = self.left_out.get(&**server).cloned();
                    Arc::new(Unusable { why: why.unwrap_or_else(|| not_there(server)) })
                }
            };
            Some((format!("{USER_SERVERS}.{}", tool.name), op))
        };
        tools.filter_map(op).collect()
    }

    pub(super) async fn close(&self) {
        tokio::join!(self.servers.close(), self.own.close());
    }
}

/// That the configuration has no such server, or not all that it needs.
fn not_there(server: &str) -> String {
    format!(
        "the MCP server \"{server}\" can not be called: the configuration has no services.mcp.{server} now, or a secret of \
         it is missing"
    )
}

/// How one of the user's own servers is reached.
fn reached(name: &str, settings: &McpServerSettings) -> (String, Transport, Options) {
    let pairs = |pairs: &BTreeMap<String, String>| {
        pairs.iter().map(|(name, value)| (name.clone(), value.clone())).collect::<Vec<_>>()
    };
    let transport = match (&settings.url, settings.command.split_first()) {
        (None, Some((program, args))) => {
            Transport::Command { program: program.clone(), args: args.to_vec(), env: pairs(&settings.env) }
        }
        (url, _) => {
            Transport::Http { url: url.clone().unwrap_or_default(), headers: pairs(&settings.headers) }
        }
    };
    let default = Options::default();
    let options = Options {
        connect_timeout: settings.connect_timeout.unwrap_or(default.connect_timeout),
        most_answer_bytes: settings.max_answer_bytes.unwrap_or(default.most_answer_bytes),
        ..default
    };
    (name.to_owned(), transport, options)
}

/// A tool as the client knows it.
fn listed(tool: &ServerTool) -> ToolDecl {
    ToolDecl {
        name: tool.name.to_string(),
        description: tool.description.to_string(),
        input_schema: tool.input_schema.clone(),
        read_only: tool.read_only,
        idempotent: tool.idempotent,
        destructive: tool.destructive,
    }
}

/// The same of one of the user's own servers, which has it under another name perhaps.
fn listed_there(tool: &ServerTool) -> ToolDecl {
    let name = tool.origin.as_ref().map_or(&tool.name, |origin| &origin.tool);
    ToolDecl { name: name.to_string(), ..listed(tool) }
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
