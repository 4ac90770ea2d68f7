//! The `deepgraph` command, as its users run it.

mod answers;
mod basics;
mod bounds;
mod counts;
mod crash;
mod diagnostics;
mod documents;
mod draw;
mod factbook;
mod interrupted;
mod output;
mod server;
mod servers;
mod threads;
mod trace_page;
pub mod world;
