//! The workloads whose instructions are counted.

use std::hint::black_box;

use deepgraph_benches::{NAMES, Primed, Workload, run};

/// A workload, ready to run.
pub enum Work {
    /// Super-steps that need nothing from outside.
    Steps(Workload, Option<Primed>),
    /// A fan-out of calls: effects out, an entry in for each.
    Calls(Workload, Option<Primed>),
    /// A whole run, from making the Machine to its end.
    Run(Workload),
}

/// The workload of a name.
pub fn named(name: &str) -> Option<Work> {
    let size = NAMES.iter().find(|(n, _)| *n == name)?.1;
    let workload = Workload::named(name, size)?;
    Some(match name {
        "fan_out_calls" => Work::Calls(workload, None),
        "subgraphs" | "append" | "tool_loop" => Work::Run(workload),
        _ => Work::Steps(workload, None),
    })
}

impl Work {
    /// Makes what is not counted.
    pub fn prepare(&mut self) {
        if let Work::Steps(workload, primed) | Work::Calls(workload, primed) = self {
            *primed = Some(Primed::new(workload));
        }
    }

    /// Runs what is counted.
    pub fn run(&mut self) {
        match self {
            Work::Run(workload) => drop(black_box(run(workload))),
            Work::Steps(_, Some(primed)) => drop(black_box(primed.go())),
            Work::Calls(_, Some(primed)) => {
                let outputs = primed.go();
                let answers = primed.answers(&outputs);
                black_box(primed.apply(&answers));
            }
            Work::Steps(_, None) | Work::Calls(_, None) => {}
        }
    }
}
