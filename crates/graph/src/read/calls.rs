//! Calls of graphs and ops.

use std::sync::Arc;

use deepgraph_protocol::Value;

use super::callable::{self, NoGraph};
use super::nodes::record;
use super::overrides::Overrides;
use super::{Decl, Home, Reader, Sites};
use crate::diagnostic::code;
use crate::files::{self, FileCall};
use crate::infer::Scope;
use crate::nearest::{self, shortened};
use crate::source::{Node, Place};
use crate::{Call, Callee, Field, GraphIx, Op, RecordType, Type, USER_SERVERS, ValueExpr, ops};

/// What a call calls, with its types.
#[derive(Clone)]
pub(crate) struct Found {
    pub callee: Callee,
    /// Its input; none where it is not known: the callee could not be read, or its server was not asked.
    pub input: Option<Vec<(Arc<str>, Field)>>,
    /// Which fields of its input a model is not asked for.
    pub given: Vec<Arc<str>>,
    /// Whether it takes more than its input names.
    pub open: bool,
    pub result: Type,
    pub description: Arc<str>,
    /// The JSON Schema of its input, where its server gives one.
    pub schema: Option<Value>,
}

impl Found {
    /// An op.
    pub fn op(op: &Op) -> Found {
        // Of an input that names nothing and takes anything, nothing is known.
        let unknown = op.open && op.input.is_empty();
        Found {
            callee: Callee::Op(op.name.clone()),
            input: (!unknown).then(|| op.input.clone()),
            given: op.given.clone(),
            open: op.open,
            result: Type::Record(op.result.clone()),
            description: op.description.clone(),
            schema: op.schema.clone(),
        }
    }
}

impl Reader<'_> {
    /// Reads the call of a node; with the type of its result.
    pub(crate) fn call(&mut self, node: &Node, scope: &Scope<'_>, sites: &mut Sites) -> (Option<Call>, Type) {
        let Some(call) = node.get("call") else { return (None, Type::Any) };
        let found = self.callee(call, scope.home, true);
        let given = self.input(node, scope);
        let Overrides { config, grant, writes } =
            self.overrides(node, found.as_ref().map(|f| &f.callee), scope);
        let compensate = self.compensate(node, found.as_ref(), writes, scope);
        let Some(found) = found else { return (None, Type::Any) };
        if let Callee::Graph(GraphIx(ix)) = found.callee {
            sites.calls.push((call.place, ix));
        }
        let at = node.entry("input").map_or(call.place, |(k, _)| k.place);
        let input = self.match_input(&found, given, at);
        (
            Some(Call { callee: found.callee, input, rest: false, config, grant, writes, compensate }),
            found.result,
        )
    }

    /// What a `call` names; an error where there is no such thing, if `tell`.
    pub(crate) fn callee(&mut self, node: &Node, home: Home<'_>, tell: bool) -> Option<Found> {
        let name = if tell { self.plain_text(node, "`call`")? } else { node.text()?.clone() };
        if let Some(ix) = home.own.callable.get(&name)
            && let Some(graph) = home.all.graphs.get(*ix)
        {
            return Some(graph_callee(*ix, graph));
        }
        let served = name.split_once('.').filter(|_| files::file_call(&name).is_none());
        let is_of_user = served.is_some_and(|(server, _)| server == USER_SERVERS);
        if let Some((server, tool)) = served
            && !is_of_user
            && tool != "*"
            && (home.all.server(server).is_some() || self.ops.is_served(&name))
        {
            return self.server_tool(server, tool, (node.place, node.place), home, tell);
        }
        if let Some(op) = self.ops.get(&name).filter(|_| !is_of_user) {
            return Some(Found::op(op));
        }
        if tell {
            self.no_callee(&name, node.place, home);
        }
        None
    }

    fn no_callee(&mut self, name: &Arc<str>, at: Place, home: Home<'_>) {
        if let Some(call) = files::file_call(name) {
            return self.no_file_callee(call, at, home);
        }
        if let Some((server, tool)) = name.split_once('.') {
            if tool == "*" {
                let message =
                    format!("\"{}\" stands for several tools, and a node calls one", shortened(name));
                self.error(code::CONFLICT, at, message)
                    .help("under `tools`, it is a set that a model is offered");
                return;
            }
            return self.no_server(server, at, home);
        }
        if ops::NOT_BUILT.contains(&&**name) {
            return self.not_built(at, &format!("the op \"{name}\""));
        }
        let local = home.own.callable.keys().map(|k| &**k).filter(|name| files::file_call(name).is_none());
        let graphs: Vec<&str> = local.collect();
        let own = self.ops.names().filter(|name| !self.ops.is_served(name));
        let help = nearest::hint(name, graphs.into_iter().chain(own));
        let message = format!("there is no graph or op \"{}\"", shortened(name));
        self.error(code::UNKNOWN_CALLEE, at, message).hint(help);
    }

    fn no_file_callee(&mut self, call: FileCall<'_>, at: Place, home: Home<'_>) {
        let file = shortened(call.file);
        match callable::of_file(home.all, home.own, call) {
            Ok(_) | Err(NoGraph::Told) => {}
            Err(NoGraph::Path(_)) if call.file.is_empty() => {
                let graph = shortened(call.graph.unwrap_or(""));
                self.error(code::BAD_PATH, at, format!("\"#{graph}\" names no file"))
                    .help(format!("a graph of this file is called by its name alone: {graph}"));
            }
            Err(NoGraph::Path(why)) => {
                self.error(code::BAD_PATH, at, why).help(files::INSIDE);
            }
            Err(NoGraph::Ending) => {
                let message = format!("\"{file}\" is no graph file by its name");
                self.error(code::BAD_PATH, at, message).help("a graph file ends in .yaml, .yml or .json");
            }
            Err(NoGraph::Missing(path, why)) => {
                let path = shortened(&path);
                self.error(code::NO_FILE, at, format!("the file {path} can not be read: {why}"))
                    .help("a file is named from the folder of the file that calls it");
            }
            Err(NoGraph::OtherKind(path)) => {
                let message = format!("the file {} is no graph", shortened(&path));
                self.error(code::NO_GRAPH, at, message).help("a graph file begins with `deepgraph: 1`");
            }
            Err(NoGraph::Unknown(index)) => {
                let graph = call.graph.unwrap_or("");
                let local = |g: &&Decl<'_>| g.file == index && g.parent.is_some();
                let names: Vec<&str> = home.all.graphs.iter().filter(local).map(|g| &*g.name).collect();
                let help = match names.is_empty() {
                    true => Some(format!("the graph of the file itself is called by {file}")),
                    false => nearest::hint(graph, names),
                };
                let message = format!("the file {file} has no graph \"{}\"", shortened(graph));
                self.error(code::UNKNOWN_CALLEE, at, message).hint(help);
            }
        }
    }

    /// The values under `input`.
    pub(crate) fn input(&mut self, node: &Node, scope: &Scope<'_>) -> Vec<Given> {
        let Some(input) = node.get("input") else { return Vec::new() };
        if !self.mapping(input, "`input`") {
            return Vec::new();
        }
        let mut given = Vec::new();
        for (key, value) in input.entries() {
            let read = self.value(value, scope);
            let (value, gives) = match read {
                Some(read) => (Some(read.value), read.gives),
                None => (None, Field::of(Type::Any)),
            };
            given.push(Given { name: key.name.clone(), at: key.place, value, gives });
        }
        given
    }

    /// Checks what is given against what the callee takes.
    pub(crate) fn match_input(
        &mut self,
        found: &Found,
        given: Vec<Given>,
        at: Place,
    ) -> Vec<(Arc<str>, ValueExpr)> {
        let Some(wanted) = &found.input else {
            return given.into_iter().filter_map(|g| Some((g.name, g.value?))).collect();
        };
        let title = match &found.callee {
            Callee::Graph(_) => "the graph",
            Callee::Op(_) if found.schema.is_some() => "the tool",
            Callee::Op(_) => "the op",
        };
        for (name, field) in wanted {
            let required = !field.optional && field.default.is_none();
            if required && !given.iter().any(|g| g.name == *name) {
                let message = format!("{title} needs the input \"{name}\" ({})", field.ty);
                self.error(code::MISSING_INPUT, at, message);
            }
        }
        let mut input = Vec::new();
        for Given { name, at, value, gives } in given {
            match wanted.iter().find(|(n, _)| *n == name) {
                Some((_, field)) => self.check_given(at, &name, &gives, value.as_ref(), field),
                None if found.open => {}
                None => {
                    let help = nearest::hint(&name, wanted.iter().map(|(n, _)| &**n));
                    let message = format!("{title} has no input \"{}\"", shortened(&name));
                    self.error(code::UNKNOWN_INPUT, at, message).hint(help);
                }
            }
            if let Some(value) = value {
                input.push((name, value));
            }
        }
        input
    }
}

/// A value that is given to a callee.
pub(crate) struct Given {
    pub name: Arc<str>,
    pub at: Place,
    /// None where it could not be read.
    pub value: Option<ValueExpr>,
    pub gives: Field,
}

fn graph_callee(ix: usize, graph: &Decl<'_>) -> Found {
    let fields = graph.inputs().map(|c| (c.name.clone(), c.field.clone())).collect();
    let outputs: Vec<(&str, Field)> = graph.outputs().map(|c| (&*c.name, c.field.clone())).collect();
    let exit = ("exit", Field::of(Type::String));
    let result = if graph.sound { record(outputs.into_iter().chain([exit]).collect()) } else { Type::Any };
    let description = graph.node.get("description").and_then(Node::text).cloned().unwrap_or_default();
    Found {
        callee: Callee::Graph(GraphIx(ix)),
        input: graph.sound.then_some(fields),
        given: Vec::new(),
        open: false,
        result,
        description,
        schema: None,
    }
}

/// A record type of arguments.
pub(crate) fn arguments(parameters: &[(Arc<str>, Field)]) -> Type {
    Type::Record(Arc::new(RecordType { name: None, fields: parameters.to_vec(), open: false }))
}
