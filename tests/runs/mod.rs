//! Runs with the real driver: tokio, a store, models that take their time.

mod cancel;
mod caps;
mod order;
mod timeouts;
mod world;
