//! What of a run may depend on the order in which things came back, or on crashes: limits on the clock, and limits on
//! what calls are charged where a call may have been lost.

use std::collections::BTreeMap;

use deepgraph_graph::{Bundle, Counted};
use deepgraph_protocol::{EntryBody, Event, Meter, ScopePath};

use crate::SimRun;

/// Whether a meter is a clock.
pub(crate) fn is_clock(meter: Meter) -> bool {
    meter.is_clock()
}

/// Whether a meter depends on what calls are charged, or is a clock: a lost call stays charged.
pub(crate) fn is_charged(meter: Meter) -> bool {
    is_clock(meter) || matches!(meter, Meter::Tokens | Meter::CostUsd | Meter::ModelCalls)
}

/// Whether a limit on one of these meters was reached in a run, or ended an instance of it.
pub(crate) fn fired(bundle: &Bundle, run: &SimRun, of: fn(Meter) -> bool) -> bool {
    let graphs: BTreeMap<&ScopePath, &str> = run
        .rows
        .iter()
        .filter_map(|(scope, entry)| match &entry.body {
            EntryBody::Started(started) => Some((scope, &*started.graph)),
            _ => None,
        })
        .collect();
    let of_exit = |exit: &deepgraph_protocol::Exit| {
        let limit = exit.limit.as_ref()?;
        Some((exit.scope.clone(), limit.name.clone()))
    };
    let ends = run.rows.iter().filter_map(|(_, entry)| match &entry.body {
        EntryBody::ChildEnded { end, .. } => Some(end),
        _ => None,
    });
    let of_ends = ends.flat_map(|end| std::iter::once(&end.exit).chain(&end.children)).filter_map(of_exit);
    let of_events = run.events.iter().filter_map(|event| match event {
        Event::LimitReached { scope, limit, .. } | Event::LimitWarned { scope, limit, .. } => {
            Some((scope.clone(), limit.clone()))
        }
        _ => None,
    });
    of_events.chain(of_ends).any(|(scope, limit)| {
        if let Some(meter) = limit.strip_prefix("grant.") {
            return Meter::parse(meter).is_some_and(of);
        }
        let graph = graphs.get(&scope).and_then(|path| bundle.find(path));
        let declared = graph.and_then(|ix| bundle.graph(ix).limits.iter().find(|l| l.name == limit));
        matches!(declared.map(|l| &l.counted), Some(Counted::Meter(meter)) if of(*meter))
    })
}
