//! The state as one node sees it while a super-step is joined.

use deepgraph_graph::ChannelIx;
use deepgraph_protocol::{StepError, Value};

use crate::channel::State;

/// The state as one node sees it, with what it has written.
#[derive(Clone, Debug)]
pub(crate) struct Pen {
    pub(crate) state: State,
    /// What was written, in order; none where nothing has to be joined.
    pub(crate) writes: Option<Vec<(ChannelIx, Value)>>,
    /// A channel whose writes wait until they are released, and those that wait.
    pub(crate) hold: Option<ChannelIx>,
    pub(crate) held: Vec<Value>,
    /// Gains of the writes, in order: channel, new items, items known before.
    pub(crate) gains: Vec<(ChannelIx, u64, u64)>,
}

impl Pen {
    /// Of a node alone: it writes into the state itself.
    pub(crate) fn alone(state: State) -> Pen {
        Pen { state, writes: None, hold: None, held: Vec::new(), gains: Vec::new() }
    }

    /// Of one node among several: what it writes is kept, to be joined with what the others wrote.
    pub(crate) fn beside_others(state: &State) -> Pen {
        Pen { writes: Some(Vec::new()), ..Pen::alone(state.overlaid()) }
    }

    pub(crate) fn into_state(self) -> State {
        self.state
    }

    /// Joins a value into a channel, or holds it back.
    pub(crate) fn write(
        &mut self,
        plan: &deepgraph_graph::Graph,
        channel: ChannelIx,
        value: Value,
    ) -> Result<(), StepError> {
        if self.hold == Some(channel) {
            self.held.push(value);
            return Ok(());
        }
        let known = size(self.state.get(channel));
        if let Some(writes) = &mut self.writes {
            writes.push((channel, value.clone()));
        }
        let new = self.state.write(plan, channel, value)?;
        self.gains.push((channel, new, known));
        Ok(())
    }
}

/// The items of a list, the keys of a map.
fn size(value: &Value) -> u64 {
    match value {
        Value::List(items) => items.len() as u64,
        Value::Map(fields) => fields.len() as u64,
        _ => 0,
    }
}
