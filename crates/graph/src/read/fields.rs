//! Types and fields.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_protocol::Value;

use crate::diagnostic::{Sink, boolean_word, code};
use crate::nearest::{self, shortened};
use crate::source::{FileText, Key, Kind, Node, Place};
use crate::types::builtin;
use crate::{Field, RecordType, Type, vocabulary};

/// The most fields that a type may have when everything in it is written out.
const MAX_WEIGHT: usize = 2000;
/// The deepest nesting of named types in each other.
const MAX_NESTING: usize = 24;

/// The keys of a field.
const FIELD: &[&str] = vocabulary::FIELD.known;

/// The named types that a graph knows, with the number of fields of each when written out.
#[derive(Clone, Debug, Default)]
pub(crate) struct TypeEnv {
    named: BTreeMap<Arc<str>, (Type, usize)>,
}

/// Types that are being declared and are looked up while they are.
pub(crate) struct Own<'t> {
    nodes: BTreeMap<Arc<str>, &'t Node>,
    done: BTreeMap<Arc<str>, (Type, usize)>,
    stack: Vec<Arc<str>>,
}

/// Reads types.
pub(crate) struct Typing<'s, 't> {
    pub file: &'s FileText,
    pub out: &'s mut Sink,
    /// Set while named types are being declared.
    pub own: Option<Own<'t>>,
}

impl TypeEnv {
    /// These types and those of a `types:` key.
    pub fn with(&self, node: &Node, file: &FileText, out: &mut Sink) -> TypeEnv {
        let mut env = self.clone();
        let nodes: BTreeMap<Arc<str>, &Node> =
            node.entries().iter().map(|(k, v)| (k.name.clone(), v)).collect();
        let own = Own { nodes, done: BTreeMap::new(), stack: Vec::new() };
        let mut typing = Typing { file, out, own: Some(own) };
        for (key, node) in node.entries() {
            let built_in = builtin::built_in(&key.name).is_some();
            if built_in || key.name.contains(|c: char| !(c.is_ascii_alphanumeric() || c == '_')) {
                let (code, message) = if built_in {
                    (code::RESERVED, format!("the type \"{}\" is built in", key.name))
                } else {
                    (code::BAD_NAME, format!("\"{}\" can not be the name of a type", shortened(&key.name)))
                };
                typing.out.error(code, file, key.place, message);
                // It stands for nothing, but what is wrong in it is told.
                typing.record(None, node, self);
                continue;
            }
            typing.named(&key.name, key.place, self);
        }
        if let Some(own) = typing.own {
            env.named.extend(own.done);
        }
        env
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.named.keys().map(|k| &**k)
    }
}

impl Typing<'_, '_> {
    fn error(
        &mut self,
        code: &'static str,
        at: Place,
        message: String,
    ) -> &mut crate::diagnostic::Diagnostic {
        self.out.error(code, self.file, at, message)
    }

    /// The type of a name.
    fn named(&mut self, name: &Arc<str>, at: Place, env: &TypeEnv) -> Option<(Type, usize)> {
        let mut declaration = None;
        if let Some(own) = &self.own {
            if let Some(done) = own.done.get(name) {
                return Some(done.clone());
            }
            declaration = own.nodes.get(name).copied();
        }
        if let Some(node) = declaration {
            return self.declared(name, node, at, env);
        }
        if let Some(found) = env.named.get(name) {
            return Some(found.clone());
        }
        if let Some(ty) = builtin::built_in(name) {
            return Some((ty, 20));
        }
        let own: Vec<Arc<str>> = self.own.iter().flat_map(|o| o.nodes.keys().cloned()).collect();
        let names = own.iter().map(|k| &**k).chain(env.names());
        let built_in = builtin::PLAIN.iter().map(|(n, _)| *n).chain(builtin::RECORDS);
        let all: Vec<&str> = names.chain(built_in).collect();
        let help = nearest::hint(name, all.iter().copied());
        self.error(code::UNKNOWN_TYPE, at, format!("unknown type \"{}\"", shortened(name))).hint(help);
        None
    }

    /// A named type that is declared beside the one being read, resolved when it is first wanted.
    fn declared(&mut self, name: &Arc<str>, node: &Node, at: Place, env: &TypeEnv) -> Option<(Type, usize)> {
        let own = self.own.as_mut()?;
        if own.stack.contains(name) {
            self.error(code::BAD_VALUE, at, format!("the type \"{name}\" holds itself"))
                .help("a record can not hold its own type; use `any` or a list of ids");
            return None;
        }
        if own.stack.len() >= MAX_NESTING {
            self.error(code::TOO_DEEP, at, format!("types are nested more than {MAX_NESTING} deep"));
            return None;
        }
        own.stack.push(name.clone());
        let found = self.record(Some(name.clone()), node, env);
        let own = self.own.as_mut()?;
        own.stack.pop();
        // A type with mistakes becomes `any`, so that each mistake is told once.
        own.done.insert(name.clone(), found.clone().unwrap_or((Type::Any, 1)));
        found
    }

    /// A type: a name, `[T]`, `{string: T}` or `{field: F}`.
    fn ty(&mut self, node: &Node, env: &TypeEnv) -> Option<(Type, usize)> {
        let (ty, weight) = match &node.kind {
            Kind::Text(scalar) => self.named(&scalar.text, node.place, env)?,
            Kind::List(items) => match items.as_slice() {
                [item] => {
                    let (ty, weight) = self.ty(item, env)?;
                    (Type::List(Box::new(ty)), weight)
                }
                _ => {
                    self.error(
                        code::WRONG_KIND,
                        node.place,
                        "a list type has one type in it: [T]".to_owned(),
                    )
                    .help("values to choose from are written {enum: [a, b]}");
                    return None;
                }
            },
            Kind::Map(entries) => match entries.as_slice() {
                [(key, item)] if &*key.name == "string" => {
                    let (ty, weight) = self.ty(item, env)?;
                    (Type::Map(Box::new(ty)), weight)
                }
                _ => self.record(None, node, env)?,
            },
            _ => {
                let message = format!("a type is wanted here, not {}", node.kind_name());
                self.error(code::WRONG_KIND, node.place, message)
                    .help("a type is a name such as string, [T], {string: T}, or {field: type}");
                return None;
            }
        };
        if weight > MAX_WEIGHT {
            self.error(code::TOO_LARGE, node.place, format!("a type of more than {MAX_WEIGHT} fields"));
            return None;
        }
        Some((ty, weight))
    }

    fn record(&mut self, name: Option<Arc<str>>, node: &Node, env: &TypeEnv) -> Option<(Type, usize)> {
        let Kind::Map(entries) = &node.kind else {
            let message = format!("a named type is a mapping of fields, not {}", node.kind_name());
            self.error(code::WRONG_KIND, node.place, message);
            return None;
        };
        if entries.is_empty() {
            self.error(code::WRONG_KIND, node.place, "a record without fields".to_owned());
            return None;
        }
        let mut weight = 1usize;
        let mut fields = Vec::new();
        for (key, value) in entries {
            // A field that could not be read is known by name.
            let (field, w) = self.weighed(value, env, &[]).unwrap_or((Field::of(Type::Any), 1));
            weight = weight.saturating_add(w);
            fields.push((key.name.clone(), field));
        }
        if weight > MAX_WEIGHT {
            self.error(code::TOO_LARGE, node.place, format!("a type of more than {MAX_WEIGHT} fields"));
            return None;
        }
        Some((Type::Record(Arc::new(RecordType { name, fields, open: false })), weight))
    }

    /// A mapping of named fields: parameters, an op's input.
    pub fn fields(&mut self, node: &Node, env: &TypeEnv) -> Vec<(Arc<str>, Field)> {
        let mut fields = Vec::new();
        for (key, value) in node.entries() {
            if let Some(field) = self.field(value, env, &[]) {
                fields.push((key.name.clone(), field));
            }
        }
        fields
    }

    /// A field: a type, or a mapping with `type` or `enum`. `extra` are keys that are read elsewhere.
    pub fn field(&mut self, node: &Node, env: &TypeEnv, extra: &[&str]) -> Option<Field> {
        self.weighed(node, env, extra).map(|(field, _)| field)
    }

    fn weighed(&mut self, node: &Node, env: &TypeEnv, extra: &[&str]) -> Option<(Field, usize)> {
        if !is_long_form(node, extra) {
            let (ty, weight) = self.ty(node, env)?;
            return Some((Field::of(ty), weight.saturating_add(1)));
        }
        for (key, _) in node.entries() {
            if !FIELD.contains(&&*key.name) && !extra.contains(&&*key.name) {
                let help = nearest::hint(&key.name, FIELD.iter().chain(extra).copied());
                let message = format!("unknown key \"{}\" in a field", shortened(&key.name));
                self.error(code::UNKNOWN_KEY, key.place, message).hint(help);
            }
        }
        let options = self.options(node);
        let read = match node.get("type") {
            Some(node) => self.ty(node, env),
            None => Some((common_type(&options), 1)),
        };
        let known = read.is_some();
        let (ty, weight) = read.unwrap_or((Type::Any, 1));
        let mut field = Field::of(ty);
        field.options = self.fitting(node, options, &field);
        // Without its type, what is wrong in any type is told all the same.
        self.attributes(node, &mut field, known);
        known.then_some((field, weight.saturating_add(1)))
    }

    fn options(&mut self, node: &Node) -> Vec<Value> {
        let Some(list) = node.get("enum") else { return Vec::new() };
        let Kind::List(items) = &list.kind else {
            self.error(code::WRONG_KIND, list.place, "`enum` must be a list of values".to_owned());
            return Vec::new();
        };
        if items.is_empty() {
            self.error(code::BAD_VALUE, list.place, "`enum` has no values".to_owned());
        }
        for item in items {
            if matches!(item.kind, Kind::List(_) | Kind::Map(_) | Kind::Null) {
                let message = format!("a value to choose from is text or a number, not {}", item.kind_name());
                self.error(code::WRONG_KIND, item.place, message);
            }
        }
        items.iter().map(Node::to_value).collect()
    }

    /// The values to choose from as values of the type; an error for each that is none.
    fn fitting(&mut self, node: &Node, options: Vec<Value>, field: &Field) -> Vec<Value> {
        let items = match node.get("enum").map(|list| &list.kind) {
            Some(Kind::List(items)) => items.as_slice(),
            _ => &[],
        };
        let mut fitted = Vec::new();
        for (option, item) in options.into_iter().zip(items) {
            match field.check(&option) {
                Ok(value) => fitted.push(value),
                Err(mismatch) => {
                    self.error(code::BAD_VALUE, item.place, format!("a value of `enum` {mismatch}"));
                    fitted.push(option);
                }
            }
        }
        fitted
    }

    fn attributes(&mut self, node: &Node, field: &mut Field, typed: bool) {
        for (key, value) in node.entries() {
            match &*key.name {
                "optional" => match value.kind {
                    Kind::Bool(b) => field.optional = b,
                    _ => self.wanted(key, value, "true or false"),
                },
                "description" => match value.text() {
                    Some(text) => field.description = text.clone(),
                    None => self.wanted(key, value, "text"),
                },
                "minimum" | "maximum" => match self.bound(&field.ty, value, typed) {
                    Some(bound) if &*key.name == "minimum" => field.minimum = Some(bound),
                    Some(bound) => field.maximum = Some(bound),
                    None => self.wanted(key, value, "a number, and the type a number or duration"),
                },
                "max_items" => match (&value.kind, &field.ty) {
                    (Kind::Int(n), Type::List(_)) if *n >= 0 => field.max_items = u64::try_from(*n).ok(),
                    (Kind::Int(n), _) if *n >= 0 && !typed => {}
                    _ => self.wanted(key, value, "a whole number, and the type a list"),
                },
                _ => {}
            }
        }
        if let (Some(min), Some(max)) = (field.minimum, field.maximum)
            && min > max
            && let Some((key, _)) = node.entry("maximum")
        {
            self.error(code::BAD_VALUE, key.place, "`maximum` is below `minimum`".to_owned());
        }
        if let Some(value) = node.get("default") {
            self.default(value, field);
        }
    }

    fn bound(&self, ty: &Type, value: &Node, typed: bool) -> Option<f64> {
        match ty {
            Type::Any if !typed => self.bound(&Type::Duration, value, true),
            Type::Integer | Type::Number | Type::Any => value.to_value().as_float(),
            Type::Duration => Field::of(Type::Duration).check(&value.to_value()).ok()?.as_float(),
            _ => None,
        }
    }

    fn default(&mut self, node: &Node, field: &mut Field) {
        if node.is_null() && field.optional {
            return;
        }
        match field.check(&node.to_value()) {
            Ok(value) => field.default = Some(value),
            Err(mismatch) => {
                let help = boolean_help(node, &field.ty);
                let code = if help.is_some() { code::NOT_BOOLEAN } else { code::BAD_DEFAULT };
                self.error(code, node.place, format!("the default {mismatch}")).hint(help);
            }
        }
    }

    fn wanted(&mut self, key: &Key, value: &Node, what: &str) {
        let message = format!("`{}` must be {what}", key.name);
        let help = boolean_help(value, &Type::Boolean).filter(|_| what.starts_with("true"));
        let code = if help.is_some() { code::NOT_BOOLEAN } else { code::WRONG_KIND };
        self.error(code, value.place, message).hint(help);
    }
}

/// Whether a mapping is a field written out (`{type: string, default: x}`) and not a record that happens to have
/// a field called `type`.
fn is_long_form(node: &Node, extra: &[&str]) -> bool {
    let entries = node.entries();
    if !entries.iter().any(|(k, _)| matches!(&*k.name, "type" | "enum")) {
        return false;
    }
    // Each key that fields do not have must look like a misspelt one, or stand before no type.
    let odd = |key: &Key, value: &Node| {
        let known = FIELD.iter().chain(extra).copied();
        !known.clone().any(|k| k == &*key.name)
            && nearest::nearest(&key.name, known).is_none()
            && matches!(value.kind, Kind::Text(_) | Kind::List(_) | Kind::Map(_))
    };
    !entries.iter().any(|(k, v)| odd(k, v))
}

/// The type of values to choose from.
fn common_type(options: &[Value]) -> Type {
    let all = |test: fn(&Value) -> bool| !options.is_empty() && options.iter().all(test);
    if all(|v| v.as_str().is_some()) {
        Type::String
    } else if all(|v| matches!(v, Value::Int(_))) {
        Type::Integer
    } else if all(|v| v.as_float().is_some()) {
        Type::Number
    } else if all(|v| matches!(v, Value::Bool(_))) {
        Type::Boolean
    } else {
        Type::Any
    }
}

/// What to write instead of `yes`, `no`, `on` and `off`.
pub(crate) fn boolean_help(node: &Node, wanted: &Type) -> Option<String> {
    let meant = boolean_word(node.text().filter(|_| *wanted == Type::Boolean)?)?;
    Some(format!("write {meant}"))
}
