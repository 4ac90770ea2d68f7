//! Runs that break off at every commit, and by kill -9 at random moments, over every store.
//!
//! A process that is to abort is this test binary once more, which runs the test [`child::breaks_off`] alone; what it is
//! to do stands in its environment.

mod abort;
mod attempts;
mod child;
mod kills;
mod matrix;
mod place;
mod routed;
pub mod rows;
mod shop;
mod world;
mod writes;
