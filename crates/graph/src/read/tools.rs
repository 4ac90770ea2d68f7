//! Tools.

use std::sync::Arc;

use deepgraph_protocol::{ToolRole, ToolSpec, Value};

use super::attempts::Work;
use super::calls::{Found, Given, arguments};
use super::declare::{Named, typing};
use super::keys::Keys;
use super::overrides::Overrides;
use super::routes::RouteKind;
use super::settings::at_least_one;
use super::{Home, Reader, Sites};
use crate::diagnostic::code;
use crate::gather::set_of;
use crate::infer::Scope;
use crate::nearest;
use crate::source::{Kind, Node};
use crate::types::schema;
use crate::{
    Ask, Call, Callee, Field, GraphIx, Overflow, Setting, Tool, ToolIx, Type, ValueExpr, vocabulary,
};

/// Tokens of an answer that go back to the model where a tool says nothing.
const ANSWER_MAX: i64 = 8000;

/// The parameters of a tool.
enum Parameters {
    /// Known by name and type.
    Known(Vec<(Arc<str>, Field)>),
    /// Those of a callee that could not be read.
    Unknown,
}

impl Parameters {
    fn args(&self) -> Type {
        match self {
            Parameters::Known(list) => arguments(list),
            Parameters::Unknown => Type::Any,
        }
    }
}

impl Reader<'_> {
    /// Reads a tool.
    pub(crate) fn tool(&mut self, home: Home<'_>, named: Named<'_>, sites: &mut Sites) -> Tool {
        let Named { key, node } = named;
        let what = home.own.tool_title(named);
        if !node.is_null() {
            self.check_keys(node, Keys::of(&what, &vocabulary::TOOL));
        }
        self.check_tool_verbs(node, &what);
        self.description(node);
        let found = self.tool_callee(named, home, true);
        let parameters = self.parameters(node, home, found.as_ref(), true);
        let scope = Scope { args: Some(parameters.args()), ..Scope::plain(home) };
        let call = found.as_ref().and_then(|f| self.tool_call(f.as_ref(), node, &parameters, &scope, sites));
        let (ask, mut result) = self.tool_ask(node, named, &scope);
        if let Some(found) = &found {
            result = Ok(found.as_ref().map_or(Type::Any, |f| f.result.clone()));
        }
        let after = scope.with_result(result);
        let calls_graph = call.as_ref().is_some_and(|c| matches!(c.callee, Callee::Graph(_)));
        self.check_attempt_keys(node, &what, work_of(node, call.as_ref()));
        let update = self.writes(node, &after);
        let answer = node.get("answer").and_then(|a| self.text(a, &after, "`answer`")).map(|t| t.text);
        let next = node.get("next").map(|n| self.route(n, &after, RouteKind::Next { calls_graph }, sites));
        let on_error =
            node.get("on_error").map(|n| self.route(n, &scope.with_error(), RouteKind::OnError, sites));
        Tool {
            name: key.name.clone(),
            parameters: match parameters {
                Parameters::Known(list) => list,
                Parameters::Unknown => Vec::new(),
            },
            call,
            ask,
            update,
            answer,
            answer_max: self.answer_max(node, home),
            next,
            on_error,
            timeout: self.timeout(node, home),
            retry: self.retry(node, &scope),
            cache: self.cache(node, home),
            parallel: node.get("parallel").and_then(|n| self.setting(n, home, &at_least_one(), "`parallel`")),
            overflow: self.overflow(node),
            approve: self.approve(node, &what, &scope),
        }
    }

    fn check_tool_verbs(&mut self, node: &Node, what: &str) {
        if let (Some(_), Some((ask, _))) = (node.get("call"), node.entry("ask")) {
            self.error(code::CONFLICT, ask.place, format!("{what} has `call` and `ask`; it does one thing"));
        }
        if let Some((only, _)) = node.entry("only")
            && node.get("call").and_then(set_of).is_none()
        {
            let message = format!("`only` in {what} needs `call: SERVER.*`, a set of tools");
            self.error(code::CONFLICT, only.place, message);
        }
        for (key, needs) in [
            ("input", "call"),
            ("config", "call"),
            ("grant", "call"),
            ("effect", "call"),
            ("compensate", "call"),
            ("returns", "ask"),
            ("overflow", "parallel"),
        ] {
            if let Some((key, _)) = node.entry(key)
                && node.get(needs).is_none()
            {
                self.error(code::CONFLICT, key.place, format!("`{}` in {what} needs `{needs}`", key.name));
            }
        }
    }

    /// The parameters: those written down, else the callee's input.
    fn parameters(
        &mut self,
        node: &Node,
        home: Home<'_>,
        found: Option<&Option<Found>>,
        tell: bool,
    ) -> Parameters {
        if let Some(parameters) = node.get("parameters") {
            let silent = self.out.len();
            let mapping = matches!(parameters.kind, Kind::Map(_)) || parameters.is_null();
            if !mapping && tell {
                self.mapping(parameters, "`parameters`");
            }
            if !tell {
                // Read a second time for the specification: its mistakes are told already.
                let mut quiet = crate::diagnostic::Sink::default();
                let mut typing = super::fields::Typing { file: &self.file, out: &mut quiet, own: None };
                let list = typing.fields(parameters, &home.own.types);
                return if quiet.len() == 0 { Parameters::Known(list) } else { Parameters::Unknown };
            }
            for (key, _) in parameters.entries() {
                self.check_name(key, "a parameter");
            }
            let list = typing(self).fields(parameters, &home.own.types);
            return if self.out.len() == silent { Parameters::Known(list) } else { Parameters::Unknown };
        }
        match found {
            None => Parameters::Known(Vec::new()),
            Some(Some(Found { input: Some(input), given, .. })) => {
                let asked = input.iter().filter(|(name, _)| !given.contains(name));
                Parameters::Known(asked.cloned().collect())
            }
            Some(_) => Parameters::Unknown,
        }
    }

    fn tool_call(
        &mut self,
        found: Option<&Found>,
        node: &Node,
        parameters: &Parameters,
        scope: &Scope<'_>,
        sites: &mut Sites,
    ) -> Option<Call> {
        let given = match node.get("input") {
            Some(_) => self.input(node, scope),
            None => self.args_by_name(node, parameters),
        };
        let Overrides { config, grant, writes } = self.overrides(node, found.map(|f| &f.callee), scope);
        let compensate = self.compensate(node, found, writes, scope);
        let found = found?;
        let place = node.get("call").map_or(node.place, |c| c.place);
        if let Callee::Graph(GraphIx(ix)) = found.callee {
            sites.calls.push((place, ix));
        }
        let input = self.match_input(found, given, node.entry("input").map_or(place, |(k, _)| k.place));
        let rest = found.open && node.get("input").is_none() && node.get("parameters").is_none();
        Some(Call { callee: found.callee.clone(), input, rest, config, grant, writes, compensate })
    }

    /// Without `input` each argument is given to the input of its name.
    fn args_by_name(&mut self, node: &Node, parameters: &Parameters) -> Vec<Given> {
        let Parameters::Known(list) = parameters else { return Vec::new() };
        let written = node.get("parameters");
        let mut given = Vec::new();
        for (name, field) in list {
            let at = written.and_then(|p| p.entry(name)).map_or(node.place, |(k, _)| k.place);
            let value =
                self.made_expr(&format!("args[{}]", Value::from(name.clone())), at).map(ValueExpr::Expr);
            given.push(Given { name: name.clone(), at, value, gives: field.clone() });
        }
        given
    }

    fn tool_ask(
        &mut self,
        node: &Node,
        named: Named<'_>,
        scope: &Scope<'_>,
    ) -> (Option<Ask>, Result<Type, &'static str>) {
        if node.get("ask").is_none() {
            return (None, Err("this tool has no `call` and no `ask`, so nothing comes back"));
        }
        let (ask, result) = self.ask(node, named, scope);
        (ask, Ok(result))
    }

    /// The type of a tool's arguments. What is wrong in them is told where the tool is read.
    pub(crate) fn args_of(&mut self, tool: ToolIx, home: Home<'_>) -> Type {
        let Some(named) = home.own.tools.get(tool.0).copied() else { return Type::Any };
        let found = self.tool_callee(named, home, false);
        self.parameters(named.node, home, found.as_ref(), false).args()
    }

    /// When a person is asked before a call is run.
    fn approve(&mut self, node: &Node, what: &str, scope: &Scope<'_>) -> Option<ValueExpr> {
        let (key, approve) = node.entry("approve")?;
        if node.get("ask").is_some() {
            let message = format!("{what} asks a person already, so `approve` means nothing here");
            self.error(code::CONFLICT, key.place, message);
        }
        self.condition(approve, scope, "`approve`").filter(|c| *c != ValueExpr::Literal(Value::Bool(false)))
    }

    fn answer_max(&mut self, node: &Node, home: Home<'_>) -> Setting {
        let given = node.get("answer_max");
        let read = given.and_then(|n| self.setting(n, home, &at_least_one(), "`answer_max`"));
        read.unwrap_or(Setting::Literal(Value::Int(ANSWER_MAX)))
    }

    fn overflow(&mut self, node: &Node) -> Overflow {
        let Some(overflow) = node.get("overflow") else { return Overflow::Refuse };
        match overflow.text().map(|t| &**t) {
            Some("refuse") => Overflow::Refuse,
            Some("queue") => Overflow::Queue,
            other => {
                let help = nearest::hint(other.unwrap_or(""), ["refuse", "queue"]);
                self.error(code::BAD_VALUE, overflow.place, "`overflow` is refuse or queue").hint(help);
                Overflow::Refuse
            }
        }
    }

    /// The tool as models see it.
    pub(crate) fn tool_spec(&mut self, home: Home<'_>, named: Named<'_>) -> ToolSpec {
        let node = named.node;
        let found = self.tool_callee(named, home, false);
        let parameters = match self.parameters(node, home, found.as_ref(), false) {
            Parameters::Known(list) => list,
            Parameters::Unknown => Vec::new(),
        };
        let served = found.iter().flatten().find_map(|f| f.schema.clone());
        let parameters = match served.filter(|_| node.get("parameters").is_none()) {
            Some(schema) => schema,
            None => Value::record(schema::object(parameters.iter().map(|(n, f)| (&**n, f)))),
        };
        let role = match (&found, node.get("ask")) {
            (Some(Some(Found { callee: Callee::Op(op), .. })), _) => ToolRole::Op(op.clone()),
            (Some(_), _) => ToolRole::Graph,
            (None, Some(_)) => ToolRole::Ask,
            (None, None) if exits(node) => ToolRole::Exit,
            (None, None) => ToolRole::State,
        };
        let own = node.get("description").and_then(Node::text).cloned();
        let callees = || found.iter().flatten().map(|f| f.description.clone()).find(|d| !d.is_empty());
        let description = own.or_else(callees).unwrap_or_else(|| match &role {
            ToolRole::Exit => "Call this when the work is done. It ends the work.".into(),
            ToolRole::Ask => "Ask the person.".into(),
            _ => "".into(),
        });
        ToolSpec { name: named.key.name.clone(), description, parameters, role }
    }
}

/// What a tool does; unknown where that could not be read.
fn work_of(node: &Node, call: Option<&Call>) -> Work {
    match (call.map(|c| &c.callee), node.get("call"), node.get("ask")) {
        (Some(Callee::Graph(_)), ..) => Work::Graph,
        (Some(Callee::Op(_)), ..) => Work::Op,
        (None, Some(_), _) => Work::Unknown,
        (None, None, Some(_)) => Work::Ask,
        (None, None, None) => Work::Nothing,
    }
}

/// Whether a tool's `next` has an exit.
fn exits(node: &Node) -> bool {
    let Some(next) = node.get("next") else { return false };
    match &next.kind {
        Kind::List(ways) => ways.iter().any(|w| w.get("exit").is_some()),
        _ => next.get("exit").is_some(),
    }
}
