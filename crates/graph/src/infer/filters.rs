//! Filters: what they give, and the attribute names in their arguments.

use minijinja::machinery::{Span, ast};

use super::{Walker, unknown};
use crate::{Field, Type};

impl Walker<'_> {
    /// What a filter gives. `of` is its input where the expression itself has none (`{% filter %}`).
    pub(crate) fn filter(&mut self, filter: &ast::Spanned<ast::Filter<'_>>, of: Option<Field>) -> Field {
        let input = match &filter.expr {
            Some(expr) => self.expr(expr),
            None => of.unwrap_or_else(unknown),
        };
        self.arguments(&filter.args);
        if !self.has_filter(filter.name) {
            self.unknown_filter(filter.name, filter.span());
            return unknown();
        }
        let item = item_of(&input.ty);
        let list = |ty: Type| Field::of(Type::List(Box::new(ty)));
        match filter.name {
            "length" | "count" | "int" => Field::of(Type::Integer),
            "float" => Field::of(Type::Number),
            "bool" => Field::of(Type::Boolean),
            "join" => {
                if let Some(attribute) = keyword(filter, "attribute").or_else(|| positional(filter, 1)) {
                    self.path(&item, &attribute, filter.span());
                }
                Field::of(Type::String)
            }
            "tojson" | "string" | "upper" | "lower" | "title" | "trim" | "replace" | "indent" | "format"
            | "pprint" | "capitalize" | "escape" | "e" | "safe" => Field::of(Type::String),
            "split" | "lines" => list(Type::String),
            "first" | "last" => Field::of(item),
            "min" | "max" => {
                self.attribute(filter, &item);
                Field::of(item)
            }
            "sort" | "unique" => {
                self.attribute(filter, &item);
                list(item)
            }
            "list" => match input.ty {
                Type::Map(_) | Type::Record(_) | Type::String => list(Type::String),
                _ => list(item),
            },
            "reverse" => Field::of(input.ty),
            "select" | "reject" => {
                self.named_test(filter, 0);
                list(item)
            }
            "selectattr" | "rejectattr" => {
                if let Some(attribute) = positional(filter, 0) {
                    self.path(&item, &attribute, filter.span());
                }
                self.named_test(filter, 1);
                list(item)
            }
            "batch" | "slice" => list(Type::List(Box::new(item))),
            "map" => self.mapped(filter, &item),
            "groupby" => {
                if let Some(attribute) = positional(filter, 0).or_else(|| keyword(filter, "attribute")) {
                    self.path(&item, &attribute, filter.span());
                }
                unknown()
            }
            "attr" => match (positional(filter, 0), &filter.expr) {
                (Some(name), Some(expr)) => self.field_of(&input, &name, filter.span(), expr),
                _ => unknown(),
            },
            "default" | "d" => match filter.args.first() {
                Some(ast::CallArg::Pos(_)) => Field::of(input.ty),
                _ => Field::of(Type::Any),
            },
            _ => unknown(),
        }
    }

    fn mapped(&mut self, filter: &ast::Spanned<ast::Filter<'_>>, item: &Type) -> Field {
        let ty = if let Some(attribute) = keyword(filter, "attribute") {
            self.path(item, &attribute, filter.span()).ty
        } else {
            if let Some(name) = positional(filter, 0)
                && !self.has_filter(&name)
            {
                self.unknown_filter(&name, filter.span());
            }
            Type::Any
        };
        Field::of(Type::List(Box::new(ty)))
    }

    /// The `attribute=` of a filter, checked.
    fn attribute(&mut self, filter: &ast::Spanned<ast::Filter<'_>>, item: &Type) {
        if let Some(attribute) = keyword(filter, "attribute") {
            self.path(item, &attribute, filter.span());
        }
    }

    /// A test given by name.
    fn named_test(&mut self, filter: &ast::Spanned<ast::Filter<'_>>, index: usize) {
        if let Some(name) = positional(filter, index) {
            self.check_test(&name, filter.span());
        }
    }

    /// The field at a dotted path below an item.
    fn path(&mut self, item: &Type, path: &str, span: Span) -> Field {
        let mut field = Field::of(item.clone());
        for name in path.split('.') {
            if name.parse::<usize>().is_ok() {
                return unknown();
            }
            let Type::Record(record) = &field.ty else {
                return match &field.ty {
                    Type::Map(inner) => Field::of((**inner).clone()),
                    _ => unknown(),
                };
            };
            match record.field(name) {
                Some(found) => field = found.clone(),
                None => {
                    self.unknown_field(record, name, span, false);
                    return unknown();
                }
            }
        }
        field
    }
}

/// What iterating over a type gives.
pub(crate) fn item_of(ty: &Type) -> Type {
    match ty {
        Type::List(item) => (**item).clone(),
        // Keys.
        Type::Map(_) | Type::Record(_) => Type::String,
        Type::String => Type::String,
        _ => Type::Any,
    }
}

/// A fixed text given by position.
fn positional(filter: &ast::Filter<'_>, index: usize) -> Option<String> {
    let mut positions = filter.args.iter().filter_map(|a| match a {
        ast::CallArg::Pos(e) => Some(e),
        _ => None,
    });
    positions.nth(index)?.as_const()?.as_str().map(str::to_owned)
}

/// A fixed text given by name.
fn keyword(filter: &ast::Filter<'_>, name: &str) -> Option<String> {
    let found = filter.args.iter().find_map(|a| match a {
        ast::CallArg::Kwarg(key, e) if *key == name => Some(e),
        _ => None,
    });
    found?.as_const()?.as_str().map(str::to_owned)
}
