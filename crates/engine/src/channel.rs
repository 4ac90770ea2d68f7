//! State: typed channels, and how writes are joined with what is there.

use std::sync::Arc;

use deepgraph_graph::{Channel, ChannelIx, Graph, Reducer};
use deepgraph_protocol::ErrorKind::Graph as GraphKind;
use deepgraph_protocol::{Message, StepError, Value};

/// The values of all channels, by index. Shared: a clone copies a pointer, whatever the number of channels.
#[derive(Clone, Debug, Default)]
pub(crate) struct State(Arc<Vec<Value>>);

impl State {
    /// Every channel at its initial value.
    pub(crate) fn initial(graph: &Graph) -> State {
        State(Arc::new(graph.channels.iter().map(|c| c.initial.clone()).collect()))
    }

    /// The value of a channel.
    pub(crate) fn get(&self, channel: ChannelIx) -> &Value {
        &self.0[channel.0]
    }

    /// Sets a channel, whatever its reducer.
    pub(crate) fn set(&mut self, channel: ChannelIx, value: Value) {
        Arc::make_mut(&mut self.0)[channel.0] = value;
    }

    /// Joins a write with what the channel holds. Gives how many items were new, for lists.
    pub(crate) fn write(
        &mut self,
        graph: &Graph,
        channel: ChannelIx,
        value: Value,
    ) -> Result<u64, StepError> {
        let declared = &graph.channels[channel.0];
        let slot = &mut Arc::make_mut(&mut self.0)[channel.0];
        reduce(declared, slot, value).map_err(|why| {
            StepError::new(GraphKind, format!("channel `{}` of graph `{}`: {why}", declared.name, graph.name))
        })
    }
}

/// The state as one node reads it: with what it wrote itself in a super-step that it shares with others. Those
/// writes are joined when they are read, so that a node that only adds to a long list copies nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct View {
    state: State,
    own: Option<Arc<Vec<(ChannelIx, Value)>>>,
}

impl View {
    /// The state as it is.
    pub(crate) fn of(state: &State) -> View {
        View { state: state.clone(), own: None }
    }

    /// The state with own writes over it.
    pub(crate) fn with_writes(state: &State, own: &Arc<Vec<(ChannelIx, Value)>>) -> View {
        View { state: state.clone(), own: Some(own.clone()) }
    }

    /// The value of a channel. A write that does not fit is told where the writes of all nodes are joined.
    pub(crate) fn get(&self, graph: &Graph, channel: ChannelIx) -> Value {
        let mut value = self.state.get(channel).clone();
        for (_, written) in self.own.iter().flat_map(|own| own.iter()).filter(|(c, _)| *c == channel) {
            let _ = reduce(&graph.channels[channel.0], &mut value, written.clone());
        }
        value
    }
}

/// Joins `value` into `slot`.
fn reduce(channel: &Channel, slot: &mut Value, value: Value) -> Result<u64, String> {
    match channel.reducer {
        Reducer::Replace => {
            let fitted = if value.is_null() {
                value
            } else {
                channel.field.check(&value).map_err(|e| format!("the value written does not fit: {e}"))?
            };
            *slot = fitted;
            Ok(1)
        }
        Reducer::Append => append(channel, slot, value),
        Reducer::Union => union(channel, slot, value),
        Reducer::Messages => messages(slot, value),
        Reducer::Merge => merge(channel, slot, value),
        Reducer::Sum => number(slot, value, |a, b| a + b, i64::saturating_add),
        Reducer::Max => number(slot, value, f64::max, i64::max),
    }
}

/// A list as it is, null as nothing, anything else as one item.
fn items_of(channel: &Channel, value: Value) -> Result<Vec<Value>, String> {
    let items = match value {
        Value::Null => Vec::new(),
        Value::List(items) => items.to_vec(),
        one => vec![one],
    };
    let fitted =
        channel.field.check(&Value::from(items)).map_err(|e| format!("the items written do not fit: {e}"))?;
    Ok(fitted.as_list().map(<[Value]>::to_vec).unwrap_or_default())
}

fn list_of(slot: &mut Value) -> &mut Vec<Value> {
    if !matches!(slot, Value::List(_)) {
        *slot = Value::empty_list();
    }
    match slot {
        Value::List(items) => Arc::make_mut(items),
        _ => unreachable!("the slot was made a list"),
    }
}

fn append(channel: &Channel, slot: &mut Value, value: Value) -> Result<u64, String> {
    let items = items_of(channel, value)?;
    let new = items.len() as u64;
    list_of(slot).extend(items);
    Ok(new)
}

/// What makes two items of a union the same: a record's `key` or `id`, else its whole value.
fn identity(item: &Value) -> Value {
    item.get("key").or_else(|| item.get("id")).unwrap_or(item).clone()
}

fn union(channel: &Channel, slot: &mut Value, value: Value) -> Result<u64, String> {
    let items = items_of(channel, value)?;
    let list = list_of(slot);
    let mut known: std::collections::BTreeSet<String> =
        list.iter().map(|i| identity(i).to_json_text()).collect();
    let before = list.len();
    for item in items {
        if known.insert(identity(&item).to_json_text()) {
            list.push(item);
        }
    }
    Ok((list.len() - before) as u64)
}

fn messages(slot: &mut Value, value: Value) -> Result<u64, String> {
    let written = match value {
        Value::Null => Vec::new(),
        Value::List(items) => items.to_vec(),
        one => vec![one],
    };
    let list = list_of(slot);
    let mut new = 0;
    for item in written {
        let message = Message::from_value(&item)?;
        let value = message.to_value();
        let same = message.id.as_ref().and_then(|id| list.iter().position(|m| m.text("id") == &**id));
        match same {
            Some(at) => list[at] = value,
            None => {
                list.push(value);
                new += 1;
            }
        }
    }
    Ok(new)
}

fn merge(channel: &Channel, slot: &mut Value, value: Value) -> Result<u64, String> {
    if value.is_null() {
        return Ok(0);
    }
    let fitted = channel.field.check(&value).map_err(|e| format!("the value written does not fit: {e}"))?;
    let Value::Map(fields) = fitted else {
        return Err(format!("`merge` wants a map, got a {}", value.kind()));
    };
    if !matches!(slot, Value::Map(_)) {
        *slot = Value::empty_map();
    }
    let Value::Map(known) = slot else { unreachable!("the slot was made a map") };
    let known = Arc::make_mut(known);
    let before = known.len();
    known.extend(fields.iter().map(|(k, v)| (k.clone(), v.clone())));
    Ok((known.len() - before) as u64)
}

fn number(
    slot: &mut Value,
    value: Value,
    float: impl Fn(f64, f64) -> f64,
    int: impl Fn(i64, i64) -> i64,
) -> Result<u64, String> {
    *slot = match (&*slot, &value) {
        (_, Value::Null) => return Ok(0),
        (Value::Null, Value::Int(_) | Value::Float(_)) => value,
        (Value::Int(a), Value::Int(b)) => Value::Int(int(*a, *b)),
        (a, b) => match (a.as_float(), b.as_float()) {
            (Some(a), Some(b)) => Value::from(float(a, b)),
            _ => return Err(format!("wants a number, got a {}", value.kind())),
        },
    };
    Ok(1)
}
