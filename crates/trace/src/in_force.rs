//! What a Machine has in force: its limits, in the units of the graph file.

use deepgraph_engine::{LimitView, Machine};
use deepgraph_graph::{Counted, Limit, Reserve};
use deepgraph_protocol::{EntryBody, Meter, StepId};

use crate::tree::LimitInForce;

/// The limits of an instance that has started: the declared ones, then those that follow from its grant.
pub(crate) fn limits(machine: &Machine) -> Vec<LimitInForce> {
    let declared = &machine.plan().limits;
    let of = |view: LimitView| {
        let limit = declared.iter().find(|limit| limit.name == view.name);
        let max = view.max.as_float();
        LimitInForce { meter: meter(limit, &view.name), max, kept: kept(limit, max), name: view.name }
    };
    machine.limits().into_iter().map(of).collect()
}

/// What a limit measures. The Machine names a limit that follows from a grant `grant.METER`.
fn meter(limit: Option<&Limit>, name: &str) -> Option<Meter> {
    match limit.map(|limit| &limit.counted) {
        Some(Counted::Meter(meter)) => Some(*meter),
        Some(Counted::Names { .. } | Counted::Gain { .. }) => None,
        None => name.strip_prefix("grant.").and_then(Meter::parse),
    }
}

/// What a declared limit keeps for the `finally` stage.
fn kept(limit: Option<&Limit>, max: Option<f64>) -> f64 {
    match (limit.map(|limit| &limit.reserve), max) {
        (Some(Reserve::Share(share)), Some(max)) => max * share,
        (Some(Reserve::Units(units)), Some(max)) => units.min(max),
        (None, _) | (_, None) => 0.0,
    }
}

/// The step that an entry is about; none for the instance as a whole.
pub(crate) fn step_of(entry: &EntryBody) -> Option<&StepId> {
    match entry {
        EntryBody::Dispatched { step, .. }
        | EntryBody::AttemptFailed { step, .. }
        | EntryBody::Completed { step, .. }
        | EntryBody::Failed { step, .. }
        | EntryBody::ChildEnded { step, .. }
        | EntryBody::Answered { step, .. } => Some(step),
        EntryBody::Started(_)
        | EntryBody::TimerFired { .. }
        | EntryBody::StateEdited { .. }
        | EntryBody::CancelRequested { .. } => None,
    }
}
