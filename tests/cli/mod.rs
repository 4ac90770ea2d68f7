//! The `deepgraph` command, as its users run it.

mod answers;
mod basics;
mod bounds;
mod counts;
mod crash;
mod diagnostics;
mod diff;
mod documents;
mod draw;
mod factbook;
mod inputs;
mod interrupted;
mod journals;
mod output;
mod recording;
mod server;
mod servers;
mod simulate;
mod testing;
mod threads;
mod trace_page;
pub mod world;
