//! The plainest driver that there can be: one queue of entries, in memory.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use deepgraph_engine::Machine;
use deepgraph_graph::{Bundle, GraphIx};
use deepgraph_protocol::{
    Effect, Entry, EntryBody, Map, Output, SEMANTICS, ScopeEnd, ScopePath, Started, StepOutput,
};

use crate::{Outside, Workload};

/// What came of a run.
#[derive(Debug)]
pub struct Ran {
    /// How the root ended.
    pub end: ScopeEnd,
    /// Entries that were applied.
    pub entries: usize,
    /// Events that were told.
    pub events: usize,
}

/// Runs a workload to its end: every effect is carried out at once, in order.
pub fn run(workload: &Workload) -> Ran {
    let mut queue = Queue {
        bundle: workload.bundle.clone(),
        outside: workload.outside,
        machines: BTreeMap::new(),
        due: VecDeque::new(),
        entries: 0,
        events: 0,
    };
    let root = workload.bundle.root().path.clone();
    queue.spawn(ScopePath::root(), None, &root, started(&workload.bundle, workload.input.clone()));
    match queue.drain() {
        Some(end) => Ran { end, entries: queue.entries, events: queue.events },
        None => panic!("the workload stands still after {} entries", queue.entries),
    }
}

/// The first entry of a root.
pub(crate) fn started(bundle: &Bundle, input: Map) -> Started {
    Started {
        graph: bundle.root().path.clone(),
        input: Arc::new(input),
        config: Arc::default(),
        attempt: 1,
        semantics: SEMANTICS,
        bundle: bundle.hash.clone(),
        ..Started::default()
    }
}

struct Live {
    machine: Machine,
    parent: Option<ScopePath>,
}

struct Queue {
    bundle: Arc<Bundle>,
    outside: Outside,
    machines: BTreeMap<ScopePath, Live>,
    due: VecDeque<(ScopePath, EntryBody)>,
    entries: usize,
    events: usize,
}

impl Queue {
    /// Applies what is due until the root has ended; none where nothing is due before that.
    fn drain(&mut self) -> Option<ScopeEnd> {
        while let Some((scope, body)) = self.due.pop_front() {
            let Some(live) = self.machines.get_mut(&scope) else { continue };
            self.entries += 1;
            let entry = Entry { at: self.entries as i64, body };
            let outputs = live.machine.apply(&entry);
            let ended = live.machine.end().cloned();
            for output in outputs {
                match output {
                    Output::Event(_) => self.events += 1,
                    Output::Effect(effect) => self.carry_out(&scope, effect),
                }
            }
            let Some(end) = ended else { continue };
            let Some(step) = scope.step() else { return Some(end) };
            if let Some(parent) = self.machines.remove(&scope).and_then(|live| live.parent) {
                self.due.push_back((parent, EntryBody::ChildEnded { step, end: Box::new(end) }));
            }
        }
        None
    }

    fn carry_out(&mut self, scope: &ScopePath, effect: Effect) {
        match effect {
            Effect::CallModel { step, attempt, .. } => {
                let rendered = self.machines.get(scope).map(|live| live.machine.model_request(&step, None));
                let Some(Ok(request)) = rendered else { panic!("{step}: no request: {rendered:?}") };
                let output = StepOutput::Model(self.outside.reply(&request));
                self.due.push_back((
                    scope.clone(),
                    EntryBody::Dispatched {
                        step: step.clone(),
                        attempt,
                        request: None,
                        reserve_tokens: request.estimate_tokens(),
                        reserve_micro_usd: Some(0),
                        key: None,
                        takes_key: false,
                        model: None,
                        window: None,
                        cut: None,
                    },
                ));
                self.due.push_back((
                    scope.clone(),
                    EntryBody::Completed { step, attempt, output, fee: deepgraph_protocol::Fee::NONE },
                ));
            }
            Effect::RunOp { step, attempt, input, .. } => {
                let output = StepOutput::Op(self.outside.fetch(&input));
                self.due.push_back((
                    scope.clone(),
                    EntryBody::Completed { step, attempt, output, fee: deepgraph_protocol::Fee::NONE },
                ));
            }
            Effect::Spawn { step, graph, input, config, grant, nesting } => {
                let first = Started { input, config, grant, nesting, ..started(&self.bundle, Map::new()) };
                self.spawn(step.scope(), Some(scope.clone()), &graph, first);
            }
            other => panic!("no workload asks for {other:?}"),
        }
    }

    fn spawn(&mut self, scope: ScopePath, parent: Option<ScopePath>, graph: &Arc<str>, first: Started) {
        let ix: Option<GraphIx> = self.bundle.find(graph);
        let Some(ix) = ix else { panic!("there is no graph {graph}") };
        let machine = Machine::new(self.bundle.clone(), ix, scope.clone());
        self.machines.insert(scope.clone(), Live { machine, parent });
        let first = Started { graph: graph.clone(), ..first };
        self.due.push_back((scope, EntryBody::Started(first)));
    }
}
