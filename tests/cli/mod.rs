//! The `deepgraph` command, as its users run it.

mod answers;
mod basics;
mod counts;
mod crash;
mod factbook;
mod server;
pub mod world;
