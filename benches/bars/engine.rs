//! The engine's side: Machines that are made and started before the clock runs.

use std::hint::black_box;

use deepgraph_benches::{Primed, Workload};
use deepgraph_engine::Phase;

use crate::clock;
use crate::rounds::Side;

/// `units` super-steps, one after the other, that need nothing from outside. What the Machine puts out is dropped
/// within the time; the Machine is not.
pub fn steps(name: impl Into<String>, units: usize, workload: Workload) -> Side {
    Side::new(name, units, move || {
        let mut primed = Primed::new(&workload);
        let from = clock::now();
        drop(black_box(primed.go()));
        let time = clock::now() - from;
        expect_end(&primed);
        time
    })
}

/// Items or nodes of one super-step with a call each: effects out, and an entry in for every one. Making the entries
/// is not in the time: they come from outside.
pub fn fan_out_calls(name: impl Into<String>, width: usize, workload: Workload) -> Side {
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
