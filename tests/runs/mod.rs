//! Runs with the real driver: tokio, a store, models that take their time.

mod cancel;
mod caps;
mod exhausted;
mod many;
mod order;
mod shop;
mod timeouts;
mod undo;
pub mod world;
mod writes;
