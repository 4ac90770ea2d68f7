//! Sets: one entry under `tools` that stands for several tools of a server.

use std::sync::Arc;

use super::calls::Found;
use super::declare::Named;
use super::{Decl, Home, Reader, Sites};
use crate::diagnostic::code;
use crate::gather::set_of;
use crate::nearest::shortened;
use crate::source::{Key, Kind, Node};
use crate::{ToolIx, USER_SERVERS};

/// An entry with `call: SERVER.*`.
pub(crate) struct ToolSet<'t> {
    pub key: &'t Key,
    pub node: &'t Node,
    /// The tools that it stands for.
    pub tools: Vec<ToolIx>,
    /// Whether these are all: false where the server was not asked, or `only` can not be read.
    pub known: bool,
}

impl ToolSet<'_> {
    /// Whether it stands for tools of the servers in a user's own configuration. That there are none is no mistake.
    pub fn is_of_user(&self) -> bool {
        self.node.get("call").and_then(set_of) == Some(USER_SERVERS)
    }
}

impl<'t> Decl<'t> {
    /// The tools that a name stands for: one, or those of a set. A tool of a set has a name of its own as well; where
    /// two sets have it, both are meant. None where there is no such tool.
    pub fn tools_named(&self, name: &str) -> Option<Vec<ToolIx>> {
        if let Some(set) = self.sets.iter().find(|set| &*set.key.name == name) {
            return Some(set.tools.clone());
        }
        let all = || self.tools.iter().enumerate().filter(|(_, t)| &*t.key.name == name);
        let single = all().find(|(ix, _)| self.set_of(ToolIx(*ix)).is_none());
        let found: Vec<ToolIx> = match single {
            Some((ix, _)) => vec![ToolIx(ix)],
            None => all().map(|(ix, _)| ToolIx(ix)).collect(),
        };
        (!found.is_empty()).then_some(found)
    }

    /// Whether a node lists tools that there are not, or that can not be read: they may stand for any.
    pub fn lists_unknown_tools(&self, node: &Node) -> bool {
        match node.get("tools").map(|tools| &tools.kind) {
            None => false,
            Some(Kind::List(tools)) => {
                tools.iter().any(|tool| tool.text().is_none_or(|name| self.tools_named(name).is_none()))
            }
            Some(_) => true,
        }
    }

    /// The set that a tool belongs to.
    pub fn set_of(&self, tool: ToolIx) -> Option<&ToolSet<'t>> {
        self.sets.iter().find(|set| set.tools.contains(&tool))
    }

    /// Names of tools and sets.
    pub fn tool_names(&self) -> impl Iterator<Item = &str> + Clone {
        let sets = self.sets.iter().map(|set| &*set.key.name);
        sets.chain(self.tools.iter().map(|tool| &*tool.key.name))
    }

    /// What a tool is, for messages: itself, or a part of its set.
    pub fn tool_title(&self, named: Named<'_>) -> String {
        match self.sets.iter().find(|set| std::ptr::eq(set.node, named.node)) {
            Some(set) => format!("tool \"{}\"", set.key.name),
            None => format!("tool \"{}\"", named.key.name),
        }
    }
}

impl Reader<'_> {
    /// What a tool calls, if it calls anything; the inner one is none where there is no such thing.
    pub(crate) fn tool_callee(
        &mut self,
        named: Named<'_>,
        home: Home<'_>,
        tell: bool,
    ) -> Option<Option<Found>> {
        let call = named.node.get("call")?;
        match set_of(call) {
            Some(server) => {
                let places = (call.place, named.key.place);
                Some(self.server_tool(server, &named.key.name, places, home, tell))
            }
            None => Some(self.callee(call, home, tell)),
        }
    }

    /// What is wrong with the sets of a graph beside what is wrong with the tools in them.
    pub(crate) fn tool_sets(&mut self, home: Home<'_>, sites: &mut Sites) {
        for set in &home.own.sets {
            let what = format!("tool \"{}\"", set.key.name);
            for name in ["description", "parameters"] {
                if let Some((key, _)) = set.node.entry(name) {
                    let message = format!("{what} is a set: each tool in it has the {name} of its server");
                    self.error(code::CONFLICT, key.place, message)
                        .help("a tool with its own is declared by itself: call: SERVER.TOOL");
                }
            }
            self.check_only(set, home);
            // Which tools a node offers decides what counts as a turn.
            sites.limits_broken |= !set.known || (set.tools.is_empty() && !set.is_of_user());
            let server = set.node.get("call").and_then(set_of).unwrap_or("");
            let unknown = self.ops.server(server).is_none() || home.all.server(server).is_none();
            if set.tools.is_empty() && (unknown || set.is_of_user()) {
                // Nothing is known of the tools; what is wrong in the entry is told all the same.
                self.tool(home, Named { key: set.key, node: set.node }, sites);
            }
            if set.known && set.tools.is_empty() && set.node.get("only").is_none() && !unknown {
                let message =
                    format!("the server \"{server}\" has no tools, and {what} stands for all of them");
                self.error(code::UNKNOWN_TOOL, set.key.place, message);
            }
            if !set.known && set.node.get("only").is_none() && home.all.server(server).is_some() {
                let message = format!("which tools {what} stands for is known when the server is asked");
                self.warning(code::NOT_ASKED, set.key.place, message)
                    .help("list them to have them checked now: only: [NAME, ...]");
            }
        }
    }

    fn check_only(&mut self, set: &ToolSet<'_>, home: Home<'_>) {
        let Some(only) = set.node.get("only") else {
            return self.check_listed(set, home);
        };
        if let Kind::List(items) = &only.kind
            && items.is_empty()
        {
            self.error(code::BAD_VALUE, only.place, "`only` names no tool");
        }
        let mut seen: Vec<Arc<str>> = Vec::new();
        for (name, place) in self.name_list(only, "`only`") {
            if seen.contains(&name) {
                self.error(code::TAKEN, place, format!("\"{}\" is listed twice", shortened(&name)));
            }
            seen.push(name);
        }
        self.check_listed(set, home);
    }

    /// Tools of a server may have names that no model can be offered.
    fn check_listed(&mut self, set: &ToolSet<'_>, home: Home<'_>) {
        for tool in set.tools.iter().filter_map(|ix| home.own.tools.get(ix.0)) {
            if !super::names::is_label(&tool.key.name) {
                let name = shortened(&tool.key.name);
                let server = set.node.get("call").and_then(set_of).unwrap_or("");
                let help = match self.renaming(set, &tool.key.name) {
                    Some(renaming) => format!("give it another name in the configuration: {renaming}"),
                    None => format!(
                        "leave it out with `only`, and declare it under another name: NAME: {{call: {server}.{name}}}"
                    ),
                };
                let message = format!("a model can not be offered the tool \"{name}\" under this name");
                self.error(code::BAD_NAME, tool.key.place, message).help(help);
            }
        }
    }

    /// What a user writes to give a tool of one of his own servers another name; none for other tools.
    fn renaming(&self, set: &ToolSet<'_>, tool: &str) -> Option<String> {
        let tools = self.ops.server(USER_SERVERS).filter(|_| set.is_of_user())?;
        let origin = tools.iter().find(|t| &*t.name == tool)?.origin.as_ref()?;
        let (server, tool) = (shortened(&origin.server), shortened(&origin.tool));
        Some(format!("services.mcp.{server}.rename: {{\"{tool}\": NAME}}"))
    }

    /// Two tools of one name that a node would offer: a model could not tell them apart.
    pub(crate) fn check_offered(
        &mut self,
        tools: &[ToolIx],
        new: ToolIx,
        at: crate::source::Place,
        own: &Decl<'_>,
    ) {
        let named = |ix: ToolIx| own.tools.get(ix.0).map(|t| t.key.name.clone()).unwrap_or_default();
        let name = named(new);
        let Some(other) = tools.iter().copied().find(|ix| named(*ix) == name) else { return };
        let origin = |ix: ToolIx| match own.set_of(ix) {
            Some(set) => format!("the one of the set \"{}\"", set.key.name),
            None => "the one declared by itself".to_owned(),
        };
        let message = format!("two tools \"{name}\" are offered: {} and {}", origin(other), origin(new));
        let renaming =
            [other, new].iter().filter_map(|ix| own.set_of(*ix)).find_map(|set| self.renaming(set, &name));
        let help = match renaming {
            Some(renaming) => format!(
                "a model could not tell them apart: give the server's another name in the configuration: {renaming}"
            ),
            None => "a model could not tell them apart: leave one out with `only`, or give one another name"
                .to_owned(),
        };
        self.error(code::TAKEN, at, message).help(help);
    }
}
