//! The names that expressions begin with.

use std::sync::Arc;

use minijinja::machinery::{Span, ast};

use super::{FUNCTIONS, Only, Walker, unknown};
use crate::diagnostic::{boolean_word, code};
use crate::nearest::{self, shortened};
use crate::read::declare::names;
use crate::types::builtin;
use crate::{Field, RecordType, Type};

impl Walker<'_> {
    /// The field of a bare name; an error where it is not known here.
    pub(crate) fn root(&mut self, name: &str, span: Span) -> Field {
        if let Some(local) = self.local(name) {
            return local.clone();
        }
        match name {
            "null" => return unknown(),
            _ if self.scope.only.is_some() => return self.only(name, span),
            "args" => return self.args(span),
            "result" => return self.result(span),
            "error" => return self.failure(span),
            "item" | "index" => return self.item(name, span),
            "run" => {
                return record(&[("date", Type::String), ("exit", Type::String), ("attempt", Type::Integer)]);
            }
            "config" | "limits" => {
                self.error(code::EXPRESSION, span, format!("`{name}` is read by name: {name}.NAME"));
                return unknown();
            }
            "profile" => {
                self.error(code::NOT_BUILT, span, "`profile` is not built yet")
                    .help("it is part of the language, but this version can not run it");
                return unknown();
            }
            "secret" => {
                self.error(code::MISPLACED, span, "`secret` is known under `mcp` only");
                return unknown();
            }
            _ => {}
        }
        if let Some((_, channel)) = self.scope.home.own.channel(name) {
            self.reads.insert(channel.name.clone());
            return Field { description: "".into(), ..channel.field.clone() };
        }
        self.unknown_name(name, span);
        unknown()
    }

    /// A name in a text that may read little.
    fn only(&mut self, name: &str, span: Span) -> Field {
        let own = self.scope.home.own;
        if self.scope.only == Some(Only::Secrets) {
            let message = match name {
                "secret" => "`secret` is read by name: secret.NAME".to_owned(),
                _ => format!(
                    "\"{}\" is not known here: under `mcp`, `secret` is all there is",
                    shortened(name)
                ),
            };
            self.error(code::MISPLACED, span, message);
            return unknown();
        }
        if let Some(channel) = own.inputs().find(|c| &*c.name == name) {
            return Field { description: "".into(), ..channel.field.clone() };
        }
        let message = format!("\"{}\" is not known here: `persist` reads input channels", shortened(name));
        let help = nearest::hint(name, own.inputs().map(|c| &*c.name).collect::<Vec<_>>())
            .unwrap_or_else(|| "where a value is kept is known before the graph runs".to_owned());
        self.error(code::MISPLACED, span, message).help(help);
        unknown()
    }

    fn args(&mut self, span: Span) -> Field {
        match &self.scope.args {
            Some(ty) => Field::of(ty.clone()),
            None => {
                self.error(code::MISPLACED, span, "`args` is known in tools only")
                    .help("here, read a channel instead; a tool writes one with `update`");
                unknown()
            }
        }
    }

    fn result(&mut self, span: Span) -> Field {
        match self.scope.result.clone() {
            Ok(ty) => Field::of(ty),
            Err(reason) => {
                self.error(code::MISPLACED, span, "`result` is not known here").help(reason);
                unknown()
            }
        }
    }

    fn failure(&mut self, span: Span) -> Field {
        if self.scope.error {
            return builtin::built_in("error").map(Field::of).unwrap_or_else(unknown);
        }
        self.error(code::MISPLACED, span, "`error` is known in `on_error` and `retry.if` only");
        unknown()
    }

    fn item(&mut self, name: &str, span: Span) -> Field {
        match self.scope.item.clone() {
            Ok(_) if name == "index" => Field::of(Type::Integer),
            Ok(ty) => Field::of(ty),
            Err(reason) => {
                self.error(code::MISPLACED, span, format!("`{name}` is {reason}"));
                unknown()
            }
        }
    }

    fn unknown_name(&mut self, name: &str, span: Span) {
        if FUNCTIONS.contains(&name) {
            self.error(code::EXPRESSION, span, format!("`{name}` is a function: {name}(...)"));
            return;
        }
        let roots = ["config", "limits", "run", "args", "result", "error"];
        let items = self.scope.item.is_ok().then_some(["item", "index"]);
        let channels = self.scope.home.own.channel_names();
        let near = nearest::nearest(name, channels.chain(roots).chain(items.into_iter().flatten()))
            .map(str::to_owned);
        let help = match near {
            Some(near) => format!("did you mean \"{near}\"? A fixed text is written \"'{name}'\""),
            None => format!("a fixed text is written \"'{}'\"", shortened(name)),
        };
        let message = format!("unknown name \"{}\"", shortened(name));
        match boolean_word(name).filter(|_| name.len() > 1) {
            Some(meant) => {
                self.error(code::NOT_BOOLEAN, span, message).help(format!("write {meant}; {help}"))
            }
            None => self.error(code::UNKNOWN_NAME, span, message).help(help),
        }
    }

    /// What `config.NAME` or `limits.NAME` is; none where the expression is no such thing.
    pub(crate) fn root_attribute(&mut self, of: &ast::Expr<'_>, name: &str, span: Span) -> Option<Field> {
        let ast::Expr::Var(var) = of else { return None };
        if self.local(var.id).is_some() {
            return None;
        }
        match (var.id, self.scope.only) {
            ("secret", Some(Only::Secrets)) => {
                self.reads.insert(name.into());
                return Some(Field::of(Type::String));
            }
            (_, Some(_)) => return None,
            _ => {}
        }
        match var.id {
            "config" => Some(self.config(name, span)),
            "limits" => Some(self.limit(name, span)),
            _ => None,
        }
    }

    fn config(&mut self, name: &str, span: Span) -> Field {
        let own = self.scope.home.own;
        if let Some((field, _)) = own.config.get(name) {
            return Field { description: "".into(), ..field.clone() };
        }
        if own.config_lost.contains(name) {
            return unknown();
        }
        let (message, help) = own.no_config_key(name);
        self.error(code::UNKNOWN_CONFIG, span, message).help(help);
        unknown()
    }

    fn limit(&mut self, name: &str, span: Span) -> Field {
        let own = self.scope.home.own;
        if names(&own.limits).any(|n| n == name) {
            let figures = [("used", Type::Number), ("left", Type::Number), ("max", Type::Number)];
            return record(&[&figures[..], &[("warned", Type::Boolean)]].concat());
        }
        let help = nearest::hint(name, names(&own.limits))
            .unwrap_or_else(|| "this graph declares no limits".to_owned());
        let message = format!("{} has no limit \"{}\"", own.title(), shortened(name));
        self.error(code::UNKNOWN_LIMIT, span, message).help(help);
        unknown()
    }
}

/// A record of plain fields.
pub(crate) fn record(fields: &[(&str, Type)]) -> Field {
    let fields = fields.iter().map(|(n, ty)| (Arc::from(*n), Field::of(ty.clone()))).collect();
    Field::of(Type::Record(Arc::new(RecordType { name: None, fields, open: false })))
}
