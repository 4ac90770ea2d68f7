//! Values with expressions in them.

use std::sync::Arc;

use deepgraph_protocol::Value;

use super::{Expr, Text, Wants};

/// A value with expressions in it.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueExpr {
    /// A bare expression.
    Expr(Expr),
    /// A template: gives text.
    Text(Text),
    /// A fixed value.
    Literal(Value),
    /// A list of such values.
    List(Vec<ValueExpr>),
    /// A record of such values.
    Record(Vec<(Arc<str>, ValueExpr)>),
}

impl ValueExpr {
    /// What it may read.
    pub fn wants(&self) -> Wants {
        match self {
            ValueExpr::Expr(expr) => expr.wants,
            ValueExpr::Text(text) => text.wants,
            ValueExpr::Literal(_) => Wants::default(),
            ValueExpr::List(items) => items.iter().fold(Wants::default(), |w, i| w.with(i.wants())),
            ValueExpr::Record(fields) => fields.iter().fold(Wants::default(), |w, (_, v)| w.with(v.wants())),
        }
    }

    /// As its file has it; `...` for a list or record.
    pub fn as_written(&self) -> Arc<str> {
        match self {
            ValueExpr::Expr(expr) => expr.source.clone(),
            ValueExpr::Text(text) => text.source.clone(),
            ValueExpr::Literal(value) => value.to_json_text().into(),
            ValueExpr::List(_) | ValueExpr::Record(_) => "...".into(),
        }
    }
}
