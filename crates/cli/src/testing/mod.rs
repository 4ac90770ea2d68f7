//! Many cases, played and told of: what `deepgraph test` is made of.

pub mod error;
pub mod interrupt;
pub mod junit;
pub mod leftover;
pub mod output;
pub mod parallel;
pub mod review;
pub mod select;
pub mod tell;

use std::time::Duration;

use deepgraph_testkit::suite::Outcome;
pub use deepgraph_testkit::suite::is_ci;

/// What came of a case, and how long it took.
#[derive(Clone, Debug)]
pub struct Timed {
    /// What came of it.
    pub outcome: Outcome,
    /// How long it took to read, play and compare.
    pub took: Duration,
}
