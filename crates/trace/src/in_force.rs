//! What a Machine has in force: its limits, in the units of the graph file.

use deepgraph_engine::{LimitView, Machine};

use crate::tree::LimitInForce;

/// The limits of an instance that has started: the declared ones, then those that follow from its grant.
pub(crate) fn limits(machine: &Machine) -> Vec<LimitInForce> {
    let of = |view: LimitView| LimitInForce {
        name: view.name,
        meter: view.meter,
        max: view.max.as_float(),
        kept: view.kept.as_float().unwrap_or(0.0),
    };
    machine.limits().into_iter().map(of).collect()
}
