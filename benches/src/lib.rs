//! Workloads for measuring the engine, and a loop that runs them.
//!
//! A [`Workload`] is a graph that is generated as text and loaded as any graph file, with the input that it gets
//! and what the outside answers. [`run`] drives one to its end in memory: no tokio, no store, no clock. [`Primed`]
//! stops before the first super-step that counts, so that only super-steps are timed.

mod graphs;
mod outside;
mod plain;
mod primed;
mod workload;

pub use outside::Outside;
pub use plain::{Ran, run};
pub use primed::Primed;
pub use workload::{NAMES, Workload};
