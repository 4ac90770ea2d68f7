//! The `deepgraph` command, as its users run it.

mod answers;
mod attempts;
mod basics;
mod bounds;
mod cancel;
mod counts;
pub mod crash;
mod diagnostics;
mod diff;
mod documents;
mod draw;
mod factbook;
mod forks;
mod inputs;
mod interrupted;
mod journals;
mod output;
mod recording;
pub mod server;
mod servers;
mod simulate;
mod stats;
mod testing;
mod threads;
mod trace_page;
mod whatif;
pub mod world;
