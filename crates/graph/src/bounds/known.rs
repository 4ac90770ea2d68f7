//! What is known of expressions before anything runs: those that read nothing but the configuration, and channels that
//! nothing writes.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use deepgraph_protocol::{Map, Value};

use crate::{
    Call, Channel, ChannelIx, Context, Each, Field, Graph, Names, Programs, Reducer, ValueExpr, Verb,
};

/// What expressions of an instance are held against.
#[derive(Debug)]
pub(super) struct Known<'b> {
    programs: &'b Programs,
    pub(super) config: Arc<Map>,
    /// Channels that keep one value, which is known.
    fixed: Arc<Map>,
}

/// How many items a list runs over at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Items {
    AtMost(u64),
    /// The bound is read when it runs.
    Unknown,
}

impl<'b> Known<'b> {
    /// Of an instance of a graph with this configuration, of whose input this is known.
    pub(super) fn of(programs: &'b Programs, graph: &Graph, config: Arc<Map>, input: &Map) -> Known<'b> {
        let mut fixed = input.clone();
        for (ix, channel) in fixed_channels(graph) {
            if !graph.input.contains(&ix) {
                fixed.insert(channel.name.clone(), channel.initial.clone());
            }
        }
        Known { programs, config, fixed: Arc::new(fixed) }
    }

    /// What is known of the input that a call gives to a graph: of channels that the graph does not write.
    pub(super) fn input(&self, call: &Call, of: &Graph) -> Map {
        let mut known = Map::new();
        for (_, channel) in fixed_channels(of).filter(|(ix, _)| of.input.contains(ix)) {
            let given = call.input.iter().find(|(name, _)| *name == channel.name).map(|(_, expr)| expr);
            let value = match given {
                Some(expr) => self.value(expr),
                // Arguments may be passed on as they are.
                None if call.rest => None,
                None => Some(Value::Null),
            };
            let fitted = match value {
                None => continue,
                Some(Value::Null) => channel.initial.clone(),
                Some(value) => match channel.field.check(&value) {
                    Ok(fitted) => fitted,
                    // The call fails.
                    Err(_) => continue,
                },
            };
            known.insert(channel.name.clone(), fitted);
        }
        known
    }

    /// The value of an expression; none where it can be another one in another run.
    pub(super) fn value(&self, expr: &ValueExpr) -> Option<Value> {
        if let ValueExpr::Literal(value) = expr {
            return Some(value.clone());
        }
        let asked = Arc::new(AtomicBool::new(false));
        let names = Context::of(OnlyKnown {
            config: self.config.clone(),
            fixed: self.fixed.clone(),
            asked: asked.clone(),
        });
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

/// The channels that nothing writes while an instance runs, and that begin anew with each.
fn fixed_channels(graph: &Graph) -> impl Iterator<Item = (ChannelIx, &Channel)> {
    let written = written(graph);
    let all = graph.channels.iter().enumerate().map(|(i, channel)| (ChannelIx(i), channel));
    all.filter(move |(ix, channel)| {
        let kept = channel.persist.is_some() || channel.reducer != Reducer::Replace;
        !kept && !written.contains(ix)
    })
}

/// The channels that something writes.
fn written(graph: &Graph) -> BTreeSet<ChannelIx> {
    let nodes = graph.nodes.iter().flat_map(|node| [node.next.as_ref(), node.on_error.as_ref()]);
    let tools = graph.tools.iter().flat_map(|tool| [tool.next.as_ref(), tool.on_error.as_ref()]);
    let routes = nodes.chain(tools).flatten().chain([&graph.start]).chain(&graph.finally);
    let by_ways = routes.flat_map(|route| &route.0).flat_map(|way| &way.update);
    let by_nodes = graph.nodes.iter().flat_map(|node| &node.update);
    let by_tools = graph.tools.iter().flat_map(|tool| &tool.update);
    let conversations = graph.nodes.iter().filter_map(|node| match &node.verb {
        Verb::Model(model) => model.messages,
        _ => None,
    });
    by_ways.chain(by_nodes).chain(by_tools).map(|write| write.channel).chain(conversations).collect()
}

/// What is known, and whether anything else was asked for.
#[derive(Debug)]
struct OnlyKnown {
    config: Arc<Map>,
    fixed: Arc<Map>,
    asked: Arc<AtomicBool>,
}

impl Names for OnlyKnown {
    fn lookup(&self, name: &str) -> Option<Value> {
        if name == "config" {
            return Some(Value::Map(self.config.clone()));
        }
        let fixed = self.fixed.get(name).cloned();
        if fixed.is_none() {
            self.asked.store(true, Ordering::Relaxed);
        }
        fixed
    }
}
