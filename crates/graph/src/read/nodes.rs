//! Nodes.

use std::sync::Arc;

use deepgraph_protocol::OutputShape;

use super::attempts::Work;
use super::declare::{Named, typing};
use super::keys::Keys;
use super::routes::RouteKind;
use super::settings::{at_least_one, default_retry, duration};
use super::{Home, Reader, Sites};
use crate::diagnostic::{code, misfit};
use crate::infer::Scope;
use crate::infer::fits;
use crate::nearest;
use crate::source::{Kind, Node};
use crate::types::builtin;
use crate::vocabulary::{NODE, RETRY, VERBS, Words};
use crate::{Ask, Call, Callee, Field, NodeIx, RecordType, Retry, Returns, Type, ValueExpr, Verb};

/// A verb with the type of its result, or why there is none.
struct ReadVerb {
    verb: Verb,
    result: Result<Type, &'static str>,
    calls_graph: bool,
}

impl Reader<'_> {
    /// Reads a node.
    pub(crate) fn node(&mut self, home: Home<'_>, named: Named<'_>, sites: &mut Sites) -> crate::Node {
        let Named { key, node } = named;
        let what = format!("node \"{}\"", key.name);
        let verb_key = self.verb_of(node, &what);
        let empty = crate::Node {
            name: key.name.clone(),
            title: None,
            verb: Verb::Pass,
            update: Vec::new(),
            next: None,
            on_error: None,
            timeout: None,
            retry: default_retry(),
            cache: None,
            after: Vec::new(),
            defer: false,
            each: None,
            in_finally: false,
        };
        if !self.check_node_keys(node, &what, verb_key) {
            sites.routes_broken = true;
            return empty;
        }
        if node.entries().is_empty() {
            self.error(code::MISSING_KEY, key.place, format!("{what} does nothing"))
                .help("a node has a verb (model, run_tools, call, ask) or an `update`");
        }
        let items = self.items(node, &what, home);
        let scope = match &items {
            Some(items) => Scope::plain(home).with_item(items.ty.clone(), items.several),
            None => Scope::plain(home),
        };
        let mut read = self.verb(node, named, verb_key, &scope, sites);
        let others = VERBS.iter().filter(|w| Some(w.place) != verb_key && node.get(w.place).is_some());
        for other in others {
            // Told above; what is wrong in it is told as well. Of which of them `result` is meant is not known.
            let second = self.verb(node, named, Some(other.place), &scope, sites);
            read.result = Ok(Type::Any);
            read.calls_graph |= second.calls_graph;
        }
        self.check_attempt_keys(node, &what, work_of(node, &read.verb));
        let update = self.writes(node, &scope.with_result(read.result.clone()));
        let after = match &items {
            Some(_) => scope.after_items(read.result.map(|ty| Type::List(Box::new(ty)))),
            None => scope.with_result(read.result),
        };
        let next = node
            .get("next")
            .map(|n| self.route(n, &after, RouteKind::Next { calls_graph: read.calls_graph }, sites));
        let on_error =
            node.get("on_error").map(|n| self.route(n, &scope.with_error(), RouteKind::OnError, sites));
        crate::Node {
            title: node.get("title").and_then(|t| self.text(t, &scope, "`title`")).map(|t| t.text),
            verb: read.verb,
            update,
            next,
            on_error,
            timeout: self.timeout(node, home),
            retry: self.retry(node, &scope),
            cache: self.cache(node, home),
            after: self.after(home, named, sites),
            defer: self.defer(named),
            each: items.and_then(|items| items.each),
            ..empty
        }
    }

    /// The verb of a node; an error where it has several.
    fn verb_of(&mut self, node: &Node, what: &str) -> Option<&'static str> {
        let mut found: Option<&'static str> = None;
        for Words { place: verb, .. } in VERBS {
            let Some((key, _)) = node.entry(verb) else { continue };
            match found {
                Some(first) => {
                    let message = format!("{what} has two verbs, {first} and {verb}");
                    self.error(code::CONFLICT, key.place, message).help("make it two nodes");
                }
                None => found = Some(verb),
            }
        }
        found
    }

    fn check_node_keys(&mut self, node: &Node, what: &str, verb: Option<&str>) -> bool {
        let mut known: Vec<&str> = NODE.known.to_vec();
        let mut later: Vec<&str> = NODE.later.to_vec();
        for words in VERBS {
            if verb.is_none_or(|v| v == words.place) || node.get(words.place).is_some() {
                known.extend(words.known);
                later.extend(words.later);
            }
        }
        if !matches!(node.kind, Kind::Map(_)) {
            return self.check_keys(node, Keys { what, known: &known, later: &later });
        }
        for (key, _) in node.entries() {
            let owner = VERBS.iter().find(|w| w.known.iter().chain(w.later).any(|k| *k == &*key.name));
            if let Some(Words { place: owner, .. }) = owner
                && verb.is_none_or(|v| v != *owner)
                && !VERBS.iter().any(|words| words.place == &*key.name)
                && !(verb.is_some() && (known.contains(&&*key.name) || later.contains(&&*key.name)))
            {
                let message =
                    format!("the key \"{}\" belongs to the verb `{owner}`, which {what} has not", key.name);
                self.error(code::UNKNOWN_KEY, key.place, message);
                known.push(&key.name);
            }
        }
        self.check_keys(node, Keys { what, known: &known, later: &later })
    }

    fn verb(
        &mut self,
        node: &Node,
        named: Named<'_>,
        verb: Option<&str>,
        scope: &Scope<'_>,
        sites: &mut Sites,
    ) -> ReadVerb {
        match verb {
            Some("model") => {
                let (model, result) = self.model(node, named, scope);
                ReadVerb { verb: Verb::Model(Box::new(model)), result: Ok(result), calls_graph: false }
            }
            Some("run_tools") => {
                let runs = self.run_tools(node, scope.home, sites);
                let verb = runs.map_or(Verb::Pass, Verb::RunTools);
                ReadVerb { verb, result: Ok(run_tools_result()), calls_graph: false }
            }
            Some("call") => {
                let (call, result) = self.call(node, scope, sites);
                let calls_graph = call.as_ref().is_none_or(|c| matches!(c.callee, Callee::Graph(_)));
                ReadVerb { verb: call.map_or(Verb::Pass, Verb::Call), result: Ok(result), calls_graph }
            }
            Some("ask") => {
                let (ask, result) = self.ask(node, named, scope);
                ReadVerb { verb: ask.map_or(Verb::Pass, Verb::Ask), result: Ok(result), calls_graph: false }
            }
            _ => {
                let known = |key: &str| NODE.known.iter().chain(NODE.later).any(|k| *k == key);
                let result = match node.entries().iter().all(|(key, _)| known(&key.name)) {
                    true => Err("this node has no verb, so nothing comes back"),
                    // A verb was meant that could not be read.
                    false => Ok(Type::Any),
                };
                ReadVerb { verb: Verb::Pass, result, calls_graph: false }
            }
        }
    }

    fn run_tools(&mut self, node: &Node, home: Home<'_>, sites: &mut Sites) -> Option<NodeIx> {
        let of = node.get("run_tools")?;
        let name = self.plain_text(of, "`run_tools`")?;
        let ix = self.node_named(&name, of.place, home, sites)?;
        let model = home.own.nodes.get(ix.0)?;
        if model.node.get("model").is_none() || model.node.get("tools").is_none() {
            let message = format!("`run_tools` names a model node that offers tools; \"{name}\" is none");
            self.error(code::NOT_MODEL, of.place, message);
        }
        Some(ix)
    }

    /// A question, of a node or a tool.
    pub(crate) fn ask(&mut self, node: &Node, named: Named<'_>, scope: &Scope<'_>) -> (Option<Ask>, Type) {
        let returns = self.returns(node, named, scope.home).unwrap_or_else(|| {
            let unread = node.get("returns").is_some();
            shape(Field::of(if unread { Type::Any } else { Type::String }), &named.key.name)
        });
        let result = record(vec![("text", Field::of(Type::String)), ("data", returns.field.clone())]);
        let question = node.get("ask").and_then(|q| self.text(q, scope, "`ask`"));
        (question.map(|q| Ask { question: q.text, returns }), result)
    }

    /// A structured answer.
    pub(crate) fn returns(&mut self, node: &Node, named: Named<'_>, home: Home<'_>) -> Option<Returns> {
        let returns = node.get("returns")?;
        let field = typing(self).field(returns, &home.own.types, &[])?;
        Some(shape(field, &named.key.name))
    }

    /// Repetition.
    pub(crate) fn retry(&mut self, node: &Node, scope: &Scope<'_>) -> Retry {
        let mut retry = default_retry();
        let Some(node) = node.get("retry") else { return retry };
        if !matches!(node.kind, Kind::Map(_)) {
            if let Some(max) = self.setting(node, scope.home, &at_least_one(), "`retry`") {
                retry.max = max;
            }
            return retry;
        }
        self.check_keys(node, Keys::of("`retry`", &RETRY));
        if let Some(max) = node.get("max").and_then(|n| self.setting(n, scope.home, &at_least_one(), "`max`"))
        {
            retry.max = max;
        }
        if let Some(wait) =
            node.get("backoff").and_then(|n| self.setting(n, scope.home, &duration(), "`backoff`"))
        {
            retry.backoff = wait;
        }
        if let Some(factor) = node.get("factor").and_then(|n| self.number_in(n, 1.0, 100.0, "`factor`")) {
            retry.factor = factor;
        }
        retry.condition = node.get("if").and_then(|n| self.condition(n, &scope.with_error(), "`if`"));
        retry
    }

    /// An input of a callee that is given.
    pub(crate) fn check_given(
        &mut self,
        at: crate::source::Place,
        name: &str,
        given: &Field,
        value: Option<&ValueExpr>,
        want: &Field,
    ) {
        if let Some(ValueExpr::Literal(value)) = value {
            if let Err(mismatch) = want.check(value) {
                let code = misfit(value, want, code::MISMATCH);
                self.error(code, at, format!("the input \"{name}\" {mismatch}"));
            }
            return;
        }
        if let Err(why) = fits::field_fits(given, want) {
            let message = format!(
                "the input \"{name}\" takes {}, and this {why}",
                nearest::shortened(&want.ty.to_string())
            );
            self.error(code::MISMATCH, at, message);
        }
    }
}

/// What a node does; unknown where that could not be read.
fn work_of(node: &Node, verb: &Verb) -> Work {
    match verb {
        Verb::Model(_) => Work::Model,
        Verb::Ask(_) => Work::Ask,
        Verb::Call(Call { callee: Callee::Graph(_), .. }) => Work::Graph,
        Verb::Call(_) => Work::Op,
        Verb::RunTools(_) => Work::Nothing,
        Verb::Pass if node.entries().iter().all(|(key, _)| NODE.known.contains(&&*key.name)) => Work::Nothing,
        Verb::Pass => Work::Unknown,
    }
}

/// A shape named after its record type, else after the node.
fn shape(field: Field, node: &Arc<str>) -> Returns {
    let named = match &field.ty {
        Type::Record(record) => record.name.clone(),
        _ => None,
    };
    let shape = OutputShape { name: named.unwrap_or_else(|| node.clone()), schema: field.json_schema() };
    Returns { field, shape }
}

/// A record without a name.
pub(crate) fn record(fields: Vec<(&str, Field)>) -> Type {
    let fields = fields.into_iter().map(|(n, f)| (Arc::from(n), f)).collect();
    Type::Record(Arc::new(RecordType { name: None, fields, open: false }))
}

/// `{calls: [{id, name, status, reason, exit}]}`.
fn run_tools_result() -> Type {
    let text = || Field::of(Type::String);
    let options = ["done", "refused", "malformed", "failed"];
    let status = Field { options: options.map(deepgraph_protocol::Value::from).to_vec(), ..text() };
    let call = record(vec![
        ("id", text()),
        ("name", text()),
        ("status", status),
        ("reason", text()),
        ("exit", text()),
    ]);
    record(vec![("calls", Field::of(Type::List(Box::new(call))))])
}

/// A built-in type.
pub(crate) fn built_in(name: &str) -> Field {
    Field::of(builtin::built_in(name).unwrap_or(Type::Any))
}
