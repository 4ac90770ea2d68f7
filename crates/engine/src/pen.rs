//! What one node writes while a super-step is joined, and the state as it sees it.

use std::sync::Arc;

use deepgraph_graph::ChannelIx;
use deepgraph_protocol::{StepError, Value};

use crate::channel::{State, View};

/// The state as one node sees it, with what it has written.
#[derive(Clone, Debug)]
pub(crate) struct Pen {
    mode: Mode,
    /// A channel whose writes wait until they are released, and those that wait.
    pub(crate) hold: Option<ChannelIx>,
    pub(crate) held: Vec<Value>,
    /// Gains of the writes, in order: channel, new items, items known before.
    pub(crate) gains: Vec<(ChannelIx, u64, u64)>,
}

/// How a node writes.
#[derive(Clone, Debug)]
enum Mode {
    /// Alone in its super-step: into the state itself.
    Alone(State),
    /// Beside others: what it writes is kept, in order, to be joined with what the others write.
    BesideOthers(State, Arc<Vec<(ChannelIx, Value)>>),
}

impl Pen {
    /// Of a node alone.
    pub(crate) fn alone(state: State) -> Pen {
        Pen { mode: Mode::Alone(state), hold: None, held: Vec::new(), gains: Vec::new() }
    }

    /// Of one node among several.
    pub(crate) fn beside_others(state: &State) -> Pen {
        Pen { mode: Mode::BesideOthers(state.clone(), Arc::default()), ..Pen::alone(State::default()) }
    }

    /// The state as the node sees it.
    pub(crate) fn view(&self) -> View {
        match &self.mode {
            Mode::Alone(state) => View::of(state),
            Mode::BesideOthers(state, own) => View::with_writes(state, own),
        }
    }

    /// What was written beside others, in order.
    pub(crate) fn into_writes(self) -> Vec<(ChannelIx, Value)> {
        match self.mode {
            Mode::Alone(_) => Vec::new(),
            Mode::BesideOthers(state, own) => {
                drop(state);
                Arc::unwrap_or_clone(own)
            }
        }
    }

    /// The state that was written into.
    pub(crate) fn into_state(self) -> State {
        match self.mode {
            Mode::Alone(state) | Mode::BesideOthers(state, _) => state,
        }
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
        match &mut self.mode {
            Mode::Alone(state) => {
                let known = size(state.get(channel));
                let new = state.write(plan, channel, value)?;
                self.gains.push((channel, new, known));
            }
            Mode::BesideOthers(_, own) => Arc::make_mut(own).push((channel, value)),
        }
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
