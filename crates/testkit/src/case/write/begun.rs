//! When each step of a run would have begun, had nothing taken time but models, ops and persons.
//!
//! That is how a case is played: a driver takes some milliseconds to commit what came and to send what follows from it,
//! the simulation takes none. So the time of a step is counted from the answer that it followed from.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_engine::Machine;
use deepgraph_graph::Bundle;
use deepgraph_protocol::{Effect, EntryBody, Millis, Output, ScopePath, StepId};
use deepgraph_trace::Row;

/// The moments in which steps were wanted first.
pub(super) fn begun(bundle: &Arc<Bundle>, rows: &[Row<'_>]) -> BTreeMap<StepId, Millis> {
    let mut machines: BTreeMap<&ScopePath, Machine> = BTreeMap::new();
    let mut begun: BTreeMap<StepId, Millis> = BTreeMap::new();
    let mut ended: BTreeMap<ScopePath, Millis> = BTreeMap::new();
    let mut before = None;
    for row in rows {
        let at = match &row.entry.body {
            // A child starts when it is called, or when another one has made room for it.
            EntryBody::Started(_) => before,
            EntryBody::Dispatched { step, .. } => begun.get(step).copied(),
            EntryBody::ChildEnded { step, .. } => ended.get(&step.scope()).copied(),
            _ => None,
        };
        let at = at.unwrap_or(row.entry.at);
        before = Some(at);
        if let EntryBody::Started(started) = &row.entry.body
            && let Some(graph) = bundle.find(&started.graph)
        {
            let machine = || Machine::new(bundle.clone(), graph, row.scope.clone());
            machines.entry(row.scope).or_insert_with(machine);
        }
        let Some(machine) = machines.get_mut(row.scope) else { continue };
        for output in machine.apply(row.entry) {
            if let Output::Effect(effect) = output
                && let Some(step) = effect.step()
                && !matches!(effect, Effect::Abandon { .. })
            {
                begun.entry(step.clone()).or_insert(at);
            }
        }
        if machine.end().is_some() {
            ended.entry(row.scope.clone()).or_insert(at);
        }
    }
    begun
}

#[cfg(test)]
mod tests {
    use deepgraph_graph::{OpTable, load};
    use deepgraph_protocol::{Entry, SEMANTICS, Started, StepOutput};

    use super::*;
    use crate::says;

    #[test]
    fn a_step_begins_when_what_it_follows_from_came_not_when_it_was_sent() {
        let text = "deepgraph: 1\nname: g\nstate: {a: {type: string, optional: true}}\nstart: one\nnodes:\n  \
                    one: {model: m, prompt: x, next: two}\n  two: {model: m, prompt: y}\n";
        let files = BTreeMap::from([("g.yaml".to_owned(), text.to_owned())]);
        let bundle = Arc::new(load("g.yaml", &files, &OpTable::stock()).unwrap().bundle);
        let started = Started {
            graph: bundle.root().name.clone(),
            attempt: 1,
            semantics: SEMANTICS,
            bundle: bundle.hash.clone(),
            ..Started::default()
        };
        let sent = |step: &str| EntryBody::Dispatched {
            step: StepId::new(step),
            attempt: 1,
            request: None,
            reserve_tokens: 1,
            reserve_micro_usd: None,
            key: None,
            takes_key: false,
            model: None,
            window: None,
            cut: None,
        };
        let output = StepOutput::Model(says("x"));
        let came = EntryBody::Completed {
            step: StepId::new("one.1"),
            attempt: 1,
            output,
            fee: deepgraph_protocol::Fee::NONE,
        };
        let bodies = [(3, EntryBody::Started(started)), (8, sent("one.1")), (20, came), (29, sent("two.1"))];
        let entries = bodies.map(|(at, body)| Entry { at, body });
        let root = ScopePath::root();
        let rows = entries.each_ref().map(|entry| Row { scope: &root, entry });
        let found = begun(&bundle, &rows);
        assert_eq!(found, BTreeMap::from([(StepId::new("one.1"), 3), (StepId::new("two.1"), 20)]));
    }
}
