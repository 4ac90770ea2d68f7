//! When each step of a run would have begun, had nothing taken time but models, ops and persons.
//!
//! That is how a case is played: a driver takes some milliseconds to commit what came and to send what follows from it,
//! the simulation takes none. So the time of a step is counted from the answer that it followed from. What waits before it
//! is sent, for its back-off or for the limiter of its provider's account, waits in a case as well: that is no active time.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_engine::Machine;
use deepgraph_graph::Bundle;
use deepgraph_protocol::{Effect, EntryBody, Millis, Output, ScopePath, StepId};
use deepgraph_trace::Row;

/// When an attempt began, and how long it waited before it was sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Begun {
    /// When it was wanted first.
    pub(super) at: Millis,
    /// The wait before it that a case has by itself, in milliseconds.
    pub(super) delay: u64,
    /// Whether it was held: told to wait until it may be sent.
    held: bool,
    /// When it was sent, if it was held before.
    let_go: Option<Millis>,
}

impl Begun {
    /// How long it was held beyond its delay, in milliseconds. What was never let go was held until behind this moment.
    pub(super) fn held(&self, end: Millis) -> u64 {
        let waited = self.let_go.unwrap_or(end).saturating_sub(self.due());
        if self.held { u64::try_from(waited).unwrap_or(0) } else { 0 }
    }

    /// When its delay was over.
    fn due(&self) -> Millis {
        self.at.saturating_add_unsigned(self.delay)
    }

    /// When it was sent, had nothing else taken time.
    pub(super) fn sent(&self) -> Millis {
        self.let_go.unwrap_or(self.due())
    }
}

/// When each attempt began. What has none is its step's first.
pub(super) fn begun(bundle: &Arc<Bundle>, rows: &[Row<'_>]) -> BTreeMap<(StepId, u32), Begun> {
    let mut machines: BTreeMap<&ScopePath, Machine> = BTreeMap::new();
    let mut begun: BTreeMap<(StepId, u32), Begun> = BTreeMap::new();
    let mut ended: BTreeMap<ScopePath, Millis> = BTreeMap::new();
    let mut before = None;
    for row in rows {
        note_held(&mut begun, row);
        let at = match &row.entry.body {
            // A child starts when it is called, or when another one has made room for it.
            EntryBody::Started(_) => before,
            EntryBody::Dispatched { step, attempt, .. } => {
                begun.get(&(step.clone(), *attempt)).map(Begun::sent)
            }
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
                let (attempt, delay) = number_and_delay(&effect);
                let wanted = Begun { at, delay, held: false, let_go: None };
                begun.entry((step.clone(), attempt)).or_insert(wanted);
            }
        }
        if machine.end().is_some() {
            ended.entry(row.scope.clone()).or_insert(at);
        }
    }
    begun
}

/// Notes that an attempt is held, and that it is sent then; sent again after a crash, it was sent the first time.
fn note_held(begun: &mut BTreeMap<(StepId, u32), Begun>, row: &Row<'_>) {
    let (EntryBody::Held { step, attempt } | EntryBody::Dispatched { step, attempt, .. }) = &row.entry.body
    else {
        return;
    };
    let Some(begun) = begun.get_mut(&(step.clone(), *attempt)) else { return };
    match row.entry.body {
        EntryBody::Held { .. } => begun.held = true,
        _ if begun.held => begun.let_go = begun.let_go.or(Some(row.entry.at)),
        _ => {}
    }
}

fn number_and_delay(effect: &Effect) -> (u32, u64) {
    match effect {
        Effect::CallModel { attempt, delay_ms, .. } | Effect::RunOp { attempt, delay_ms, .. } => {
            (*attempt, *delay_ms)
        }
        _ => (1, 0),
    }
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
        let held = EntryBody::Held { step: StepId::new("two.1"), attempt: 1 };
        let bodies = [
            (3, EntryBody::Started(started)),
            (8, sent("one.1")),
            (20, came),
            (22, held),
            (29, sent("two.1")),
        ];
        let entries = bodies.map(|(at, body)| Entry { at, body });
        let root = ScopePath::root();
        let rows = entries.each_ref().map(|entry| Row { scope: &root, entry });
        let found = begun(&bundle, &rows);
        let of = |step: &str| {
            let begun = &found[&(StepId::new(step), 1)];
            (begun.at, begun.sent(), begun.held(99))
        };
        // What was held was sent when it was sent.
        assert_eq!((of("one.1"), of("two.1")), ((3, 3, 0), (20, 29, 9)));
    }
}
