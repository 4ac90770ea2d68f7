//! Tests of deepgraph as a whole: one binary, so that it is linked once.

mod bounds;
mod cli;
mod conformance;
mod docs;
mod engine;
mod house;
mod runs;
mod support;
mod testkit;
