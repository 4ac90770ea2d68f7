//! A Machine that waits at the first node of its graph.

use deepgraph_engine::Machine;
use deepgraph_graph::GraphIx;
use deepgraph_protocol::{Effect, Entry, EntryBody, Map, Output, ScopePath, StepId, StepOutput};

use crate::plain::started;
use crate::{Outside, Workload};

/// A Machine that was made and started, and waits for one call. What follows is super-steps and nothing else.
#[derive(Debug)]
pub struct Primed {
    machine: Machine,
    outside: Outside,
    gate: Entry,
    at: i64,
}

impl Primed {
    /// Up to the first node of a workload.
    pub fn new(workload: &Workload) -> Primed {
        let mut machine = Machine::new(workload.bundle.clone(), GraphIx(0), ScopePath::root());
        let first = EntryBody::Started(started(&workload.bundle, workload.input.clone()));
        machine.apply(&Entry { at: 1, body: first });
        let gate = completed(2, StepId::new("gate.1"), Outside::SHORT, &Map::new());
        Primed { machine, outside: workload.outside, gate, at: 2 }
    }

    /// Goes on: gives what the Machine puts out until it waits again or has ended.
    pub fn go(&mut self) -> Vec<Output> {
        self.machine.apply(&self.gate)
    }

    /// The entries that bring the results of all calls among these outputs.
    pub fn answers(&mut self, outputs: &[Output]) -> Vec<Entry> {
        let calls = outputs.iter().filter_map(|output| match output {
            Output::Effect(Effect::RunOp { step, input, .. }) => Some((step, input)),
            _ => None,
        });
        let (at, outside) = (self.at, self.outside);
        calls.zip(at + 1..).map(|((step, input), at)| completed(at, step.clone(), outside, input)).collect()
    }

    /// Applies entries one after the other; gives how much was put out.
    pub fn apply(&mut self, entries: &[Entry]) -> usize {
        entries.iter().map(|entry| self.machine.apply(entry).len()).sum()
    }

    /// The Machine.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }
}

fn completed(at: i64, step: StepId, outside: Outside, input: &Map) -> Entry {
    let output = StepOutput::Op(outside.fetch(input));
    Entry { at, body: EntryBody::Completed { step, attempt: 1, output, fee: deepgraph_protocol::Fee::NONE } }
}
