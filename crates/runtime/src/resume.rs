//! Machines from journals.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_engine::Machine;
use deepgraph_graph::{Bundle, GraphIx};
use deepgraph_protocol::{EntryBody, Output, ScopePath};
use deepgraph_store::Stored;

use crate::progress::Told;

/// A Machine with the length of its journal.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) machine: Machine,
    pub(crate) position: u64,
}

/// Folds the journals of a run: the Machines as they stood when it was left, and every event on the way.
///
/// # Errors
///
/// The name of a graph that the bundle does not have.
pub fn fold(
    bundle: &Arc<Bundle>,
    rows: &[Stored],
    mut tell: impl FnMut(Told),
) -> Result<BTreeMap<ScopePath, Machine>, String> {
    let machines = fold_live(bundle, rows, &mut tell)?;
    Ok(machines.into_iter().map(|(scope, live)| (scope, live.machine)).collect())
}

pub(crate) fn fold_live(
    bundle: &Arc<Bundle>,
    rows: &[Stored],
    tell: &mut dyn FnMut(Told),
) -> Result<BTreeMap<ScopePath, Live>, String> {
    let mut machines: BTreeMap<ScopePath, Live> = BTreeMap::new();
    for row in rows {
        if let EntryBody::Started(started) = &row.entry.body {
            let graph: GraphIx = bundle.find(&started.graph).ok_or_else(|| started.graph.to_string())?;
            let machine = Machine::new(bundle.clone(), graph, row.scope.clone());
            machines.entry(row.scope.clone()).or_insert(Live { machine, position: 0 });
        }
        // Entries before `Started` belong to no instance: there are none in a journal that we wrote.
        let Some(live) = machines.get_mut(&row.scope) else { continue };
        live.position = row.position + 1;
        for output in live.machine.apply(&row.entry) {
            if let Output::Event(event) = output {
                tell(Told { seq: row.seq, at: row.entry.at, replayed: true, event });
            }
        }
    }
    Ok(machines)
}
