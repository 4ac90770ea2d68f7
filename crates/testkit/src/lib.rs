//! For tests of graphs and of the engine.
//!
//! [`Sim`] drives the Machines of a run without tokio, clock or I/O: time is virtual, and what comes back next is
//! drawn from a seed. [`call`], [`says`] and [`data`] make model replies.

mod reply;
mod sim;
mod sim_run;

pub use reply::{call, calls, data, fails, says};
pub use sim::Sim;
pub use sim_run::SimRun;
