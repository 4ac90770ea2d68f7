//! What an instance hands up when it ends: its output, what is kept between runs, what was found, what was counted.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_graph::{ChannelIx, Reducer, Type};
use deepgraph_protocol::{Map, Value};

use crate::limits::Counts;
use crate::machine::Machine;

impl Machine {
    /// What its exit counts: of this instance alone.
    pub(crate) fn exit_counters(&self) -> BTreeMap<Arc<str>, u64> {
        let mut counters: BTreeMap<Arc<str>, u64> = [
            ("turns".into(), self.counters.turns),
            ("super_steps".into(), self.counters.super_steps),
            ("steps".into(), self.counters.steps),
        ]
        .into();
        for limit in &self.limits {
            if let Counts::Names { .. } = limit.counts {
                counters.insert(limit.name.clone(), limit.count);
            }
        }
        counters
    }

    /// What is handed up. A channel that adds up and was input as well hands up what was added.
    pub(crate) fn output(&self) -> Map {
        let plan = self.plan();
        let mut output = Map::new();
        for ix in &plan.output {
            let channel = &plan.channels[ix.0];
            let value = self.state.get(*ix).clone();
            let given = self.given.get(&channel.name);
            let value = match (channel.reducer, given, &value) {
                (Reducer::Append | Reducer::Messages, Some(Value::List(before)), Value::List(now)) => {
                    now.iter().skip(before.len()).cloned().collect()
                }
                (Reducer::Sum, Some(Value::Int(before)), Value::Int(now)) => {
                    Value::Int(now.saturating_sub(*before))
                }
                (Reducer::Sum, Some(before), now) => match (before.as_float(), now.as_float()) {
                    (Some(before), Some(now)) => Value::from(now - before),
                    _ => value,
                },
                _ => value,
            };
            output.insert(channel.name.clone(), value);
        }
        output
    }

    /// What is kept between runs. Children keep nothing: two of them would race for the same place.
    pub(crate) fn persisted(&self) -> Map {
        if !self.scope.is_root() {
            return Map::new();
        }
        let channels = self.plan().channels.iter().enumerate().filter(|(_, c)| c.persist.is_some());
        channels.map(|(i, c)| (c.name.clone(), self.state.get(ChannelIx(i)).clone())).collect()
    }

    /// What was found: the findings of all handoffs, else the number of facts; none where the graph has
    /// channels for neither.
    pub(crate) fn findings(&self) -> Option<u64> {
        let channels = || self.plan().channels.iter().zip(0..);
        let values_of = |name: &str| {
            channels()
                .filter(|(c, _)| record_name(&c.field.ty) == Some(name))
                .map(|(_, i)| self.state.get(ChannelIx(i)))
                .collect::<Vec<_>>()
        };
        let handoffs = values_of("handoff");
        let facts = values_of("fact");
        if handoffs.is_empty() && facts.is_empty() {
            return None;
        }
        let found = |handoff: &Value| handoff.get("findings").and_then(Value::as_int).unwrap_or(0);
        let of = |value: &Value| match value {
            Value::List(items) => items.iter().map(found).sum(),
            one => found(one),
        };
        if handoffs.iter().any(|v| v.is_true()) || facts.is_empty() {
            let sum: i64 = handoffs.into_iter().map(of).sum();
            return Some(u64::try_from(sum).unwrap_or(0));
        }
        Some(facts.iter().map(|v| v.as_list().map_or(0, <[Value]>::len) as u64).sum())
    }
}

/// The name of the record type that a channel holds, alone or in a list.
fn record_name(ty: &Type) -> Option<&str> {
    match ty {
        Type::Record(record) => record.name.as_deref(),
        Type::List(item) => record_name(item),
        _ => None,
    }
}
