//! Expressions.

use std::sync::Arc;

use deepgraph_protocol::Value;
use minijinja::machinery::{Span, ast};

use super::{FUNCTIONS, TESTS, Walker, unknown};
use crate::diagnostic::code;
use crate::nearest::{self, shortened};
use crate::{Field, RecordType, Type};

impl Walker<'_> {
    /// What an expression gives.
    pub(crate) fn expr(&mut self, expr: &ast::Expr<'_>) -> Field {
        match expr {
            ast::Expr::Var(var) => self.root(var.id, var.span()),
            ast::Expr::Const(constant) => self.constant(constant),
            ast::Expr::Slice(slice) => {
                let of = self.expr(&slice.expr);
                self.each([&slice.start, &slice.stop, &slice.step].into_iter().flatten());
                Field::of(of.ty)
            }
            ast::Expr::UnaryOp(op) => {
                let of = self.expr(&op.expr);
                match op.op {
                    ast::UnaryOpKind::Not => Field::of(Type::Boolean),
                    ast::UnaryOpKind::Neg => Field::of(of.ty),
                }
            }
            ast::Expr::BinOp(op) => self.binary(op),
            ast::Expr::Compare(compare) => self.compare(compare),
            ast::Expr::IfExpr(choice) => {
                self.expr(&choice.test_expr);
                let a = self.expr(&choice.true_expr);
                match &choice.false_expr {
                    Some(other) => either(a, self.expr(other)),
                    None => Field::of(a.ty),
                }
            }
            ast::Expr::Filter(filter) => self.filter(filter, None),
            ast::Expr::Test(test) => {
                self.expr(&test.expr);
                self.arguments(&test.args);
                self.check_test(test.name, test.span());
                Field::of(Type::Boolean)
            }
            ast::Expr::GetAttr(attr) => match self.root_attribute(&attr.expr, attr.name, attr.span()) {
                Some(field) => field,
                None => {
                    let of = self.expr(&attr.expr);
                    self.field_of(&of, attr.name, attr.span(), &attr.expr)
                }
            },
            ast::Expr::GetItem(item) => self.item_of(item),
            ast::Expr::Call(call) => self.call(call),
            ast::Expr::List(list) => self.list(list.items.iter()),
            ast::Expr::Tuple(tuple) => self.list(tuple.items.iter()),
            ast::Expr::Map(map) => self.map(map),
        }
    }

    fn constant(&mut self, constant: &ast::Spanned<ast::Const>) -> Field {
        let value = &constant.value;
        if value.is_none() {
            self.error(code::EXPRESSION, constant.span(), "write `null` for nothing");
            return unknown();
        }
        if let Some(text) = value.as_str() {
            return Field { options: vec![Value::from(text)], ..Field::of(Type::String) };
        }
        if matches!(value.kind(), minijinja::value::ValueKind::Bool) {
            return Field::of(Type::Boolean);
        }
        Field::of(if value.is_integer() { Type::Integer } else { Type::Number })
    }

    fn binary(&mut self, op: &ast::BinOp<'_>) -> Field {
        use ast::BinOpKind::*;
        let left = self.expr(&op.left);
        let right = self.expr(&op.right);
        match op.op {
            Eq | Ne => {
                if self.check_kinds(&left, &right, &op.right) {
                    self.check_equal(&left, &right, &op.left, &op.right);
                }
                Field::of(Type::Boolean)
            }
            Lt | Lte | Gt | Gte => {
                self.check_kinds(&left, &right, &op.right);
                Field::of(Type::Boolean)
            }
            In => Field::of(Type::Boolean),
            ScAnd | ScOr => either(left, right),
            Concat => Field::of(Type::String),
            Div | Pow => Field::of(Type::Number),
            Add | Sub | Mul | FloorDiv | Rem => Field::of(arithmetic(&left.ty, &right.ty)),
        }
    }

    fn compare(&mut self, compare: &ast::Compare<'_>) -> Field {
        let mut left = self.expr(&compare.expr);
        let mut left_expr = &compare.expr;
        for op in &compare.ops {
            let right = self.expr(&op.expr);
            let compares = !matches!(op.op, ast::CompareOpKind::In | ast::CompareOpKind::NotIn);
            let is_equality = matches!(op.op, ast::CompareOpKind::Eq | ast::CompareOpKind::Ne);
            if compares && self.check_kinds(&left, &right, &op.expr) && is_equality {
                self.check_equal(&left, &right, left_expr, &op.expr);
            }
            left = right;
            left_expr = &op.expr;
        }
        Field::of(Type::Boolean)
    }

    /// A text compared with a number: such a comparison never holds as it is meant. Whether there is none.
    fn check_kinds(&mut self, left: &Field, right: &Field, right_expr: &ast::Expr<'_>) -> bool {
        let kind = |ty: &Type| match ty {
            Type::String => Some("a text"),
            Type::Integer | Type::Number | Type::Duration => Some("a number"),
            _ => None,
        };
        let (Some(a), Some(b)) = (kind(&left.ty), kind(&right.ty)) else { return true };
        if a != b {
            let message = format!("{a} is compared with {b}");
            self.error(code::MISMATCH, right_expr.span(), message)
                .help("`| int` or `| float` makes a number of a text, `| string` a text of a number");
        }
        a == b
    }

    /// A value with listed options compared with a text that is none of them.
    fn check_equal(&mut self, a: &Field, b: &Field, a_expr: &ast::Expr<'_>, b_expr: &ast::Expr<'_>) {
        let (listed, text, expr) = match (a_expr.as_const(), b_expr.as_const()) {
            (None, Some(text)) => (a, text, b_expr),
            (Some(text), None) => (b, text, a_expr),
            _ => return,
        };
        let Some(text) = text.as_str() else { return };
        if listed.options.is_empty() || listed.options.iter().any(|v| v.as_str() == Some(text)) {
            return;
        }
        let names: Vec<&str> = listed.options.iter().filter_map(Value::as_str).collect();
        let help = nearest::hint(text, names.iter().copied());
        let message = format!("the value is never \"{}\"", shortened(text));
        self.error(code::NEVER_EQUAL, expr.span(), message).hint(help);
    }

    /// The field of a value; an error where it is known to have none of that name.
    pub(crate) fn field_of(&mut self, of: &Field, name: &str, span: Span, expr: &ast::Expr<'_>) -> Field {
        // The place of the name itself is the end of the span.
        let at = Span { start_offset: span.end_offset.saturating_sub(name.len() as u32), ..span };
        match &of.ty {
            Type::Any => unknown(),
            Type::Map(item) => Field::of((**item).clone()),
            Type::Record(record) => match record.field(name) {
                Some(field) => Field { description: "".into(), ..field.clone() },
                None => {
                    self.unknown_field(record, name, at, self.is_whole_result(expr));
                    unknown()
                }
            },
            other => {
                let message = format!("{other} has no fields, so no \"{}\"", shortened(name));
                let help = matches!(other, Type::List(_)).then(|| {
                    format!("for each item: {{% for x in ... %}}, or the filter map(attribute=\"{name}\")")
                });
                self.error(code::UNKNOWN_FIELD, at, message).hint(help);
                unknown()
            }
        }
    }

    /// Whether it is `result` itself.
    fn is_whole_result(&self, expr: &ast::Expr<'_>) -> bool {
        matches!(expr, ast::Expr::Var(v) if v.id == "result" && self.local("result").is_none())
    }

    /// Reports a field that a record has not; `whole`: the record is `result` itself.
    pub(crate) fn unknown_field(&mut self, record: &RecordType, name: &str, at: Span, whole: bool) {
        let names = record.fields.iter().map(|(n, _)| &**n);
        let owner = match &record.name {
            Some(name) => format!("the type \"{name}\""),
            None if whole => "`result`".to_owned(),
            None => "the record".to_owned(),
        };
        let help = if whole && name == "data" {
            Some("`result.data` needs `returns`".to_owned())
        } else {
            nearest::hint(name, names)
        };
        let message = format!("{owner} has no field \"{}\"", shortened(name));
        self.error(code::UNKNOWN_FIELD, at, message).hint(help);
    }

    fn item_of(&mut self, item: &ast::Spanned<ast::GetItem<'_>>) -> Field {
        let key = item.subscript_expr.as_const();
        let name = key.as_ref().and_then(|k| k.as_str()).map(str::to_owned);
        if let Some(name) = &name
            && let Some(field) = self.root_attribute(&item.expr, name, item.span())
        {
            return field;
        }
        let of = self.expr(&item.expr);
        self.expr(&item.subscript_expr);
        match (&of.ty, name) {
            (Type::List(inner) | Type::Map(inner), _) => Field::of((**inner).clone()),
            (Type::String, _) => Field::of(Type::String),
            (Type::Record(record), Some(name)) => match record.field(&name) {
                Some(field) => field.clone(),
                None => {
                    let whole = self.is_whole_result(&item.expr);
                    self.unknown_field(record, &name, item.subscript_expr.span(), whole);
                    unknown()
                }
            },
            _ => unknown(),
        }
    }

    fn call(&mut self, call: &ast::Spanned<ast::Call<'_>>) -> Field {
        self.arguments(&call.args);
        match call.identify_call() {
            ast::CallType::Function("range") => Field::of(Type::List(Box::new(Type::Integer))),
            ast::CallType::Function(name) if FUNCTIONS.contains(&name) || self.local(name).is_some() => {
                unknown()
            }
            ast::CallType::Function(name) => {
                let help = if super::FILTERS.contains(&name) {
                    Some(format!("{name} is a filter: VALUE | {name}"))
                } else {
                    nearest::hint(name, FUNCTIONS)
                };
                let message = format!("unknown function \"{}\"", shortened(name));
                self.error(code::UNKNOWN_FUNCTION, call.span(), message).hint(help);
                unknown()
            }
            ast::CallType::Method(of, name) => {
                let in_loop = matches!(of, ast::Expr::Var(v) if v.id == "loop");
                self.expr(of);
                if !(in_loop && matches!(name, "cycle" | "changed")) {
                    let help =
                        super::FILTERS.contains(&name).then(|| format!("there is a filter: VALUE | {name}"));
                    let message = format!("values have no methods, so no \"{}\"", shortened(name));
                    self.error(code::UNKNOWN_FUNCTION, call.span(), message).hint(help);
                }
                unknown()
            }
            ast::CallType::Object(of) => {
                self.expr(of);
                self.error(code::UNKNOWN_FUNCTION, call.span(), "this is no function");
                unknown()
            }
        }
    }

    pub(crate) fn arguments(&mut self, args: &[ast::CallArg<'_>]) {
        for arg in args {
            match arg {
                ast::CallArg::Pos(e)
                | ast::CallArg::Kwarg(_, e)
                | ast::CallArg::PosSplat(e)
                | ast::CallArg::KwargSplat(e) => {
                    self.expr(e);
                }
            }
        }
    }

    fn list<'e>(&mut self, items: impl Iterator<Item = &'e ast::Expr<'e>>) -> Field {
        let types: Vec<Type> = items.map(|e| self.expr(e).ty).collect();
        let same = types.first().filter(|first| types.iter().all(|t| t == *first)).cloned();
        Field::of(Type::List(Box::new(same.unwrap_or(Type::Any))))
    }

    fn map(&mut self, map: &ast::Map<'_>) -> Field {
        let mut fields: Option<Vec<(Arc<str>, Field)>> = Some(Vec::new());
        for (key, value) in map.keys.iter().zip(&map.values) {
            self.expr(key);
            let value = self.expr(value);
            let name = key.as_const().and_then(|k| k.as_str().map(Arc::from));
            match (name, &mut fields) {
                (Some(name), Some(list)) => list.push((name, value)),
                _ => fields = None,
            }
        }
        match fields {
            Some(fields) if !fields.is_empty() => {
                Field::of(Type::Record(Arc::new(RecordType { name: None, fields, open: false })))
            }
            _ => Field::of(Type::Map(Box::new(Type::Any))),
        }
    }

    pub(crate) fn check_test(&mut self, name: &str, span: Span) {
        let sign = matches!(name, "==" | "!=" | "<" | "<=" | ">" | ">=");
        if !sign && !TESTS.contains(&name) {
            let help = nearest::hint(name, TESTS);
            self.error(code::UNKNOWN_TEST, span, format!("unknown test \"{}\"", shortened(name))).hint(help);
        }
    }
}

/// One of two values.
pub(crate) fn either(a: Field, b: Field) -> Field {
    if a.ty == b.ty {
        let mut options = a.options;
        if options.is_empty() || b.options.is_empty() {
            return Field::of(a.ty);
        }
        options.extend(b.options);
        return Field { options, ..Field::of(a.ty) };
    }
    unknown()
}

fn arithmetic(a: &Type, b: &Type) -> Type {
    match (a, b) {
        (Type::Integer, Type::Integer) => Type::Integer,
        (Type::String, Type::String) => Type::String,
        (Type::List(_), Type::List(_)) if a == b => a.clone(),
        (Type::Integer | Type::Number | Type::Duration, Type::Integer | Type::Number | Type::Duration) => {
            Type::Number
        }
        _ => Type::Any,
    }
}
