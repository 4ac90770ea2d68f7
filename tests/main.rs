//! Tests of deepgraph as a whole: one binary, so that it is linked once.

mod bounds;
mod cli;
mod conformance;
mod docs;
mod engine;
mod fuzz;
mod house;
mod journals;
mod runs;
mod simulation;
mod support;
mod testkit;
