//! For tests of graphs and of the engine.
//!
//! [`Sim`] drives the Machines of a run without tokio, clock or I/O: time is virtual, and what comes back next is
//! drawn from a seed. [`call`], [`says`] and [`data`] make model replies. [`case`] plays runs that are declared in
//! YAML files or built in Rust. `assert_trace!` keeps a trace as a snapshot (feature `insta`).

pub mod case;
mod reply;
mod sim;
mod sim_outside;
mod sim_queue;
mod sim_run;
mod sim_send;
mod sim_world;
mod traced;

#[cfg(feature = "insta")]
pub use insta;
pub use reply::{call, calls, data, fails, says};
pub use sim::{BEGIN, CancelAt, Sim};
pub use sim_outside::{Outside, Said};
pub use sim_run::{Passage, SimRun};
pub use traced::Traced;
