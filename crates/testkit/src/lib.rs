//! For tests of graphs and of the engine.
//!
//! [`Sim`] drives the Machines of a run without tokio, clock or I/O: time is virtual, and what comes back next is
//! drawn from a seed, faults included. [`simulate`] runs a graph many times in [random worlds](RandomWorld) and holds
//! each run against the [`invariants`]. [`call`], [`says`] and [`data`] make model replies. [`case`] plays runs that are
//! declared in YAML files or built in Rust. `assert_trace!` keeps a trace as a snapshot (feature `insta`).
//! [`suite`] finds case files, plays them and compares them with their snapshots.

pub mod case;
mod depends;
mod dice;
pub mod invariants;
mod random_world;
mod reply;
mod sim;
mod simulate;
pub mod suite;
mod traced;

pub use deepgraph_graph as graph;
pub use deepgraph_protocol as protocol;
pub use deepgraph_trace as trace;
#[cfg(feature = "insta")]
pub use insta;
pub use random_world::{Manner, RandomWorld};
pub use reply::{call, calls, data, fails, says};
pub use sim::{BEGIN, CancelAt, Fault, Faults, Outside, Passage, Said, Sim, SimRun};
pub use simulate::{Broken, Report, Simulation, simulate};
pub use traced::Traced;
