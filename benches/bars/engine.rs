//! The engine's side: Machines that are made and started before the clock runs.

use std::hint::black_box;

use deepgraph_benches::{Primed, Workload};
use deepgraph_engine::Phase;

use crate::clock;
use crate::rounds::Side;

/// `units` super-steps, one after the other, that need nothing from outside. What the Machine puts out is dropped
/// within the time; the Machine is not.
pub fn steps(name: &'static str, units: usize, workload: Workload) -> Side {
    Side::new(name, units, move || {
        let mut primed = Primed::new(&workload);
        let from = clock::now();
        drop(black_box(primed.go()));
        let time = clock::now() - from;
        expect_end(&primed);
        time
    })
}

/// Nodes of one super-step that only write, and the join behind them.
pub fn fan_out(width: usize, workload: Workload) -> Side {
    let name = if width == 1900 {
        "1,900 nodes"
    } else if width == 190 {
        "190 nodes"
    } else {
        "1,000 nodes"
    };
    steps(name, width, workload)
}

/// Nodes of one super-step with a call each: effects out, and an entry in for every one.
pub fn fan_out_calls(width: usize, workload: Workload) -> Side {
    let name = if width == 1900 {
        "1,900 calls"
    } else if width == 190 {
        "190 calls"
    } else {
        "1,000 calls"
    };
    Side::new(name, width, move || {
        let mut primed = Primed::new(&workload);
        let from = clock::now();
        let outputs = primed.go();
        let sent = clock::now() - from;
        let answers = primed.answers(&outputs);
        let from = clock::now();
        drop(outputs);
        black_box(primed.apply(&answers));
        let time = sent + (clock::now() - from);
        expect_end(&primed);
        time
    })
}

fn expect_end(primed: &Primed) {
    let machine = primed.machine();
    assert_eq!(machine.phase(), Phase::Ended, "the graph {} has not ended", machine.plan().name);
}
