//! The `deepgraph` command, as its users run it.

mod answers;
mod basics;
mod counts;
mod crash;
mod documents;
mod factbook;
mod interrupted;
mod output;
mod server;
pub mod world;
