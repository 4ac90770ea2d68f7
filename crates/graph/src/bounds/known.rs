//! What is known of expressions before anything runs: those that read nothing but the configuration.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use deepgraph_protocol::{Map, Value};

use crate::{Context, Each, Field, Graph, Names, Programs, Reducer, ValueExpr};

/// A configuration that expressions are held against.
#[derive(Debug)]
pub(super) struct Known<'b> {
    programs: &'b Programs,
    pub(super) config: Arc<Map>,
}

/// How many items a list runs over at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Items {
    AtMost(u64),
    /// The bound is read when it runs.
    Unknown,
}

impl<'b> Known<'b> {
    pub(super) fn of(programs: &'b Programs, config: Arc<Map>) -> Known<'b> {
        Known { programs, config }
    }

    /// The value of an expression; none where it can be another one in another run.
    pub(super) fn value(&self, expr: &ValueExpr) -> Option<Value> {
        if let ValueExpr::Literal(value) = expr {
            return Some(value.clone());
        }
        let asked = Arc::new(AtomicBool::new(false));
        let names = Context::of(OnlyConfig { config: self.config.clone(), asked: asked.clone() });
        let value = self.programs.value(expr, &names).ok()?;
        (!asked.load(Ordering::Relaxed)).then_some(value)
    }

    /// Whether a condition holds; none where it may or may not.
    pub(super) fn holds(&self, condition: Option<&ValueExpr>) -> Option<bool> {
        match condition {
            None => Some(true),
            Some(condition) => self.value(condition).map(|value| value.is_true()),
        }
    }

    /// How many items a node runs over at most.
    pub(super) fn items(&self, graph: &Graph, each: &Each) -> Items {
        let bound = match self.value(&each.max_items) {
            // What is no number of items fails, and nothing is run.
            Some(value) => Some(value.as_int().and_then(|n| u64::try_from(n).ok()).unwrap_or(0)),
            None => channel(graph, &each.max_items).and_then(largest),
        };
        let length = match (self.value(&each.list), &each.list) {
            (Some(value), _) => Some(value.as_list().map_or(0, |items| items.len() as u64)),
            (None, ValueExpr::List(items)) => Some(items.len() as u64),
            (None, list) => channel(graph, list).and_then(|field| field.max_items),
        };
        match bound.into_iter().chain(length).min() {
            Some(most) => Items::AtMost(most),
            None => Items::Unknown,
        }
    }
}

/// The declaration of a channel that an expression is nothing but the name of, where every write is held against it.
fn channel<'g>(graph: &'g Graph, expr: &ValueExpr) -> Option<&'g Field> {
    let ValueExpr::Expr(expr) = expr else { return None };
    let declared = graph.channel(expr.source.trim()).and_then(|ix| graph.channels.get(ix.0))?;
    (declared.reducer == Reducer::Replace).then_some(&declared.field)
}

/// The largest number that a field takes.
fn largest(field: &Field) -> Option<u64> {
    let whole = |n: f64| if n < 0.0 { 0 } else { n.floor() as u64 };
    let options = field.options.iter().filter_map(Value::as_float).map(whole).max();
    field.maximum.map(whole).into_iter().chain(options).min()
}

/// The configuration, and whether anything else was asked for.
#[derive(Debug)]
struct OnlyConfig {
    config: Arc<Map>,
    asked: Arc<AtomicBool>,
}

impl Names for OnlyConfig {
    fn lookup(&self, name: &str) -> Option<Value> {
        if name == "config" {
            return Some(Value::Map(self.config.clone()));
        }
        self.asked.store(true, Ordering::Relaxed);
        None
    }
}
