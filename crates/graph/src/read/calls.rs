//! Calls of graphs and ops.

use std::sync::Arc;

use super::nodes::record;
use super::{Decl, Home, Reader, Sites};
use crate::check::recursion;
use crate::diagnostic::code;
use crate::infer::Scope;
use crate::nearest::{self, shortened};
use crate::source::{Node, Place};
use crate::{Call, Callee, Field, GraphIx, RecordType, Type, ValueExpr, ops};

/// What a call calls, with its types.
#[derive(Clone)]
pub(crate) struct Found {
    pub callee: Callee,
    /// Its input; none where the callee itself could not be read.
    pub input: Option<Vec<(Arc<str>, Field)>>,
    pub result: Type,
    pub description: Arc<str>,
}

impl Reader<'_> {
    /// Reads the call of a node; with the type of its result.
    pub(crate) fn call(&mut self, node: &Node, scope: &Scope<'_>, sites: &mut Sites) -> (Option<Call>, Type) {
        let Some(call) = node.get("call") else { return (None, Type::Any) };
        let found = self.callee(call, scope.home, true);
        let given = self.input(node, scope);
        let Some(found) = found else { return (None, Type::Any) };
        if let Callee::Graph(GraphIx(ix)) = found.callee {
            sites.calls.push((call.place, ix));
        }
        let at = node.entry("input").map_or(call.place, |(k, _)| k.place);
        let input = self.match_input(&found, given, at);
        (Some(Call { callee: found.callee, input }), found.result)
    }

    /// What a `call` names; an error where there is no such thing, if `tell`.
    pub(crate) fn callee(&mut self, node: &Node, home: Home<'_>, tell: bool) -> Option<Found> {
        let name = if tell { self.plain_text(node, "`call`")? } else { node.text()?.clone() };
        if let Some(ix) = home.own.callable.get(&name)
            && let Some(graph) = home.all.graphs.get(*ix)
        {
            return Some(graph_callee(*ix, graph));
        }
        if let Some(op) = self.ops.get(&name) {
            return Some(Found {
                callee: Callee::Op(op.name.clone()),
                input: Some(op.input.clone()),
                result: Type::Record(op.result.clone()),
                description: op.description.clone(),
            });
        }
        if tell {
            self.no_callee(&name, node.place, home);
        }
        None
    }

    fn no_callee(&mut self, name: &Arc<str>, at: Place, home: Home<'_>) {
        let file = name.contains('#') || [".yaml", ".yml", ".json"].iter().any(|e| name.ends_with(e));
        if file {
            return self.not_built(at, "calling a graph of another file");
        }
        if name.contains('.') {
            return self.not_built(at, "calling a tool of an MCP server");
        }
        if ops::NOT_BUILT.contains(&&**name) {
            return self.not_built(at, &format!("the op \"{name}\""));
        }
        if let Some(root) = home.all.graphs.first().filter(|root| root.name == *name) {
            return recursion::refuse(self, at, recursion::is_bounded(root));
        }
        let graphs: Vec<&str> = home.own.callable.keys().map(|k| &**k).collect();
        let help = nearest::hint(name, graphs.into_iter().chain(self.ops.names()));
        let message = format!("there is no graph or op \"{}\"", shortened(name));
        self.error(code::UNKNOWN_CALLEE, at, message).hint(help);
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
    Found { callee: Callee::Graph(GraphIx(ix)), input: graph.sound.then_some(fields), result, description }
}

/// A record type of arguments.
pub(crate) fn arguments(parameters: &[(Arc<str>, Field)]) -> Type {
    Type::Record(Arc::new(RecordType { name: None, fields: parameters.to_vec(), open: false }))
}
