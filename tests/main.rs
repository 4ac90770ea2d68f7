//! Tests of deepgraph as a whole: one binary, so that it is linked once.

mod bounds;
mod cli;
mod conformance;
mod crashes;
mod docs;
mod durability;
mod engine;
mod faults;
mod fuzz;
mod house;
mod injections;
mod journals;
mod peers;
mod refold;
mod runs;
mod simulation;
mod stopping;
mod support;
mod testkit;
