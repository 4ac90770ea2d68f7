//! What an expression gives, as far as it can be told without running it, and what is certainly wrong in it.

mod expr;
mod filters;
pub(crate) mod fits;
mod guard;
mod roots;
mod template;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use minijinja::machinery::ast;

use crate::diagnostic::{Diagnostic, Sink, code};
use crate::read::Home;
use crate::source::{FileText, Place, Scalar};
use crate::{Field, Type};

pub(crate) use guard::too_complex;

/// What an expression may read in its place.
#[derive(Clone)]
pub(crate) struct Scope<'d> {
    pub home: Home<'d>,
    /// The type of `args`, in tools.
    pub args: Option<Type>,
    /// The type of `result`, or why there is none.
    pub result: Result<Type, &'static str>,
    /// Whether `error` is known.
    pub error: bool,
    /// The type of `item`, beside which `index` is known; or where they are.
    pub item: Result<Type, &'static str>,
    /// Whether what is written here is written once per item.
    pub per_item: bool,
    /// What alone may be read; none: all that is known.
    pub only: Option<Only>,
}

/// What alone a text may read that is no part of the work of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Only {
    /// `secret.NAME`. The walker notes the names among what was read.
    Secrets,
    /// The input channels.
    Input,
}

impl<'d> Scope<'d> {
    /// Only what is known everywhere.
    pub fn plain(home: Home<'d>) -> Scope<'d> {
        let reason = "`result` is known in `update`, `answer` and `next`";
        let item = Err("known in nodes with `each` only");
        Scope { home, args: None, result: Err(reason), error: false, item, per_item: false, only: None }
    }

    /// The same with a result, or the reason why there is none.
    pub fn with_result(&self, result: Result<Type, &'static str>) -> Scope<'d> {
        Scope { result, ..self.clone() }
    }

    /// The same within one of several items.
    pub fn with_item(&self, item: Type, per_item: bool) -> Scope<'d> {
        Scope { item: Ok(item), per_item, ..self.clone() }
    }

    /// The same once all items are through.
    pub fn after_items(&self, result: Result<Type, &'static str>) -> Scope<'d> {
        let item = Err("not known in `next`, which follows when all items are through");
        Scope { result, item, per_item: false, ..self.clone() }
    }

    /// The same with `error` and without a result.
    pub fn with_error(&self) -> Scope<'d> {
        let reason = "after a failure there is no `result`; `error` says what went wrong";
        Scope { error: true, result: Err(reason), ..self.clone() }
    }
}

/// Where a text comes from, so that places inside it can be told.
#[derive(Clone, Copy)]
pub(crate) enum Origin<'o> {
    /// A scalar of the graph file.
    Scalar(&'o FileText, &'o Scalar, Place),
    /// A whole file.
    File(&'o FileText),
}

impl Origin<'_> {
    /// The file.
    pub fn file(&self) -> &FileText {
        match self {
            Origin::Scalar(file, ..) | Origin::File(file) => file,
        }
    }

    /// The place of a byte.
    pub fn place(&self, offset: usize) -> Place {
        match self {
            Origin::Scalar(file, scalar, at) => file.place_in(scalar, *at, offset),
            Origin::File(file) => file.place_of(offset),
        }
    }
}

/// Walks an expression or template.
pub(crate) struct Walker<'w> {
    pub scope: &'w Scope<'w>,
    pub out: &'w mut Sink,
    pub origin: Origin<'w>,
    /// Names that the template itself binds, innermost last.
    pub locals: Vec<BTreeMap<String, Field>>,
    /// The channels that were read.
    pub reads: BTreeSet<Arc<str>>,
}

/// A type about which nothing is known.
pub(crate) fn unknown() -> Field {
    Field::of(Type::Any)
}

impl<'w> Walker<'w> {
    /// A walker at the start of a text.
    pub fn new(scope: &'w Scope<'w>, out: &'w mut Sink, origin: Origin<'w>) -> Walker<'w> {
        Walker { scope, out, origin, locals: Vec::new(), reads: BTreeSet::new() }
    }

    pub(crate) fn error(
        &mut self,
        code: &'static str,
        span: minijinja::machinery::Span,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        let place = self.origin.place(span.start_offset as usize);
        self.out.error(code, self.origin.file(), place, message)
    }

    /// Types of several expressions, for their mistakes.
    pub(crate) fn each<'e>(&mut self, list: impl IntoIterator<Item = &'e ast::Expr<'e>>) {
        for expr in list {
            self.expr(expr);
        }
    }

    /// The local of a name.
    fn local(&self, name: &str) -> Option<&Field> {
        self.locals.iter().rev().find_map(|frame| frame.get(name))
    }

    /// Binds a name in the innermost frame.
    fn bind(&mut self, name: &str, field: Field) {
        if self.locals.is_empty() {
            self.locals.push(BTreeMap::new());
        }
        if let Some(frame) = self.locals.last_mut() {
            frame.insert(name.to_owned(), field);
        }
    }

    /// Whether a filter exists.
    fn has_filter(&self, name: &str) -> bool {
        FILTERS.contains(&name)
    }

    fn unknown_filter(&mut self, name: &str, span: minijinja::machinery::Span) {
        let help = crate::nearest::hint(name, FILTERS);
        self.error(code::UNKNOWN_FILTER, span, format!("unknown filter \"{name}\"")).hint(help);
    }
}

/// The filters that expressions have. A test compares them with the environment.
pub const FILTERS: [&str; 47] = [
    "abs",
    "attr",
    "batch",
    "bool",
    "capitalize",
    "chain",
    "count",
    "d",
    "default",
    "dictsort",
    "e",
    "escape",
    "first",
    "float",
    "format",
    "groupby",
    "indent",
    "int",
    "items",
    "join",
    "last",
    "length",
    "lines",
    "list",
    "lower",
    "map",
    "max",
    "min",
    "pprint",
    "reject",
    "rejectattr",
    "replace",
    "reverse",
    "round",
    "safe",
    "select",
    "selectattr",
    "slice",
    "sort",
    "split",
    "string",
    "sum",
    "title",
    "tojson",
    "trim",
    "unique",
    "upper",
];

/// The tests that expressions have, those written as signs left out.
pub const TESTS: [&str; 35] = [
    "boolean",
    "defined",
    "divisibleby",
    "endingwith",
    "eq",
    "equalto",
    "escaped",
    "even",
    "false",
    "filter",
    "float",
    "ge",
    "greaterthan",
    "gt",
    "in",
    "int",
    "integer",
    "iterable",
    "le",
    "lessthan",
    "lower",
    "lt",
    "mapping",
    "ne",
    "none",
    "number",
    "odd",
    "safe",
    "sameas",
    "sequence",
    "startingwith",
    "string",
    "true",
    "undefined",
    "upper",
];

/// The functions that expressions have.
pub const FUNCTIONS: [&str; 3] = ["dict", "namespace", "range"];
