//! Runs with the real driver: tokio, a store, models that take their time.

mod away;
mod cancel;
mod caps;
mod exhausted;
mod forked;
mod many;
mod order;
mod shop;
mod stopping;
mod timeouts;
mod undo;
pub mod world;
mod writes;
