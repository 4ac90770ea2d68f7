//! One graph.

use std::sync::Arc;

use super::routes::RouteKind;
use super::{Home, Reader, Sites};
use crate::diagnostic::code;
use crate::infer::Scope;
use crate::reducer::is_messages;
use crate::source::{Key, Node};
use crate::{Channel, Field, Graph, Reducer, Route, Type, Verb, nearest};

impl Reader<'_> {
    /// Reads one graph.
    pub(crate) fn graph(&mut self, home: Home<'_>) -> (Graph, Sites) {
        let own = home.own;
        let mut sites = Sites { graph: own.place, start: own.place, finally: own.place, ..Sites::default() };
        sites.nodes = own.nodes.iter().map(|n| n.key.place).collect();
        sites.tools = own.tools.iter().map(|n| n.key.place).collect();
        sites.limits = own.limits.iter().map(|n| n.key.place).collect();
        let scope = Scope::plain(home);
        let tools = own.tools.iter().map(|named| self.tool(home, *named, &mut sites)).collect();
        self.tool_sets(home, &mut sites);
        let limits = self.limits(home, &mut sites);
        let start = match own.node.entry("start") {
            Some((key, node)) => {
                sites.start = key.place;
                self.route(node, &scope, RouteKind::Start, &mut sites)
            }
            None => {
                if own.node.get("nodes").is_some() {
                    self.error(code::MISSING_KEY, own.place, format!("{} has no `start`", own.title()))
                        .hint(own.nodes.first().map(|n| format!("for example start: {}", n.key.name)));
                }
                sites.routes_broken = true;
                Route(Vec::new())
            }
        };
        let finally = own.node.entry("finally").map(|(key, node)| {
            sites.finally = key.place;
            self.route(node, &scope, RouteKind::Finally, &mut sites)
        });
        let mut nodes = Vec::new();
        for named in &own.nodes {
            nodes.push(self.node(home, *named, &mut sites));
        }
        // Which tools a node offers decides what counts as a turn.
        sites.limits_broken |=
            own.nodes.iter().zip(&nodes).any(|(named, node)| {
                matches!(node.verb, Verb::Model(_)) && own.lists_unknown_tools(named.node)
            });
        let graph = Graph {
            name: own.name.clone(),
            path: own.path.clone(),
            description: self.description(own.node),
            channels: self.kept_channels(home),
            input: own.input.clone(),
            output: own.output.clone(),
            tools,
            limits,
            exits: own.exits.clone(),
            start,
            finally,
            lookup: Arc::new(crate::Lookup::of(&own.channels, &nodes)),
            nodes,
        };
        (graph, sites)
    }

    /// The `description` of a graph or tool; "" where there is none.
    pub(crate) fn description(&mut self, node: &Node) -> Arc<str> {
        let found = node.get("description").and_then(|n| self.plain_text(n, "`description`"));
        found.unwrap_or_default()
    }

    /// A channel from its field and its `reduce`.
    pub(crate) fn channel(&mut self, key: &Key, node: &Node, field: Field) -> Channel {
        let is_messages =
            node.text().or_else(|| node.get("type").and_then(Node::text)).is_some_and(|t| &**t == "messages");
        let mut reducer = if is_messages { Reducer::Messages } else { Reducer::Replace };
        let long = node.get("type").is_some() || node.get("enum").is_some();
        if let Some(reduce) = node.get("reduce").filter(|_| long) {
            reducer = self.reducer(reduce).unwrap_or_else(|| joining(&field.ty));
            if let Some(wanted) = reducer.misfit(&field.ty) {
                let message = format!(
                    "`{}` joins {wanted}, and the channel \"{}\" is {}",
                    reducer.name(),
                    key.name,
                    field.ty
                );
                self.error(code::REDUCER, reduce.place, message);
                reducer = Reducer::Replace;
            }
        }
        let initial = reducer.initial(&field);
        Channel { name: key.name.clone(), field, reducer, initial, persist: None }
    }

    /// A channel whose type could not be read: it has any type, so that what reads and writes it is not reported as
    /// well.
    pub(crate) fn lost_channel(&mut self, key: &Key, node: &Node) -> Channel {
        let reducer = node.get("reduce").and_then(|reduce| self.reducer(reduce));
        let field = Field::of(Type::Any);
        let reducer = reducer.unwrap_or_else(|| joining(&field.ty));
        Channel { name: key.name.clone(), initial: reducer.initial(&field), field, reducer, persist: None }
    }

    fn reducer(&mut self, node: &Node) -> Option<Reducer> {
        let name = self.plain_text(node, "`reduce`")?;
        let found = Reducer::parse(&name);
        if found.is_none() {
            let help = nearest::hint(&name, Reducer::ALL.iter().map(|(n, _)| *n));
            let message = format!("unknown reducer \"{}\"", nearest::shortened(&name));
            self.error(code::UNKNOWN_REDUCER, node.place, message).hint(help);
        }
        found
    }
}

/// What stands for a reducer that could not be read: one that joins what two nodes write.
fn joining(ty: &Type) -> Reducer {
    match ty {
        _ if is_messages(ty) => Reducer::Messages,
        Type::List(_) | Type::Any => Reducer::Append,
        Type::Map(_) | Type::Record(_) => Reducer::Merge,
        Type::Integer | Type::Number | Type::Duration => Reducer::Max,
        Type::String | Type::Boolean => Reducer::Replace,
    }
}
