//! Templates: the names that they bind, and the expressions in them.

use std::collections::BTreeMap;

use minijinja::machinery::ast;

use super::expr::either;
use super::filters::item_of;
use super::roots::record;
use super::{Walker, unknown};
use crate::{Field, Type};

impl Walker<'_> {
    /// Walks a template.
    pub(crate) fn template(&mut self, stmt: &ast::Stmt<'_>) {
        self.locals.push(BTreeMap::new());
        self.stmt(stmt);
        self.locals.pop();
    }

    fn body(&mut self, stmts: &[ast::Stmt<'_>]) {
        for stmt in stmts {
            self.stmt(stmt);
        }
    }

    /// Two bodies of which one is taken. Both bind names of the frame around them: behind them a name holds what either
    /// gave it.
    fn branches(&mut self, one: &[ast::Stmt<'_>], other: &[ast::Stmt<'_>]) {
        let before = self.locals.last().cloned().unwrap_or_default();
        self.body(one);
        let Some(frame) = self.locals.last_mut() else { return };
        let mut of_one = std::mem::replace(frame, before);
        self.body(other);
        let Some(frame) = self.locals.last_mut() else { return };
        for (name, field) in frame.iter_mut() {
            // What only one of them bound may be anything, or nothing.
            *field = of_one.remove(name).map_or_else(unknown, |first| either(first, field.clone()));
        }
        frame.extend(of_one.into_keys().map(|name| (name, unknown())));
    }

    /// A body whose names end with it.
    fn scoped(&mut self, stmts: &[ast::Stmt<'_>]) {
        self.locals.push(BTreeMap::new());
        self.body(stmts);
        self.locals.pop();
    }

    fn stmt(&mut self, stmt: &ast::Stmt<'_>) {
        match stmt {
            ast::Stmt::Template(template) => self.body(&template.children),
            ast::Stmt::EmitExpr(emit) => {
                self.expr(&emit.expr);
            }
            ast::Stmt::EmitRaw(_) => {}
            ast::Stmt::ForLoop(each) => self.for_loop(each),
            ast::Stmt::IfCond(cond) => {
                self.expr(&cond.expr);
                self.branches(&cond.true_body, &cond.false_body);
            }
            ast::Stmt::WithBlock(with) => {
                self.locals.push(BTreeMap::new());
                for (target, value) in &with.assignments {
                    let field = self.expr(value);
                    self.assign(target, field);
                }
                self.body(&with.body);
                self.locals.pop();
            }
            ast::Stmt::Set(set) => {
                let field = self.expr(&set.expr);
                self.assign(&set.target, field);
            }
            ast::Stmt::SetBlock(set) => {
                self.scoped(&set.body);
                if let Some(ast::Expr::Filter(filter)) = &set.filter {
                    self.filter(filter, Some(Field::of(Type::String)));
                }
                self.assign(&set.target, Field::of(Type::String));
            }
            ast::Stmt::AutoEscape(block) => {
                self.expr(&block.enabled);
                self.body(&block.body);
            }
            ast::Stmt::FilterBlock(block) => {
                self.scoped(&block.body);
                if let ast::Expr::Filter(filter) = &block.filter {
                    self.filter(filter, Some(Field::of(Type::String)));
                }
            }
            ast::Stmt::Do(call) => {
                self.arguments(&call.call.args);
            }
        }
    }

    fn for_loop(&mut self, each: &ast::ForLoop<'_>) {
        let over = self.expr(&each.iter);
        self.locals.push(BTreeMap::new());
        match (&each.target, pairs(&each.iter)) {
            (ast::Expr::List(_) | ast::Expr::Tuple(_), true) => self.bind_pair(&each.target, &each.iter),
            (target, _) => self.assign(target, Field::of(item_of(&over.ty))),
        }
        self.bind("loop", loop_fields());
        if let Some(filter) = &each.filter_expr {
            self.expr(filter);
        }
        self.body(&each.body);
        self.locals.pop();
        self.scoped(&each.else_body);
    }

    /// `for key, value in MAP | items`.
    fn bind_pair(&mut self, target: &ast::Expr<'_>, iter: &ast::Expr<'_>) {
        let value = match iter {
            ast::Expr::Filter(filter) => match &filter.expr {
                Some(of) => self.quietly(of),
                None => unknown(),
            },
            _ => unknown(),
        };
        let items = match target {
            ast::Expr::List(list) => &list.items,
            ast::Expr::Tuple(tuple) => &tuple.items,
            _ => return,
        };
        let inner = match value.ty {
            Type::Map(inner) => Field::of(*inner),
            _ => unknown(),
        };
        for (item, field) in items.iter().zip([Field::of(Type::String), inner]) {
            self.assign(item, field);
        }
    }

    /// What an expression gives, without telling its mistakes a second time.
    fn quietly(&mut self, expr: &ast::Expr<'_>) -> Field {
        let mut quiet = crate::diagnostic::Sink::default();
        let mut walker = Walker {
            scope: self.scope,
            out: &mut quiet,
            origin: self.origin,
            locals: self.locals.clone(),
            reads: Default::default(),
        };
        walker.expr(expr)
    }

    fn assign(&mut self, target: &ast::Expr<'_>, field: Field) {
        match target {
            ast::Expr::Var(var) => self.bind(var.id, Field::of(field.ty)),
            ast::Expr::List(list) => list.items.iter().for_each(|item| self.assign(item, unknown())),
            ast::Expr::Tuple(tuple) => tuple.items.iter().for_each(|item| self.assign(item, unknown())),
            // An attribute of a namespace.
            _ => {}
        }
    }
}

/// Whether an expression gives pairs of key and value.
fn pairs(iter: &ast::Expr<'_>) -> bool {
    matches!(iter, ast::Expr::Filter(filter) if matches!(filter.name, "items" | "dictsort"))
}

/// What `loop` has.
fn loop_fields() -> Field {
    let whole = ["index", "index0", "revindex", "revindex0", "length", "depth", "depth0"];
    let mut fields: Vec<(&str, Type)> = whole.into_iter().map(|n| (n, Type::Integer)).collect();
    fields.extend([("first", Type::Boolean), ("last", Type::Boolean)]);
    fields.extend([("previtem", Type::Any), ("nextitem", Type::Any)]);
    record(&fields)
}
