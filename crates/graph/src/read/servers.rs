//! MCP servers: how they are reached, and calls of their tools.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::calls::Found;
use super::keys::Keys;
use super::{Decls, Home, Reader};
use crate::diagnostic::code;
use crate::gather::calls;
use crate::infer::{Only, Scope};
use crate::nearest::{self, shortened};
use crate::ops::server;
use crate::source::{Key, Kind, Node, Place};
use crate::{Callee, Server, Text, Transport, Type, USER_SERVERS, vocabulary};

/// A server as it is declared.
#[derive(Clone, Copy)]
pub(crate) struct ServerDecl<'t> {
    pub key: &'t Key,
    pub node: &'t Node,
    /// The graph that declares it.
    pub graph: usize,
}

impl<'t> Decls<'t> {
    /// The first declaration of a server.
    pub fn server(&self, name: &str) -> Option<&ServerDecl<'t>> {
        self.servers.iter().find(|server| &*server.key.name == name)
    }

    /// Names of servers.
    fn server_names(&self) -> impl Iterator<Item = &str> + Clone {
        self.servers.iter().map(|server| &*server.key.name)
    }

    /// The servers that graphs of a run call tools of.
    fn servers_called(&self) -> BTreeSet<&str> {
        let graphs = self.graphs.iter().take(self.kept);
        let called = graphs.flat_map(|graph| {
            calls(graph.node)
                .filter_map(|call| call.text())
                .filter(|name| !graph.callable.contains_key(&***name))
        });
        called.filter_map(|name| name.split_once('.')).map(|(server, _)| server).collect()
    }
}

impl Reader<'_> {
    /// Reads the servers of all graphs: one table by name. Those that nothing calls are left out.
    pub(crate) fn servers(&mut self, decls: &Decls<'_>) -> Vec<Server> {
        let called = decls.servers_called();
        let mut read: Vec<(Option<Server>, String)> = Vec::new();
        let mut found = Vec::new();
        for declared in &decls.servers {
            let Some(own) = decls.graphs.get(declared.graph) else { continue };
            self.enter(decls.files, own.file);
            let name = &declared.key.name;
            let place = declared.key.place;
            let new = self.server(*declared, Home { all: decls, own });
            let first = decls.servers.iter().zip(&read).find(|(other, _)| other.key.name == *name);
            if let Some((_, (first, at))) = first {
                // What could not be read is not known to be different.
                if let (Some(first), Some(new)) = (first, &new)
                    && differs(first, new)
                {
                    let message = format!("the server \"{name}\" is declared in another way in {at}");
                    self.error(code::TAKEN, place, message).help(
                        "servers are known by name in all graphs and files: give one of them another name",
                    );
                }
            } else if called.contains(&**name) {
                found.extend(new.clone());
            } else if own.file == 0 {
                let message = format!("nothing calls a tool of the server \"{name}\"");
                self.warning(code::UNUSED, place, message);
            }
            let at = self.place_text(place);
            read.push((new, at));
        }
        found
    }

    fn server(&mut self, declared: ServerDecl<'_>, home: Home<'_>) -> Option<Server> {
        let ServerDecl { key, node, .. } = declared;
        let what = format!("server \"{}\"", key.name);
        if &*key.name == USER_SERVERS {
            let message = format!("the name \"{USER_SERVERS}\" is taken");
            self.error(code::RESERVED, key.place, message).help(format!(
                "`{USER_SERVERS}.*` is all tools of the servers in the user's own configuration: choose another name"
            ));
        }
        if !self.check_keys(node, Keys::of(&what, &vocabulary::SERVER)) {
            return None;
        }
        let scope = Scope { only: Some(Only::Secrets), ..Scope::plain(home) };
        let mut texts = Texts { scope: &scope, secrets: BTreeSet::new(), sound: true };
        let transport = match (node.entry("url"), node.entry("command")) {
            (Some((_, url)), None) => {
                self.refuse_beside(node, "env", "command");
                let url = self.url(url, &mut texts);
                let headers = self.server_texts(node, "headers", &mut texts);
                url.map(|url| Transport::Http { url, headers })
            }
            (None, Some((_, command))) => {
                self.refuse_beside(node, "headers", "url");
                let command = self.command(command, &mut texts);
                let env = self.server_texts(node, "env", &mut texts);
                (!command.is_empty()).then_some(Transport::Command { command, env })
            }
            (Some(_), Some((second, _))) => {
                self.error(
                    code::CONFLICT,
                    second.place,
                    format!("{what} has `url` and `command`; it has one"),
                );
                None
            }
            (None, None) => {
                self.error(code::MISSING_KEY, key.place, format!("{what} needs `url` or `command`"))
                    .help("for example {url: https://example.com/mcp}, or {command: [program, argument]}");
                None
            }
        };
        let secrets = texts.secrets.into_iter().collect();
        let sound = texts.sound;
        let takes_keys = self.switch(node, "takes_keys", false);
        let required = self.switch(node, "required", true);
        let name = key.name.clone();
        transport.filter(|_| sound).map(|transport| Server { name, transport, secrets, takes_keys, required })
    }

    fn switch(&mut self, node: &Node, name: &str, default: bool) -> bool {
        match node.get(name) {
            None => default,
            Some(Node { kind: Kind::Bool(value), .. }) => *value,
            Some(other) => {
                self.error(code::BAD_VALUE, other.place, format!("`{name}` is true or false"));
                default
            }
        }
    }

    fn refuse_beside(&mut self, node: &Node, name: &str, owner: &str) {
        if let Some((key, _)) = node.entry(name) {
            self.error(code::CONFLICT, key.place, format!("`{name}` needs `{owner}`"));
        }
    }

    fn url(&mut self, node: &Node, texts: &mut Texts<'_, '_>) -> Option<Text> {
        let url = self.server_text(node, "`url`", texts)?;
        let start = url.source.trim_start();
        // What a template begins with is not known.
        if !["http://", "https://", "{{", "{%"].iter().any(|s| start.starts_with(s)) {
            self.error(code::BAD_VALUE, node.place, "`url` is an http or https address")
                .help("a server that is a program is started by `command: [program, argument]`");
            texts.sound = false;
        }
        Some(url)
    }

    fn command(&mut self, node: &Node, texts: &mut Texts<'_, '_>) -> Vec<Text> {
        let Kind::List(items) = &node.kind else {
            let message =
                format!("`command` is a list, the program and its arguments, not {}", node.kind_name());
            self.error(code::WRONG_KIND, node.place, message)
                .hint(node.text().map(|t| format!("write [{}]", shortened(&t.replace(' ', ", ")))));
            return Vec::new();
        };
        let nameless = items.first().is_none_or(|first| first.text().is_some_and(|t| t.trim().is_empty()));
        if nameless {
            self.error(code::BAD_VALUE, node.place, "`command` names no program");
            return Vec::new();
        }
        items.iter().filter_map(|item| self.server_text(item, "a part of `command`", texts)).collect()
    }

    fn server_texts(&mut self, node: &Node, key: &str, texts: &mut Texts<'_, '_>) -> Vec<(Arc<str>, Text)> {
        let Some(entries) = node.get(key) else { return Vec::new() };
        if !self.mapping(entries, &format!("`{key}`")) {
            return Vec::new();
        }
        let mut found = Vec::new();
        for (name, value) in entries.entries() {
            let text = self.server_text(value, &format!("`{}`", shortened(&name.name)), texts);
            found.extend(text.map(|text| (name.name.clone(), text)));
        }
        found
    }

    fn server_text(&mut self, node: &Node, what: &str, texts: &mut Texts<'_, '_>) -> Option<Text> {
        match self.inline_text(node, texts.scope, what) {
            Some(read) => {
                texts.secrets.extend(read.reads);
                Some(read.text)
            }
            None => {
                texts.sound = false;
                None
            }
        }
    }

    /// The tool of a server; `places` are where the call and the name of the tool stand.
    pub(crate) fn server_tool(
        &mut self,
        server: &str,
        tool: &str,
        places: (Place, Place),
        home: Home<'_>,
        tell: bool,
    ) -> Option<Found> {
        if server == USER_SERVERS {
            return Some(self.user_tool(tool));
        }
        if home.all.server(server).is_none() {
            if tell {
                self.no_server(server, places.0, home);
            }
            return None;
        }
        let name = server::op_name(server, tool);
        let Some(listed) = self.ops.server(server) else { return Some(unlisted(name)) };
        let found = self.ops.get(&name).filter(|_| listed.iter().any(|t| &*t.name == tool)).map(Found::op);
        if found.is_none() && tell {
            let help = nearest::hint(tool, listed.iter().map(|t| &*t.name));
            let message = format!("the server \"{server}\" has no tool \"{}\"", shortened(tool));
            self.error(code::UNKNOWN_TOOL, places.1, message).hint(help);
        }
        found
    }

    /// A tool in a set of the user's own servers; of an empty one, where its settings are read all the same, any.
    fn user_tool(&self, tool: &str) -> Found {
        let name = server::op_name(USER_SERVERS, tool);
        self.ops.get(&name).map(Found::op).unwrap_or_else(|| unlisted(name))
    }

    pub(crate) fn no_server(&mut self, server: &str, at: Place, home: Home<'_>) {
        let name = shortened(server);
        if server == USER_SERVERS {
            let message = "tools of the user's own servers are not called by name";
            self.error(code::CONFLICT, at, message)
                .help(format!("a model is offered them: {{call: {USER_SERVERS}.*, only: [TOOL, ...]}}"));
            return;
        }
        let help = nearest::nearest(server, home.all.server_names())
            .map(|near| format!("did you mean \"{near}\"?"))
            .unwrap_or_else(|| format!("declare it: mcp: {{{name}: {{url: https://...}}}}"));
        self.error(code::UNKNOWN_CALLEE, at, format!("there is no server \"{name}\"")).help(help);
    }
}

/// A tool of which nothing is known but its name.
fn unlisted(name: Arc<str>) -> Found {
    Found {
        callee: Callee::Op(name),
        given: Vec::new(),
        input: None,
        open: true,
        result: Type::Record(server::result()),
        description: "".into(),
        schema: Some(server::any_input()),
    }
}

/// The texts of a server.
struct Texts<'s, 'd> {
    scope: &'s Scope<'d>,
    /// The names of the secrets in them.
    secrets: BTreeSet<Arc<str>>,
    /// Whether all of them could be read.
    sound: bool,
}

/// Whether two declarations of a server are different. Where their texts stand does not count.
fn differs(a: &Server, b: &Server) -> bool {
    is_reached_otherwise(&a.transport, &b.transport)
        || a.takes_keys != b.takes_keys
        || a.required != b.required
}

fn is_reached_otherwise(a: &Transport, b: &Transport) -> bool {
    let pairs = |list: &[(Arc<str>, Text)]| -> Vec<(Arc<str>, Arc<str>)> {
        list.iter().map(|(name, text)| (name.clone(), text.source.clone())).collect()
    };
    let sources = |list: &[Text]| -> Vec<Arc<str>> { list.iter().map(|text| text.source.clone()).collect() };
    match (a, b) {
        (Transport::Http { url: a, headers: b }, Transport::Http { url: c, headers: d }) => {
            a.source != c.source || pairs(b) != pairs(d)
        }
        (Transport::Command { command: a, env: b }, Transport::Command { command: c, env: d }) => {
            sources(a) != sources(c) || pairs(b) != pairs(d)
        }
        _ => true,
    }
}
