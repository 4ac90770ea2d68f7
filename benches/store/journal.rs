//! A real journal of many entries, and its fold.

use std::sync::Arc;

use deepgraph_benches::Workload;
use deepgraph_engine::Machine;
use deepgraph_graph::GraphIx;
use deepgraph_protocol::{Effect, Entry, EntryBody, Output, ScopePath, Started, StepOutput};
use deepgraph_store::{Append, RunId, Store, Stored};

use crate::steps::begun;

/// A journal that was written.
pub struct Journal {
    workload: Workload,
    run: RunId,
    entries: usize,
}

/// Runs calls of an op, one after the other, until there are so many entries, and writes their journal.
pub fn write(store: &dyn Store, entries: usize) -> Journal {
    let workload = Workload::append(entries - 1, 200);
    let mut machine = machine(&workload);
    let graph = workload.bundle.root().path.clone();
    let input = Arc::new(workload.input.clone());
    let first = Started::first(graph, input, Arc::default(), workload.bundle.hash.clone());
    let mut due = Some(EntryBody::Started(first));
    let mut batch = Vec::new();
    while let Some(body) = due.take() {
        let entry = Entry { at: batch.len() as i64, body };
        for output in machine.apply(&entry) {
            if let Output::Effect(Effect::RunOp { step, attempt, input, .. }) = output {
                let output = StepOutput::Op(workload.outside.fetch(&input));
                due =
                    Some(EntryBody::Completed { step, attempt, output, fee: deepgraph_protocol::Fee::NONE });
            }
        }
        batch.push(Append { scope: ScopePath::root(), expected_position: batch.len() as u64, entry });
    }
    verify(&workload, &machine);
    let (run, epoch) = begun(store);
    let written = store.append(&run, epoch, &batch, None);
    written.unwrap_or_else(|e| panic!("not written: {e}"));
    Journal { workload, run, entries: batch.len() }
}

impl Journal {
    pub fn read(&self, store: &dyn Store) -> Vec<Stored> {
        let rows = store.entries(&self.run, 0).unwrap_or_else(|e| panic!("not read: {e}"));
        assert_eq!(rows.len(), self.entries);
        rows
    }

    pub fn fold(&self, rows: &[Stored]) {
        let mut machine = machine(&self.workload);
        for row in rows {
            machine.apply(&row.entry);
        }
        verify(&self.workload, &machine);
    }
}

fn machine(workload: &Workload) -> Machine {
    Machine::new(workload.bundle.clone(), GraphIx(0), ScopePath::root())
}

fn verify(workload: &Workload, machine: &Machine) {
    match machine.end() {
        Some(end) => workload.verify(end),
        None => panic!("the run did not end"),
    }
}
